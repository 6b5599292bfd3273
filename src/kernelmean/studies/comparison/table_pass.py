"""The pass over two tables that sums their features."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, Progress
from ...core.table import Frame
from ...inference.adaptive.coordinates import Columns, PairDifferences
from ...inference.units.unit_sums import RowUnits, UnitSums
from ...plan.plan import Plan
from ...tables.columns.encoded import coordinates_of
from ...tables.columns.kinds import Coding
from ...tables.columns.summaries import ColumnSummary
from ...tables.prefetch import ahead
from ...tables.source import Source, in_step
from ..rows.coordinates import LABEL, UsedRows, coordinate_batches
from ..rows.first_look import Learnt
from .mean_gaps import GapsOfPairs, MeansInPlaces, Places


@final
@dataclass(eq=False)
class TableSums:
    """What is added up of two tables: sums over units and, where a design says how rows count, moments of columns."""

    units: UnitSums
    places: Places | None
    means: MeansInPlaces | None

    @classmethod
    def of(cls, columns: Columns, rows: RowUnits, codings: Sequence[Coding], places: Places | None) -> Self:
        """Return the sums of no rows."""
        means = None if places is None else MeansInPlaces(codings, places)
        return cls(UnitSums(columns, rows), places, means)

    def add(self, rows: Array, frame: Frame, table: int, plan: Plan, start: int | None = None) -> None:
        """Add the next rows of a table, or those from the row number ``start`` on."""
        first = int(self.units.added[table]) if start is None else start
        self.units.add(rows, table, plan, start=first)
        if self.means is not None and self.places is not None:
            self.means.add(frame, self.places.rows(table, first, first + len(rows)))

    def only(self, table: int, start: int, stop: int) -> tuple[RowUnits, Places | None]:
        """Return what is needed to add some rows elsewhere."""
        places = None if self.places is None else self.places.only(table, start, stop)
        return self.units.rows.only(table, start, stop), places

    def state(self) -> tuple[list[Array], MeansInPlaces | None]:
        """Return what was added up."""
        return self.units.state(), self.means

    def restore(self, state: tuple[list[Array], MeansInPlaces | None]) -> None:
        """Go on from what was added up elsewhere."""
        arrays, self.means = state
        self.units.restore(arrays)

    def summaries(self, learnt: Learnt) -> list[ColumnSummary]:
        """Return what the columns are like, under a design or as the first pass found them."""
        if self.means is None or self.places is None:
            return learnt.scan.summaries(learnt.codings)
        return self.means.summaries(self.places)


@final
@dataclass(eq=False)
class PairSums:
    """What is added up of two tables whose rows are pairs."""

    units: UnitSums
    gaps: GapsOfPairs

    @classmethod
    def of(cls, columns: Columns, rows: RowUnits, codings: Sequence[Coding]) -> Self:
        """Return the sums of no pairs."""
        return cls(UnitSums(PairDifferences(columns), rows), GapsOfPairs(codings))

    def add(self, frames: tuple[Frame, Frame], codings: Sequence[Coding], plan: Plan) -> None:
        """Add the next pairs."""
        self.units.add(np.hstack([coordinates_of(codings, frame) for frame in frames]), plan=plan)
        self.gaps.add(*frames)

    def summaries(self, learnt: Learnt) -> list[ColumnSummary]:
        """Return what the columns are like, with the intervals of the mean differences of pairs."""
        return self.gaps.summaries(learnt.scan.summaries(learnt.codings), learnt.codings)


def merge_sums(state: tuple[list[Array], MeansInPlaces | None], other: Any) -> None:
    """Add the sums of other rows to those of some."""
    (arrays, means), (more, others) = state, other
    arrays[:] = [array + those for array, those in zip(arrays, more, strict=True)]
    if means is not None:
        means.merge(others)


def run_pass(sums: TableSums, tables: tuple[Source, Source], learnt: Learnt, plan: Plan, progress: Progress) -> None:
    """Add the rows of both tables; ``progress`` is called between two batches."""
    read, total = [0, 0], sum(learnt.rows) + sum(learnt.missing.rows)
    parts = [coordinate_batches(table, learnt) for table in tables]
    with closing(ahead(parts[0])) as first, closing(ahead(parts[1])) as second:
        for batches in zip_longest(first, second):
            for table, batch in enumerate(batches):
                if batch is not None and len(batch.rows):
                    sums.add(batch.rows, batch.frame, table, plan)
            read = [before if batch is None else batch.read for before, batch in zip(read, batches, strict=True)]
            progress(LABEL, sum(read), max(total, sum(read)))


def run_pairs(sums: PairSums, tables: tuple[Source, Source], learnt: Learnt, plan: Plan, progress: Progress) -> None:
    """Add the pairs of both tables."""
    read, total, used = 0, sum(learnt.rows), UsedRows.of(learnt)
    with closing(ahead(in_step(*(table.frames() for table in tables)))) as pairs:
        for both in pairs:
            for first, second in zip(*map(used.parts, both), strict=True):
                sums.add((first, second), used.codings, plan)
            read += 2 * len(both[0])
            progress(LABEL, read, max(total, read))
