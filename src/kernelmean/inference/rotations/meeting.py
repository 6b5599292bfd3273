"""Rows that permutations exchange, brought together from batches: a table in memory is a source of one batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.array import Array, IntArray, slices
from ...tables.source import split_rows

WINDOW_ROWS = 2**17
"""Rows that are read before those that are complete are passed on, whatever the batches."""
_AT_ONCE = 2**14
"""Rows that are passed on together."""


def windows_of(batches: Iterable[Any], n: int) -> Iterator[Any]:
    """Yield all of ``n`` rows, so many at a time that sums over them do not depend on the batches.

    Raises
    ------
    ValueError
        When there are more rows, or fewer.
    """
    rest, read = iter(batches), 0
    while True:
        rows, rest = split_rows(rest, WINDOW_ROWS)
        read += 0 if rows is None else len(rows)
        if read > n or (rows is None and read < n):
            raise ValueError(f"{read:,} rows were read of {n:,}; rows must stay as they are meanwhile")
        if rows is None:
            return
        yield rows


def together(groups: Sequence[IntArray], windows: Iterable[Array]) -> Iterator[tuple[int, Array]]:
    """Yield the rows that meet each other, and the number of their group, once all of them were read.

    Rows are held until the last one they meet is read. So memory does not grow with the rows where the units of a cell
    come in any order but each of them as a whole, as rows do; of clusters that are spread over a table it does.

    Parameters
    ----------
    groups : list of arrays of int, shape (m, length)
        The numbers of rows that meet in every row; no row stands in two places.
    windows : iterable of arrays (w, d)
        All rows, in windows of :data:`WINDOW_ROWS`.
    """
    last = [group.max(axis=1) // WINDOW_ROWS for group in groups]
    taking_part = np.zeros(1 + max(int(group.max(initial=-1)) for group in groups), dtype=bool)
    for group in groups:
        taking_part[group] = True
    numbers: IntArray = np.arange(0)
    held: Array = np.empty((0, 0))
    for window, rows in enumerate(windows):
        chosen = np.flatnonzero(taking_part[window * WINDOW_ROWS :][: len(rows)])
        held = np.concatenate([held, rows[chosen]]) if len(held) else rows[chosen]
        numbers = np.concatenate([numbers, window * WINDOW_ROWS + chosen])
        left = np.ones(len(numbers), dtype=bool)
        for number, (group, ends) in enumerate(zip(groups, last, strict=True)):
            places = np.searchsorted(numbers, group[ends == window])
            left[places] = False
            for part in slices(len(places), max(1, _AT_ONCE // group.shape[1])):
                yield number, held[places[part].ravel()]
        held, numbers = held[left], numbers[left]
