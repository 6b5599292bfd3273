"""How large a difference or a dependence is: numbers without units, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .._array import RngLike, as_rng
from ..estimators.options import KernelLike
from ..kernels import Kernel
from ..kernels.base import Stationary
from ..plan import DEFAULT, Plan
from .features import Effect, cross_covariance, difference_of_means
from .fluctuation import Estimate, Fluctuations, fluctuations
from .subject import Pairs, TwoSamples
from .witness import check_level


@final
@dataclass(frozen=True)
class EffectSize:
    r"""How far apart two samples are.

    Attributes
    ----------
    statistic : float
        The unbiased MMD², of either sign.
    standard_error : float
        Of ``statistic``, whether the laws differ or not.
    distance : Estimate
        MMD = |μ_X - μ_Y|, in the units of √k; the value is 0 where ``statistic`` is negative.
    ratio : Estimate
        MMD² / V, V the mean of the two feature variances :math:`E|φ(x) - μ|^2`: the squared "Cohen's d" of the
        features, from 0.
    explained : Estimate
        :math:`\mathrm{MMD}^2 / (4V + \mathrm{MMD}^2)`, the share of the variance of the features in a balanced mixture
        of both laws that the label explains (η² of an analysis of variance): 0 for equal laws, 1 for two points.
    maximum : float
        What ``distance`` cannot exceed: √(2 k(0)) for a non-negative stationary kernel, infinity otherwise.
    level : float
    kernel : Kernel
    sizes : (int, int)
    n_resamples : int
        Draws that the intervals rest on.
    """

    statistic: float
    standard_error: float
    distance: Estimate
    ratio: Estimate
    explained: Estimate
    maximum: float
    level: float
    kernel: Kernel
    sizes: tuple[int, int]
    n_resamples: int

    def summary(self) -> str:
        """Return a few lines of text for a reader."""
        rows = (("MMD", self.distance), ("MMD² / variance", self.ratio), ("share explained", self.explained))
        return _summary(rows, self.level, f"at most {self.maximum:.4g}", self.kernel)


@final
@dataclass(frozen=True)
class DependenceSize:
    """How strongly two variables depend on each other.

    Attributes
    ----------
    statistic : float
        The unbiased HSIC, of either sign.
    standard_error : float
        Of ``statistic``.
    distance : Estimate
        √HSIC, the Hilbert-Schmidt norm of the cross-covariance operator.
    alignment : Estimate
        HSIC(X, Y) / √(HSIC(X, X) HSIC(Y, Y)): 0 for independent variables, 1 where the centered kernels of X and Y
        are proportional (centered kernel alignment; with distance-induced kernels the squared distance correlation).
        The value is a ratio of unbiased estimates and can be a little below 0.
    level : float
    kernel : (Kernel, Kernel)
    size : int
    n_resamples : int
    """

    statistic: float
    standard_error: float
    distance: Estimate
    alignment: Estimate
    level: float
    kernel: tuple[Kernel, Kernel]
    size: int
    n_resamples: int

    def summary(self) -> str:
        """Return a few lines of text for a reader."""
        rows = (("√HSIC", self.distance), ("alignment", self.alignment))
        return _summary(rows, self.level, "alignment at most 1", self.kernel)


def effect_size(
    X: Any,
    Y: Any,
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    level: float = 0.95,
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan = DEFAULT,
) -> EffectSize:
    r"""Return the size of the difference of two samples, with confidence intervals.

    The intervals invert tests of every possible distance, by one simulation of the fluctuations of the feature means
    (:mod:`kernelmean.explain.fluctuation`). They hold when the laws are equal, nearly equal, or far apart.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        At least three rows each.
    kernel, bandwidth
        As in :func:`kernelmean.mmd_test`. A distance is one *of a kernel*: to compare sizes between data sets pass a
        fixed bandwidth. The intervals take the kernel as given.
    level : float
        The confidence of each interval on its own, the rest on either side half.
    n_resamples : int
        Gaussian multiplier draws.
    rng : int, Generator, or None
        The seed.
    plan : Plan

    Raises
    ------
    ValueError
        When the samples do not fit or have fewer than three rows, nothing varies, or the level is not in (0, 1).

    Notes
    -----
    Asymptotic, not exact: see ``tests/statistical/test_explain_coverage.py`` for what is measured. An interval that
    begins at 0 does not exclude equal laws. For equal laws its coverage is 1 - (1 - level)/2, since only one side can
    fail. ``standard_error``² = 4 (⟨D, CD⟩ - tr C²)₊ + 2 tr C², C the covariance of μ̂_X - μ̂_Y, tr C² unbiased from
    centered Gram matrices. The first term is the variance of Gretton et al. (2012), corollary 16, for different laws,
    the second that of theorem 12 for equal ones; Sutherland et al. (2017) keep both.
    O((n + m)² n_resamples) time, O((n + m) r n_resamples) where the Gram matrix has rank r; memory O((n + m) batch).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> size = effect_size(rng.normal(size=(80, 1)), rng.normal(1.0, size=(60, 1)), bandwidth=1.0, rng=0)
    >>> size.distance.low < 0.42 < size.distance.high  # the exact MMD is 0.421
    True
    """
    check_level(level)
    subject = TwoSamples.of(X, Y, kernel, bandwidth, plan)
    effect = difference_of_means(subject)
    if not effect.defined:
        raise ValueError(
            "all rows of X and Y are equal, so nothing varies and no effect has a size; pass data that vary"
        )
    drawn = fluctuations(effect.mean, n_resamples, as_rng(rng))
    ratio = _relative(effect, drawn, level)
    return EffectSize(
        effect.mean.squared,
        effect.standard_error,
        _distance(effect, drawn, level),
        ratio,
        Estimate(*(_explained(value) for value in (ratio.value, ratio.low, ratio.high))),
        maximum_distance(subject.kernel, subject.pooled.shape[1]),
        level,
        subject.kernel,
        subject.sizes,
        n_resamples,
    )


def dependence_effect_size(
    X: Any,
    Y: Any,
    kernels: Any = "gaussian",
    *,
    bandwidth: Any = "median",
    level: float = 0.95,
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan = DEFAULT,
) -> DependenceSize:
    """Return the size of the dependence of two variables, with confidence intervals.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), or data frame
        Row i of X and row i of Y are one observation; at least four.
    kernels, bandwidth
        As in :func:`dependence_contributions`.
    level, n_resamples, rng, plan
        As in :func:`effect_size`.

    Raises
    ------
    ValueError
        When the tables do not fit, a variable is constant, or the level is not in (0, 1).

    Notes
    -----
    Asymptotic, as :func:`effect_size`. The normalisation is that of Cortes et al. (2012), eq. (2), with unbiased
    estimates as in Székely & Rizzo (2014). O(n² n_resamples) time at most; memory O(n · batch).

    Examples
    --------
    >>> x = np.linspace(0, 1, 60)[:, None]
    >>> size = dependence_effect_size(x, x**2, rng=0)
    >>> size.alignment.low > 0.5
    True
    """
    check_level(level)
    pairs = Pairs.of(X, Y, kernels, bandwidth, plan)
    effect = cross_covariance(pairs)
    if not effect.defined:
        raise ValueError("X or Y is constant, so its alignment is 0/0; pass variables that vary")
    drawn = fluctuations(effect.mean, n_resamples, as_rng(rng))
    relative = _relative(effect, drawn, level)
    return DependenceSize(
        effect.mean.squared,
        effect.standard_error,
        _distance(effect, drawn, level),
        Estimate(relative.value, min(relative.low, 1.0), min(relative.high, 1.0)),
        level,
        pairs.kernels,
        pairs.n,
        n_resamples,
    )


def maximum_distance(kernel: Kernel, dim: int) -> float:
    """Return the largest possible MMD, √(2 k(0)) for a stationary kernel: all of them here are non-negative."""
    if not isinstance(kernel, Stationary):
        return float("inf")
    return float(np.sqrt(2.0 * kernel.diag(np.zeros((1, dim)))[0]))


def _distance(effect: Effect, drawn: Fluctuations, level: float) -> Estimate:
    return Estimate(float(np.sqrt(max(effect.mean.squared, 0.0))), *drawn.interval(level, scaled=False))


def _relative(effect: Effect, drawn: Fluctuations, level: float) -> Estimate:
    """Return |D|² over the scale; infinite where the samples are two points."""
    if effect.scale <= 0.0:
        return Estimate(np.inf, np.inf, np.inf)
    low, high = drawn.interval(level, scaled=True)
    return Estimate(effect.mean.squared / effect.scale, low**2 / effect.scale, high**2 / effect.scale)


def _explained(ratio: float) -> float:
    """Return r / (4 + r), and 1 for an infinite ratio."""
    return 1.0 if np.isinf(ratio) else ratio / (4.0 + ratio)


def _summary(rows: Any, level: float, bound: str, kernel: Any) -> str:
    lines = [f"{name:<16} {e.value:.4g} ({level:.0%} interval {e.low:.4g} to {e.high:.4g})" for name, e in rows]
    return "\n".join([*lines, f"{bound}; kernel: {kernel!r}"])
