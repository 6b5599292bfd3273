"""Rows in this process, from any source: how many there are, some of them, and all of them batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from ...core.array import Array, IntArray, as_host, in_host_memory, slices, take_rows
from ...core.points import column_order
from ...core.validate import check_same_columns
from ...core.words import listed
from ...tables.source import Source, in_blocks, side_by_side

_MOST = 2**17
"""Rows of a batch: a table in memory comes in parts."""


@final
@dataclass(frozen=True, eq=False)
class Held:
    """An array of any library as a source: its rows stay where they are."""

    rows: Any
    """Shape (n, d)."""
    source: str
    """Its name in errors."""
    named: ClassVar[bool] = False
    once: ClassVar[bool] = False

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.rows.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(f"x{j}" for j in range(self.rows.shape[1]))

    def __iter__(self) -> Iterator[Any]:
        """Yield all rows at once."""
        yield self.rows


Rows = Source | Held
Two = tuple[Rows, Rows]


def batches(source: Rows) -> Iterator[Array]:
    """Yield the rows in batches that are not too long."""
    return _parts(source, _MOST)


def length(source: Rows) -> int:
    """Return the number of rows; some sources are read through for it."""
    return sum(map(len, source)) if source.n_rows is None else source.n_rows


def taken(source: Rows, numbers: IntArray) -> Array:
    """Return the rows with some ascending numbers; all rows are read for it."""
    parts, start = [], 0
    for batch in source:
        first, last = np.searchsorted(numbers, [start, start + batch.shape[0]])
        parts.append(as_host(take_rows(batch, numbers[first:last] - start)))
        start += batch.shape[0]
        if last == len(numbers):
            break
    return np.concatenate(parts)


def matched(first: Any, second: Any) -> tuple[Any, Any]:
    """Return two tables of the same variables; columns with names are matched by name."""
    if isinstance(first, Held):
        check_same_columns(first.rows, second.rows)
        return first, second
    order = column_order(first, second)
    if order is None:
        raise ValueError(
            f"the samples have different columns: {first.source} has {listed(first.names)}, {second.source} has "
            f"{listed(second.names)}; choose the same ones with kernelmean.read(..., columns=...)"
        )
    return first, second if order == list(range(len(order))) else second.reordered(first.names)


def windows(rows: tuple[Iterator[Array], Iterator[Array]], sources: Two, many: int) -> Iterator[tuple[Array, Array]]:
    """Yield ``many`` rows of both at a time, fewer at the end."""
    if isinstance(sources[0], Held):
        yield from zip(*(_parts(source, many) for source in sources), strict=True)
        return
    split = len(sources[0].names)
    for both in in_blocks(side_by_side(rows, sources), many):
        yield both[:, :split], both[:, split:]


def _parts(source: Rows, many: int) -> Iterator[Array]:
    """Yield the rows of one batch in parts; tensors in the memory of the host as NumPy arrays, which are faster."""
    for batch in source:
        for part in slices(batch.shape[0], many):
            rows = batch[part, :]
            yield as_host(rows) if in_host_memory(rows) else rows
