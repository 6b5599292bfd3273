"""What a scheme is: a way to choose relabelings and to sum over all of them at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement
from typing import TypeVar

import numpy as np

from ...core.array import Array
from ..problem import Problem, Side, Tiles
from ..sizes import Resources, Shape
from ..statistics import Sums

Item = TypeVar("Item")
Result = TypeVar("Result")


class Scheme(ABC):
    """A set of relabelings together with a fast way to evaluate all of them."""

    name: str
    summary: str

    @abstractmethod
    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Return the sums of all pairs of kernels over all relabelings, the observed one first."""

    @abstractmethod
    def memory(self, shape: Shape, resources: Resources) -> float:
        """Return an upper estimate of the working memory, in bytes."""

    def obstacle(self, shape: Shape) -> str | None:
        """Say why the scheme cannot serve a call of this shape, or None."""
        del shape
        return None


def upper_tiles(rows: list[slice]) -> list[tuple[slice, slice]]:
    """Return the pairs (I, J), I ≤ J, of slices of rows, which cover a symmetric matrix."""
    return list(combinations_with_replacement(rows, 2))


def shifted_tile(tiles: Tiles, side: Side, tile: tuple[slice, slice]) -> Array:
    """Return the tile of every Gram matrix less its constant, shape (count, rows, columns)."""
    return np.stack([gram - shift for gram, shift in zip(tiles(*tile), side.shifts, strict=True)])


def in_order(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int) -> Iterator[Result]:
    """Map over items with ``n_jobs`` threads; results come in the order of the items, whatever the number."""
    if n_jobs == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield from pool.map(function, items)
