"""The pass over two tables that sums their features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from typing import Self, final

from ...core.array import Array, Progress, slices
from ...core.table import Frame
from ...inference.units.unit_sums import UnitSums
from ...plan.plan import Plan
from ...tables.columns.column_codings import Coding, coordinates_of
from ...tables.columns.kinds import ColumnType
from ...tables.columns.missing import Missing, sifted
from ...tables.prefetch import ahead
from ...tables.source import Source
from .first_look import Learnt

LABEL = "sums of features"
_BATCH_NUMBERS = 2**22


@dataclass(frozen=True)
class CoordinateBatch:
    """Coordinates of the used rows of a batch, and the number of rows of its table that were read up to its end."""

    rows: Array
    read: int


def run_pass(sums: UnitSums, tables: tuple[Source, Source], learnt: Learnt, plan: Plan, progress: Progress) -> None:
    """Add the rows of both tables; ``progress`` is called between two batches."""
    read, total = [0, 0], sum(learnt.rows) + sum(learnt.missing.rows)
    parts = [coordinate_batches(table, learnt) for table in tables]
    with closing(ahead(parts[0])) as first, closing(ahead(parts[1])) as second:
        for batches in zip_longest(first, second):
            for table, batch in enumerate(batches):
                if batch is not None and len(batch.rows):
                    sums.add(batch.rows, table, plan)
            read = [before if batch is None else batch.read for before, batch in zip(read, batches, strict=True)]
            progress(LABEL, sum(read), max(total, sum(read)))


def coordinate_batches(frames: Source, learnt: Learnt) -> Iterator[CoordinateBatch]:
    """Yield the coordinates of all used rows."""
    used = UsedRows.of(learnt)
    for frame in frames.frames():
        for rows in used.parts(frame):
            yield CoordinateBatch(used.coordinates(rows), int(rows.row_numbers()[-1]))


@final
@dataclass(frozen=True, eq=False)
class UsedRows:
    """How rows become coordinates: those with missing cells are left out where the rule of a column says so."""

    codings: tuple[Coding, ...]
    types: dict[str, ColumnType]
    missing: Missing

    @classmethod
    def of(cls, learnt: Learnt) -> Self:
        """Return what a first pass found."""
        return cls(learnt.codings, learnt.scan.types, learnt.missing.rule)

    def parts(self, frame: Frame) -> Iterator[Frame]:
        """Yield the rows in parts whose coordinates fit in memory."""
        many = max(1, sum(len(coding.names) for coding in self.codings))
        return (frame.take(part) for part in slices(len(frame), max(1, _BATCH_NUMBERS // many)))

    def coordinates(self, rows: Frame) -> Array:
        """Return the coordinates of the rows used."""
        return coordinates_of(self.codings, sifted(rows, self.types, self.missing)[0])
