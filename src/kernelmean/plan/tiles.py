"""How a matrix that never exists as a whole is cut into tiles, and tiles are grouped into tasks for one thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from ..core.array import Array, slices
from ..kernels.distances import Blocks

Tile = tuple[slice, slice, bool]  # rows, columns, and whether the mirrored tile is added too
Task = tuple[slice, Iterator[Tile]]  # the rows of the result that one thread adds to, and its tiles
TileSums = Callable[[slice, slice, bool], tuple[Array, Any]]  # a tile times weights, and its transpose if mirrored

_TASKS = 64  # at least, if there are enough tiles; fixed, so that results do not depend on the number of threads
_STACKS = 16  # accumulators of a mirrored sum


def rectangle(n: int, m: int, block: tuple[int, int]) -> Iterator[Task]:
    """Group all tiles into tasks: a row of tiles each, or a part of it if there are few rows."""
    rows, columns = slices(n, block[0]), slices(m, block[1])
    parts = -(-_TASKS // max(len(rows), 1))
    for i in rows:
        for group in slices(len(columns), max(1, -(-len(columns) // parts))):
            yield i, product([i], columns[group], [False])


def triangle(n: int, block: tuple[int, int]) -> Iterator[Task]:
    """Group the tiles on and right of the diagonal into few tasks, since each needs an accumulator of length n."""
    rows = slices(n, block[0])
    for first in range(min(_STACKS, len(rows))):
        yield slice(0, n), (tile for i in rows[first::_STACKS] for tile in _right_of(i, n, block[1]))


def _right_of(i: slice, n: int, width: int) -> Iterator[Tile]:
    yield i, i, False
    for j in slices(n - i.stop, width):
        yield i, slice(j.start + i.stop, j.stop + i.stop), True


def tile_sums(blocks: Blocks, weights: Array) -> TileSums:
    """Prepare ``f(i, j, mirrored)``: the tile times weights[j] and, if mirrored, its transpose times weights[i]."""

    def sums(i: slice, j: slice, mirrored: bool) -> tuple[Array, Any]:
        tile = blocks(i, j)
        return tile @ weights[j], tile.T @ weights[i] if mirrored else None

    return sums


def accumulate(task: Task, sums: TileSums, n_weights: int) -> tuple[slice, Array]:
    """Return the rows of the result that a task adds to, and what it adds."""
    span, tiles = task
    part = np.zeros((span.stop - span.start, n_weights))
    for i, j, mirrored in tiles:
        ahead, back = sums(i, j, mirrored)
        part[i.start - span.start : i.stop - span.start] += ahead
        if mirrored:
            part[j] += back
    return span, part
