"""Alike up to a margin? Tests whose null hypothesis is a difference, or a dependence, of the margin or more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from ...core.array import Array, RngLike, as_rng
from ...core.conflicts import refuse
from ...core.validate import check_positive
from ...estimators.options import KernelLike
from ...kernels import Kernel
from ...plan.plan import DEFAULT, Plan
from ...report.description import Description
from ...report.shown import Shown
from .effect import maximum_distance
from .features import Effect, cross_covariance, difference_of_means
from .fluctuation import fluctuations
from .subject import Pairs, TwoSamples
from .witness import check_level

Method = Literal["simulated", "bound"]


@final
@dataclass(frozen=True)
class EquivalenceResult(Shown):
    """The outcome of an equivalence test; ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    statistic : float
        The unbiased MMD² or HSIC, of either sign.
    pvalue : float
        Small where the difference, or the dependence, is less than ``margin``; never 0.
    margin : float
        In ``unit``.
    unit : str
    upper : float
        The upper confidence limit at ``level``, in ``unit``: equivalence is shown at every margin beyond it.
    level : float
        1 - α.
    method : str
        How exact the p-value is, in words.
    kernel : Kernel or tuple of Kernel
    sizes : tuple of int
        The rows of the two samples, or the number of pairs.
    n_resamples : int
        Draws of the simulation; 0 for the bound.
    """

    statistic: float
    pvalue: float
    margin: float
    unit: str
    upper: float
    level: float
    method: str
    kernel: Kernel | tuple[Kernel, Kernel]
    sizes: tuple[int, ...]
    n_resamples: int

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    @property
    def equivalent(self) -> bool:
        """Say whether it was shown that the margin is not reached."""
        return self.pvalue <= 1.0 - self.level + 1e-12

    def describe(self) -> Description:
        """Return whether the margin was shown not to be reached, and what that rests on."""
        facts = [("p-value", f"{self.pvalue:.4g}"), (f"upper limit ({self.level:.0%})", f"{self.upper:.4g}")]
        facts += [("rows", " and ".join(f"{size:,}" for size in self.sizes))]
        facts += [("p-value from", self.method), ("kernel", repr(self.kernel))]
        said = "shown" if self.equivalent else "not shown"
        outcome = f"less than {self.margin:.4g} ({self.unit}): {said} at level {1.0 - self.level:.3g}"
        return Description("Equivalence test", f"A difference or dependence {outcome}.", facts)


def equivalence_test(
    X: Any,
    Y: Any,
    margin: float,
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    estimator: Any = "kme",
    unit: str = "distance",
    method: Method = "simulated",
    level: float = 0.95,
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan = DEFAULT,
) -> EquivalenceResult:
    r"""Test the hypothesis MMD ≥ margin against MMD < margin.

    The p-value is the share of the simulated fluctuations under which a distance of ``margin`` gives no more than the
    observed one, the observed one counted; or a bound that holds for all laws and sizes.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        At least three rows each.
    margin : float
        The largest difference that does not matter.
    kernel, bandwidth, estimator
        As in :func:`effect_size`. A margin is one of a kernel: fix the bandwidth before seeing the data.
    unit : {"distance", "explained"}
        Whether the margin is an MMD, or a share of the feature variance as in :class:`EffectSize`.
    method : {"simulated", "bound"}
        "bound" needs far more rows, a kernel with 0 ≤ k(x, y) ≤ k(0) and unit "distance".
    level : float
        1 - α.
    n_resamples, rng, plan
        As in :func:`effect_size`.

    Raises
    ------
    ValueError
        When the margin is not positive, or exceeds every possible distance; the samples do not fit; or there is no
        bound for the kernel or the unit, where one is asked for or all rows are equal.

    Notes
    -----
    "simulated" is asymptotic, with the simulation and the cost of :func:`effect_size`; its level at the margin is
    measured in ``docs/explain.md``. Where all rows of both samples are equal there is nothing to simulate, and the
    bound takes its place; the result says so in ``method``. Few rows cannot show equivalence: then p is large even
    for equal samples.
    "bound" is exact for every n and m, and conservative: with K = k(0) and c = 1/n + 1/m,
    :math:`P(|\mathrm{MMD} - \widehat{\mathrm{MMD}}_V| > \sqrt{Kc} + t) ≤ \exp(-t^2 / (Kc))` by McDiarmid's inequality,
    since one row of n moves the difference of means by at most √(2K)/n (after Gretton et al. 2012, theorem 7).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(400, 1)), rng.normal(size=(300, 1))
    >>> equivalence_test(X, Y, 0.25, bandwidth=1.0, rng=0).equivalent
    True
    >>> equivalence_test(X[:20], Y[:20], 0.25, bandwidth=1.0, rng=0).equivalent
    False
    """
    check_level(level)
    subject = TwoSamples.of(X, Y, kernel, bandwidth, estimator, plan)
    _check_unit(unit, ("distance", "explained"))
    most = 1.0 if unit == "explained" else maximum_distance(subject.kernel, subject.pooled.shape[1])
    _check_margin(margin, most)
    effect = difference_of_means(subject)
    used = _usable(_check_method(method), effect, unit, most)
    if method == "bound":
        refuse("method='bound' simulates nothing", n_resamples=(n_resamples, 999), rng=(rng, None))
    if used != "simulated":
        radius = _bound_scale(unit, most, subject.sizes)
        found = _by_bound(float(np.sqrt(max(effect.mean.total, 0.0))), margin, radius, level)
        return _result(effect, found, margin, unit, level, used, subject.kernel, subject.sizes, 0)
    found = _by_simulation(effect, margin, unit, level, n_resamples, rng)
    return _result(effect, found, margin, unit, level, used, subject.kernel, subject.sizes, n_resamples)


def dependence_equivalence_test(
    X: Any,
    Y: Any,
    margin: float,
    kernel: Any = "gaussian",
    *,
    bandwidth: Any = "median",
    estimator: Any = "kme",
    unit: str = "distance",
    level: float = 0.95,
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan = DEFAULT,
) -> EquivalenceResult:
    r"""Test the hypothesis √HSIC ≥ margin against √HSIC < margin.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), or data frame
        Row i of X and row i of Y are one observation; at least four.
    margin : float
        The largest dependence that does not matter.
    kernel, bandwidth, estimator
        As in :func:`dependence_effect_size`.
    unit : {"distance", "alignment"}
        Whether the margin is a √HSIC, or an alignment as in :class:`DependenceSize`.
    level, n_resamples, rng, plan
        As in :func:`equivalence_test`.

    Raises
    ------
    ValueError
        When the margin is not positive, or an alignment of 1 or more; a variable is constant; or the tables do not fit.

    Notes
    -----
    Asymptotic, see :func:`equivalence_test`; the cost is that of :func:`dependence_effect_size`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(400, 1)), rng.normal(size=(400, 1))
    >>> dependence_equivalence_test(X, Y, 0.1, unit="alignment", rng=0).equivalent
    True
    """
    check_level(level)
    pairs = Pairs.of(X, Y, kernel, bandwidth, estimator, plan)
    _check_unit(unit, ("distance", "alignment"))
    _check_margin(margin, 1.0 if unit == "alignment" else float("inf"))
    effect = cross_covariance(pairs)
    if not effect.defined:
        raise ValueError("X or Y is constant, so its dependence has no size; pass variables that vary")
    found = _by_simulation(effect, margin, unit, level, n_resamples, rng)
    return _result(effect, found, margin, unit, level, "simulated", pairs.kernels, (pairs.n,), n_resamples)


METHODS = {
    "simulated": "asymptotic p-value from simulated fluctuations",
    "bound": "p-value bounded by McDiarmid's inequality, exact for all sizes",
    "constant": "all rows are equal, nothing to simulate: p-value bounded by McDiarmid's inequality",
}


def _by_simulation(
    effect: Effect, margin: float, unit: str, level: float, n_resamples: int, rng: RngLike
) -> tuple[float, float]:
    """Return the p-value and the upper limit."""
    drawn = fluctuations(effect.mean, n_resamples, as_rng(rng))
    _, distances = drawn.distances(scaled=unit != "distance")
    sizes = distances if unit == "distance" else _shares(distances, effect.scale, unit)
    pvalue = float((1.0 + np.count_nonzero(sizes >= margin)) / (1.0 + n_resamples))
    return pvalue, float(np.quantile(sizes, level, method="higher"))


def _shares(distances: Array, scale: float, unit: str) -> Array:
    """Return δ² / (4V + δ²), or δ² over the scale of an alignment; 1 where the scale is not known."""
    squares = np.square(distances)
    if unit == "alignment":
        return np.minimum(squares / scale, 1.0) if scale > 0.0 else np.ones_like(squares)
    total = 4.0 * scale + squares
    return np.divide(squares, total, out=np.zeros_like(squares), where=total > 0.0)


def _usable(method: str, effect: Effect, unit: str, most: float) -> str:
    """Return the method, but the bound where nothing varies: values that all rows missed leave no trace to simulate."""
    if method == "bound" or effect.defined:
        return method
    if unit != "distance" or not np.isfinite(most):
        raise ValueError(
            "all rows of X and Y are equal, so there is nothing to simulate, and a bound needs unit='distance' and a "
            "bounded kernel, such as a Gaussian one; pass these, or data that vary"
        )
    return "constant"


def _bound_scale(unit: str, most: float, sizes: tuple[int, int]) -> float:
    """Return √(K (1/n + 1/m)), K the largest value of the kernel."""
    if unit != "distance" or not np.isfinite(most):
        raise ValueError(
            "method 'bound' needs unit='distance' and a bounded kernel, such as a Gaussian one; write "
            "method='simulated' otherwise"
        )
    return float(most * np.sqrt((1.0 / sizes[0] + 1.0 / sizes[1]) / 2.0))


def _by_bound(distance: float, margin: float, radius: float, level: float) -> tuple[float, float]:
    """Return the p-value and the upper limit of McDiarmid's inequality."""
    beyond = max(margin - distance - radius, 0.0)
    pvalue = float(np.exp(-np.square(beyond / radius)))
    return max(pvalue, np.finfo(float).tiny), distance + radius * (1.0 + float(np.sqrt(-np.log(1.0 - level))))


def _result(
    effect: Effect, found: tuple[float, float], margin: float, unit: str, level: float, method: str, *rest: Any
) -> EquivalenceResult:
    pvalue, upper = found
    return EquivalenceResult(effect.mean.squared, pvalue, float(margin), unit, upper, level, METHODS[method], *rest)


def _check_unit(unit: str, known: tuple[str, str]) -> None:
    if unit not in known:
        raise ValueError(f"unit is {unit!r}; pass {known[0]!r} or {known[1]!r}")


def _check_method(method: str) -> str:
    if method not in ("simulated", "bound"):
        raise ValueError(f"method is {method!r}; pass 'simulated' or 'bound'")
    return method


def _check_margin(margin: float, most: float) -> None:
    """Raise when the margin is no positive number, or no difference reaches it."""
    if np.ndim(check_positive(margin, "margin")):
        raise ValueError(f"margin is {margin!r}; pass one number")
    if margin >= most:
        raise ValueError(f"margin is {margin!r}, but no difference exceeds {most:.4g}; pass a smaller one")
