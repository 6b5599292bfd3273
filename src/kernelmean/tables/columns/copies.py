"""Rows that repeat another row, where that is no accident: tables appended to themselves, repeated readings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array import Array, IntArray
from ...core.cells import Cells
from ...core.table import Frame
from ...core.words import count

_LEAST, _BEYOND_CHANCE = 0.05, 5.0
"""Rows that repeat another one are noted from this share on, and where they are so many times as many as by chance."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio times 2⁶⁴: products with it differ in many bits where numbers differ in one."""


def repeated_rows(
    rows: Array | IntArray, blocks: Sequence[tuple[int, ...]], clusters: IntArray | None = None
) -> tuple[str, ...]:
    """Return a note where a twentieth of the rows or more repeat another one; with ``clusters`` one of another cluster.

    Not where values are few: if the cells of all columns, which are the coordinates of a block, were independent, n
    rows would have :math:`n (n - 1) / 2 ∏_j Σ_k p_{jk}²` equal pairs, with the shares p of the values of each column.
    The rows that repeat another one are five times as many. In a single column, copies cannot be told from values that
    recur.

    Examples
    --------
    >>> copied = np.tile(np.random.default_rng(0).normal(size=(20, 2)), (2, 1))
    >>> (note,) = repeated_rows(copied, [(0,), (1,)])
    >>> note.partition(";")[0]
    '20 of 40 rows repeat another row'
    """
    least = max(_LEAST * len(rows), 1.0)
    if len(rows) - _fewest_different(rows) < least:
        return ()
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    units = np.arange(len(rows)) if clusters is None else clusters
    repeated = int((units[first][number.ravel()] != units).sum())
    if repeated < least or repeated < _BEYOND_CHANCE * _equal_by_chance(rows, blocks):
        return ()
    repeats = f"{repeated:,} of {count(len(rows), 'row')} repeat"
    if clusters is not None:
        mend = "keep one of each, or make one cluster of those that share rows"
        return (f"{repeats} a row of another cluster; clusters should be independent: {mend}",)
    mend = "keep one of each, or name the column that says which rows belong together with clusters='COLUMN'"
    return (f"{repeats} another row; rows should be independent: {mend}",)


def repeated_cells(frame: Frame) -> tuple[str, ...]:
    """Return the same note on one table, by its cells."""
    codes = [_codes(frame[name]) for name in frame.names]
    return repeated_rows(np.column_stack(codes), [(k,) for k in range(len(codes))])


def _codes(cells: Cells) -> IntArray:
    """Return integers that are equal where cells are, missing ones included."""
    if cells.dtype.kind in "mM":
        return cells.view(np.int64)
    if cells.dtype.kind == "f":
        return np.where(np.isnan(cells), np.nan, cells + 0.0).view(np.int64)  # one zero, one NaN
    texts = list(map(str, cells.tolist()))
    number = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return np.fromiter(map(number.__getitem__, texts), np.int64, len(texts))


def _fewest_different(rows: Array | IntArray) -> int:
    """Return a number of different rows that is never too large, in O(n d): equal rows have equal sums of 64 bits."""
    sums = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        bits = np.ascontiguousarray(column + 0.0 if rows.dtype.kind == "f" else column).view(np.uint64)
        sums = (sums ^ (sums >> np.uint64(32)) ^ bits) * _ODD
    sums.sort()
    return len(sums) and 1 + int(np.count_nonzero(sums[1:] != sums[:-1]))


def same_rows(first: Array, second: Array) -> bool:
    """Return whether two tables have the same rows, in any order."""
    return first.shape == second.shape and np.array_equal(first[np.lexsort(first.T)], second[np.lexsort(second.T)])


def _equal_by_chance(rows: Array | IntArray, blocks: Sequence[tuple[int, ...]]) -> float:
    """Return how many pairs of rows would be equal if the cells of all columns were independent."""
    alike, n = 1.0, len(rows)
    for block in blocks:
        _, counts = np.unique(rows[:, list(block)], axis=0, return_counts=True)
        alike *= float(np.square(counts / n).sum())
    return alike * n * (n - 1) / 2
