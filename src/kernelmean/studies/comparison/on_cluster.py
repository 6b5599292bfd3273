"""The comparison of two tables on a cluster, by functions of one part of a table that a plan folds over all parts.

The rows are counted first. If they are few, they are brought here. Otherwise the workers make the first pass, then the
sums of features; in between, the tests are fitted here to the drawn rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias, final

import numpy as np

from ...core.array import BoolArray, IntArray
from ...core.cells import missing_cells
from ...core.table import Frame
from ...core.words import count
from ...inference.adaptive.coordinates import Columns
from ...inference.bins.request import seed_of
from ...inference.units.unit_sums import RowUnits
from ...plan.plan import DEFAULT, Plan, RemotePlan, serial_blas
from ...tables.columns import Encoding
from ...tables.columns.encoded import coordinates_of
from ...tables.source import joined, numbered
from ..rows.coordinates import LABEL as SECOND
from ..rows.coordinates import UsedRows
from ..rows.designed_rows import DesignedRows, columns_of
from ..rows.first_look import LABEL as FIRST
from ..rows.first_look import FirstLook, Learnt
from .in_memory import compare_in_memory
from .long_tables import PilotRows, Tests, check_batches, matched
from .mean_gaps import Places
from .request import Asked
from .result import Comparison
from .table_pass import TableSums, merge_sums

_ALONE = Plan(threads=1)


def compare_on_cluster(A: Any, B: Any, plan: RemotePlan, options: Asked, limit: int | None) -> Comparison:
    """Compare two tables where they are, as :func:`kernelmean.compare` says.

    If no table has more than ``limit`` rows, or ``limit`` is None, all rows are brought to this process.
    """
    tables, moved = matched(plan.table(A, options.names[0]), plan.table(B, options.names[1]), options.names)
    options.progress("rows of the tables", 0, 1)
    places = _Places.of(plan, tables, options)
    if limit is None or max(places.rows) <= limit:
        return _compared(plan, places, options)
    check_batches(options)
    seed = seed_of(options.rng)
    drawing = PilotRows.of(options, seed, places.designed)
    with serial_blas:
        tests = Tests.of(_learnt(plan, places, drawing), drawing)
        sums = tests.sums()
        options.progress(SECOND, 0, 1)
        shared = _Adding(UsedRows.of(tests.learnt), tests.columns)
        sums.restore(plan.fold(_summed, _sums, places.adding(sums), shared))
        options.progress(SECOND, 1, 1)
        read = (
            f"on a Dask cluster: all rows of {count(len(places.jobs), 'partition')}, which were computed three times: "
            "their number, scale and categories of the columns, then sums of features"
        )
        return tests.compared(sums, (*moved, read))


def _compared(plan: RemotePlan, places: _Places, options: Asked) -> Comparison:
    """Bring all rows here, and compare them."""
    parts = plan.fold(_held, _gathered, places.jobs)
    first, second = (joined([frame for table, frame in parts if table == k]) for k in (0, 1))
    return compare_in_memory(first, second, replace(options, plan=DEFAULT))


def _learnt(plan: RemotePlan, places: _Places, drawing: PilotRows) -> Learnt:
    """Return what a first pass over all rows finds."""
    options = drawing.options
    options.progress(FIRST, 0, 1)
    names = tuple(options.design.beside(places.names, options.names[0]))
    shared = _Looking(names, options.encoding, drawing.test.seed, options.names, drawing.pilot, drawing.in_order)
    learnt: Learnt = plan.fold(_looked, _looks, places.jobs, shared, _concluded)
    options.progress(FIRST, 1, 1)
    return learnt


@final
@dataclass(frozen=True, eq=False)
class _TablePart:
    """The place of a part: its table, the numbers of its first row, and how many rows it has."""

    table: int
    source: str
    start: int
    """The number of its first row among all rows, from 0."""
    used: int
    """The number of its first row among the rows used, from 0."""
    rows: int
    uses: int
    """How many of its rows are used."""
    looked: BoolArray | None
    """Which of its rows a comparison with a design looks at; None for all."""

    def numbered(self, frame: Frame) -> Frame:
        """Return the part with row numbers; it must have as many rows as were counted."""
        if len(frame) != self.rows:
            raise ValueError(
                f"a partition of {self.source} had {self.rows:,} rows and now has {len(frame):,}: it is not computed "
                f"alike twice; write {self.source} = {self.source}.persist() first"
            )
        return numbered(frame, self.start)

    def chosen(self, frame: Frame) -> Frame:
        """Return the rows that are looked at."""
        rows = self.numbered(frame)
        return rows if self.looked is None else rows.take(self.looked)


@final
@dataclass(frozen=True, eq=False)
class _Places:
    """The parts of two tables, counted."""

    names: tuple[str, ...]
    rows: tuple[int, int]
    """The numbers of all rows of both tables."""
    jobs: list[tuple[Any, _TablePart]]
    """The parts that have rows, in the order of tables and rows, and the place of each."""
    designed: DesignedRows | None

    @classmethod
    def of(cls, plan: RemotePlan, tables: tuple[Any, Any], options: Asked) -> Self:
        """Count the rows of all parts, with a look at the columns that decide which of them are used."""
        names = tables[0].names
        needed, dropped = columns_of(names, options.names[0], options.design, options.encoding)
        parts = [(part, k) for k, table in enumerate(tables) for part in table.parts]
        shared = _Counting(tuple(needed if options.design else ()), tuple(dropped))
        counts = plan.fold(_counted, _counts, [(part, at) for at, (part, _) in enumerate(parts)], shared) or {}
        those = [[(parts[at][0], each) for at, each in sorted(counts.items()) if parts[at][1] == k] for k in (0, 1)]
        for table, counted in zip(tables, those, strict=True):
            if not counted:
                raise ValueError(f"{table.source} has no rows")
        designed = None
        if options.design:
            designed = DesignedRows.of(
                [_joined([each.cells for _, each in counted]) for counted in those], options.design, dropped
            )
        rows = tuple(sum(each.rows for _, each in counted) for counted in those)
        jobs = [job for k, counted in enumerate(those) for job in _jobs(k, tables[k].source, counted, designed)]
        return cls(names, (rows[0], rows[1]), jobs, designed)

    def adding(self, sums: TableSums) -> list[tuple[Any, _Placed]]:
        """Return the parts with what is known of their rows."""
        return [
            (job, _Placed(part, *sums.only(part.table, part.used, part.used + part.uses))) for job, part in self.jobs
        ]


def _jobs(
    table: int, source: str, parts: Sequence[tuple[Any, _Count]], designed: DesignedRows | None
) -> Iterator[tuple[Any, _TablePart]]:
    """Yield the parts of a table with their places."""
    start = used = 0
    for part, counts in parts:
        looked, uses = None, counts.complete
        if designed is not None:
            rows = slice(start, start + counts.rows)
            looked, uses = designed.looked[table][rows], int(designed.used[table][rows].sum())
        yield part, _TablePart(table, source, start, used, counts.rows, uses, looked)
        start, used = start + counts.rows, used + uses


def _joined(frames: Sequence[Frame | None]) -> Frame:
    """Return the columns of a design of all rows of a table, numbered."""
    return numbered(joined([frame for frame in frames if frame is not None]), 0)


# -- on the workers: how many rows there are --------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Counting:
    """The columns that a design needs of every row, and those whose blank cells leave rows out."""

    needed: tuple[str, ...]
    dropped: tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class _Count:
    """How many rows a part has, how many of them have no blank cell that leaves them out, and their design."""

    rows: int
    complete: int
    cells: Frame | None


def _counted(frame: Frame, at: int, shared: _Counting) -> dict[int, _Count]:
    masks = [missing_cells(frame[name]) for name in shared.dropped]
    left_out = int(np.logical_or.reduce(masks).sum()) if masks else 0
    cells = frame.select(shared.needed) if shared.needed else None
    return {at: _Count(len(frame), len(frame) - left_out, cells)}


def _counts(*parts: dict[int, _Count]) -> dict[int, _Count]:
    return {at: counted for each in parts for at, counted in each.items()}


# -- few rows: they are sent as they are ------------------------------------------------------------------------------


def _held(frame: Frame, part: _TablePart, _: None) -> list[tuple[int, Frame]]:
    return [(part.table, part.numbered(frame))]


def _gathered(*parts: list[tuple[int, Frame]]) -> list[tuple[int, Frame]]:
    return [each for part in parts for each in part]


# -- many rows: a first look, then sums of features -------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class _Looking:
    """What the first look at a part needs."""

    names: tuple[str, ...]
    encoding: Encoding
    seed: int
    sources: tuple[str, str]
    pilot: tuple[IntArray, ...]
    in_order: bool


Looked: TypeAlias = FirstLook | TypeError | ValueError
"""The first look at some rows, or the error of the first bad row, whichever part was looked at first."""


def _looked(frame: Frame, part: _TablePart, shared: _Looking) -> Looked:
    first = (part.used, 0) if part.table == 0 else (0, part.used)
    try:
        look = FirstLook(shared.names, shared.encoding, shared.seed, first, shared.pilot, in_order=shared.in_order)
        look.add(part.chosen(frame), part.table)
    except (TypeError, ValueError) as error:
        return error
    return look


def _looks(first: Looked, *others: Looked) -> Looked:
    look = deepcopy(first)
    for other in others:
        if isinstance(look, Exception):
            return look
        if isinstance(other, Exception):
            return other
        try:
            look.merge(other)
        except (TypeError, ValueError) as error:
            return error
    return look


def _concluded(look: Looked, shared: _Looking) -> Learnt:
    if isinstance(look, Exception):
        raise look
    return look.learnt(shared.sources)


@final
@dataclass(frozen=True, eq=False)
class _Adding:
    """What every part adds up."""

    used: UsedRows
    columns: Columns


@final
@dataclass(frozen=True, eq=False)
class _Placed:
    """A part, the units of its rows, and where they belong under a design."""

    part: _TablePart
    rows: RowUnits
    places: Places | None


def _summed(frame: Frame, placed: _Placed, shared: _Adding) -> Any:
    """Return the sums over the rows of one part."""
    part, start = placed.part, placed.part.used
    sums = TableSums.of(shared.columns, placed.rows, shared.used.codings, placed.places)
    with serial_blas:
        for rows in shared.used.parts(part.chosen(frame)):
            left = shared.used.left(rows)
            if len(left):
                sums.add(coordinates_of(shared.used.codings, left), left, part.table, _ALONE, start)
                start += len(left)
    return sums.state()


def _sums(first: Any, *others: Any) -> Any:
    """Return the sums over the rows of all."""
    merged = deepcopy(first)
    for other in others:
        merge_sums(merged, other)
    return merged
