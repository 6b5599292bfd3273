"""Rows in this process, whatever holds them: how many there are, some of them, and all of them batch by batch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.array import Array, IntArray, slices
from ...core.points import column_order
from ...core.words import listed
from ...tables.source import Source, split_rows

_MOST = 2**17
"""Rows of a batch: those of a table in memory come in parts."""


def batches(source: Source) -> Iterator[Array]:
    """Yield the rows in batches that are not too long."""
    for batch in source:
        for part in slices(len(batch), _MOST):
            yield batch[part]


def length(source: Source) -> int | None:
    """Return how many rows there are, for which some are read through; None where they can be read once only."""
    if source.n_rows is not None:
        return source.n_rows
    return None if source.once else sum(map(len, source))


def taken(source: Source, numbers: IntArray) -> Array:
    """Return the rows of some ascending numbers, for which all are read."""
    found, start = [], 0
    for batch in source:
        first, last = np.searchsorted(numbers, [start, start + len(batch)])
        found.append(batch[numbers[first:last] - start])
        start += len(batch)
        if last == len(numbers):
            break
    return np.concatenate(found)


def matched(first: Source, second: Source) -> tuple[Source, Source]:
    """Return two tables of the same variables; columns with names are matched by name."""
    order = column_order(first, second)
    if order is None:
        raise ValueError(
            f"the samples have different columns: {first.source} has {listed(first.names)}, {second.source} has "
            f"{listed(second.names)}; choose the same ones with kernelmean.read(..., columns=...)"
        )
    return first, second if order == list(range(len(order))) else second.reordered(first.names)


def side_by_side(rows: tuple[Iterator[Array], Iterator[Array]], sources: tuple[Source, Source]) -> Iterator[Array]:
    """Yield the columns of both side by side, in batches of whatever size both can give."""
    firsts, others = rows
    for batch in firsts:
        head, others = split_rows(others, len(batch))
        if head is None or len(head) < len(batch):
            raise unequal(*sources)
        yield np.hstack([batch, head])
    if next(others, None) is not None:
        raise unequal(*sources)


def windows(rows: Iterator[Array], many: int) -> Iterator[Array]:
    """Yield so many rows at a time, fewer at the end."""
    while True:
        head, rows = split_rows(rows, many)
        if head is None:
            return
        yield head


def unequal(first: Source, second: Source) -> ValueError:
    """Return what to raise where rows that belong together are not equally many."""
    return ValueError(
        f"{first.source} and {second.source} have different numbers of rows; row i of X and row i of Y must be one "
        "observation"
    )
