"""Tiles of symmetric matrices: which there are, how large they are, and threads that keep their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement
from typing import Any, TypeVar

from ..core.array import tile_shape
from .resampling import Resources

Item = TypeVar("Item")
Result = TypeVar("Result")
Tile = tuple[slice, slice]

_HOST_TILE = (512, 512)
TILE_SHARE = 0.5
"""The share of the memory that a tile on a device takes."""


def upper_tiles(rows: list[slice]) -> list[Tile]:
    """Return the pairs (I, J), I ≤ J, of slices of rows, which cover a symmetric matrix."""
    return list(combinations_with_replacement(rows, 2))


def tile_side(points: Any, resources: Resources) -> int:
    """Return the rows and columns of a tile."""
    return min(tile_shape(points, _HOST_TILE, TILE_SHARE * resources.memory))


def in_order(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int) -> Iterator[Result]:
    """Map over items with ``n_jobs`` threads; results come in the order of the items."""
    if n_jobs == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield from pool.map(function, items)
