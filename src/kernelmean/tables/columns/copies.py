"""Rows that repeat another row, where that is no accident: tables appended to themselves, repeated readings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array import Array, IntArray
from ...core.table import Frame
from ...core.words import count

_LEAST, _BEYOND_CHANCE = 0.05, 5.0
"""Rows that repeat another one are noted from this share on, and where they are so many times as many as by chance."""


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
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    units = np.arange(len(rows)) if clusters is None else clusters
    repeated = int((units[first][number.ravel()] != units).sum())
    if repeated < max(_LEAST * len(rows), 1.0) or repeated < _BEYOND_CHANCE * _equal_by_chance(rows, blocks):
        return ()
    found = f"{repeated:,} of {count(len(rows), 'row')} repeat"
    if clusters is not None:
        mend = "keep one of each, or make one cluster of those that share rows"
        return (f"{found} a row of another cluster; clusters should be independent: {mend}",)
    mend = "keep one of each, or name the column that says which rows belong together with clusters='COLUMN'"
    return (f"{found} another row; rows should be independent: {mend}",)


def repeated_cells(frame: Frame) -> tuple[str, ...]:
    """Return the same note on one table, by its cells."""
    codes: list[IntArray] = []
    for name in frame.names:
        cells = frame[name]
        if cells.dtype.kind not in "fmM":
            cells = np.array([str(cell) for cell in cells])
        codes.append(np.unique(cells, return_inverse=True)[1])
    return repeated_rows(np.column_stack(codes), [(k,) for k in range(len(codes))])


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
