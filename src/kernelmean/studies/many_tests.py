"""Many tests read together: a screen first, then as many permutations as their number needs, and a time estimate.

Permutations grow. If at most ten permutations of a test, counting the observed one, reach its observed statistic, the
test is run again with new and more permutations, and the new p-value replaces the old one. That is exact: with
P₁ < P₂ < … permutations, one run decides for every α: the first for α ≥ 10 / P₁, the second for α from 10 / P₂ up to
10 / P₁, and so on. The result is at most α only if the p-value of that run is, and each of these is valid alone.

The screen is a fast look at many pairs of columns, to find those that are worth the full test. Dropped tests have
p = 1. That is never less than the p-value they would have had, so every p-value stays valid, and so does
Holm's method over all tests, whatever the screen looks at. Only power could be lost (benchmarks/power/screen.py
measures how much). The same holds for the tests that are left when a run is stopped, whenever that is.

A column becomes two short sequences of orthonormal contrasts: for numbers the cosines of their ranks, and the values
with their distances from the middle; for categories how often each occurs. The squared sums of the first 1, 2, 4, …
contrasts are nearly :math:`χ^2` if there is no difference (Neyman's smooth tests); so are those of the first j of one
column with the first k of another if there is no dependence. The harmonic mean of their p-values is the evidence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Self, TypeVar, final

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import chdtrc
from scipy.stats import rankdata

from ..core.array import Array, IntArray, Progress
from ..core.pace import Pace
from ..core.words import Notice, count, roughly
from ..inference import TestResult
from ..inference.adaptive.columns import in_spreads
from ..inference.adaptive.kinds import EvidenceKind
from ..inference.null import HOLM, adjusted, enough_for_holm
from ..inference.resampling import check_n_resamples
from ..inference.tiling import in_order
from ..tables.columns.kinds import Coding

Item = TypeVar("Item")
Result = TypeVar("Result")
SCREENED, LEFT = "1 (screened out)", "1 (not tested)"
"""How reports show the p-value of a test that the screen dropped, and of one that a stopped run left."""
_FEW = 10
_PLENTY, _DIRECTLY, _GROWTH, _MOST = 9_999, 20, 10, 100_000
_FINE = 10.0
"""Of many tests the last run can show a level divided by this, so that one permutation more or less decides nothing."""
_PATIENCE = 5.0
"""Tests that are run again take many times as long as the others, so estimates wait for more of them."""
_LONG = 180.0
"""After so many seconds a reader wants to know a faster way."""


class OneTest(NamedTuple):
    """What one of many tests found."""

    statistic: float
    pvalue: float
    n_resamples: int
    """0 if the screen dropped the test, or the run was stopped before it."""
    kind: EvidenceKind | None = None
    """Where the evidence lies, if the test says so."""
    finished: bool = True
    """Whether the run was not stopped before this test was finished."""

    @classmethod
    def of(cls, result: TestResult) -> Self:
        """Return what a test found."""
        return cls(result.statistic, result.pvalue, result.n_resamples, result.kind)

    def needs(self, n_resamples: int) -> bool:
        """Return whether so many permutations are more than before, and may matter."""
        return n_resamples > self.n_resamples and round(self.pvalue * (self.n_resamples + 1)) <= _FEW


_UNFINISHED = OneTest(np.nan, 1.0, 0, finished=False)


def out_of_reach(smallest: Iterable[float], level: float, noun: str, adjustment: str = HOLM) -> tuple[str, ...]:
    """Return a note if no adjusted p-value can reach a level, given the smallest p-value that each test can have.

    Examples
    --------
    >>> (note,) = out_of_reach([0.1, 0.1], 0.05, "column")
    >>> note.partition(": ")[0]
    'with so few rows or permutations no adjusted p-value of 2 columns below 0.2 is possible'
    >>> out_of_reach([0.01, 0.1], 0.05, "column"), out_of_reach([0.1], 0.05, "column")
    ((), ())
    """
    known = list(smallest)
    least = min(adjusted(known, adjustment)) if len(known) > 1 else 0.0
    if least <= level:
        return ()
    return (
        f"with so few rows or permutations no adjusted p-value of {count(len(known), noun)} below {least:.2g} is "
        f"possible: no single {noun} can be found at level {level:g}",
    )


class Run(NamedTuple):
    """One of the runs of a test."""

    number: int
    n_resamples: int


def runs(n_resamples: int, tests: int, level: float = 0.05) -> tuple[Run, ...]:
    """Return the runs for each of so many tests, the last with enough permutations for Holm's method at a level.

    A small level does not ask for more than 100,000 that .05 would not need: results say what they cannot show. Of many
    tests only few need the last run, so it has more than enough, and one that asks for more than 10,000 permutations
    begins with a tenth of them.
    """
    n_resamples = check_n_resamples(n_resamples)
    enough = min(enough_for_holm(n_resamples, tests, level), max(_MOST, enough_for_holm(n_resamples, tests)))
    numbers = [n_resamples]
    if tests > UNSCREENED:
        numbers = [min(n_resamples, max(_PLENTY, n_resamples // _GROWTH))]
        enough = max(enough, min(_MOST, enough_for_holm(n_resamples, tests, level, _FINE)))
    while numbers[-1] < enough:
        numbers.append(enough if enough <= _DIRECTLY * numbers[-1] else _GROWTH * numbers[-1])
    return tuple(map(Run, range(len(numbers)), numbers))


@final
@dataclass(frozen=True)
class ManyTests(Generic[Item]):
    """Tests of the same kind, read together by Holm's method."""

    items: Sequence[Item]
    """What is tested."""
    named: Callable[[Item], str]
    noun: str
    """What an item is: "column"."""
    test: Callable[[Item, Run], OneTest]
    progress: Progress
    steps: int
    """All steps that the progress counts; the steps of the items come last."""
    n_jobs: int = 1
    faster: str = ""
    """What to write for a faster answer."""
    keep: bool = False
    """Whether Ctrl-C ends the tests and keeps those that are finished; the others then have p = 1, as dropped ones."""
    clock: Callable[[], float] = time.monotonic

    def kept(self, evidence: Callable[[Item], float] | None) -> list[Item]:
        """Return the items that the screen keeps, at least one; all without a screen or for few items."""
        if evidence is None or len(self.items) <= UNSCREENED:
            return list(self.items)
        outcomes = self._timed(in_order(evidence, self.items, self.n_jobs), self.items, "screen")
        values = np.fromiter(outcomes, np.float64)
        limit = max(limit_of(len(self.items)), values.min())
        return [item for item, value in zip(self.items, values, strict=True) if value <= limit]

    def tested(self, items: Sequence[Item], planned: Sequence[Run]) -> dict[Item, OneTest]:
        """Test items, each again if it needs more permutations.

        The items are taken in a random order, so that the time of the first ones says how long all of them take.
        """
        shuffled = [items[k] for k in np.random.default_rng(0).permutation(len(items))]
        outcomes = in_order(lambda item: self._one(item, planned), shuffled, self.n_jobs)
        verb = f"test with {planned[0].n_resamples:,} permutations"
        if len(planned) > 1:
            verb += f", and with up to {planned[-1].n_resamples:,} where p is small"
        timed_ = self._timed(outcomes, items, verb, _PATIENCE if len(planned) > 1 else 1.0)
        tests: dict[Item, OneTest] = {}
        try:
            for step, (item, outcome) in enumerate(zip(shuffled, timed_, strict=True), start=self.steps - len(items)):
                self.progress(self.named(item), step, self.steps)  # no label twice: steps of one label have one pace
                tests[item] = outcome
        except KeyboardInterrupt:
            if not self.keep or not tests:
                raise
        return {item: tests.get(item, _UNFINISHED) for item in items}

    def notes(self, tests: Mapping[Item, OneTest]) -> Iterator[str]:
        """Yield notes if not all items were tested in full."""
        kept, all_of = len(tests), count(len(self.items), self.noun)
        dropped, left = len(self.items) - kept, sum(not test.finished for test in tests.values())
        verb = f"{'was' if kept == 1 else 'were'} {'to be ' if left else ''}tested in full"
        if left:
            yield (
                f"stopped: {left:,} of {all_of} {'was' if left == 1 else 'were'} not tested, with p = 1; the p-values "
                f"of the others are adjusted for all {len(self.items):,}, so they are as valid as without the stop"
            )
        if dropped:
            yield (
                f"screened: {kept:,} of {all_of} {verb}; the other {dropped:,} show no evidence and have p = 1 "
                f"(screen=False tests all)"
            )

    def _one(self, item: Item, planned: Sequence[Run]) -> OneTest:
        """Return the last run of an item that it needs."""
        result = self.test(item, planned[0])
        for run in planned[1:]:
            result = self.test(item, run) if result.needs(run.n_resamples) else result
        return result

    def _timed(
        self, outcomes: Iterable[Result], items: Sequence[Item], verb: str, patience: float = 1.0
    ) -> Iterator[Result]:
        def tell(seconds: float) -> None:
            work = f"{count(len(items), self.noun)} to {verb}: about {roughly(seconds)} more"
            kept = "Ctrl-C keeps what is finished" if self.keep else "nothing is kept if you stop it"
            work += f"; {kept}; {self.faster}" if self.faster and seconds > _LONG else ""
            self.progress(Notice(work), self.steps - len(self.items), self.steps)

        return timed(outcomes, len(items), tell, Pace(self.clock, patience))


