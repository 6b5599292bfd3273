"""Which columns of a table depend on which? The library behind ``kernelmean dependence``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any, final

import numpy as np

from ._array import Array, Progress, RngLike, as_rng
from ._table import Table, as_table, count, listed
from .inference import TestResult, hsic_test
from .inference.independence import hsic_null
from .inference.kernel_choice import choose_kernel
from .inference.multiple import enough_for_holm, holm
from .kernels import Kernel

_LEAST_ROWS = 4
_KERNEL_ROWS = 1000
_MEASURES = ("strength", "pvalue", "adjusted")


@final
@dataclass(frozen=True)
class PairDependence:
    """How two columns depend on each other.

    Attributes
    ----------
    x, y : str
        The columns.
    strength : float
        The unbiased HSIC divided by the geometric mean of that of either column with itself, with Gaussian kernels at
        the median bandwidth: at most 1, near 0 (of either sign) for independent columns.
    pvalue : float
        The permutation p-value of the pair.
    adjusted : float
        The p-value by Holm's method: rejecting where it is at most α rejects an independent pair with probability at
        most α over all pairs.
    """

    x: str
    y: str
    strength: float
    pvalue: float
    adjusted: float


@final
@dataclass(frozen=True, eq=False)
class Dependence:
    """The dependence between two groups of columns, or between all columns of a table.

    Attributes
    ----------
    x, y : tuple of str
        The columns of either group; the same where all pairs were looked at.
    n_rows : int
    test : TestResult or None
        The joint test of the two groups; None where all pairs of columns were looked at.
    pairs : tuple of PairDependence
        The pairs of one column of x and one of y, those that depend most first.
    estimator : str
    notes : tuple of str
        What else a reader should know.
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    n_rows: int
    test: TestResult | None
    pairs: tuple[PairDependence, ...]
    estimator: str
    notes: tuple[str, ...]

    def dependent(self, level: float = 0.05) -> tuple[PairDependence, ...]:
        """Return the pairs whose adjusted p-value is at most ``level``, strongest first."""
        return tuple(pair for pair in self.pairs if pair.adjusted <= level)

    def verdict(self, level: float = 0.05) -> str:
        """Return the outcome in a sentence."""
        if self.test is None:
            return self._verdict_on_pairs(level)
        first, second = (group[0] if len(group) == 1 else f"({listed(group)})" for group in (self.x, self.y))
        if self.test.pvalue <= level:
            return f"{first} and {second} depend on each other: p = {self.test.pvalue:.3g}, below {level:g}."
        return (
            f"No dependence between {first} and {second} was found: p = {self.test.pvalue:.3g}, above {level:g}. "
            "That does not show that there is none."
        )

    def _verdict_on_pairs(self, level: float) -> str:
        found, all_of = len(self.dependent(level)), count(len(self.pairs), "pair")
        if not found:
            return f"No dependence was found in {all_of} of columns, which does not show that there is none."
        most = self.pairs[0]
        verb = "depends" if found == 1 else "depend"
        return (
            f"{found} of {all_of} of columns {verb} on each other (adjusted p at most {level:g}), "
            f"most of all {most.x} and {most.y}."
        )

    def matrix(self, what: str = "strength") -> Array:
        """Return ``strength``, ``pvalue`` or ``adjusted`` of all pairs, shape (len(x), len(y)).

        Where x and y are the same columns it is symmetric, with 1 (strength) or 0 (p-values) on the diagonal.
        """
        if what not in _MEASURES:
            raise ValueError(f"what is {what!r}; write one of {listed(_MEASURES)}")
        grid = np.full((len(self.x), len(self.y)), 1.0 if what == "strength" else 0.0)
        for pair in self.pairs:
            value = getattr(pair, what)
            grid[self.x.index(pair.x), self.y.index(pair.y)] = value
            if self.test is None:
                grid[self.x.index(pair.y), self.y.index(pair.x)] = value
        return grid

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain names and numbers, for JSON."""
        test = self.test
        joint = None if test is None else {"statistic": test.statistic, "statistic_name": test.statistic_name}
        if test is not None and joint is not None:
            joint |= {"pvalue": test.pvalue, "scheme": test.scheme, "n_resamples": test.n_resamples}
        return {
            "verdict": self.verdict(),
            "x": list(self.x),
            "y": list(self.y),
            "rows": self.n_rows,
            "test": joint,
            "estimator": self.estimator,
            "pairs": [asdict(pair) for pair in self.pairs],
            "notes": list(self.notes),
        }


def dependence(
    table: Any,
    x: str | Sequence[str] = (),
    y: str | Sequence[str] = (),
    *,
    estimator: str = "adaptive",
    scale: bool = True,
    n_resamples: int = 999,
    rng: RngLike = 0,
    n_jobs: int | None = None,
    progress: Progress = lambda *_: None,
) -> Dependence:
    """Test two groups of columns, or all pairs of columns, for independence.

    Parameters
    ----------
    table : array of shape (n, d), data frame, or Table
        At least four rows.
    x, y : str or sequence of str
        Two groups of columns for one joint test, and one test of every pair across; without ``y`` all other columns
        are y, without both all pairs of columns are tested.
    estimator : str
        As in :func:`kernelmean.hsic_test`.
    scale : bool
        Divide every column by its standard deviation before several columns are tested jointly.
    n_resamples : int
        Permutations of every test; more are used where Holm's method needs them.
    rng : int or Generator
        The same seed gives the same numbers.
    n_jobs : int, optional
        Threads of the tests.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.

    Raises
    ------
    ValueError
        When a column is unknown or in both groups, fewer than two columns vary, or there are fewer than four rows.

    Notes
    -----
    Every p-value is exact, and Holm's method holds whatever the dependence between the pairs. Constant columns say
    nothing and are left out, which a note tells. O(n²) time for a pair, O(n r²) on low-rank factors of rank r.
    Gretton et al. (2005); the strength is that of Cortes et al. (2012), eq. (2), with unbiased estimates.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 60))
    >>> result = dependence(np.column_stack([a, b, a**2]), n_resamples=199)
    >>> [(pair.x, pair.y) for pair in result.dependent()]
    [('x0', 'x2')]
    """
    whole = as_table(table)
    x, y = ((group,) if isinstance(group, str) else group for group in (x, y))
    if len(whole) < _LEAST_ROWS:
        raise ValueError(f"the table has {count(len(whole), 'row')}; a test of independence needs at least 4")
    left, right = _groups(whole, x, y)
    kept, constant = whole.constant()
    varying = whole.columns(kept)
    left, right = (tuple(name for name in group if name not in constant) for group in (left, right))
    pairs = _pairs(left, right)
    if not pairs:
        raise ValueError(f"there are no two varying columns to test; constant: {listed(constant) or 'none'}")
    one_table = left == right
    tests = _Tests(varying, estimator, scale, n_resamples, n_jobs, progress, len(pairs) + (not one_table))
    streams = as_rng(rng).spawn(1 + len(pairs))
    joint = None if one_table else tests.joint(left, right, streams[0])
    found = tests.pairs(pairs, joint, streams[1:])
    note = (f"constant, so left out: {listed(constant)}",) if constant else ()
    return Dependence(left, right, len(whole), joint, found, estimator, (*note, *_shared_notes(joint)))


def _groups(table: Table, x: Sequence[str], y: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of both groups."""
    for name in (*x, *y):
        if name not in table.names:
            raise ValueError(f"there is no column {name!r}; the table has {listed(table.names)}")
    both = [name for name in x if name in y]
    if both:
        raise ValueError(f"{listed(both)} stands in x and in y; a column belongs to one group")
    if not x and not y:
        return table.names, table.names
    others = tuple(name for name in table.names if name not in (*x, *y))
    return tuple(dict.fromkeys(x)) or others, tuple(dict.fromkeys(y)) or others


