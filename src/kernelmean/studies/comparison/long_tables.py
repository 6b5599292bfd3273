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
from ...core.words import count, listed
from ...inference import TestResult
from ...inference.adaptive.columns import row_order
from ...inference.adaptive.coordinates import Columns
from ...inference.adaptive.many_kernels import NAMED
from ...inference.adaptive.views import ViewSource
from ...inference.bins.fitting import Fitted, fitted
from ...inference.bins.request import seed_of
from ...inference.designs.design import Design
from ...inference.questions import TwoSamples
from ...inference.request import ESTIMATORS as PLAIN
from ...inference.request import Request
from ...inference.request import asked as asked_for
from ...inference.resampling_options import Resampling
from ...inference.units.dealing import Deals
from ...inference.units.layout import Units
from ...inference.units.unit_sums import DealtRows, UnitSums, dealt_units, null_of_sums
from ...plan.plan import DEFAULT, Plan, serial_blas
from ...tables.columns import Encoded, Encoding, match_columns
from ...tables.columns.column_codings import named
from ...tables.source import Source
from ..many_tests import ManyTests, OneTest, Run
from .column_tests import LANDMARKS, ColumnTest, column_tests
from .first_look import Learnt, learn
from .ranking import ranked
from .request import Asked
from .result import Comparison
from .table_pass import run_pass
from .table_test import check_own_bandwidth, planned_runs

ESTIMATORS = (*NAMED, *PLAIN)
RULES = ("median", "median-unsquared")
_READ = ("all rows were read twice: for the scale and the categories of the columns, then for sums of features",)


def compare_in_batches(A: Source, B: Source, asked: Asked) -> Comparison:
    """Compare all rows of two tables in linear time and constant memory, as :func:`kernelmean.compare` says."""
    check_batches(asked)
    tables, moved = matched(A, B, asked.names)
    seed = seed_of(asked.rng)
    learnt = learn(tables, asked.encoding, seed, asked.progress)
    with serial_blas:
        tests = Tests.of(learnt, asked, seed)
        sums = UnitSums(tests.columns, DealtRows(learnt.deals(seed)))
        plan = asked.plan if isinstance(asked.plan, Plan) else DEFAULT
        run_pass(sums, tables, learnt, plan, asked.progress)
        return tests.compared(learnt, sums.all(), (*moved, *_READ))


def check_batches(asked: Asked) -> None:
    """Raise for options that need all rows in memory."""
    if asked.estimator not in ESTIMATORS:
        raise ValueError(f"estimator is {asked.estimator!r}; over sums of features write one of {listed(ESTIMATORS)}")
    check_own_bandwidth(asked)
    if isinstance(asked.bandwidth, str) and asked.bandwidth not in RULES:
        raise ValueError(
            f"bandwidth is {asked.bandwidth!r}, which needs all rows in memory; write {listed(map(repr, RULES))}, or a "
            "number"
        )
    check_rules(asked.encoding)


def check_rules(encoding: Encoding) -> None:
    """Raise for a rule for missing cells that needs all rows in memory."""
    missing = encoding.missing
    if "noise" in ([missing] if isinstance(missing, str) else [*missing.values()]):
        raise ValueError(
            "noise in missing cells gives every row a kernel of its own, which needs all rows in memory; write "
            "missing='category' or 'drop', or hold the rows, or a part of them, in memory: "
            "kernelmean.read(..., in_memory=True)"
        )


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