def timed(outcomes: Iterable[Result], many: int, tell: Callable[[float], None], pace: Pace) -> Iterator[Result]:
    """Yield outcomes, and report once how long the rest will take if that is more than ten seconds."""
    for done, outcome in enumerate(outcomes, start=1):
        seconds = pace.rest(done, many)
        if seconds is not None:
            tell(seconds)
        yield outcome


# -- the screen --------------------------------------------------------------------------------------------------------


UNSCREENED = 40
"""Up to so many tests, all are run in full."""
_KEPT_BY_CHANCE = 60.0
_STRICTEST, _MOST_LENIENT = 0.05, 0.2
_MOST_CONTRASTS = 32
_ROWS_PER_CONTRAST = 6
_DEPENDENT = 1e-6
_SMALLEST = 1e-300
_TIED = 1e-9
_SPACED = 256
_WIDEST = 1
_UNEVEN = 0.35


def limit_of(tests: int) -> float:
    """Return the evidence up to which a test is run in full, at least .05: about 60 null tests pass by chance."""
    return float(np.clip(_KEPT_BY_CHANCE / tests, _STRICTEST, _MOST_LENIENT))


@final
@dataclass(frozen=True)
class Contrasts:
    """What the screen sees of a column."""

    sequences: tuple[Array, Array]
    """Orthonormal contrasts of the rows, each of shape (k, n), the most important first."""
    in_clusters: bool
    """Whether the values lie in many clusters far apart, within which samples may differ unseen."""

    @classmethod
    def of(cls, coding: Coding, points: Array) -> Self:
        """Return the contrasts of the coordinates (n, k) of one column, over the rows of all tables."""
        most = max(1, min(_MOST_CONTRASTS, len(points) // _ROWS_PER_CONTRAST))
        if coding.category_weight is not None and points.shape[1] > 1:
            frequent = np.argsort(-points.sum(axis=0), kind="stable")
            shares = _orthonormal(points[:, frequent])
            return cls((shares, shares[:most]), False)
        values, blank = points[:, :1], points[:, 1:]
        ranks = (rankdata(values) - 0.5)[:, None] / len(values)
        waves = np.cos(np.pi * np.arange(1, most + 1) * ranks)
        spreads = in_spreads(values)
        sequences = (np.hstack([blank, waves]), np.hstack([blank, spreads, np.abs(spreads)]))
        return cls((_orthonormal(sequences[0]), _orthonormal(sequences[1])), _in_clusters(spreads[:, 0]))

    def of_samples(self, *edges: int) -> float:
        """Return the evidence, an approximate p-value, that the samples differ which the rows are at these edges."""
        samples = np.split(np.arange(self.sequences[0].shape[1]), edges)
        return 0.0 if self.in_clusters else _harmonic(_of_samples(sequence, samples) for sequence in self.sequences)

    def permuted(self, first: int, n_resamples: int, rng: np.random.Generator) -> float:
        """Return the p-value of the evidence of ``of_samples`` under permutations of the rows."""
        observed, reached = self.of_samples(first), 1
        for _ in range(n_resamples):
            samples = np.split(rng.permutation(self.sequences[0].shape[1]), [first])
            pvalues = (_of_samples(sequence, samples) for sequence in self.sequences)
            reached += _harmonic(pvalues) <= observed * (1 + _TIED)
        return reached / (1 + n_resamples)

    def with_partner(self, other: Contrasts) -> float:
        """Return the evidence, an approximate p-value, that two columns depend on each other."""
        return _harmonic(map(_of_pair, self.sequences, other.sequences))


def _orthonormal(contrasts: Array) -> Array:
    """Return contrasts (n, k) centered, orthogonal to those before them and of length 1, as (r, n)."""
    centered = contrasts - contrasts.mean(axis=0)
    lengths = np.linalg.norm(centered, axis=0)
    varying = lengths > _DEPENDENT * np.linalg.norm(contrasts, axis=0)  # the others hold only rounding
    centered *= varying / np.where(varying, lengths, 1.0)
    products = centered.T @ centered
    root = np.zeros_like(products)
    kept: list[int] = []
    for column in range(len(products)):
        entries = root[: len(kept), column]
        left = products[column, column] - entries @ entries
        if left > _DEPENDENT:
            root[len(kept)] = (products[column] - entries @ root[: len(kept)]) / np.sqrt(left)
            kept.append(column)
    return np.asarray(solve_triangular(root[: len(kept), kept], centered[:, kept].T, trans="T"))


def _in_clusters(values: Array) -> bool:
    """Return whether the middle half of the values has more than one gap much wider than usual."""
    spaced = np.sort(values)[np.linspace(0, len(values) - 1, min(len(values), _SPACED)).astype(int)]
    gaps = np.sort(np.diff(np.unique(spaced[len(spaced) // 4 : -(len(spaced) // 4)])))[:-_WIDEST]
    return bool(len(gaps) > 0 and np.median(gaps) < _UNEVEN * gaps.mean())


def _of_samples(contrasts: Array, samples: Sequence[IntArray]) -> Array:
    """Return the p-values of the first 1, 2, 4, … contrasts between samples, given as rows; 1 if all are equal."""
    if not len(contrasts):
        return np.ones(1)
    between = sum(np.square(contrasts[:, rows].sum(axis=1)) / len(rows) for rows in samples)
    sizes = _sizes(len(contrasts))
    squares = np.cumsum(between * (contrasts.shape[1] - 1))[sizes - 1]
    return np.asarray(chdtrc((len(samples) - 1) * sizes, squares))


def _of_pair(x: Array, y: Array) -> Array:
    """Return the p-values of the first 1, 2, 4, … contrasts of one column with those of another."""
    squares = np.square(x @ y.T) * (x.shape[1] - 1)
    sizes = _sizes(len(x))[:, None], _sizes(len(y))
    sums = squares.cumsum(axis=0).cumsum(axis=1)[sizes[0] - 1, sizes[1] - 1]
    return np.asarray(chdtrc(sizes[0] * sizes[1], sums))


def _sizes(most: int) -> IntArray:
    """Return 1, 2, 4, … and the whole."""
    return np.unique([*(2 ** np.arange(most.bit_length())), most])


def _harmonic(pvalues: Iterable[Array]) -> float:
    all_of = np.concatenate([values.ravel() for values in pvalues])
    return float(1.0 / np.mean(1.0 / np.maximum(all_of, _SMALLEST)))
