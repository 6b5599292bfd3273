"""Weights that make one table look like another: kernel mean matching under covariate shift."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from sklearn.base import clone

from ..core.array import Array, IntArray, RngLike, as_rng
from ..core.capped_qp import solve_capped_qp
from ..core.frozen import Frozen
from ..core.table import to_frame
from ..core.validate import check_positive_number
from ..core.words import count, passed, percent, signed
from ..embedding.features import nystrom
from ..estimators.base import KernelLike, make_kernel
from ..inference import mmd_test
from ..inference.base_result import Result
from ..kernels import Kernel, Linear
from ..report import Panel, pictures
from ..report.description import Description, Grid
from ..report.marginals import bins, outline
from ..tables.columns import TableEncoder

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALL_ROWS, _LANDMARKS = 1000, 256


@final
@dataclass(frozen=True, eq=False)
class MatchedWeights(Frozen, Result):
    """Weights of rows, and what they leave of the difference from a target; see :func:`kernelmean.match_weights`.

    Attributes
    ----------
    weights : array of shape (n,)
        One for each row of X, not negative, with mean 1: ``sample_weight`` of scikit-learn.
    effective_sample_size : float
        (Σ w)² / Σ w²: so many rows of weight 1 would give means with as much noise.
    mmd_before, mmd_after : float
        The distance |Σ w_i φ(x_i) / n - mean φ(target)| with weights 1 and with these.
    statistic : float
        The squared distance (MMD²) of one half of the target, drawn at random, from rows that are weighted for the
        other half.
    between_halves : float
        The same between the two halves.
    pvalue : float
        The share of the ways to halve the target whose halves are at least ``statistic`` apart.
    n_resamples : int
        The number of halvings besides the one used.
    balance : tuple of (str, float, float)
        For every coordinate its name, such as "age" or "arm=b", and the mean of X minus that of the target, without and
        with weights, in units of the standard deviation of the target; of both tables where the target is constant.
    kernel : Kernel
        On the coordinates of both tables.
    cap, ridge : float
        As passed.
    sizes : (int, int)
        The rows of X and of the target.
    features : int
        How many landmarks stand for the kernel.
    held : float
        The share of the variance of the kernel that they hold, 1 if all rows are landmarks.
    """

    notes: ClassVar[tuple[str, ...]] = (
        "the distance with weights is a description, since they were fitted to these rows; the p-value is of a half of "
        "the target, and of weights fitted to the other half",
    )

    weights: Array
    effective_sample_size: float
    mmd_before: float
    mmd_after: float
    statistic: float
    between_halves: float
    pvalue: float
    n_resamples: int
    balance: tuple[tuple[str, float, float], ...]
    kernel: Kernel
    cap: float
    ridge: float
    sizes: tuple[int, int]
    features: int
    held: float

    def verdict(self) -> str:
        """Return the outcome in one sentence."""
        share = max(1.0 - self.mmd_after / self.mmd_before, 0.0) if self.mmd_before > 0.0 else 0.0
        return (
            f"Weights take away {100 * share:.0f} % of the distance from the target (MMD {self.mmd_before:.3g}, then "
            f"{self.mmd_after:.3g}), and leave {count(self.sizes[0], 'row')} worth {self.effective_sample_size:,.0f}."
        )

    def describe(self) -> Description:
        """Return the verdict, what the weights are, and how means change."""
        n = self.sizes[0]
        rest = f"MMD² {self.statistic:.3g} to new target rows, {self.between_halves:.3g} between halves of the target"
        facts = [
            ("rows", f"{n:,} weighted, {self.sizes[1]:,} of the target"),
            ("effective sample size", f"{self.effective_sample_size:,.1f}"),
            ("weights", f"{percent((self.weights == 0.0).mean())} are 0; the largest is {self.weights.max():.3g}"),
            ("cap", f"{self.cap:g}, reached by {count(int((self.weights >= (1 - 1e-9) * self.cap).sum()), 'row')}"),
            ("what remains", f"{rest}: p = {self.pvalue:.3g}"),
            ("kernel", repr(self.kernel)),
            ("ridge", f"{self.ridge:g}"),
            ("features", f"{count(self.features, 'landmark')}, with {percent(self.held, 2)} of the kernel's variance"),
        ]
        rows = [(name, signed(before, "z.3f"), signed(after, "z.3f")) for name, before, after in self.balance]
        grid = Grid("Means less those of the target", ("column", "before", "after"), rows, noun="column")
        return Description("Weights for a target", self.verdict(), facts, (grid,), self.notes)

    def rows(self) -> list[dict[str, Any]]:
        """Return the means of every coordinate."""
        return [{"name": name, "before": before, "after": after} for name, before, after in self.balance]

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain names and numbers, for JSON."""
        distances = ("mmd_before", "mmd_after", "statistic", "between_halves", "pvalue", "n_resamples")
        plain = ("effective_sample_size", *distances, "cap", "ridge")
        return {
            "verdict": self.verdict(),
            **{name: getattr(self, name) for name in plain},
            "weights": self.weights.tolist(),
            "balance": self.rows(),
            "kernel": repr(self.kernel),
            "rows": list(self.sizes),
            "features": {"landmarks": self.features, "held": self.held},
            "notes": list(self.notes),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the weights as a histogram."""
        steps = outline(count(self.sizes[0], "row"), self.weights, bins(self.weights))
        panel = Panel("", "weight", "share of rows", steps=(steps,), marks=(("no weighting", 1.0),))
        return pictures.show(panel, ax, size=(6.0, 3.4), words=self.verdict())


def match_weights(
    X: Any,
    target: Any,
    *,
    kernel: KernelLike = "gaussian",
    cap: float = 100.0,
    ridge: float = 0.1,
    encoder: TableEncoder | None = None,
    rng: RngLike = None,
) -> MatchedWeights:
    r"""Return weights of the rows of X under which their kernel mean is nearest to that of a target.

    .. math:: \min_w \Big| \sum_i w_i φ(x_i) - \frac1m \sum_j φ(t_j) \Big|^2 + λ \sum_i w_i^2,
        \qquad 0 ≤ w_i ≤ c / n, \quad \sum_i w_i = 1

    Pass ``n w`` as ``sample_weight``, and a model that is trained on X is trained for the target: :doc:`/guides/shift`.

    Parameters
    ----------
    X : array of shape (n, d) or data frame
        The rows to weight, two or more. Columns may hold numbers, categories, truth values and times.
    target : array of shape (m, d) or data frame
        Rows of the same columns, four or more.
    kernel : Kernel, class, function or "gaussian"
        On the coordinates of the encoder, numbers in units of their spread. "gaussian" has the median distance.
    cap : float
        c, the largest weight where the mean is 1; at least 1.
    ridge : float
        λ > 0 in units of the variance of φ: the larger it is, the more rows count, at a larger distance. The less of an
        outcome the columns explain, the larger it should be.
    encoder : TableEncoder, optional
        How columns become coordinates, such as ``TableEncoder(missing="category")``; it is fitted to both tables.
    rng : int, Generator, or None
        The seed of the landmarks and of the halves.

    Returns
    -------
    MatchedWeights
        ``weights`` (mean 1), ``effective_sample_size``, the distance before and after, ``balance``, and a test of what
        remains.

    Raises
    ------
    ValueError, TypeError
        When columns differ, there are too few rows, a cell is missing, or an option is out of range.
    RuntimeError
        When the ridge is below what rounding allows, as 1e-14 may be.

    Notes
    -----
    Weights help only if the distribution of an outcome given the columns is the same in both tables, which is not
    tested. ``mmd_after`` is not tested either, since the weights were fitted to the same rows. The p-value is that of a
    permutation test of two halves of the target, with rows that are weighted for one half instead of that half. If they
    are no farther from the other half than it is, P(p ≤ α) ≤ α. It is small if X has no rows like some of the target.

    Up to 1,000 rows in both tables, all stand for the kernel, then 256 landmarks that are drawn at random.
    O((n + m) r (d + r)) time for r landmarks: a few seconds for two tables of 10,000 rows. Exact, by Newton's method on
    the dual. Huang et al. (2006), eq. (8), with a sum of exactly 1 and a ridge.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = match_weights(rng.normal(size=(300, 2)), rng.normal([0.5, 0.0], 0.8, size=(200, 2)), rng=0)
    >>> found.mmd_after < 0.1 * found.mmd_before, bool(found.weights.mean().round(9) == 1.0)
    (True, True)
    """
    cap, ridge = check_positive_number(cap, "cap"), check_positive_number(ridge, "ridge")
    if cap < 1.0:
        raise ValueError(f"cap is {cap:g}, and weights have mean 1: write a cap of 1 or more")
    if not isinstance(encoder, TableEncoder | None):
        raise TypeError(f"encoder is {encoder!r}; pass a TableEncoder, such as TableEncoder(missing='category')")
    encoder = TableEncoder() if encoder is None else clone(encoder)
    rows, goal = _coordinates(encoder, X, target)
    pooled, generator = np.concatenate([rows, goal]), as_rng(rng)
    chosen = make_kernel(kernel, "median", pooled)
    size = _LANDMARKS if len(pooled) > _ALL_ROWS else len(pooled)
    landmarks = nystrom(chosen, pooled, size, rng=generator)
    mapped = landmarks(pooled)
    problem = _Matching(mapped[: len(rows)], mapped[len(rows) :], _variance(mapped), cap, ridge)
    weights = problem.weights(np.arange(len(goal)))
    return MatchedWeights(
        weights=weights * len(rows),
        effective_sample_size=float(1.0 / (weights @ weights)),
        mmd_before=problem.distance(np.full(len(rows), 1.0 / len(rows))),
        mmd_after=problem.distance(weights),
        **problem.remaining(generator),
        balance=tuple(_balance(encoder.get_feature_names_out(), rows, goal, weights)),
        kernel=chosen,
        cap=cap,
        ridge=ridge,
        sizes=(len(rows), len(goal)),
        features=landmarks.size,
        held=_held(chosen, pooled, mapped),
    )


def _coordinates(encoder: TableEncoder, X: Any, target: Any) -> tuple[Array, Array]:
    """Fit the encoder, and return both tables as coordinates."""
    if "noise" in ((encoder.missing,) if isinstance(encoder.missing, str) else encoder.missing.values()):
        raise ValueError("missing='noise' does not go with weights; write missing='category', or fill the cells first")
    tables = to_frame(X, "X"), to_frame(target, "target")
    try:
        rows, goal = map(encoder.fit_tables(*tables).transform, tables)
    except ValueError as error:
        error.add_note("match_weights takes options such as missing= as those of encoder=TableEncoder(...)")
        raise
    if len(rows) < 2 or len(goal) < 4:
        raise ValueError(
            f"{passed(len(rows), 'row')} of X and {len(goal):,} of the target, which is halved: at least 2 and 4 are "
            "needed"
        )
    return rows, goal


@final
@dataclass(frozen=True, eq=False)
class _Matching:
    """The features of both tables, and how their means are matched."""

    rows: Array
    goal: Array
    variance: float
    cap: float
    ridge: float

    def weights(self, some: IntArray) -> Array:
        """Return the weights for some rows of the target; they sum to 1."""
        if self.variance == 0.0:
            return np.full(len(self.rows), 1.0 / len(self.rows))
        unit, mean = self.variance**0.5, self.goal[some].mean(axis=0)
        return solve_capped_qp(self.rows / unit, mean / unit, self.ridge, self.cap / len(self.rows))

    def distance(self, weights: Array) -> float:
        """Return the distance of the weighted rows from the target."""
        return float(np.linalg.norm(weights @ self.rows - self.goal.mean(axis=0)))

    def remaining(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return the test on a half of the target that the weights have not seen."""
        fitted, held_out = np.array_split(rng.permutation(len(self.goal)), 2)
        halves = mmd_test(
            self.goal[fitted], self.goal[held_out], kernel=Linear(), statistic="v", n_resamples=999, rng=rng
        )
        gap = self.weights(fitted) @ self.rows - self.goal[held_out].mean(axis=0)
        statistic = float(gap @ gap) if self.variance > 0.0 else 0.0  # of equal features rounding is left
        reached = int((halves.null_distribution >= statistic - halves.tolerance).sum())
        pvalue, many = (1 + reached) / (1 + halves.n_resamples), halves.n_resamples
        return {"statistic": statistic, "between_halves": halves.statistic, "pvalue": pvalue, "n_resamples": many}


def _variance(mapped: Array) -> float:
    """Return the variance of features, Σ_j var φ_j; 0 where rounding leaves nothing else."""
    variance = float(mapped.var(axis=0).sum())
    return variance if variance > 1e-12 * float(np.square(mapped).sum(axis=1).mean()) else 0.0


def _held(kernel: Kernel, pooled: Array, mapped: Array) -> float:
    """Return the share of the variance of the kernel that features hold, over at most 1,000 rows."""
    some = np.linspace(0, len(pooled) - 1, min(len(pooled), _ALL_ROWS)).astype(np.intp)
    whole = float(kernel.diag(pooled[some]).mean() - kernel(pooled[some], pooled[some]).mean())
    return min(float(mapped[some].var(axis=0).sum()) / whole, 1.0) if whole > 0.0 else 1.0


def _balance(names: Iterable[str], rows: Array, goal: Array, weights: Array) -> Iterator[tuple[str, float, float]]:
    """Return names of coordinates, and differences of their means in units of the spread of the target."""
    units = np.where(np.ptp(goal, axis=0) > 0.0, goal.std(axis=0), np.concatenate([rows, goal]).std(axis=0))
    units, mean = np.where(units > 0.0, units, 1.0), goal.mean(axis=0)
    gaps = ((rows.mean(axis=0) - mean) / units).tolist(), ((weights @ rows - mean) / units).tolist()
    return zip(map(str, names), *gaps, strict=True)
