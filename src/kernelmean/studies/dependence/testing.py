"""The study: a joint test of two groups of columns, and a test of every pair."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Unpack

import numpy as np

from ...core.array import SILENT, Progress, RngLike, as_rng
from ...core.table import Frame
from ...core.words import count, listed
from ...inference import Design, TestResult, hsic_test
from ...inference.adaptive.kinds import EvidenceKind
from ...inference.adaptive.many_kernels import NAMED
from ...inference.designs.independence import pair_design
from ...inference.null import HOLM
from ...inference.request import ESTIMATORS as PLAIN
from ...inference.request import HSIC_ESTIMATORS
from ...inference.resampling_options import resources_of
from ...plan.plan import DEFAULT, Plan
from ...tables.batchwise import readable
from ...tables.columns import Encoded, Encoding, EncodingOptions, encode, spells_out
from ...tables.columns.missing import noise_needs_kme
from ...tables.read import read
from ...tables.source import Source
from ..designs import WHOLE_STRENGTHS, TableDesign, series_notes
from ..many_tests import Contrasts, ManyTests, OneTest, Run, runs
from ..strengths import Strengths, gaussian_of
from .batches import dependence_in_batches
from .designed import DesignedTable
from .pair import PairDependence
from .request import LEAST_ROWS, DependenceOptions, Pair, named_columns, varying
from .result import LEVEL, Dependence
from .rows import placed

_DROPPED = OneTest(math.nan, 1.0, 0)


@spells_out
def dependence(
    table: Any,
    x: str | Sequence[str] = (),
    y: str | Sequence[str] = (),
    *,
    estimator: str = "adaptive",
    n_resamples: int = 999,
    rng: RngLike = 0,
    screen: bool = True,
    plan: Plan | None = None,
    progress: Progress = SILENT,
    strata: str | None = None,
    clusters: str | None = None,
    weights: str | None = None,
    keep_finished: bool = False,
    adjustment: str = HOLM,
    encoding: Encoding | None = None,
    **columns: Unpack[EncodingOptions],
) -> Dependence:
    """Test two groups of columns, or all pairs of columns, for independence.

    For one target pass its name: ``y="price"``. Hundreds of pairs take minutes; pass ``progress=print`` to see it work.

    Parameters
    ----------
    table : array of shape (n, d), data frame, path, or anything else that :func:`kernelmean.read` takes
        At least four rows, and columns of any kind that :class:`kernelmean.TableEncoder` knows.
    x, y : str or sequence of str
        Two groups of columns, for one joint test and a test of every pair across them. Without ``y``, it is all other
        columns. Without both, all pairs of columns are tested. Columns in neither group are ignored.
    estimator : str
        As in :func:`kernelmean.hsic_test`; batch by batch only an adaptive one, "kme", "mkme" or "mmkme".
    n_resamples : int
        The number of permutations of every test. Pairs with a small p-value are tested again with more permutations if
        their number needs them.
    rng : int or Generator
        The same seed gives the same numbers.
    screen : bool
        Whether a fast screen decides which of more than 40 pairs get the full test; the others have p = 1.
    plan : Plan, optional
        The number of threads, one by default, and the memory of every test.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.
    strata, clusters, weights : str, optional
        Columns that describe the rows, and are not tested. Rows are permuted only within their stratum, clusters as a
        whole, and a weight stays with the row of x. See :class:`kernelmean.Design`.
    keep_finished : bool
        Whether Ctrl-C during the tests of pairs returns the pairs that are finished, instead of raising
        KeyboardInterrupt. The others have p = 1 and ``stopped``.
    adjustment : {"holm", "bh"}
        How p-values of pairs are adjusted for their number: as in :func:`kernelmean.compare`.
    encoding, **columns
        As in :func:`kernelmean.compare`: ``missing``, ``ordinal``, ``categorical``, ``keep``, and ``scale``, which
        matters when several columns are tested jointly.

    Raises
    ------
    ValueError
        When a column is unknown or in both groups, fewer than two columns vary, there are fewer than four rows, a cell
        is missing without a rule for it, or a column has too many categories or looks like an identifier; when an
        option needs all rows in memory and they are read in batches.
    TypeError
        When a column holds anything but numbers, categories and times, or holds these as text ("$1,000.00").

    Notes
    -----
    Every p-value is exact: that of a pair is the one of :func:`kernelmean.hsic_test` on the two columns. Holm's method
    holds for any dependence between the pairs. Neither the screen, nor a second test with more permutations, nor a stop
    can make a false finding more likely (:doc:`/many-columns`). Columns whose missing cells are a category also depend
    on each other through these cells (:doc:`/columns`). Constant columns are left out, and a note says so. The order of
    the columns changes nothing.

    O(n² log n) time for a pair, O(n r²) on low-rank factors of rank r; memory never O(n²) beyond 5000 rows. Tables of
    more than 20 000 rows (100 000 if ``estimator`` names one kernel) are read batch by batch, in memory that does not
    grow with the rows (with a design, by about 100 bytes a row, :doc:`/scale`); to choose yourself, pass
    ``kernelmean.read(path, in_memory=...)``. Gretton et al. (2005); the strength is that of Cortes et al. (2012), eq.
    (2), with unbiased estimates.

    Examples
    --------
    >>> import numpy as np, kernelmean
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 60))
    >>> result = dependence(np.column_stack([a, b, a**2]), n_resamples=199)
    >>> [(pair.x, pair.y) for pair in result.dependent()]
    [('x0', 'x2')]

    All rows batch by batch, as for files too long for memory:

    >>> table = np.random.default_rng(0).normal(size=(2000, 2))
    >>> result = dependence(kernelmean.read(table, in_memory=False), n_resamples=199)
    >>> len(result.dependent()), result.n_rows
    (0, 2000)
    """
    asked = DependenceOptions(
        x=named_columns("x", x),
        y=named_columns("y", y),
        estimator=estimator,
        encoding=Encoding.of(encoding, columns),
        n_resamples=n_resamples,
        rng=rng,
        screen=screen,
        plan=plan,
        progress=progress,
        design=TableDesign(strata, clusters, weights),
        keep_finished=keep_finished,
        adjustment=adjustment,
    )
    found, batches = placed(table, estimator)
    with readable(read(found), frames=True) as source:
        if batches:
            return dependence_in_batches(source, asked)
        return _in_memory(source, asked, noted=isinstance(table, Frame))


def _in_memory(table: Source, asked: DependenceOptions, *, noted: bool) -> Dependence:
    """Test the columns of a table whose rows are all held in memory; ``noted`` if its reader has told its notes."""
    asked.design.check_estimator(asked.estimator, (*PLAIN, *NAMED))
    designed = DesignedTable.of(table, asked)
    whole = designed.table.whole()
    encoded = encode((whole,), ("the table",), designed.encoding)
    (frame,), design = encoded.frames, designed.design
    _check(len(frame), encoded, asked.estimator)
    (left, right), pairs = varying(designed.groups, encoded.names, encoded.constant)
    n_jobs, steps = resources_of(asked.plan).n_jobs, len(pairs) + (left != right)
    tests = _Tests(encoded, asked, n_jobs, steps, design)
    stream, stream_of_pairs = as_rng(asked.rng).spawn(2)
    joint = None if left == right else tests.joint(left, right, stream)
    found, screened = tests.pairs(pairs, joint, stream_of_pairs)
    found, on_blanks = tests.on_blanks(found, stream_of_pairs)
    alike = asked.design.in_series(encoded.frames)
    of_design = pair_design(len(frame), design).notes if joint is None and design.says_more else ()
    return Dependence(
        x=left,
        y=right,
        n_rows=len(frame),
        test=joint,
        pairs=found,
        estimator=asked.estimator,
        notes=(
            *series_notes(alike),
            *encoded.repeated(designed.clusters),
            *designed.notes,
            *on_blanks,
            *encoded.notes(),
            *(() if noted else whole.notes),
            *screened,
            *(WHOLE_STRENGTHS if asked.design else ()),
            *(of_design if joint is None else joint.notes),
        ),
        missing=encoded.missing,
        encoded=encoded,
        design=asked.design,
        adjustment=asked.adjustment,
        in_series=alike is not None,
    )


def _check(rows: int, encoded: Encoded, estimator: str) -> None:
    """Raise if there are too few rows, or no exact way to test them."""
    if rows < LEAST_ROWS:
        raise ValueError(f"the table has {count(rows, 'row')}; a test of independence needs at least 4")
    if encoded.variances is not None and estimator != "kme":
        raise noise_needs_kme(estimator)


@dataclass(frozen=True)
class _Tests:
    """The tests of one table, all alike."""

    encoded: Encoded
    asked: DependenceOptions
    n_jobs: int
    steps: int
    design: Design

    def run(
        self, left: Iterable[str], right: Iterable[str], rng: np.random.Generator, n_resamples: int, **how: Any
    ) -> TestResult:
        """Test whether two groups of columns are independent."""
        estimator: Any = self.asked.estimator
        if self.encoded.variances is not None:
            kernels = (gaussian_of(self.encoded, group) for group in (left, right))
            estimator = tuple(HSIC_ESTIMATORS[estimator](kernel) for kernel in kernels)
        (X,), (Y,) = self.encoded.points(left), self.encoded.points(right)
        plan = replace(self.asked.plan or DEFAULT, threads=how.pop("n_jobs", self.n_jobs))
        return hsic_test(
            X, Y, estimator=estimator, n_resamples=n_resamples, rng=rng, plan=plan, design=self.design, **how
        )

    def joint(self, left: tuple[str, ...], right: tuple[str, ...], rng: np.random.Generator) -> TestResult:
        """Test the two groups."""
        self.asked.progress("all columns together", 0, self.steps)
        return self.run(left, right, rng, self.asked.n_resamples)

    def pairs(
        self, pairs: Sequence[Pair], joint: TestResult | None, rng: np.random.Generator
    ) -> tuple[tuple[PairDependence, ...], tuple[str, ...]]:
        """Test every pair, and note what was screened; if there is one pair only, the joint test is its test."""
        notes: tuple[str, ...] = ()
        if joint is not None and len(pairs) == 1:
            tests = {pairs[0]: OneTest.of(joint)}
        else:
            tests, notes = self._tested(pairs, rng)
        strengths = Strengths(self.encoded).of_pairs(pairs)
        every = [tests.get(pair, _DROPPED) for pair in pairs]
        return PairDependence.ranked(pairs, every, strengths, self.asked.adjustment), notes

    def _tested(self, pairs: Sequence[Pair], rng: np.random.Generator) -> tuple[dict[Pair, OneTest], tuple[str, ...]]:
        """Test every pair that the screen keeps, all with the same permutations, and again if more are needed."""
        asked, planned = self.asked, runs(self.asked.n_resamples, len(pairs))
        streams = [rng, *rng.spawn(len(planned) - 1)]

        def test(pair: Pair, run: Run) -> OneTest:
            first, second = self._in_order(pair)
            return OneTest.of(
                self.run((first,), (second,), copy.deepcopy(streams[run.number]), run.n_resamples, n_jobs=1)
            )

        faster = self._faster(len(pairs))
        many = ManyTests(
            pairs, " and ".join, "pair", test, asked.progress, self.steps, self.n_jobs, faster, asked.keep_finished
        )
        kept = many.kept(self._evidence() if asked.screen and not self.design.says_more else None)
        found = many.tested(kept, planned)
        return found, tuple(many.notes(found))

    def _faster(self, pairs: int) -> str:
        """Return what to write for a faster answer, if there is something."""
        one = "estimator='kme'" if self.asked.estimator in NAMED else ""
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
        found = listed(f"{pair.x} and {pair.y} (p = {p:.2g})" for pair, p in only.items())
        return marked, (
            f"blank cells are a category; where both cells are known, no dependence was found between {found}",
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
            found = hsic_test(
                *vary, estimator=self.asked.estimator, n_resamples=self.asked.n_resamples, rng=rng, design=design
            )
        except ValueError:  # no two of these rows may change places
            return 1.0, None
        return found.pvalue, found.kind

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
