"""A table whose rows are all held in memory: every pair of columns is tested by :func:`kernelmean.hsic_test`."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ...core.array import as_rng
from ...core.words import listed
from ...inference import Design, TestResult, hsic_test
from ...inference.adaptive.kinds import EvidenceKind
from ...inference.adaptive.many_kernels import NAMED
from ...inference.request import HSIC_ESTIMATORS
from ...inference.resampling import resources_of
from ...plan.plan import DEFAULT
from ...tables.columns import Encoded, encode
from ..designs import STRENGTHS, series_notes
from ..many_tests import Contrasts, ManyTests, OneTest, Run, runs
from ..strengths import Strengths, gaussian_of
from .pair import PairDependence
from .request import LEAST_ROWS, Answered, DependenceOptions, DesignedTable, Pair, check_rows, varying
from .result import LEVEL

_DROPPED = OneTest(math.nan, 1.0, 0)


def tested_in_memory(designed: DesignedTable, options: DependenceOptions, *, noted: bool) -> Answered:
    """Test the columns of a table whose rows are all held in memory; ``noted`` if its reader has told its notes."""
    whole = designed.table.whole()
    encoded = encode((whole,), ("the table",), designed.encoding)
    (frame,), design = encoded.frames, designed.design
    check_rows(len(frame))
    encoded.check_noise(options.estimator)
    groups, pairs = varying(designed.groups, encoded.names, encoded.constant)
    left, right = groups
    n_jobs, steps = resources_of(options.plan).n_jobs, len(pairs) + (left != right)
    tests = _Tests(encoded, options, n_jobs, steps, design)
    stream, stream_of_pairs = as_rng(options.rng).spawn(2)
    joint = None if left == right else tests.joint(left, right, stream)
    ranked, screened = tests.pairs(pairs, joint, stream_of_pairs)
    ranked, on_blanks = tests.on_blanks(ranked, stream_of_pairs)
    alike = options.design.in_series(encoded.frames)
    of_design = design.of_pairs(len(frame)).notes if joint is None and design.says_more else ()
    return Answered(
        groups=groups,
        n_rows=len(frame),
        joint=joint,
        pairs=ranked,
        encoded=encoded,
        notes=(
            *series_notes(alike),
            *encoded.repeated(designed.clusters),
            *designed.notes,
            *on_blanks,
            *encoded.notes(),
            *(() if noted else whole.notes),
            *screened,
            *options.design.notes(STRENGTHS),
            *of_design,
        ),
        in_series=alike is not None,
    )


@dataclass(frozen=True)
class _Tests:
    """The tests of one table, all alike."""

    encoded: Encoded
    options: DependenceOptions
    n_jobs: int
    steps: int
    design: Design

    def run(
        self, left: Iterable[str], right: Iterable[str], rng: np.random.Generator, n_resamples: int, **how: Any
    ) -> TestResult:
        """Test whether two groups of columns are independent."""
        estimator: Any = self.options.estimator
        if self.encoded.variances is not None:
            kernels = (gaussian_of(self.encoded, group) for group in (left, right))
            estimator = tuple(HSIC_ESTIMATORS[estimator](kernel) for kernel in kernels)
        (X,), (Y,) = self.encoded.points(left), self.encoded.points(right)
        plan = replace(self.options.plan or DEFAULT, threads=how.pop("n_jobs", self.n_jobs))
        return hsic_test(
            X, Y, estimator=estimator, n_resamples=n_resamples, rng=rng, plan=plan, design=self.design, **how
        )

    def joint(self, left: tuple[str, ...], right: tuple[str, ...], rng: np.random.Generator) -> TestResult:
        """Test the two groups."""
        self.options.progress("all columns together", 0, self.steps)
        return self.run(left, right, rng, self.options.n_resamples)

    def pairs(
        self, pairs: Sequence[Pair], joint: TestResult | None, rng: np.random.Generator
    ) -> tuple[tuple[PairDependence, ...], tuple[str, ...]]:
        """Test every pair, and note what was screened; if there is one pair only, the joint test is its test."""
        notes: tuple[str, ...] = ()
        if joint is not None and len(pairs) == 1:
            tests = {pairs[0]: OneTest.of(joint)}
        else:
            tests, notes = self._tested(pairs, rng)
        rows = self.design.of_pairs(len(self.encoded.frames[0]))
        strengths = Strengths(self.encoded, rows).of_pairs(pairs)
        every = [tests.get(pair, _DROPPED) for pair in pairs]
        return PairDependence.ranked(pairs, every, strengths, self.options.adjustment), notes

    def _tested(self, pairs: Sequence[Pair], rng: np.random.Generator) -> tuple[dict[Pair, OneTest], tuple[str, ...]]:
        """Test every pair that the screen keeps, all with the same permutations, and again if more are needed."""
        options, planned = self.options, runs(self.options.n_resamples, len(pairs))
        streams = [rng, *rng.spawn(len(planned) - 1)]

        def test(pair: Pair, run: Run) -> OneTest:
            first, second = self._in_order(pair)
            return OneTest.of(
                self.run((first,), (second,), copy.deepcopy(streams[run.number]), run.n_resamples, n_jobs=1)
            )

        faster = self._faster(len(pairs))
        many = ManyTests(
            pairs, " and ".join, "pair", test, options.progress, self.steps, self.n_jobs, faster, options.keep_finished
        )
        kept = many.kept(self._evidence() if options.screen and not self.design.says_more else None)
        tests = many.tested(kept, planned)
        return tests, tuple(many.notes(tests))

    def _faster(self, pairs: int) -> str:
        """Return what to write for a faster answer, if there is something."""
        one = "estimator='kme'" if self.options.estimator in NAMED else ""
        target = "y='COLUMN'" if pairs >= len(self.encoded.names) else ""
        ways = " or ".join(filter(None, (one, target)))
        return f"faster: {ways}" if ways else ""

    def on_blanks(
        self, pairs: Sequence[PairDependence], rng: np.random.Generator
    ) -> tuple[tuple[PairDependence, ...], tuple[str, ...]]:
        """Mark the pairs that depend on each other only in which of their cells are blank, and note them.

        The kind of the others is that of the rows where both cells are known.
        """
        blank = {each.name for each in self.encoded.missing.columns if each.rule == "category"}
        doubtful = [pair for pair in pairs if pair.adjusted <= LEVEL and blank & {pair.x, pair.y}]
        known = {pair: self._where_known(pair, rng) for pair in doubtful}
        only = {pair: p for pair, (p, _) in known.items() if p > LEVEL}
        marked = tuple(
            replace(pair, blanks_only=pair in only, kind=known[pair][1] or pair.kind) if pair in known else pair
            for pair in pairs
        )
        if not only:
            return marked, ()
        names = listed(f"{pair.x} and {pair.y} (p = {p:.2g})" for pair, p in only.items())
        return marked, (
            f"blank cells are a category; where both cells are known, no dependence was found between {names}",
        )

    def _where_known(self, pair: PairDependence, rng: np.random.Generator) -> tuple[float, EvidenceKind | None]:
        """Return the p-value and the kind of a pair in the rows where both cells are known; 1 where none is left.

        The coordinates that tell blank cells are constant there and fall away.
        """
        frame = self.encoded.frames[0].select(self._in_order((pair.x, pair.y)))
        complete = frame.complete()
        known = [self.encoded.coordinates((name,))[0][complete] for name in frame.names]
        vary = [points[:, np.ptp(points, axis=0) > 0.0] for points in known if len(points) >= LEAST_ROWS]
        if len(vary) < 2 or not all(points.shape[1] for points in vary):
            return 1.0, None
        design = self.design.of_rows(complete)
        try:
            result = hsic_test(
                *vary, estimator=self.options.estimator, n_resamples=self.options.n_resamples, rng=rng, design=design
            )
        except ValueError:  # no two of these rows may change places
            return 1.0, None
        return result.pvalue, result.kind

    def _in_order(self, pair: Pair) -> list[str]:
        """Return a pair in a fixed order, whatever the order of its columns in the table."""
        return sorted(pair, key=self.encoded.names.index)

    def _evidence(self) -> Callable[[Pair], float]:
        """Return the function by which the screen judges a pair; contrasts of a column are computed once."""

        @cache
        def contrasts(name: str) -> Contrasts:
            (points,) = self.encoded.coordinates((name,))
            return Contrasts.of(self.encoded.codings[self.encoded.names.index(name)], points)

        def evidence(pair: Pair) -> float:
            first, second = map(contrasts, self._in_order(pair))
            return first.with_partner(second)

        return evidence
