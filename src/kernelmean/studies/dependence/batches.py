"""Which columns of a table of any length depend on each other? All rows, batch by batch, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.table import Frame
from ...core.words import count, listed
from ...inference import TestResult
from ...inference.adaptive.coordinates import Apart, block_pairs
from ...inference.adaptive.many_kernels import NAMED, Adaptive, combined
from ...inference.bins.fitting import Fitted, fitted
from ...inference.bins.request import seed_of
from ...inference.designs.design import Design
from ...inference.null import adjusted
from ...inference.questions import Pairs
from ...inference.request import ESTIMATORS as PLAIN
from ...inference.request import Request
from ...inference.request import asked as asked_for
from ...inference.resampling_options import resources_of
from ...inference.rotations.stripes import BlockPair, StripeSums, memory_of, turns_of
from ...inference.rotations.windows import Stripes
from ...plan.plan import DEFAULT, serial_blas
from ...tables.columns import Encoded
from ...tables.columns.encoded import groups_of
from ...tables.prefetch import ahead
from ...tables.source import Source
from ..comparison.first_look import Learnt, learn
from ..comparison.long_tables import check_rules
from ..comparison.table_pass import LABEL, coordinate_batches
from ..many_tests import ManyTests, OneTest, Run, runs
from .column_features import LANDMARKS, ColumnFeatures, PairFeatures
from .pair import PairDependence
from .request import LEAST_ROWS, DependenceOptions, Groups, Pair, varying
from .result import Dependence

ESTIMATORS = (*NAMED, *PLAIN)
_MEMORY = 384 * 2**20
"""Bytes for the sums of one pass, without those of the joint test."""


def dependence_in_batches(table: Source, asked: DependenceOptions) -> Dependence:
    """Test the columns of a table of any length, as :func:`kernelmean.dependence` says."""
    if asked.estimator not in ESTIMATORS:
        raise ValueError(f"estimator is {asked.estimator!r}; over sums of features write one of {listed(ESTIMATORS)}")
    groups = asked.groups(table.names)
    used = [name for name in table.names if name in {*groups[0], *groups[1]}]
    encoding = asked.encoding.restricted(Frame({name: np.empty(0) for name in table.names}, table.source), used)
    check_rules(encoding)
    chosen, seed = table if used == list(table.names) else table.reordered(used), seed_of(asked.rng)
    learnt = learn((chosen,), encoding, seed, asked.progress)
    if learnt.rows[0] < LEAST_ROWS:
        raise ValueError(f"the table has {count(learnt.rows[0], 'row')}; a test of independence needs at least 4")
    groups, pairs = varying(groups, [coding.name for coding in learnt.codings], learnt.constant)
    with serial_blas:
        study = _Study.of(chosen, learnt, asked, seed)
        joint, found = study.answers(groups, pairs)
    encoded = _shown(learnt)
    return Dependence(
        x=groups[0],
        y=groups[1],
        n_rows=learnt.rows[0],
        test=joint,
        pairs=found,
        estimator=asked.estimator,
        notes=(*encoded.notes(), *study.notes(len(pairs)), *(() if joint is None else joint.notes)),
        missing=learnt.missing,
        encoded=encoded,
        adjustment=asked.adjustment,
        in_series=learnt.in_series,
    )


def _shown(learnt: Learnt) -> Encoded:
    """Return the rows that are kept in memory, in the order of the table."""
    frame = learnt.shown(0)
    return Encoded(
        codings=learnt.codings,
        tables=(learnt.coordinates(frame),),
        variances=None,
        frames=(frame,),
        constant=learnt.constant,
        missing=learnt.missing,
        remarks=(*learnt.missing.costly(learnt.rows), *learnt.remarks),
    )


@final
@dataclass(frozen=True, eq=False)
class _GroupTest:
    """The test of two groups of columns while its sums are added up."""

    fit: Fitted
    sums: StripeSums
    places: tuple[IntArray, IntArray]

    def result(self) -> TestResult:
        """Return the test from the sums of all rows."""
        turns = turns_of(self.fit.how.n_resamples, self.sums.lengths, self.fit.how.rng)
        rotated = f"{self.sums.lengths[0]} rotations of either half of the stripes of so many rows"
        return self.fit.result(self.sums.null(turns), (self.sums.rows,), rotated)


@final
@dataclass(frozen=True, eq=False)
class _Study:
    """All tests of one table, from sums of all rows.

    Scale and categories are those of all rows, and features are fitted column by column to rows that are whole stripes.
    Rotating the rows of one column against those of another changes none of these, so p-values are exact.
    """

    table: Source
    learnt: Learnt
    asked: DependenceOptions
    seed: int
    stripes: Stripes
    pilot: Array
    """The coordinates of the rows that features are fitted to."""
    estimator: Adaptive | Any
    """Of a column."""
    columns: dict[str, ColumnFeatures] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Source, learnt: Learnt, asked: DependenceOptions, seed: int) -> _Study:
        """Fit the features of all columns."""
        dim = sum(len(coding.names) for coding in learnt.codings)
        stripes = Stripes.of(learnt.rows[0], dim, learnt.numbers[0], seed)
        pilot = learnt.coordinates(learnt.drawn[0].take(slice(0, len(stripes.drawn))))
        wanted = asked_for(None, asked.estimator, PLAIN)
        estimator: Any = wanted.adaptive or wanted.one
        places = groups_of(learnt.codings)
        columns = {
            coding.name: ColumnFeatures.of(coding, np.array(places[coding.name]), pilot, estimator)
            for coding in learnt.codings
        }
        return cls(table, learnt, asked, seed, stripes, pilot, estimator, columns)

    def notes(self, pairs: int) -> tuple[str, ...]:
        """Return notes on how the table was read and tested."""
        arrangements = self.stripes.rotations**2
        needed = runs(self.asked.n_resamples, pairs)[-1].n_resamples
        few = (
            f"{count(self.learnt.rows[0], 'row')} have {arrangements:,} arrangements: p-values are hardly below "
            f"{1 / arrangements:.2g}",
        )
        return (
            "all rows were read batch by batch: for the scale and the categories of the columns, then for sums of "
            "products of features",
            f"pairs of columns: features on {LANDMARKS} landmarks of each column (none for categories), fitted "
            f"to {count(len(self.pilot), 'row')} drawn from all",
            f"pictures show {len(self.learnt.shown(0)):,} rows drawn at random",
            *(few if needed > arrangements else ()),
        )

    def answers(self, groups: Groups, pairs: Sequence[Pair]) -> tuple[TestResult | None, tuple[PairDependence, ...]]:
        """Return the joint test, if there are two groups, and the test of every pair, strongest dependence first."""
        joint = None if groups[0] == groups[1] else self._joint(groups)
        tests: dict[Pair, tuple[OneTest, float]] = {}
        parts = list(self._parts(pairs))
        for number, part in enumerate(parts):
            tests |= self._tested(part, len(pairs), None if number else joint, f"{number + 1} of {len(parts)}")
        result = None if joint is None else joint.result()
        if result is not None and len(pairs) == 1:
            alone = OneTest(result.statistic, result.pvalue, result.n_resamples, result.kind)
            tests = {pair: (alone, measured) for pair, (_, measured) in tests.items()}
        values = adjusted((tests[pair][0].pvalue for pair in pairs), self.asked.adjustment)
        found = [
            PairDependence.of(pair, tests[pair][1], tests[pair][0], q) for pair, q in zip(pairs, values, strict=True)
        ]
        return result, tuple(sorted(found, key=lambda pair: (pair.adjusted, -pair.strength)))

    def _joint(self, groups: Groups) -> _GroupTest:
        """Fit the joint test."""
        of = groups_of(self.learnt.codings)
        first, second = (np.array(sorted(place for name in group for place in of[name])) for group in groups)
        asked = self.asked
        wanted = asked_for(None, asked.estimator, PLAIN, 2)
        request = Request(wanted, Design(), "v", "auto", asked.n_resamples, self.seed)
        question = Pairs.of([self.pilot[:, first], self.pilot[:, second]], Design())
        fit = fitted(question, request, self.learnt.rows, self.seed)
        x, y = fit.columns
        return _GroupTest(fit, StripeSums(x, y, block_pairs(x, y, fit.kernels), self.stripes.halves), (first, second))

    def _features(self, pair: Pair) -> PairFeatures:
        """Return the features of a pair in a fixed order, wherever its columns are in the table."""
        x, y = (self.columns[name] for name in sorted(pair))
        return PairFeatures.of(x, y, self.estimator)

    def _parts(self, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
        """Yield lists of pairs whose sums fit in memory together."""
        part: list[Pair] = []
        held = 0.0
        for pair in pairs:
            own = memory_of(self._features(pair).blocks(), self.stripes.halves)
            if part and held + own > _MEMORY:
                yield part
                part, held = [], 0.0
            part.append(pair)
            held += own
        yield part

    def _tested(
        self, pairs: Sequence[Pair], many: int, joint: _GroupTest | None, which: str
    ) -> dict[Pair, tuple[OneTest, float]]:
        """Return the tests and strengths of some of ``many`` pairs, from one pass over all rows."""
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        features = {pair: self._features(pair) for pair in pairs}
        blocks: list[BlockPair] = []
        numbers: dict[Pair, range] = {}
        for pair, own in features.items():
            found = own.blocks(names.index(own.x.name), names.index(own.y.name))
            numbers[pair] = range(len(blocks), len(blocks) + len(found))
            blocks += found
        table = Apart([self.columns[name].own for name in names])
        sums = StripeSums(table, table, blocks, self.stripes.halves)
        self._add(sums, joint, which)
        planned = runs(self.asked.n_resamples, many)
        turns = [self._turns(run) for run in planned]
        observed: dict[Pair, float] = {}

        def test(pair: Pair, run: Run) -> OneTest:
            null, members = sums.null(turns[run.number], numbers[pair]), features[pair].members
            observed[pair] = float(null.values[-1, 0])
            null = replace(null, values=null.values[:-1], tolerance=null.tolerance[:-1])
            alone = len(members) == 1
            ones = [1] * len(members)
            outcome = null.outcome(0) if alone else combined(null, self.estimator.combination, members, ones)
            return OneTest(outcome["statistic"], outcome["pvalue"], run.n_resamples)

        n_jobs, progress = resources_of(self.asked.plan).n_jobs, self.asked.progress
        tests = ManyTests(pairs, " and ".join, "pair", test, progress, len(pairs), n_jobs).tested(pairs, planned)
        rows = self.learnt.rows[0]
        return {pair: (tests[pair], features[pair].strength(observed[pair], rows)) for pair in pairs}

    def _turns(self, run: Run) -> IntArray:
        """Return the rotations of all tests of a run; their random numbers are not those that shuffle windows."""
        return turns_of(run.n_resamples, self.stripes.halves, np.random.default_rng([self.seed, 0, 1 + run.number]))

    def _add(self, sums: StripeSums, joint: _GroupTest | None, which: str) -> None:
        """Add all rows."""
        plan, total = self.asked.plan or DEFAULT, self.learnt.rows[0]
        with closing(ahead(self.stripes.dealt(self.pilot, self._batches()))) as parts:
            for rows in parts:
                sums.add(rows, rows, plan)
                if joint is not None:
                    first, second = joint.places
                    joint.sums.add(rows[:, first], rows[:, second], plan)
                self.asked.progress(f"{LABEL}, pass {which}", sums.rows, total)

    def _batches(self) -> Iterator[Array]:
        return (batch.rows for batch in coordinate_batches(self.table, self.learnt))
