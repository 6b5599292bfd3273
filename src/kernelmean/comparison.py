"""Do two tables come from the same law, and which columns tell? The library behind ``kernelmean compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np

from ._array import Array, Progress, RngLike, as_rng
from ._table import Table, as_table, count, listed
from .inference import TestResult, mmd_test
from .inference.adaptive import NAMED
from .inference.estimated_mmd import MMD_ESTIMATORS as ESTIMATORS
from .inference.multiple import enough_for_holm, holm
from .inference.two_sample import mmd_null
from .kernels import Gaussian
from .kernels.bandwidth import Bandwidth, bandwidth_from
from .noise import Noise, Normal


@final
@dataclass(frozen=True)
class ColumnDifference:
    """How one column differs between two tables.

    Attributes
    ----------
    name : str
    means : (float, float)
        The two means, in the units of the column.
    gap : float
        Their difference, first less second, in standard deviations of the pooled column.
    noise : float
        The standard deviation of the noise that the joint test chose, in the units of the column.
    statistic, pvalue : float
        Of the column alone: the unbiased squared maximum mean discrepancy (in an adaptive test that of the Gaussian
        kernel at the median bandwidth), and the permutation p-value of its test.
    adjusted : float
        The p-value by Holm's method: rejecting where it is at most α rejects a column that does not differ with
        probability at most α over all columns.
    """

    name: str
    means: tuple[float, float]
    gap: float
    noise: float
    statistic: float
    pvalue: float
    adjusted: float


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of two tables: a joint test, and one test a column.

    Attributes
    ----------
    names, sizes : (str, str), (int, int)
        What the tables are called, and their rows.
    test : TestResult
        The joint test over all columns.
    estimator : str
    bandwidth : float, tuple of float, or None
        θ of the joint test; in pooled standard deviations when ``scaled``, else in the units of the data. None where
        an adaptive test brought many kernels of its own.
    scaled : bool
        Whether every column was divided by its standard deviation over both tables.
    columns : tuple of ColumnDifference
        The columns, those that differ most first.
    notes : tuple of str
        What else a reader should know: columns left out, repeated rows, how the bandwidth was found.
    """

    names: tuple[str, str]
    sizes: tuple[int, int]
    test: TestResult
    estimator: str
    bandwidth: Any
    scaled: bool
    columns: tuple[ColumnDifference, ...]
    notes: tuple[str, ...]

    def differ(self, level: float = 0.05) -> bool:
        """Whether the joint test rejects that both tables come from one law, at this level."""
        return self.test.pvalue <= level

    def verdict(self, level: float = 0.05) -> str:
        """Return the outcome of the joint test in a sentence."""
        first, second = self.names
        if self.differ(level):
            return f"{first} and {second} differ: p = {self.test.pvalue:.3g}, below {level:g}."
        return (
            f"No difference between {first} and {second} was found: p = {self.test.pvalue:.3g}, above {level:g}. "
            "That does not show that there is none."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain names and numbers, for JSON."""
        test = self.test
        return {
            "verdict": self.verdict(),
            "names": list(self.names),
            "sizes": list(self.sizes),
            "statistic": test.statistic,
            "statistic_name": test.statistic_name,
            "pvalue": test.pvalue,
            "scheme": test.scheme,
            "n_resamples": test.n_resamples,
            "null_quantiles": test.quantiles(),
            "estimator": self.estimator,
            "bandwidth": self.bandwidth,
            "kernels": [asdict(member) for member in test.members],
            "scaled": self.scaled,
            "columns": [asdict(column) for column in self.columns],
            "notes": list(self.notes),
        }


def compare(
    A: Any,
    B: Any,
    *,
    names: tuple[str, str] = ("A", "B"),
    estimator: str = "adaptive",
    bandwidth: Any = "median",
    scale: bool = True,
    n_resamples: int = 999,
    rng: RngLike = 0,
    n_jobs: int | None = None,
    progress: Progress = lambda *_: None,
) -> Comparison:
    """Compare two tables: an exact joint test over all columns, and a test of every column alone.

    Parameters
    ----------
    A, B : arrays of shape (n, d) and (m, d), data frames, or Tables
        The same columns; those of B are matched by name.
    names : (str, str)
        What to call them.
    estimator : str
        "adaptive", "fuse", "aggregate": many kernels and one p-value. Of one kernel "kme", "mkme", "mmkme": whose
        noise it is smoothed with, none, one variance, or one per column, fitted to the pooled rows, so that it does
        not depend on which row is in which table; "s-kmse", "f-kmse": weights of each table's own, found anew under
        every permutation; "vpmkme": contraction and noise of the pooled rows. See :func:`kernelmean.mmd_test`.
    bandwidth : {"median", "median-unsquared", "silverman", "scott"} or float
        θ: a rule applied to the pooled rows, or a number. An adaptive test has its own.
    scale : bool
        Divide every column by its standard deviation over both tables.
    n_resamples : int
        Permutations of the joint test; columns use more where Holm's method needs them.
    rng : int or Generator
        The same seed gives the same numbers.
    n_jobs : int, optional
        Threads of the tests.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.

    Raises
    ------
    ValueError
        When a table has fewer than two rows, the columns differ, or all are constant.

    Notes
    -----
    Exact: with probability at most α the joint test finds a difference at level α where there is none, at any size.
    Columns that are constant over both tables say nothing and are left out, which a note tells.
    O(n² d) time; Gretton et al. (2012), and Xia et al. (2021), section "Two-sample test".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(50, 2)), rng.normal([0.0, 2.0], size=(50, 2))
    >>> result = compare(X, Y)
    >>> result.differ(), result.columns[0].name
    (True, 'x1')
    """
    first, second, constant = _informative(as_table(A, names[0]), as_table(B, names[1]), names)
    pooled = np.concatenate([first.values, second.values])
    deviation = Table(pooled, first.names).deviations()
    unit = deviation if scale else np.ones_like(deviation)
    test = _Test(estimator, bandwidth, n_resamples, n_jobs)
    theta = None if test.adaptive else _bandwidth(pooled / unit, bandwidth)
    streams = as_rng(rng).spawn(1 + len(first.names))
    progress("all columns together", 0, len(streams))
    joint = test.run(first.values / unit, second.values / unit, theta, streams[0])
    alone = []
    for j, stream in enumerate(streams[1:]):
        progress(first.names[j], j + 1, len(streams))
        alone.append(test.of_column(first.values[:, j] / unit[j], second.values[:, j] / unit[j], stream, len(unit)))
    return Comparison(
        names,
        (len(first), len(second)),
        joint,
        estimator,
        theta if theta is None else np.asarray(theta).tolist(),
        scale,
        _columns(first, second, deviation, joint.noise, unit, alone),
        (*_notes(constant, pooled, theta), *joint.notes),
    )


@dataclass(frozen=True)
class _Test:
    """The test that all columns together and every column alone are put to."""

    estimator: str
    bandwidth: Any
    n_resamples: int
    n_jobs: int | None

    def __post_init__(self) -> None:
        if self.estimator not in ESTIMATORS and not self.adaptive:
            raise ValueError(f"estimator is {self.estimator!r}; write one of {listed([*ESTIMATORS, *NAMED])}")
        if self.adaptive and self.bandwidth != "median":
            raise ValueError(
                f"the {self.estimator} test brings its own bandwidths; leave bandwidth={self.bandwidth!r} out, or take "
                f"one of {listed(ESTIMATORS)}"
            )

    @property
    def adaptive(self) -> bool:
        """Whether the test brings its own kernels."""
        return self.estimator in NAMED

    def run(self, X: Array, Y: Array, theta: Any, rng: np.random.Generator, n_resamples: int = 0) -> TestResult:
        """Test with the kernel of bandwidth ``theta``, smoothed by the noise of the pooled rows."""
        return mmd_test(
            X,
            Y,
            kernel="gaussian" if self.adaptive else Gaussian(theta),
            estimator=self.estimator,
            n_resamples=n_resamples or self.n_resamples,
            rng=rng,
            n_jobs=self.n_jobs,
        )

    def of_column(self, x: Array, y: Array, rng: np.random.Generator, n_columns: int) -> tuple[float, float]:
        """Return MMD² and the p-value of one column, with permutations enough for Holm's method over ``n_columns``."""
        X, Y = x[:, None], y[:, None]
        theta = _bandwidth(np.concatenate([X, Y]), self.bandwidth)
        statistic, pvalue = self.run(X, Y, theta, rng, enough_for_holm(self.n_resamples, n_columns))
        if self.adaptive:
            statistic = float(mmd_null(X, Y, [Gaussian(theta)], n_resamples=1, rng=0).values[0, 0])
        return statistic, pvalue


