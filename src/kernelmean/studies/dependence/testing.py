"""The study: a joint test of two groups of columns, and a test of every pair."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Unpack

import numpy as np

from ...core.array import SILENT, Progress, RngLike, as_rng
from ...core.words import count, listed
from ...inference import TestResult, hsic_test
from ...inference.kernel_choice import HSIC_ESTIMATORS
from ...inference.multiple import enough_for_holm, holm
from ...inference.resampling_options import resources_of
from ...inference.schemes.base import in_order
from ...plan.plan import Plan
from ...tables.columns import Encoded, Encoding, EncodingOptions, encode, spells_out
from ...tables.columns.encoding import as_frames
from ...tables.columns.missing import noise_needs_kme
from ...tables.read import hold
from ..strengths import Strengths, gaussian_of
from .result import Dependence, PairDependence

_LEAST_ROWS = 4
_FEW = 10
_TORUS_ROWS = 200
_SOLVED = ("fcose", "f-kmse")  # solved anew under every permutation: they have no scheme


@spells_out
def dependence(
    table: Any,
    x: str | Sequence[str] = (),
    y: str | Sequence[str] = (),
    *,
    estimator: str = "adaptive",
    n_resamples: int = 999,
    rng: RngLike = 0,
    plan: Plan | None = None,
    progress: Progress = SILENT,
    encoding: Encoding | None = None,
    **columns: Unpack[EncodingOptions],
) -> Dependence:
    """Test two groups of columns, or all pairs of columns, for independence.

    Parameters
    ----------
    table : array of shape (n, d), data frame, path, or what :func:`kernelmean.read` returns
        At least four rows. Numbers, truth values, categories, ordered categories and times may stand side by side: see
        :class:`kernelmean.TableEncoder` for the kernel of each.
    x, y : str or sequence of str
        Two groups of columns for one joint test, and one test of every pair across; without ``y`` all other columns
        are y, without both all pairs of columns are tested. Columns in neither group play no part: their missing cells
        leave no row out.
    estimator : str
        As in :func:`kernelmean.hsic_test`.
    n_resamples : int
        Permutations of every test; pairs that come out small are tested again with more where Holm's method needs them.
    rng : int or Generator
        The same seed gives the same numbers.
    plan : Plan, optional
        Threads, one by default, and memory of every test.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.
    encoding, **columns
        As in :func:`kernelmean.compare`: ``missing``, ``ordinal``, ``categorical``, ``keep``, and ``scale`` before
        several columns are tested jointly. Rows that "drop" leaves out for a column of x or y are left out of all
        tests.

    Raises
    ------
    ValueError
        When a column is unknown or in both groups, fewer than two columns vary, there are fewer than four rows, a cell
        is missing without a rule for it, or a column has too many categories or looks like an identifier.
    TypeError
        When a column holds something else than numbers, categories and times, or these as text ("$1,000.00").

    Notes
    -----
    Every p-value is exact, and Holm's method holds whatever the dependence between the pairs. All pairs see the same
    permutations, and the p-value is that of :func:`kernelmean.hsic_test` on the two columns. To stay below 0.05 after
    Holm's method a p-value must be far smaller than a thousand permutations can show when there are more than 20 pairs.
    Then those pairs of which at most ten permutations, the observed one counted, reach the observed statistic are
    tested again with 50 permutations for every pair, and the second p-value takes the place of the first. That is
    exact: with c = 10 / P, the result is at most α < c only where the second p-value is, and at most α ≥ c only where
    the first is. The second test rotates two halves of the rows from 200 rows on (scheme "torus").

    With ``missing="category"`` and "noise" two columns also depend on each other when cells of both are missing in the
    same rows. The order of the columns changes nothing. Constant columns say nothing and are left out, which a note
    tells. O(n² log n) time for a pair, O(n r²) on low-rank factors of rank r; memory never O(n²) beyond 5000 rows.
    Gretton et al. (2005); the strength is that of Cortes et al. (2012), eq. (2), with unbiased estimates.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 60))
    >>> result = dependence(np.column_stack([a, b, a**2]), n_resamples=199)
    >>> [(pair.x, pair.y) for pair in result.dependent()]
    [('x0', 'x2')]
    """
    given = hold(table, "dependence")
    (whole,) = as_frames((given,), ("the table",))
    left, right = _groups(whole.names, *((group,) if isinstance(group, str) else group for group in (x, y)))
    used = [name for name in whole.names if name in {*left, *right}]
    read = Encoding.of(encoding, columns).restricted(whole, used)
    encoded = encode((whole.select(used),), ("the table",), read)
    (frame,) = encoded.frames
    _check(len(frame), encoded, estimator)
    left, right = (tuple(name for name in group if name in encoded.names) for group in (left, right))
    pairs = _pairs(left, right)
    if not pairs:
        raise ValueError(f"there are no two varying columns to test; constant: {listed(encoded.constant) or 'none'}")
    one_table = left == right
    tests = _Tests(encoded, estimator, n_resamples, resources_of(plan).n_jobs, progress, len(pairs) + (not one_table))
    stream, stream_of_pairs = as_rng(rng).spawn(2)
    joint = None if one_table else tests.joint(left, right, stream)
    return Dependence(
        x=left,
        y=right,
        n_rows=len(frame),
        test=joint,
        pairs=tests.pairs(pairs, joint, stream_of_pairs),
        estimator=estimator,
        notes=(*(() if given is table else given.notes), *encoded.notes(), *(() if joint is None else joint.notes)),
        missing=encoded.missing,
        encoded=encoded,
    )


def _check(rows: int, encoded: Encoded, estimator: str) -> None:
    """Raise when there are too few rows, or no exact way to test them."""
    if rows < _LEAST_ROWS:
        raise ValueError(f"the table has {count(rows, 'row')}; a test of independence needs at least 4")
    if encoded.variances is not None and estimator != "kme":
        raise noise_needs_kme(estimator)


def _groups(names: tuple[str, ...], x: Sequence[str], y: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of both groups."""
    for name in (*x, *y):
        if name not in names:
            raise ValueError(f"there is no column {name!r}; the table has {listed(names)}")
    both = [name for name in x if name in y]
    if both:
        raise ValueError(f"{listed(both)} stands in x and in y; a column belongs to one group")
    if not x and not y:
        return names, names
    others = tuple(name for name in names if name not in (*x, *y))
    return tuple(dict.fromkeys(x)) or others, tuple(dict.fromkeys(y)) or others


