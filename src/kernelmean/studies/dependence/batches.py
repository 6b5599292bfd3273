"""Which columns of a table of any length depend on each other? All rows, batch by batch, in constant memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from ...core.array import Array
from ...core.words import count
from ...inference import TestResult
from ...inference.adaptive.coordinates import Apart, block_pairs
from ...inference.adaptive.many_kernels import Adaptive, combined
from ...inference.bins.fitting import Fitted, fitted
from ...inference.bins.request import seed_of
from ...inference.designs.design import Design
from ...inference.designs.independence import NAME
from ...inference.null import Null
from ...inference.permutations import BINS
from ...inference.products import NOTHING
from ...inference.questions import Pairs
from ...inference.questions.many_pairs import Placed
from ...inference.request import ESTIMATORS as PLAIN
from ...inference.request import Request
from ...inference.request import asked as asked_for
from ...inference.resampling import resources_of
from ...inference.rotations.stripes import BlockPair, memory_of
from ...inference.statistics import ties
from ...plan.plan import DEFAULT, serial_blas
from ...tables.columns.encoded import groups_of
from ..designs import STRENGTHS
from ..many_tests import ManyTests, OneTest, Run, runs
from ..rows.coordinates import LABEL, coordinate_batches
from ..rows.first_look import Learnt, check_rules, learn
from .column_features import LANDMARKS, ColumnFeatures, PairFeatures
from .pair import PairDependence
from .partners import Partners, Sums, WithinDesign, WithoutDesign
from .request import Answered, DependenceOptions, DesignedTable, Groups, Pair, check_rows, varying

_MEMORY = 384 * 2**20
"""Bytes for the sums of one pass, without those of the joint test."""


def tested_in_batches(designed: DesignedTable, options: DependenceOptions) -> Answered:
    """Test the columns of a table of any length."""
    check_rules(designed.encoding)
    seed = seed_of(options.rng)
    in_order = options.design.clusters is None  # else these say which rows belong together
    learnt = learn((designed.table,), designed.encoding, seed, options.progress, in_order=in_order)
    check_rows(learnt.rows[0])
    groups, pairs = varying(designed.groups, [coding.name for coding in learnt.codings], learnt.constant)
    with serial_blas:
        study = _Study.of(designed, learnt, options, seed, len(pairs))
        joint, ranked = study.answers(groups, pairs)
    encoded = learnt.encoded()
    return Answered(
        groups=groups,
        n_rows=learnt.rows[0],
        joint=joint,
        pairs=ranked,
        encoded=encoded,
        notes=(*designed.notes, *encoded.notes(), *study.notes(len(pairs))),
        in_series=learnt.in_series,
    )


@final
@dataclass(frozen=True, eq=False)
class _GroupTest:
    """The test of two groups of columns while its sums are added up."""

    fit: Fitted
    x: Placed
    y: Placed
    sums: Sums


@final
@dataclass(frozen=True, eq=False)
class _Study:
    """All tests of one table, from sums of all rows.

    Scale and categories are those of all rows, and features are fitted column by column to rows that permutations only
    exchange. Permuting the rows of one column against those of another changes none of these, so p-values are exact.
    """

    learnt: Learnt
    options: DependenceOptions
    seed: int
    partners: Partners
    estimator: Adaptive | Any
    """Of a column."""
    columns: dict[str, ColumnFeatures]

    @classmethod
    def of(cls, designed: DesignedTable, learnt: Learnt, options: DependenceOptions, seed: int, pairs: int) -> _Study:
        """Fit the features of all columns."""

        def batches() -> Iterator[Array]:
            return (batch.rows for batch in coordinate_batches(designed.table, learnt))

        partners: Partners
        plan = options.plan or DEFAULT
        if options.design:
            most = runs(options.n_resamples, pairs)[-1].n_resamples
            partners = WithinDesign.of(learnt.rows[0], designed.design, most, seed, batches, plan)
        else:
            partners = WithoutDesign.of(learnt, seed, batches, plan)
        estimators = asked_for(None, options.estimator, PLAIN)
        estimator: Any = estimators.adaptive or estimators.one
        places = groups_of(learnt.codings)
        columns = {
            coding.name: ColumnFeatures.of(coding, np.array(places[coding.name]), partners.pilot, estimator)
            for coding in learnt.codings
        }
        return cls(learnt, options, seed, partners, estimator, columns)

    def notes(self, pairs: int) -> tuple[str, ...]:
        """Return notes on how the table was read and tested."""
        return (
            "all rows were read batch by batch: for the scale and the categories of the columns, then for sums of "
            "products of features",
            f"pairs of columns: features on {LANDMARKS} landmarks of each column (none for categories), fitted "
            f"to {count(len(self.partners.pilot), 'row')} drawn from all",
            f"pictures show {len(self.learnt.shown(0)):,} rows drawn at random",
            *self.options.design.notes(STRENGTHS),
            *self.partners.notes(runs(self.options.n_resamples, pairs)[-1].n_resamples),
        )

    def answers(self, groups: Groups, pairs: Sequence[Pair]) -> tuple[TestResult | None, tuple[PairDependence, ...]]:
        """Return the joint test, if there are two groups, and the test of every pair, strongest dependence first."""
        joint = None if groups[0] == groups[1] else self._joint(groups)
        tests: dict[Pair, tuple[OneTest, float]] = {}
        parts = list(self._parts(pairs))
        for number, part in enumerate(parts):
            tests |= self._tested(part, len(pairs), None if number else joint, f"{number + 1} of {len(parts)}")
        result = None if joint is None else self.partners.joint(joint.fit, joint.x, joint.y, joint.sums)
        strengths = [tests[pair][1] for pair in pairs]
        every = [tests[pair][0] for pair in pairs] if result is None or len(pairs) > 1 else [OneTest.of(result)]
        return result, PairDependence.ranked(pairs, every, strengths, self.options.adjustment)

    def _joint(self, groups: Groups) -> _GroupTest:
        """Fit the joint test."""
        of, pilot = groups_of(self.learnt.codings), self.partners.pilot
        first, second = (np.array(sorted(place for name in group for place in of[name])) for group in groups)
        options = self.options
        estimators = asked_for(None, options.estimator, PLAIN, 2)
        request = Request(estimators, Design(), "v", "auto", options.n_resamples, self.seed)
        question = Pairs.of([pilot[:, first], pilot[:, second]], Design())
        fit = fitted(question, request, self.learnt.rows, self.seed)
        x, y = Placed(fit.columns[0], first), Placed(fit.columns[1], second)
        sums = self.partners.empty(x, y, block_pairs(x.columns, y.columns, fit.kernels))
        return _GroupTest(fit, x, y, sums)

    def _features(self, pair: Pair) -> PairFeatures:
        """Return the features of a pair in a fixed order, wherever its columns are in the table."""
        x, y = (self.columns[name] for name in sorted(pair))
        return PairFeatures.of(x, y, self.estimator)

    def _parts(self, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
        """Yield lists of pairs whose sums fit in memory together."""
        part: list[Pair] = []
        held = 0.0
        for pair in pairs:
            alone = [block for name in {*pair}.difference(*part) for block in self.columns[name].blocks(0)]
            memory = memory_of([*self._features(pair).blocks(), *alone], self.partners.numbers)
            if part and held + memory > _MEMORY:
                yield part
                part, held = [], 0.0
            part.append(pair)
            held += memory
        yield part

    def _tested(
        self, pairs: Sequence[Pair], many: int, joint: _GroupTest | None, which: str
    ) -> dict[Pair, tuple[OneTest, float]]:
        """Return the tests and strengths of some of ``many`` pairs, from one pass over all rows."""
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        features = {pair: self._features(pair) for pair in pairs}
        needed: dict[Pair | str, list[BlockPair]] = {
            pair: both.blocks(names.index(both.x.name), names.index(both.y.name)) for pair, both in features.items()
        }
        needed |= {name: self.columns[name].blocks(place) for place, name in enumerate(names)}
        blocks = [block for products in needed.values() for block in products]
        ends = np.cumsum([0, *map(len, needed.values())]).tolist()
        numbers = {what: range(*limits) for what, limits in zip(needed, pairwise(ends), strict=True)}
        each = Apart([self.columns[name].features for name in names])
        table = Placed(each, slice(0, self.partners.pilot.shape[1]))
        sums = self.partners.empty(table, table, blocks)
        for added in self.partners.filled(sums, *(() if joint is None else (joint.sums,))):
            self.options.progress(f"{LABEL}, pass {which}", added, self.learnt.rows[0])
        planned = runs(self.options.n_resamples, many)
        arrangements = [self._arrangements(run) for run in planned]

        def test(pair: Pair, run: Run) -> OneTest:
            both = features[pair]
            values = sums.values(arrangements[run.number], numbers[pair])[:-1]
            null = Null(values, ties(values, both.magnitudes()), NAME, BINS)
            ones = [1] * len(both.members)
            alone = len(ones) == 1
            outcome = null.outcome(0) if alone else combined(null, self.estimator.combination, both.members, ones)
            return OneTest(outcome["statistic"], outcome["pvalue"], values.shape[1] - 1)

        columns = [self.columns[name] for name in names]
        chance = dict(zip(names, self.partners.chance(columns, sums), strict=True))
        as_they_are = self.partners.arrangements(1, np.random.default_rng(0))

        def excess(what: Pair | str, x: str, y: str) -> float:
            """Return HSIC minus its mean over permutations."""
            return float(sums.values(as_they_are, numbers[what])[-1, 0] - chance[x] * chance[y])

        squares = {column.name: excess(column.name, column.name, column.name) for column in columns}
        varies = {column.name for column in columns if squares[column.name] > (NOTHING * column.trace) ** 2}

        def strength(pair: Pair) -> float:
            """Return it over the mean of both columns with themselves, 0 where one varies too little."""
            scale = math.sqrt(squares[pair[0]] * squares[pair[1]]) if varies.issuperset(pair) else math.inf
            return min(excess(pair, *pair) / scale, 1.0)

        n_jobs, progress = resources_of(self.options.plan).n_jobs, self.options.progress
        tests = ManyTests(pairs, " and ".join, "pair", test, progress, len(pairs), n_jobs).tested(pairs, planned)
        return {pair: (tests[pair], strength(pair)) for pair in pairs}

    def _arrangements(self, run: Run) -> Any:
        """Return the permutations of all tests of a run; their random numbers are not those that shuffle windows."""
        return self.partners.arrangements(run.n_resamples, np.random.default_rng([self.seed, 0, 1 + run.number]))
