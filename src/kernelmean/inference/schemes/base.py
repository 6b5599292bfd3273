"""Tiles of symmetric matrices, and how what they add is added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement
from typing import Any, TypeVar, final

import numpy as np

from ...core.array import Array, as_host, joined, namespace

Item = TypeVar("Item")
Result = TypeVar("Result")
Tile = tuple[slice, slice]
Total = tuple[Array, ...]
"""The total of all tiles."""


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


def in_order(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int) -> Iterator[Result]:
    """Map over items with ``n_jobs`` threads; results come in the order of the items."""
    if n_jobs == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield from pool.map(function, items)
