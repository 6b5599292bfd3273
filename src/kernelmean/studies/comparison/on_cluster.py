"""The comparison of two tables on a cluster, by functions of one part of a table that a plan folds over all parts.

The rows are counted first. If they are few, they are brought here. Otherwise the workers make the first pass, then the
sums of features; in between, the tests are fitted here to the drawn rows.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Self, TypeAlias, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.cells import missing_cells
from ...core.table import Frame
from ...core.words import count
from ...inference.adaptive.coordinates import Columns
from ...inference.bins.request import seed_of
from ...inference.units.unit_sums import DealtRows, RowUnits, UnitSums
from ...plan.plan import DEFAULT, Plan, RemotePlan, serial_blas
from ...tables.columns import Encoding
from ...tables.columns.missing import rules_for
from ...tables.source import joined, numbered
from .first_look import LABEL as FIRST
from .first_look import FirstLook, Learnt
from .in_memory import compare_in_memory
from .long_tables import Tests, check_batches, matched
from .request import Asked
from .result import Comparison
from .table_pass import LABEL as SECOND
from .table_pass import UsedRows

_ALONE = Plan(threads=1)


def compare_on_cluster(A: Any, B: Any, plan: RemotePlan, asked: Asked, limit: int | None) -> Comparison:
    """Compare two tables where they are, as :func:`kernelmean.compare` says.

    If no table has more than ``limit`` rows, or ``limit`` is None, all rows are brought to this process.
    """
    tables, moved = matched(plan.table(A, asked.names[0]), plan.table(B, asked.names[1]), asked.names)
    rules = rules_for(asked.encoding.missing, list(tables[0].names))
    asked.progress("rows of the tables", 0, 1)
    places = _Places.of(plan, tables, [name for name, rule in rules.items() if rule == "drop"])
    if limit is None or max(places.rows) <= limit:
        return _compared(plan, places, asked)
    check_batches(asked)
    seed = seed_of(asked.rng)
    learnt = _learnt(plan, places, asked, seed)
    with serial_blas:
        tests = Tests.of(learnt, asked, seed)
        sums = UnitSums(tests.columns, DealtRows(learnt.deals(seed)))
        shared = _Adding(UsedRows.of(learnt), tests.columns, sums.rows)
        asked.progress(SECOND, 0, 1)
        sums.restore(plan.fold(_summed, _sums, places.jobs, shared))
        asked.progress(SECOND, 1, 1)
        read = (
            f"on a Dask cluster: all rows of {count(len(places.jobs), 'partition')}, which were computed three times: "
            "their number, scale and categories of the columns, then sums of features"
        )
        return tests.compared(learnt, sums.all(), (*moved, read))


def _compared(plan: RemotePlan, places: _Places, asked: Asked) -> Comparison:
    """Bring all rows here, and compare them."""
    found = plan.fold(_held, _gathered, places.jobs)
    first, second = (joined([frame for table, frame in found if table == k]) for k in (0, 1))
    return compare_in_memory(first, second, replace(asked, plan=DEFAULT))


def _learnt(plan: RemotePlan, places: _Places, asked: Asked, seed: int) -> Learnt:
    """Return what a first pass over all rows finds."""
    asked.progress(FIRST, 0, 1)
    shared = _Looking(places.names, asked.encoding, seed, asked.names)
    learnt: Learnt = plan.fold(_looked, _looks, places.jobs, shared, _concluded)
    asked.progress(FIRST, 1, 1)
    return learnt


@final
@dataclass(frozen=True)
class _TablePart:
    """The place of a part: its table, the numbers of its first row, and how many rows it has."""

    table: int
    source: str
    start: int
    """The number of its first row among all rows, from 0."""
    used: int
    """The number of its first row among the rows used, from 0."""
    rows: int

    def numbered(self, frame: Frame) -> Frame:
        """Return the part with row numbers; it must have as many rows as were counted."""
        if len(frame) != self.rows:
            raise ValueError(
                f"a partition of {self.source} had {self.rows:,} rows and now has {len(frame):,}: it is not computed "
                f"alike twice; write {self.source} = {self.source}.persist() first"
            )
        return numbered(frame, self.start)


@final
@dataclass(frozen=True, eq=False)
class _Places:
    """The parts of two tables, counted."""

    names: tuple[str, ...]
    rows: tuple[int, int]
    """The numbers of all rows of both tables."""
    jobs: list[tuple[Any, _TablePart]]
    """The parts that have rows, in the order of tables and rows, and the place of each."""

    @classmethod
    def of(cls, plan: RemotePlan, tables: tuple[Any, Any], dropped: list[str]) -> Self:
        """Count the rows of all parts, and those without missing cells in the ``dropped`` columns."""
        parts = [(part, k) for k, table in enumerate(tables) for part in table.parts]
        found = plan.fold(_counted, _counts, [(part, at) for at, (part, _) in enumerate(parts)], dropped) or {}
        starts: IntArray = np.zeros((2, 2), dtype=np.int64)
        jobs = []
        for at, counts in sorted(found.items()):
            part, k = parts[at]
            start, used = starts[k].tolist()
            jobs.append((part, _TablePart(k, tables[k].source, start, used, counts[0])))
            starts[k] += counts
        for table, own in zip(tables, starts, strict=True):
            if not own[0]:
                raise ValueError(f"{table.source} has no rows")
        return cls(tables[0].names, (int(starts[0, 0]), int(starts[1, 0])), jobs)


# -- on the workers: how many rows there are --------------------------------------------------------------------------


def _counted(frame: Frame, at: int, dropped: list[str]) -> dict[int, tuple[int, int]]:
    """Return how many rows a part has, and how many of them are used."""
    masks = [missing_cells(frame[name]) for name in dropped]
    left_out = int(np.logical_or.reduce(masks).sum()) if masks else 0
    return {at: (len(frame), len(frame) - left_out)}


def _counts(*found: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    return {at: own for each in found for at, own in each.items()}


# -- few rows: they are sent as they are ------------------------------------------------------------------------------


def _held(frame: Frame, part: _TablePart, _: None) -> list[tuple[int, Frame]]:
    return [(part.table, part.numbered(frame))]


def _gathered(*found: list[tuple[int, Frame]]) -> list[tuple[int, Frame]]:
    return [each for own in found for each in own]


# -- many rows: a first look, then sums of features -------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class _Looking:
    """What the first look at a part needs."""

    names: tuple[str, ...]
    encoding: Encoding
    seed: int
    sources: tuple[str, str]


Looked: TypeAlias = FirstLook | TypeError | ValueError
"""The first look at some rows, or the error of the first bad row, whichever part was looked at first."""


def _looked(frame: Frame, part: _TablePart, shared: _Looking) -> Looked:
    first = (part.used, 0) if part.table == 0 else (0, part.used)
    try:
        look = FirstLook(shared.names, shared.encoding, shared.seed, first)
        look.add(part.numbered(frame), part.table)
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
    rows: RowUnits


def _summed(frame: Frame, part: _TablePart, shared: _Adding) -> list[Array]:
    """Return the sums over bins of the rows of one part."""
    sums, start = UnitSums(shared.columns, shared.rows), part.used
    with serial_blas:
        for rows in shared.used.parts(part.numbered(frame)):
            coordinates = shared.used.coordinates(rows)
            if len(coordinates):
                sums.add(coordinates, part.table, _ALONE, start=start)
                start += len(coordinates)
    return sums.state()


def _sums(*found: list[Array]) -> list[Array]:
    """Return the sums over the rows of all."""
    return [reduce(add, arrays) for arrays in zip(*found, strict=True)]
