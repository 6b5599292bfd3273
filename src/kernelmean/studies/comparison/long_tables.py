"""Do two tables of any length come from one distribution, and which columns differ? Constant memory."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.table import Frame
from ...core.words import listed
from ...inference import TestResult
from ...inference.adaptive.columns import row_order
from ...inference.adaptive.coordinates import Columns
from ...inference.adaptive.views import ViewSource
from ...inference.bins.fitting import Fitted
from ...inference.bins.request import BinnedTest, seed_of
from ...inference.bins.samples import PairsInUnits, SamplesInUnits
from ...inference.designs.design import Design
from ...inference.questions import TwoSamples
from ...inference.request import ESTIMATORS as PLAIN
from ...inference.request import Request
from ...inference.request import asked as asked_for
from ...inference.resampling import Resampling
from ...inference.units.unit_sums import dealt_units
from ...plan.plan import DEFAULT, Plan, serial_blas
from ...tables.columns import match_columns
from ...tables.columns.encoded import named
from ...tables.source import Source
from ..many_tests import ManyTests, OneTest, Run
from ..rows.designed_rows import DesignedRows
from ..rows.first_look import Learnt, check_rules, learn
from .answers import Answers
from .column_tests import LANDMARKS, ColumnTest, column_tests
from .mean_gaps import Places
from .request import Asked
from .result import Comparison
from .row_weights import RowWeights
from .table_pass import PairSums, TableSums, run_pairs, run_pass

RULES = ("median", "median-unsquared")
_WITH_DESIGN = (
    "all rows were read three times: for the design, for the scale and the categories of the columns, then for sums of "
    "features",
)
_READ = ("all rows were read twice: for the scale and the categories of the columns, then for sums of features",)


def compare_in_batches(A: Source, B: Source, options: Asked, inputs: tuple[Any, Any]) -> Comparison:
    """Compare all rows of two tables in linear time and constant memory, as :func:`kernelmean.compare` says.

    The columns of a design are held, and read before all others. ``inputs`` are the tables as they were passed.
    """
    check_batches(options)
    tables, moved = matched(A, B, options.names)
    seed, rows, read = seed_of(options.rng), None, _READ
    if options.design:
        rows, read = DesignedRows.of_sources(tables, options.design, options.encoding, inputs), _WITH_DESIGN
        options.check_sizes(rows.sizes)
        rest = options.design.beside(tables[0].names, options.names[0])
        first, second = (table.reordered(rest).only(kept) for table, kept in zip(tables, rows.looked, strict=True))
        tables = first, second
    drawn = PilotRows.of(options, seed, rows)
    learnt = learn(tables, options.encoding, seed, options.progress, drawn.pilot, in_order=drawn.in_order)
    with serial_blas:
        tests = Tests.of(learnt, drawn)
        return tests.compared(tests.added(tables), (*moved, *read))


@final
@dataclass(frozen=True, eq=False)
class PilotRows:
    """Which rows features are fitted to and which of them change places, as far as this is known beforehand."""

    options: Asked
    test: BinnedTest
    rows: DesignedRows | None
    units: SamplesInUnits | PairsInUnits | None
    """Of a design: without one, they follow from the number of rows that the first pass finds."""

    @classmethod
    def of(cls, options: Asked, seed: int, rows: DesignedRows | None) -> Self:
        """Return the rows of a test, with a design from the columns of the design."""
        test = BinnedTest(TwoSamples, _request(options, seed, Design() if rows is None else rows.design), seed)
        if rows is None:
            return cls(options, test, rows, None)
        kind = PairsInUnits if options.design.paired else SamplesInUnits
        return cls(options, test, rows, kind.of(test, rows.sizes))

    @property
    def pilot(self) -> tuple[IntArray, ...]:
        """The numbers of the rows that features are fitted to, if they are known."""
        return () if self.units is None else self.units.pilot

    @property
    def in_order(self) -> bool:
        """Whether it matters that neighbours are alike: not where clusters or pairs say which rows belong together."""
        return self.options.design.clusters is None and not self.options.design.paired

    def placed(self, learnt: Learnt) -> tuple[SamplesInUnits | PairsInUnits, list[Frame]]:
        """Return the units of all rows, and the rows of the pilot."""
        if self.units is not None:
            return self.units, list(learnt.picked)
        deals = learnt.deals(self.test.seed)
        units = SamplesInUnits(self.test, deals, dealt_units(deals), learnt.numbers, learnt.rows)
        return units, [learnt.pilot(k, deal) for k, deal in enumerate(deals.each)]


def check_batches(options: Asked) -> None:
    """Raise for options that need all rows in memory."""
    options.check_bandwidth()
    if isinstance(options.bandwidth, str) and options.bandwidth not in RULES:
        raise ValueError(
            f"bandwidth is {options.bandwidth!r}, which needs all rows in memory; write {listed(map(repr, RULES))}, or "
            "a number, or hold all rows: kernelmean.read(..., in_memory=True)"
        )
    check_rules(options.encoding)


def matched(A: Any, B: Any, called: tuple[str, str]) -> tuple[tuple[Any, Any], tuple[str, ...]]:
    """Return both tables with their columns in the same order, and a note if they had to be moved."""
    if not (A.named and B.named) and len(A.names) == len(B.names):  # an array takes the names of the other table
        A, B = (A.called(B.names), B) if B.named else (A, B.called(A.names))
    first, second = (
        Frame({name: np.empty(0) for name in table.names}, source, named=table.named)
        for table, source in zip((A, B), called, strict=True)
    )
    moved = match_columns(first, second)[1]
    note = (f"{called[1]}: its columns stand in another order and were matched by name",) if moved else ()
    return (A, B.reordered(A.names)), note


@final
@dataclass(frozen=True, eq=False)
class Tests:
    """The tests of all columns together and of each alone, from the same sums of all rows.

    Features are fitted to the coordinates of a pilot; scale and categories are those of all rows of both tables. Bins
    hold equally many rows, and equally many rows of the pilot, so a permutation of bins changes neither. The statistics
    of the permutations are those of the permuted rows, and p-values are exact.
    """

    fit: Fitted
    """The joint test."""
    each: dict[str, ColumnTest]
    columns: Columns
    """What all tests add up, side by side."""
    places: Sequence[IntArray]
    """The positions of the sums of each test, the joint test first."""
    units: SamplesInUnits | PairsInUnits
    drawing: PilotRows
    learnt: Learnt
    """With columns in the order of their shapes in the pilot: p-values do not depend on the order of the table."""

    @classmethod
    def of(cls, learnt: Learnt, drawing: PilotRows) -> Self:
        """Fit the tests to the pilot."""
        options, request = drawing.options, drawing.test.request
        options.check(learnt.rows, learnt.codings)
        units, frames = drawing.placed(learnt)
        learnt = learnt.ordered(frames)
        question = TwoSamples.of(named(learnt.codings, [learnt.coordinates(frame) for frame in frames]), Design())
        fit = units.fitted_to(question)
        pooled = question.tables[0]
        source = ViewSource(pooled[row_order(pooled)], fit.columns[0].fits)
        estimator: Any = request.wanted.adaptive or request.wanted.one
        each = column_tests(source, learnt.codings, estimator, options.bandwidth)
        columns, places = Columns.side_by_side([fit.columns[0], *(test.columns for test in each.values())])
        return cls(fit, each, columns, places, units, drawing, learnt)

    def added(self, tables: tuple[Source, Source]) -> TableSums | PairSums:
        """Return the sums of all rows."""
        options, learnt = self.drawing.options, self.learnt
        plan = options.plan if isinstance(options.plan, Plan) else DEFAULT
        if isinstance(self.units, PairsInUnits):
            pairs = PairSums.of(self.columns, self.units.rows, learnt.codings)
            run_pairs(pairs, tables, learnt, plan, options.progress)
            return pairs
        sums = self.sums()
        run_pass(sums, tables, learnt, plan, options.progress)
        return sums

    def sums(self) -> TableSums:
        """Return the sums of no rows."""
        rows = self.drawing.rows
        places = None if rows is None else Places.of(rows.design, rows.sizes)
        return TableSums.of(self.columns, self.units.rows, self.learnt.codings, places)

    @property
    def bandwidth(self) -> float | None:
        """θ of the joint test; None for an adaptive test, which has many."""
        estimators = self.fit.question.asked
        estimator = None if estimators is None or not estimators.found else estimators.found[0]
        kernel: Any = None if estimator is None else estimator.kernel
        return None if kernel is None else float(kernel.bandwidth)

    def compared(self, sums: TableSums | PairSums, notes: tuple[str, ...]) -> Comparison:
        """Return the result from the sums of all rows; ``notes`` say how these were read."""
        options, rows, learnt, totals = self.drawing.options, self.drawing.rows, self.learnt, sums.units.all()
        encoded = learnt.encoded().called(options.names)
        weights = None if rows is None else RowWeights.of(rows.taken.of(encoded.frames))
        if weights is not None and isinstance(sums, TableSums) and sums.places is not None:
            weights = replace(weights, within=sums.places.within)
        shown = " and ".join(f"{len(frame):,}" for frame in encoded.frames)
        return Answers(
            encoded=encoded,
            sizes=(learnt.rows[0], learnt.rows[1]),
            joint=self.joint(totals),
            bandwidth=self.bandwidth,
            alone=self.alone(totals),
            summaries=sums.summaries(learnt),
            weights=weights,
            in_series=learnt.in_series,
        ).compared(
            options,
            before=(*notes, *(() if rows is None else rows.notes)),
            after=(
                *encoded.notes(" over both tables", learnt.rows),
                f"tests of single columns: numbers by kernels on {LANDMARKS} landmarks each, none for categories",
                f"rows that stand out, pictures and spreads use {shown} rows drawn at random",
            ),
        )

    def joint(self, sums: Array) -> TestResult:
        """Return the test of all columns together."""
        return self.units.of_sums(self.fit, self.fit.columns[0], sums[:, self.places[0]])

    def alone(self, sums: Array) -> dict[str, OneTest]:
        """Return the test of every column, all with the same permutations."""
        options = self.drawing.options
        planned = options.runs(len(self.each))
        streams = np.random.default_rng([self.drawing.test.seed, 1]).spawn(len(planned))
        places = dict(zip(self.each, self.places[1:], strict=True))

        def test(name: str, run: Run) -> OneTest:
            how = Resampling.of("auto", run.n_resamples, deepcopy(streams[run.number]))
            column = self.each[name]
            return column.outcome(self.units.null(self.fit.question, column.columns, sums[:, places[name]], how))

        many = ManyTests(list(self.each), str, "column", test, options.progress, len(self.each))
        return many.tested(many.items, planned)


def _request(options: Asked, seed: int, design: Design) -> Request:
    """Return the request of all tests."""
    known = {name: partial(make, bandwidth=options.bandwidth) for name, make in PLAIN.items()}
    return Request(
        asked_for(None, options.estimator, known),
        design,
        "v" if design.says_more else "u",
        "auto",
        options.n_resamples,
        seed,
    )