def _check_learnt(learnt: Learnt, names: tuple[str, str]) -> None:
    for rows, name in zip(learnt.rows, names, strict=True):
        if rows < 2:
            raise ValueError(f"{name} has {count(rows, 'row')}; a comparison needs at least 2 in each table")
    if not learnt.codings:
        raise ValueError(
            f"every column of {names[0]} and {names[1]} is constant and the same in both; there is nothing to compare"
        )


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
    asked: Asked
    seed: int

    @classmethod
    def of(cls, learnt: Learnt, asked: Asked, seed: int) -> Self:
        """Fit the tests to the pilot."""
        _check_learnt(learnt, asked.names)
        frames = [learnt.pilot(k, own) for k, own in enumerate(learnt.deals(seed).each)]
        request = _request(asked, seed)
        question = TwoSamples.of(named(learnt.codings, [learnt.coordinates(frame) for frame in frames]), Design())
        fit = fitted(question, request, learnt.rows, seed)
        pooled = question.tables[0]
        source = ViewSource(pooled[row_order(pooled)], fit.columns[0].fits)
        wanted: Any = request.wanted.adaptive or request.wanted.one
        each = column_tests(source, learnt.codings, wanted, asked.bandwidth)
        columns, places = Columns.side_by_side([fit.columns[0], *(own.columns for own in each.values())])
        return cls(fit, each, columns, places, asked, seed)

    @property
    def bandwidth(self) -> float | None:
        """θ of the joint test; None for an adaptive test, which has many."""
        asked = self.fit.question.asked
        found = None if asked is None or not asked.found else asked.found[0]
        kernel: Any = None if found is None else found.kernel
        return None if kernel is None else float(kernel.bandwidth)

    def compared(self, learnt: Learnt, sums: Array, notes: tuple[str, ...]) -> Comparison:
        """Return the result from the sums of all rows; ``notes`` say how these were read."""
        asked, deals = self.asked, learnt.deals(self.seed)
        joint, alone = self.joint(sums, deals), self.alone(sums, dealt_units(deals))
        encoded = _shown(learnt)
        summaries = learnt.scan.summaries(learnt.codings)
        return Comparison(
            names=asked.names,
            sizes=(learnt.rows[0], learnt.rows[1]),
            test=joint,
            estimator=asked.estimator,
            bandwidth=self.bandwidth,
            scaled=asked.encoding.scale,
            columns=ranked(learnt.codings, summaries, joint.noise, alone, asked.adjustment),
            notes=(
                *asked.notes,
                *notes,
                *_notes(encoded, asked.names, learnt.rows),
                *joint.notes,
            ),
            missing=learnt.missing,
            encoded=encoded,
            level=asked.level,
            adjustment=asked.adjustment,
            in_series=learnt.in_series,
        )

    def joint(self, sums: Array, deals: Deals) -> TestResult:
        """Return the test of all columns together."""
        units, columns = dealt_units(deals), self.fit.columns[0]
        null = null_of_sums(columns, sums[:, self.places[0]], units, "u", self.fit.how)
        first, second = deals.each
        bins = f"permutations of {first.bins} and {second.bins} bins of {count(first.size, 'row')}"
        return self.fit.result(null, (first.n, second.n), bins)

    def alone(self, sums: Array, units: Units) -> dict[str, OneTest]:
        """Return the test of every column, all with the same permutations."""
        planned = planned_runs(self.asked, len(self.each))
        streams = np.random.default_rng([self.seed, 1]).spawn(len(planned))
        places = dict(zip(self.each, self.places[1:], strict=True))

        def test(name: str, run: Run) -> OneTest:
            how = Resampling.of("auto", run.n_resamples, deepcopy(streams[run.number]))
            return self.each[name](sums[:, places[name]], units, how)

        many = ManyTests(list(self.each), str, "column", test, self.asked.progress, len(self.each))
        return many.tested(many.items, planned)


def _request(asked: Asked, seed: int) -> Request:
    """Return the request of the joint test."""
    known = {name: partial(make, bandwidth=asked.bandwidth) for name, make in PLAIN.items()}
    return Request(asked_for(None, asked.estimator, known), Design(), "u", "auto", asked.n_resamples, seed)


def _shown(learnt: Learnt) -> Encoded:
    """Return the rows that are kept in memory, in the order of the tables."""
    frames = learnt.shown(0), learnt.shown(1)
    return Encoded(
        codings=learnt.codings,
        tables=(learnt.coordinates(frames[0]), learnt.coordinates(frames[1])),
        variances=None,
        frames=frames,
        constant=learnt.constant,
        missing=learnt.missing,
        remarks=(*learnt.missing.costly(learnt.rows), *learnt.remarks),
    )


def _notes(encoded: Encoded, names: tuple[str, str], rows: tuple[int, ...]) -> tuple[str, ...]:
    shown = " and ".join(f"{len(frame):,}" for frame in encoded.frames)
    sources = [replace(frame, source=name) for frame, name in zip(encoded.frames, names, strict=True)]
    return (
        *replace(encoded, frames=(sources[0], sources[1])).notes(" over both tables", rows),
        f"tests of single columns: numbers by kernels on {LANDMARKS} landmarks each, none for categories",
        f"rows that stand out, pictures and spreads use {shown} rows drawn at random",
    )