def _bandwidth(pooled: Array, rule: Any) -> Any:
    """Return the bandwidth of a rule; of many rows some are drawn, but from sorted ones: no table comes first."""
    return bandwidth_from(pooled[np.lexsort(pooled.T)], rule)


def _informative(A: Table, B: Table, names: tuple[str, str]) -> tuple[Table, Table, tuple[str, ...]]:
    """Return both tables without the columns that are constant over both, and the names of those."""
    if set(A.names) != set(B.names):
        raise ValueError(f"the columns of {names[0]} ({listed(A.names)}) and {names[1]} ({listed(B.names)}) differ")
    for table, name in zip((A, B), names, strict=True):
        if len(table) < 2:
            raise ValueError(f"{name} has {count(len(table), 'row')}; a comparison needs at least 2 in each table")
    B = B.columns([B.names.index(name) for name in A.names])
    kept, constant = Table(np.concatenate([A.values, B.values]), A.names).constant()
    if not len(kept):
        raise ValueError(
            f"every column of {names[0]} and {names[1]} is constant and the same in both; there is nothing to compare"
        )
    return A.columns(kept), B.columns(kept), constant


def _columns(
    A: Table, B: Table, deviation: Array, noise: Noise, unit: Array, alone: Sequence[tuple[float, float]]
) -> tuple[ColumnDifference, ...]:
    """Return the columns, those that differ most first."""
    means = np.column_stack([A.values.mean(axis=0), B.values.mean(axis=0)])
    spread = unit * np.sqrt(noise.variances(len(unit))) if isinstance(noise, Normal) else np.zeros(len(unit))
    adjusted = holm([pvalue for _, pvalue in alone])
    columns = [
        ColumnDifference(
            name,
            (float(means[j, 0]), float(means[j, 1])),
            float((means[j, 0] - means[j, 1]) / deviation[j]),
            float(spread[j]),
            *alone[j],
            float(adjusted[j]),
        )
        for j, name in enumerate(A.names)
    ]
    return tuple(sorted(columns, key=lambda column: (column.adjusted, -column.statistic)))


def _notes(constant: tuple[str, ...], pooled: Array, theta: Any) -> tuple[str, ...]:
    notes = []
    if constant:
        notes.append(f"constant over both tables, so left out: {listed(constant)}")
    repeated = len(pooled) - len(np.unique(pooled, axis=0))
    if repeated > len(pooled) / 2:
        notes.append(f"{repeated} of {count(len(pooled), 'row')} repeat another row; rows should be independent")
    if isinstance(theta, Bandwidth):
        used = "" if theta.exact else f" of {count(theta.n_points, 'random row')}"
        notes.append(f"bandwidth: {theta.rule}{used}")
    return tuple(notes)
