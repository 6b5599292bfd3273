"""What a scheme is: a way to choose permutations and to sum over all of them at once.

Many schemes work in tiles: they say which tiles there are, what one adds, and how these add up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement
from typing import Any, TypeVar, final

import numpy as np

from ...core.array import Array, as_host, joined, namespace
from ..permutations import Permutations
from ..problem import Problem, Side, Tiles
from ..resampling_options import Resources, Shape
from ..statistics import Sums

Item = TypeVar("Item")
Result = TypeVar("Result")
Tile = tuple[slice, slice]
Total = tuple[Array, ...]
"""The total of all tiles."""


class Scheme(ABC):
    """A set of permutations together with a fast way to evaluate all of them."""

    name: str

    @abstractmethod
    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Return the sums of all pairs of kernels over all permutations, the observed one first."""

    def obstacle(self, shape: Shape) -> str | None:
        """Say why the scheme cannot serve a call of this shape, or None."""
        del shape
        return None


class RandomList(Scheme):
    """A scheme that draws a list of permutations, and then evaluates them batch by batch."""

    @staticmethod
    @abstractmethod
    def evaluate(problem: Problem, permutations: Permutations, resources: Resources) -> Sums:
        """Return the sums over the permutations in the list."""

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Draw the list, and evaluate it."""
        return self.evaluate(problem, problem.some(n_resamples, rng), resources)


def upper_tiles(rows: list[slice]) -> list[tuple[slice, slice]]:
    """Return the pairs (I, J), I ≤ J, of slices of rows, which cover a symmetric matrix."""
    return list(combinations_with_replacement(rows, 2))


def stacked(arrays: Sequence[Any]) -> Any:
    """Return arrays of one library one above the other."""
    return namespace(arrays[0]).stack(arrays)


@final
class RowSums:
    """Row sums of symmetric matrices over the same n rows, from tiles of one half; on a device they stay there."""

    def __init__(self) -> None:
        self._parts: dict[int, Any] = {}

    def add(self, tile: Tile, rows: Any, columns: Any) -> None:
        """Add the sums of a tile over its rows and over its columns, shape (count, rows) and (count, columns)."""
        first, second = tile[0].start, tile[1].start
        self._parts[first] = self._parts.get(first, 0.0) + rows
        if first != second:
            self._parts[second] = self._parts.get(second, 0.0) + columns

    def whole(self, count: int, n: int) -> Array:
        """Return the sums of all rows, shape (count, n), 0 where no tile was added."""
        sums = np.zeros((count, n))
        places = [np.arange(start, start + part.shape[1]) for start, part in self._parts.items()]
        sums[:, np.concatenate(places)] = as_host(joined([part.T for part in self._parts.values()])).T
        return sums


def shifted_tile(tiles: Tiles, side: Side, tile: tuple[slice, slice]) -> Array:
    """Return the tile of every Gram matrix minus its constant, shape (count, rows, columns)."""
    return np.stack([gram - shift for gram, shift in zip(tiles(*tile), side.shifts, strict=True)])


def in_order(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int) -> Iterator[Result]:
    """Map over items with ``n_jobs`` threads; results come in the order of the items."""
    if n_jobs == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield from pool.map(function, items)


# -- tiles -------------------------------------------------------------------------------------------------------------


class Tiling(ABC):
    """A problem whose rows are in the order of its tiles."""

    @abstractmethod
    def tiles(self) -> list[Tile]:
        """Return all tiles, always in the same order."""

    @abstractmethod
    def evaluator(self) -> Callable[[Tile], Any]:
        """Prepare ``f(tile)``, what one tile adds."""

    @abstractmethod
    def total(self, parts: Iterable[tuple[Tile, Any]]) -> Total:
        """Add up what the tiles add."""

    @abstractmethod
    def sums(self, total: Total) -> Sums:
        """Return the sums over all permutations from the total of all tiles."""

    def evaluated(self, n_jobs: int = 1) -> Total:
        """Evaluate all tiles, in ``n_jobs`` threads, and add them up in their order."""
        tiles = self.tiles()
        return self.total(zip(tiles, in_order(self.evaluator(), tiles, n_jobs), strict=True))