def _pairs(left: tuple[str, ...], right: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(combinations(left, 2)) if left == right else list(product(left, right))


def _shared_notes(joint: TestResult | None) -> tuple[str, ...]:
    return () if joint is None else joint.notes


@dataclass(frozen=True)
class _Tests:
    """The tests of one table, all alike."""

    table: Table
    estimator: str
    scale: bool
    n_resamples: int
    n_jobs: int | None
    progress: Progress
    steps: int

    def values(self, names: Sequence[str]) -> Array:
        """Return some columns, each in its standard deviations."""
        chosen = self.table.columns([self.table.names.index(name) for name in names])
        return chosen.values / chosen.deviations() if self.scale else chosen.values

    def run(self, X: Array, Y: Array, rng: np.random.Generator, n_resamples: int) -> TestResult:
        """Test whether X and Y are independent."""
        return hsic_test(X, Y, estimator=self.estimator, n_resamples=n_resamples, rng=rng, n_jobs=self.n_jobs)

    def joint(self, left: tuple[str, ...], right: tuple[str, ...], rng: np.random.Generator) -> TestResult:
        """Test the two groups."""
        self.progress("all columns together", 0, self.steps)
        return self.run(self.values(left), self.values(right), rng, self.n_resamples)

    def pairs(
        self, pairs: Sequence[tuple[str, str]], joint: TestResult | None, rngs: Sequence[np.random.Generator]
    ) -> tuple[PairDependence, ...]:
        """Test every pair; where a joint test was of the only pair, it is the answer."""
        if joint is not None and len(pairs) == 1:
            pvalues = [joint.pvalue]
        else:
            pvalues = [
                self._pvalue(pair, k, len(pairs), rng) for k, (pair, rng) in enumerate(zip(pairs, rngs, strict=True))
            ]
        strengths = Strengths(self.table)
        found = [
            PairDependence(a, b, strengths.of(a, b), p, float(q))
            for (a, b), p, q in zip(pairs, pvalues, holm(pvalues), strict=True)
        ]
        return tuple(sorted(found, key=lambda pair: (pair.adjusted, -pair.strength)))

    def _pvalue(self, pair: tuple[str, str], step: int, tests: int, rng: np.random.Generator) -> float:
        self.progress(" and ".join(pair), self.steps - tests + step, self.steps)
        X, Y = (self.values([name]) for name in pair)
        return self.run(X, Y, rng, enough_for_holm(self.n_resamples, tests)).pvalue


class Strengths:
    """Unbiased, normalised HSIC of pairs of columns; what belongs to one column is found once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[str, tuple[Array, Kernel, float]] = {}

    def of(self, a: str, b: str) -> float:
        """Return HSIC(a, b) / √(HSIC(a, a) HSIC(b, b)), all three unbiased; 0 where a column varies too little."""
        (x, k, xx), (y, h, yy) = self._column(a), self._column(b)
        scale = float(np.sqrt(max(xx, 0.0) * max(yy, 0.0)))
        return min(_unbiased_hsic(x, y, k, h) / scale, 1.0) if scale > 0.0 else 0.0

    def _column(self, name: str) -> tuple[Array, Kernel, float]:
        if name not in self._known:
            x = self._table.columns([self._table.names.index(name)]).values
            rows = np.linspace(0, len(x) - 1, min(len(x), _KERNEL_ROWS)).astype(np.intp)
            kernel = choose_kernel(x, "gaussian", "median", "kme", rows, name).kernel
            self._known[name] = x, kernel, _unbiased_hsic(x, x, kernel, kernel)
        return self._known[name]


def _unbiased_hsic(X: Array, Y: Array, kernel: Kernel, other: Kernel) -> float:
    """Return the observed statistic only, by the scheme that suits the size."""
    return float(hsic_null(X, Y, [(kernel, other)], statistic="u", n_resamples=1, rng=0).values[0, 0])
