"""Rows that repeat another row, where that is no accident: tables appended to themselves, repeated readings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array import Array, IntArray
from ...core.table import Frame
from ...core.words import count, written

_LEAST = 0.05
"""The share of rows that are copies from which on they are noted."""
_TWO, _LEAST_ACROSS, _DIFFERENT = 2, 0.01, 0.5
"""The same share of one of two tables, where a column has so many different values, as a share of all rows."""

SAME_ROWS = "both tables hold the same rows; if they should not, check which files or groups you named"


def repeated_rows(
    tables: Sequence[Array | IntArray],
    names: Sequence[str],
    blocks: Sequence[tuple[int, ...]],
    clusters: Sequence[IntArray] | None = None,
    paired: bool = False,
) -> tuple[str, ...]:
    """Return a note where a twentieth of the rows of all tables, or of one, or more repeat another one.

    With ``clusters``, the numbers of the clusters of all rows, they repeat a row of another cluster: rows of one
    cluster may well be equal, as they are permuted together.

    If rows of one of two tables, unless they are ``paired``, are copies of the other's, it says so from a hundredth on.

    Not where values are few: then rows repeat each other nearly as often if the cells of every column, which are the
    coordinates of a block, are shuffled: a tenth as often, or half as often if half of the rows are copies. A single
    column cannot be shuffled, so half of its rows must be copies. Two tables with the same rows have a note of their
    own.

    Examples
    --------
    >>> copied, other = np.tile(np.arange(8.0), 4)[:, None], np.arange(99.0)[:, None]
    >>> (note,) = repeated_rows([copied, other], ["A", "B"], [(0,)])
    >>> note.partition(";")[0]
    '24 of 32 rows of A repeat another row'
    """
    if _same(tables):
        return (SAME_ROWS,)
    pooled = np.concatenate(list(tables))
    units = np.split(np.arange(len(pooled)), np.cumsum([*map(len, tables)])[:-1]) if clusters is None else clusters
    places = [(pooled, np.concatenate(units), "")]
    places += [(rows, own, f" of {name}") for rows, own, name in zip(tables, units, names, strict=True)]
    known = [(_copies(rows, own, blocks), len(rows), of) for rows, own, of in places]
    copies, n, of = max(known, key=lambda own: own[0] / max(own[1], 1))  # where they are the largest share
    two_apart = len(tables) == _TWO and clusters is None and not paired
    across = _across(tables, names, blocks) if two_apart and not of else ()
    if across or not copies:
        return across
    found = f"{copies:,} of {count(n, 'row')}{of} repeat"
    if clusters is not None:
        mend = "keep one of each, or make one cluster of those that share rows"
        return (f"{found} a row of another cluster; clusters should be independent: {mend}",)
    option = written("clusters='COLUMN'", "--clusters COLUMN")
    mend = f"keep one of each, or name the column that says which rows belong together with {option}"
    return (f"{found} another row; rows should be independent: {mend}",)


def _across(
    tables: Sequence[Array | IntArray], names: Sequence[str], blocks: Sequence[tuple[int, ...]]
) -> tuple[str, ...]:
    """Return a note where a hundredth of the rows of the second of two tables, or more, are rows of the first.

    Not by chance: values of some column are nearly all different, shuffled rows are copies a tenth as often, and two
    rows of different tables are equal three times as often as two of one. (Rows of which one column follows from
    another, such as net and gross prices, are equal by chance as often as single values.)
    """
    pooled, (n, m) = np.concatenate(list(tables)), map(len, tables)
    copies = _shared(pooled, n)
    if len(blocks) == 1 or copies < _LEAST_ACROSS * m:
        return ()
    if max(len(np.unique(pooled[:, list(own)], axis=0)) for own in blocks) < _DIFFERENT * (n + m):
        return ()
    if 10 * _shared(_mixed(pooled, blocks), n) > copies or not _mostly_across(pooled, n):
        return ()
    found = f"{count(copies, 'row')} of {names[1]} {'is an exact copy' if copies == 1 else 'are exact copies'} of rows"
    return (f"{found} of {names[0]}; tables should be independent: leave such rows out of one of them",)


def _shared(rows: Array | IntArray, n: int) -> int:
    """Return how many of the rows behind the first n are equal to one of these."""
    _, number = np.unique(rows, axis=0, return_inverse=True)
    return int(np.isin(number.ravel()[n:], number.ravel()[:n]).sum())


def _mostly_across(rows: Array | IntArray, n: int) -> bool:
    """Return whether rows equal one of the other table three times as often as they would if tables were alike."""
    _, number = np.unique(rows, axis=0, return_inverse=True)
    first, second = (np.bincount(own, minlength=len(rows)) for own in np.split(number.ravel(), [n]))
    within = sum((own * (own - 1)).sum() / 2 for own in (first, second))
    alike = within * n * (len(rows) - n) / (n * (n - 1) / 2 + (len(rows) - n) * (len(rows) - n - 1) / 2)
    return bool((first * second).sum() > 3 * alike)


def _mixed(rows: Array | IntArray, blocks: Sequence[tuple[int, ...]]) -> Array | IntArray:
    """Return rows with the cells of every column shuffled."""
    rng = np.random.default_rng(0)
    return np.concatenate([rows[rng.permutation(len(rows))][:, list(own)] for own in blocks], axis=1)


def repeated_cells(frame: Frame) -> tuple[str, ...]:
    """Return the same note on one table, by its cells."""
    codes: list[IntArray] = []
    rows = np.zeros(len(frame), dtype=np.intp)
    for name in frame.names:
        cells = frame[name]
        if cells.dtype.kind not in "fmM":
            cells = np.array([str(cell) for cell in cells])
        codes.append(np.unique(cells, return_inverse=True)[1])
        rows = np.unique(rows * (1 + codes[-1].max(initial=0)) + codes[-1], return_inverse=True)[1]
        if rows.max(initial=0) + 1 == len(frame):
            return ()
    return repeated_rows([np.column_stack(codes)], [frame.source], [(k,) for k in range(len(codes))])


def _same(tables: Sequence[Array | IntArray]) -> bool:
    """Return whether two tables have the same rows, in any order."""
    if len(tables) != 2 or tables[0].shape != tables[1].shape:
        return False
    first, second = (rows[np.lexsort(rows.T)] for rows in tables)
    return np.array_equal(first, second)


def _copies(rows: Array | IntArray, units: IntArray, blocks: Sequence[tuple[int, ...]]) -> int:
    """Return how many rows repeat one of another unit; 0 if they are few, or if values are."""
    repeated = _repeated(rows, units)
    many = 2 * repeated >= len(rows)
    if len(blocks) == 1:
        return repeated if many and repeated <= 0.9 * len(rows) else 0
    if repeated < _LEAST * len(rows):
        return 0
    return 0 if (2 if many else 10) * _repeated(_mixed(rows, blocks), units) > repeated else repeated


def _repeated(rows: Array | IntArray, units: IntArray) -> int:
    """Return how many rows are of another unit than the first that is equal to them."""
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return int((units[first][number.ravel()] != units).sum())
