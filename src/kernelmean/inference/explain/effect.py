"""How large a difference or a dependence is: numbers without units, with confidence intervals."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...core.array import RngLike, as_rng
from ...core.validate import check_fraction
from ...kernels import Categorical, Kernel, Product, Scaled, Sum, TensorProduct
from ...kernels.base import Stationary
from ..resampling import Resampling
from .effects import Effect, cross_covariance, difference_of_means
from .fluctuation import Estimate, Fluctuations, fluctuations
from .pairs import PairSubject
from .samples import DesignedSubject, SampleSubject
from .subjects import Subject

_LONG, _EQUAL = re.compile(r"\d+\.\d{4,}(?:e-?\d+)?"), re.compile(r"\(([\d.e-]+)(?:, \1)+\)")
"""Numbers of many digits, and a tuple of equal ones."""


@final
@dataclass(frozen=True)
class EffectSize:
    r"""How far apart two samples are.

    Attributes
    ----------
    statistic : float
        The unbiased MMD², of either sign; with a design the squared distance of the weighted means less its noise.
    standard_error : float
        The standard error of ``statistic``, whether the distributions differ or not.
    pvalue : float
        The p-value of the permutation test of equal distributions; intervals begin at 0 unless it is at most (1 -
        level) / 2.
    distance : Estimate
        MMD = |μ_X - μ_Y|, in the units of √k; the value is 0 where ``statistic`` is negative. The upper limit is
        ``maximum`` if it cannot be estimated: in more than three quarters of the pairs both halves are equal, and fewer
        than 30 pairs differ.
    ratio : Estimate
        MMD² / V, with V the mean of the two feature variances :math:`E|φ(x) - μ|^2` of rows, within strata where
        these have two rows of each sample: the squared "Cohen's d" of the
        features, which is at least 0, as are ``low`` and ``high``. The value is ``statistic`` over V, so chance does
        not make it too large on average. It can be below 0, but is at least -2 / min(n, m); read it as 0 then.
    explained : Estimate
        :math:`\mathrm{MMD}^2 / (4V + \mathrm{MMD}^2)`, the share of the variance of the features in a balanced mixture
        of both distributions that the label explains (η² of an analysis of variance): 0 for equal distributions, 1 for
        two points. The value is below 0 where that of ``ratio`` is.
    maximum : float
        The largest possible ``distance``: √(2 k(x, x)) for kernels made of stationary ones, infinity otherwise.
    level : float
    kernel : Kernel
    sizes : (int, int)
        The rows of both samples that take part.
    n_resamples : int
        The number of draws behind the intervals.

    Examples
    --------
    Two samples that are more alike than two draws from one distribution usually are:

    >>> from kernelmean import mmd_test
    >>> X = np.arange(10.0)[:, None]
    >>> size = mmd_test(X, X + 0.5, kernel="gaussian", rng=0).effect_size(rng=0)
    >>> size.statistic < 0.0, size.distance.value, round(size.ratio.value, 3), size.ratio.low
    (True, 0.0, -0.189, 0.0)
    """

    statistic: float
    standard_error: float
    pvalue: float
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
        return _summary(rows, self.level, _bound("MMD", self.maximum), self.kernel)

    def __str__(self) -> str:
        return self.summary()


@final
@dataclass(frozen=True)
class DependenceSize:
    """How strongly two variables depend on each other.

    Attributes
    ----------
    statistic : float
        The unbiased HSIC, of either sign; with a design the squared length of the covariance less its noise.
    standard_error : float
        The standard error of ``statistic``.
    pvalue : float
        The p-value of the permutation test of independence; intervals begin at 0 unless it is at most (1 - level) / 2.
    distance : Estimate
        √HSIC, the Hilbert-Schmidt norm of the cross-covariance operator. The upper limit is ``maximum`` if it cannot be
        estimated: one value of X, or of Y, takes more than three quarters of the rows, and fewer than 30 rows have
        another.
    alignment : Estimate
        HSIC(X, Y) / √(HSIC(X, X) HSIC(Y, Y)): 0 for independent variables, 1 where the centered kernels of X and Y
        are proportional (centered kernel alignment; with distance-induced kernels the squared distance correlation).
        The value is a ratio of unbiased estimates and can be a little below 0. It is nan if the estimate of HSIC(X, X)
        or HSIC(Y, Y) is not positive, because too few rows are different.
    maximum : float
        The largest possible ``distance``: √(k(x, x) l(y, y)) for kernels made of stationary ones, infinity otherwise.
    level : float
    kernel : (Kernel, Kernel)
    size : int
        The pairs that take part.
    n_resamples : int
    """

    statistic: float
    standard_error: float
    pvalue: float
    distance: Estimate
    alignment: Estimate
    maximum: float
    level: float
    kernel: tuple[Kernel, Kernel]
    size: int
    n_resamples: int

    def summary(self) -> str:
        """Return a few lines of text for a reader."""
        rows = (("√HSIC", self.distance), ("alignment", self.alignment))
        return _summary(rows, self.level, f"{_bound('√HSIC', self.maximum)}, alignment at most 1", self.kernel)

    def __str__(self) -> str:
        return self.summary()


def effect_size(
    subject: Subject, *, level: float = 0.95, n_resamples: int = 999, rng: RngLike = None
) -> EffectSize | DependenceSize:
    """Return the size of a difference, or of a dependence; see :meth:`kernelmean.TestResult.effect_size`."""
    check_fraction(level, "level", 0.95)
    if isinstance(subject, PairSubject):
        return _dependence(subject, level, n_resamples, as_rng(rng))
    return _difference(subject, level, n_resamples, as_rng(rng))


def _difference(
    subject: SampleSubject | DesignedSubject, level: float, n_resamples: int, rng: np.random.Generator
) -> EffectSize:
    effect = difference_of_means(subject)
    if not effect.defined:
        raise ValueError(
            "all rows of X and Y are equal, so nothing varies and no effect has a size; pass data that vary"
        )
    drawn = fluctuations(effect.mean, n_resamples, rng, level)
    pvalue = subject.pvalue(Resampling.of(n_resamples=n_resamples, rng=rng))
    differ = differs(pvalue, level)
    most = maximum_distance(subject.kernel, subject.pooled.shape[1])
    distance = _distance(effect, drawn, level, differ)
    distance = replace(distance, high=most if effect.rare else distance.high)
    ratio = _relative(effect, drawn, level, differ)
    if effect.scale > 0.0:  # if few rows have a rare value, the difference and the scale are too small together
        ratio = replace(ratio, high=max(ratio.high, distance.high**2 / effect.scale))
    return EffectSize(
        effect.mean.squared,
        effect.standard_error,
        pvalue,
        replace(distance, high=min(distance.high, most)),
        ratio,
        Estimate(*(_explained(value) for value in (ratio.value, ratio.low, ratio.high))),
        most,
        level,
        subject.kernel,
        subject.sizes,
        n_resamples,
    )


def _dependence(pairs: PairSubject, level: float, n_resamples: int, rng: np.random.Generator) -> DependenceSize:
    effect = cross_covariance(pairs)
    if not effect.defined:
        raise ValueError("X or Y is constant, so its alignment is 0/0; pass variables that vary")
    drawn = fluctuations(effect.mean, n_resamples, rng, level)
    pvalue = pairs.pvalue(Resampling.of(n_resamples=n_resamples, rng=rng))
    differ = differs(pvalue, level)
    distance, most = _distance(effect, drawn, level, differ), maximum_dependence(pairs)
    return DependenceSize(
        effect.mean.squared,
        effect.standard_error,
        pvalue,
        replace(distance, high=most if effect.rare else min(distance.high, most)),
        _alignment(effect, drawn, level, differ),
        most,
        level,
        pairs.kernels,
        pairs.n,
        n_resamples,
    )


def maximum_distance(kernel: Kernel, dim: int) -> float:
    """Return the largest possible MMD, √(2 k(x, x)) where 0 ≤ k(x, y) ≤ k(x, x) for all x: not for polynomials."""
    return float(np.sqrt(2.0 * kernel.diag(np.zeros((1, dim)))[0])) if _is_bounded(kernel) else float("inf")


def maximum_dependence(pairs: PairSubject) -> float:
    """Return the largest possible √HSIC, √(k(x, x) l(y, y)), of kernels that have a largest MMD."""
    if not all(map(_is_bounded, pairs.kernels)):
        return float("inf")
    most = (
        kernel.diag(np.zeros((1, table.shape[1])))[0] for kernel, table in zip(pairs.kernels, pairs.tables, strict=True)
    )
    return math.sqrt(math.prod(map(float, most)))


def _is_bounded(kernel: Kernel) -> bool:
    """Say whether a kernel is made of stationary or categorical ones: all of them here are non-negative."""
    if isinstance(kernel, Scaled):
        return _is_bounded(kernel.kernel)
    if isinstance(kernel, Sum | Product | TensorProduct):
        parts = {Sum: "terms", Product: "factors", TensorProduct: "kernels"}[type(kernel)]
        return all(_is_bounded(part) for part in getattr(kernel, parts))
    return isinstance(kernel, Stationary | Categorical)


def differs(pvalue: float, level: float) -> bool:
    """Say whether the permutation test allows a lower limit above 0: it rejects at (1 - level) / 2."""
    return pvalue <= (1.0 - level) / 2 + 1e-12


def _distance(effect: Effect, drawn: Fluctuations, level: float, differ: bool) -> Estimate:
    low, high = drawn.interval(level, scaled=False)
    return Estimate(float(np.sqrt(max(effect.mean.squared, 0.0))), low if differ else 0.0, high)


def _relative(effect: Effect, drawn: Fluctuations, level: float, differ: bool) -> Estimate:
    """Return |D|² over the scale; for samples that are points, with an interval from borrowed rows up to infinity."""
    low, high = drawn.interval(level, scaled=effect.scale > 0.0)
    if effect.scale <= 0.0:
        shares = np.array([effect.mean.own_share(g) for g in effect.mean.active])
        borrowed = float(np.mean(shares * (1.0 - shares))) * effect.mean.total
        return Estimate(np.inf, low**2 / borrowed if differ else 0.0, np.inf)
    return Estimate(
        effect.mean.squared / effect.scale, low**2 / effect.scale if differ else 0.0, high**2 / effect.scale
    )


def _alignment(effect: Effect, drawn: Fluctuations, level: float, differ: bool) -> Estimate:
    """Return the alignment; nan, with the interval 0 to 1, if too few rows are different to show its scale."""
    if effect.scale <= 0.0:
        return Estimate(np.nan, 0.0, 1.0)
    estimate = _relative(effect, drawn, level, differ)
    return Estimate(estimate.value, min(estimate.low, 1.0), min(estimate.high, 1.0))


def _explained(ratio: float) -> float:
    """Return r / (4 + r), and 1 for an infinite ratio."""
    return 1.0 if np.isinf(ratio) else ratio / (4.0 + ratio)


def _bound(name: str, maximum: float) -> str:
    """Return how large a distance can be with its kernel."""
    return f"{name} without an upper bound" if math.isinf(maximum) else f"{name} at most {maximum:.4g}"


def _summary(rows: Any, level: float, bound: str, kernel: Any) -> str:
    lines = [f"{name:<16} {e.value:.4g} ({100 * level:g} % interval {e.low:.4g} to {e.high:.4g})" for name, e in rows]
    short = _EQUAL.sub(r"\1", _LONG.sub(lambda match: f"{float(match[0]):.4g}", repr(kernel)))
    return "\n".join([*lines, f"{bound}; kernel: {short}"])