def _pairs(left: tuple[str, ...], right: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(combinations(left, 2)) if left == right else list(product(left, right))


_Outcome = tuple[float, int]
"""The p-value of one pair, and how many permutations it comes from."""


@dataclass(frozen=True)
class _Tests:
    """The tests of one table, all alike."""

    encoded: Encoded
    estimator: str
    n_resamples: int
    n_jobs: int
    progress: Progress
    steps: int

    def run(
        self, left: Iterable[str], right: Iterable[str], rng: np.random.Generator, n_resamples: int, **how: Any
    ) -> TestResult:
        """Test whether two groups of columns are independent."""
        estimator: Any = self.estimator
        if self.encoded.variances is not None:
            kernels = (gaussian_of(self.encoded, group) for group in (left, right))
            estimator = tuple(HSIC_ESTIMATORS[estimator](kernel) for kernel in kernels)
        (X,), (Y,) = self.encoded.points(left), self.encoded.points(right)
        plan = Plan(threads=how.pop("n_jobs", self.n_jobs))
        return hsic_test(X, Y, estimator=estimator, n_resamples=n_resamples, rng=rng, plan=plan, **how)

    def joint(self, left: tuple[str, ...], right: tuple[str, ...], rng: np.random.Generator) -> TestResult:
        """Test the two groups."""
        self.progress("all columns together", 0, self.steps)
        return self.run(left, right, rng, self.n_resamples)

    def pairs(
        self, pairs: Sequence[tuple[str, str]], joint: TestResult | None, rng: np.random.Generator
    ) -> tuple[PairDependence, ...]:
        """Test every pair; where a joint test was of the only pair, it is the answer."""
        if joint is not None and len(pairs) == 1:
            tests = [(joint.pvalue, joint.n_resamples)]
        else:
            tests = self._tested(pairs, rng)
        strengths = Strengths(self.encoded)
        adjusted = holm([pvalue for pvalue, _ in tests])
        found = [
            PairDependence(a, b, strengths.of(a, b), p, float(q), n_resamples)
            for (a, b), (p, n_resamples), q in zip(pairs, tests, adjusted, strict=True)
        ]
        return tuple(sorted(found, key=lambda pair: (pair.adjusted, -pair.strength)))

    def _tested(self, pairs: Sequence[tuple[str, str]], rng: np.random.Generator) -> list[_Outcome]:
        """Test every pair, and those that come out small again where Holm's method needs more permutations."""
        enough, done = enough_for_holm(self.n_resamples, len(pairs)), self.steps - len(pairs)
        again = rng.spawn(1)[0]
        tests = list(self._each(pairs, rng, self.n_resamples, "auto", done))
        small = [k for k, (p, taken) in enumerate(tests) if enough > taken and round(p * (taken + 1)) <= _FEW]
        scheme = self._second_scheme()
        retested = self._each([pairs[k] for k in small], again, enough, scheme, self.steps - len(small))
        for k, test in zip(small, retested, strict=True):
            tests[k] = test
        return tests

    def _each(
        self, pairs: Sequence[tuple[str, str]], rng: np.random.Generator, n_resamples: int, scheme: str, done: int
    ) -> Iterator[_Outcome]:
        """Test every pair by the same permutations, whichever of its two columns stands first in the table."""

        def test(pair: tuple[str, str]) -> _Outcome:
            first, second = sorted(pair, key=self.encoded.names.index)
            found = self.run((first,), (second,), copy.deepcopy(rng), n_resamples, n_jobs=1, scheme=scheme)
            return found.pvalue, found.n_resamples

        for step, (pair, outcome) in enumerate(zip(pairs, in_order(test, pairs, self.n_jobs), strict=True)):
            self.progress(" and ".join(pair), done + step, self.steps)
            yield outcome

    def _second_scheme(self) -> str:
        rows = len(self.encoded.frames[0])
        return "torus" if rows >= _TORUS_ROWS and self.estimator not in _SOLVED else "auto"
