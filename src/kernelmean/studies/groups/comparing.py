"""The comparison of several groups: one test of all of them, of every pair, and of every column."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from ...core.array import SILENT, IntArray, Progress, RngLike, as_rng
from ...core.cells import column_name
from ...core.table import Frame, to_frame
from ...core.words import count
from ...inference import TestResult
from ...inference.explain import EffectSize, SampleSubject, effect_size
from ...inference.explain.effects import difference_of_means
from ...inference.explain.moments import moments, moments_within
from ...inference.null import HOLM, adjusted
from ...inference.questions import TwoSamples
from ...inference.units.layout import DesignError
from ...plan.plan import Plan
from ...tables.columns import Encoded, Encoding, EncodingOptions, encode, spells_out
from ...tables.read import hold
from ...tables.reading import split_groups
from ..cells import drawn
from ..comparison.request import Testing
from ..comparison.table_test import TableTest
from ..designs import NO_DESIGN, TableDesign
from ..levels import Levels
from ..many_tests import ManyTests, OneTest, Run
from ..strengths import MOST_ROWS, gaussian_of
from .designs import GroupDesign
from .parts import GroupColumn, GroupPair
from .result import GroupComparison

_DRAWS, _MOST_INTERVALS, _LEAST_ROWS = 199, 10, 10
"""The random draws behind an interval, and the pairs that have one."""


@spells_out
def compare_groups(
    table: Any,
    by: str,
    groups: Iterable[Any] | None = None,
    *,
    estimator: str = "adaptive",
    bandwidth: Any = "median",
    n_resamples: int = 999,
    rng: RngLike = 0,
    plan: Plan | None = None,
    progress: Progress = SILENT,
    level: float = 0.05,
    strata: str | None = None,
    clusters: str | None = None,
    weights: str | None = None,
    adjustment: str = HOLM,
    encoding: Encoding | None = None,
    **columns: Unpack[EncodingOptions],
) -> GroupComparison:
    """Compare two or more groups of the rows of a table: a test of all groups, of every pair, and of every column.

    Parameters
    ----------
    table : array of shape (n, d), data frame, path, or anything else that :func:`kernelmean.read` takes
        All rows are held in memory.
    by : str
        The column that holds the groups. It is not compared itself, and rows without a group are left out.
    groups : iterable of str, of numbers or of times, optional
        The groups to compare, at most 12; by default all that have at least two rows.
    estimator : str
        "adaptive", "log-mean-exp" or "aggregate" for many kernels and one p-value; "kme", "mkme" or "mmkme" for one
        kernel.
    strata, clusters, weights : str, optional
        Columns that describe the rows, and are not compared; see the notes and :class:`kernelmean.Design`.
    bandwidth, n_resamples, rng, plan, progress, level, adjustment, encoding, **columns
        As in :func:`kernelmean.compare`.

    Returns
    -------
    GroupComparison
        The groups, the test of all groups, the pairs, those that differ most first, and the columns likewise. Pairs
        with a group of fewer than 10 rows come last unless they are found to differ.

    Raises
    ------
    ValueError
        When the column or a group is unknown, there are fewer than two groups or more than 12, or a group has fewer
        than two rows; otherwise as :func:`kernelmean.compare`.
    TypeError, OSError, ImportError
        As :func:`kernelmean.compare`.

    Notes
    -----
    The test of all groups is :func:`kernelmean.k_sample_test`, of all columns or of one, and the test of a pair is
    :func:`kernelmean.mmd_test` on the rows of the two groups. Columns are scaled and coded over all groups, and all
    p-values are exact. Those of the pairs are adjusted, by default by Holm's method, which bounds the probability of
    any false finding among the pairs, whichever groups differ; so are those of the columns. The test of all groups
    keeps the level, and so do the tests of pairs and those of columns, but not all at once. Two groups have the
    p-values of :func:`kernelmean.compare` of rows in memory.

    A pair that strata, clusters or weights forbid has p = 1. :doc:`/guides/ab` says what that means, and which kernel
    the strengths of pairs and columns share. O(n² d) time for n rows; Gretton et al. (2012).

    Examples
    --------
    >>> result = compare_groups("iris", "target", n_resamples=199)
    >>> result.differ(), len(result.differing())
    (True, 3)
    >>> result.pairs[0].first, result.pairs[0].second
    ('0', '2')
    >>> result.columns[0].name
    'petal length (cm)'
    """
    held = hold(table)
    frames = split_groups(to_frame(held, "the table"), by, groups)
    for name, column in (("strata", strata), ("clusters", clusters), ("weights", weights)):
        if isinstance(column, str) and column == by:
            raise ValueError(f"{name}={column!r} names the column of the groups; pass another column, or leave it out")
    how = Testing(
        estimator=estimator,
        bandwidth=bandwidth,
        encoding=Encoding.of(encoding, columns),
        n_resamples=n_resamples,
        rng=rng,
        plan=plan,
        progress=progress,
        level=level,
        adjustment=adjustment,
    )
    return compare_frames(frames, by, how, TableDesign(strata, clusters, weights))


def compare_frames(frames: Sequence[Frame], by: str, how: Testing, design: TableDesign = NO_DESIGN) -> GroupComparison:
    """Compare groups that are separate tables, as :func:`split_groups` returns them."""
    by, sources = column_name(by), [frame.source for frame in frames]
    names = tuple(source.removeprefix(f"{by}=") for source in sources)
    how.check_estimator(len(frames))
    design.check_estimator(how.estimator)
    tables, taken = design.split(frames)
    tables, absent = taken.taking_part(tables)
    encoded = encode(tables, sources, how.encoding)
    _check(encoded, by, how)
    group_design = GroupDesign(taken, encoded, how)
    study = _GroupTests(encoded, names, group_design.of_all(), group_design)
    order, streams = encoded.in_table_order(), as_rng(how.rng).spawn(4)
    how.progress("all groups together", 0, study.steps)
    joint, _ = study.test.run(encoded, order, streams[0], how.n_resamples)
    strengths = study.drawn(streams[2])
    pairs = study.tested(joint, streams[3], strengths)
    columns = study.columns(joint, streams[1], strengths)  # as in a comparison of two tables
    return GroupComparison(
        by=by,
        groups=names,
        sizes=tuple(map(len, encoded.frames)),
        test=joint,
        estimator=how.estimator,
        scaled=how.encoding.scale,
        pairs=pairs,
        columns=columns,
        notes=(
            *dict.fromkeys(note for frame in frames for note in frame.notes),
            *encoded.repeated(taken.clusters(encoded.frames)),
            *absent,
            *encoded.notes(" over all groups"),
            *study.notes(),
            *joint.notes,
        ),
        missing=encoded.missing,
        encoded=encoded,
        level=how.level,
        design=design,
        adjustment=how.adjustment,
    )


def _check(encoded: Encoded, by: str, how: Testing) -> None:
    """Raise if there is nothing to compare, or no exact way to do it."""
    for frame in encoded.frames:
        if len(frame) < 2:
            raise ValueError(f"{frame.source} has {count(len(frame), 'row')}; a comparison needs at least 2 in a group")
    if not encoded.names:
        raise ValueError(f"every column beside {by!r} is constant over all groups; there is nothing to compare")
    encoded.check_noise(how.estimator)


def _known(strength: float) -> float:
    """Return a strength by which to sort, the least one if it is not known."""
    return -math.inf if math.isnan(strength) else strength


@dataclass(frozen=True)
class _Strengths:
    """The share of the variation of the rows of two groups that their group explains."""

    encoded: Encoded
    rows: tuple[IntArray, ...]
    """The rows of every group that are used."""
    rng: np.random.Generator
    """Draws what intervals rest on."""
    design: GroupDesign

    def of(self, columns: Sequence[str], pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], float]:
        """Return the strength of every pair in some columns, all with one kernel; nan where no stratum has both."""
        return {pair: self._strength(pair, subject) for pair, subject in self._subjects(columns, pairs)}

    def _strength(self, pair: tuple[int, int], subject: SampleSubject) -> float:
        design = replace(self.design.of_pair(pair, [self.rows[k] for k in pair]), clusters=None)
        if not design.says_more:
            return moments(subject).explained
        try:
            question = TwoSamples.of([subject.pooled[part] for part in subject.parts], design)
        except DesignError:
            return math.nan
        return moments_within(question, subject.kernel).explained

    def intervals(
        self, columns: Sequence[str], pairs: Sequence[tuple[int, int]]
    ) -> dict[tuple[int, int], tuple[float, float]]:
        """Return approximate 95 % intervals of the strengths of pairs with enough rows that vary."""
        intervals = {}
        for pair, subject in self._subjects(columns, pairs):
            if subject.has_interval and difference_of_means(subject).defined:
                size = effect_size(subject, n_resamples=_DRAWS, rng=self.rng)
                assert isinstance(size, EffectSize), "that is what samples have"
                intervals[pair] = size.explained.low, size.explained.high
        return intervals

    def _subjects(
        self, columns: Sequence[str], pairs: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[tuple[int, int], SampleSubject]]:
        kernel = gaussian_of(self.encoded, columns, "all groups")
        points = zip(self.encoded.points(columns), self.rows, strict=True)
        samples = [values[rows] for values, rows in points]
        for i, j in pairs:
            yield (i, j), SampleSubject.of(samples[i], samples[j], kernel)


@dataclass(frozen=True)
class _GroupTests:
    """The tests of all pairs of groups, and of every column."""

    encoded: Encoded
    names: tuple[str, ...]
    test: TableTest
    design: GroupDesign

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of groups, by their positions."""
        return list(combinations(range(len(self.names)), 2))

    @property
    def steps(self) -> int:
        """How many steps the progress counts: one for all groups, and those of pairs and of columns."""
        return 1 + len(self.pairs) + len(self.encoded.names)

    def drawn(self, rng: np.random.Generator) -> _Strengths:
        """Return strengths by some rows of every group."""
        rows = tuple(drawn(len(rows), MOST_ROWS, rng) for rows in self.encoded.points())
        return _Strengths(self.encoded, rows, rng, self.design)

    def tested(self, joint: TestResult, stream: np.random.Generator, strengths: _Strengths) -> tuple[GroupPair, ...]:
        """Return all pairs, those that differ most first, by the same permutations; a single one has the joint test."""
        pairs, how, order = self.pairs, self.test.options, self.encoded.in_table_order()
        planned = how.runs(len(pairs))
        streams = [stream, *stream.spawn(len(planned) - 1)]

        def test(pair: tuple[int, int], run: Run) -> OneTest:
            return self.design.tested(pair, copy.deepcopy(streams[run.number]), run.n_resamples)

        if len(pairs) == 1:
            tests = {pairs[0]: OneTest.of(joint)}
        else:
            tests = ManyTests(pairs, self._named, "pair", test, how.progress, 1 + len(pairs)).tested(pairs, planned)
        values = adjusted((result.pvalue for result in tests.values()), self.test.options.adjustment)
        strong = strengths.of(order, pairs)
        most = 0 if self.design.taken.design else _MOST_INTERVALS
        q_of = dict(zip(tests, values, strict=True))
        ordered = sorted(pairs, key=lambda pair: (q_of[pair] > how.level and self._few(pair), -_known(strong[pair])))
        spans = strengths.intervals(order, ordered[:most])
        return tuple(
            GroupPair(
                self.names[pair[0]],
                self.names[pair[1]],
                strong[pair],
                result.statistic,
                result.pvalue,
                q_of[pair],
                result.n_resamples,
                spans.get(pair),
            )
            for pair, result in ((pair, tests[pair]) for pair in ordered)
        )

    def columns(self, joint: TestResult, stream: np.random.Generator, strengths: _Strengths) -> tuple[GroupColumn, ...]:
        """Return all columns, those in which groups differ most first; a single one has the joint test."""
        order = self.encoded.in_table_order()
        if len(order) == 1:
            tests = {order[0]: OneTest.of(joint)}
        else:
            tests = self.test.columns(self.encoded, order, stream, self.steps)
        values = adjusted((test.pvalue for test in tests.values()), self.test.options.adjustment)
        made = []
        for (name, test), q in zip(tests.items(), values, strict=True):
            (i, j), strength = max(strengths.of((name,), self.pairs).items(), key=lambda each: _known(each[1]))
            tested = self.names[i], self.names[j], strength, test.statistic, test.pvalue, q, test.n_resamples
            coding = next(coding for coding in self.encoded.codings if coding.name == name)
            levels = Levels.of(coding, self.encoded.frames, (i, j))
            shown = levels.kind, levels.means, levels.category, levels.deviations, levels.blank
            made.append(GroupColumn(name, *tested, *shown))
        return tuple(sorted(made, key=lambda column: (column.adjusted, -column.strength)))

    def notes(self) -> tuple[str, ...]:
        """Return notes on the strengths and the design, if any."""
        notes = tuple(self.design.notes(self.names))
        if max(map(len, self.encoded.frames)) <= MOST_ROWS:
            return notes
        return (f"strengths use at most {MOST_ROWS:,} rows of each group, drawn at random; the tests use all", *notes)

    def _few(self, pair: tuple[int, int]) -> bool:
        """Whether a group is so small that chance makes strengths large."""
        return min(len(self.encoded.frames[k]) for k in pair) < _LEAST_ROWS

    def _named(self, pair: tuple[int, int]) -> str:
        return " and ".join(self.names[k] for k in pair)
