"""Alike up to a margin? Tests whose null hypothesis is a difference, or a dependence, of the margin or more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from ...core.array import Array, RngLike, as_rng
from ...core.validate import check_fraction, check_positive
from ...core.words import refuse
from ...kernels import Kernel
from ...report.description import Description, Shown
from .effect import maximum_dependence, maximum_distance
from .effects import Effect, cross_covariance, difference_of_means
from .fluctuation import fluctuations
from .pairs import PairSubject
from .samples import DesignedSubject, SampleSubject
from .subjects import Subject

Method = Literal["simulated", "bound"]


@final
@dataclass(frozen=True)
class EquivalenceResult(Shown):
    """The outcome of an equivalence test; ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    statistic : float
        As in :class:`EffectSize` or :class:`DependenceSize`.
    pvalue : float
        Small where the difference, or the dependence, is less than ``margin``; never 0.
    margin : float
        In ``unit``.
    unit : str
    upper : float
        The upper confidence limit at ``level``, in ``unit``: equivalence is shown for every margin above it.
    level : float
        1 - α.
    method : str
        How the p-value was computed, in words.
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
        """Say whether the test shows that the margin is not reached."""
        return self.pvalue <= 1.0 - self.level + 1e-12

    def describe(self) -> Description:
        """Return whether the test shows that the margin is not reached, and the numbers behind it."""
        facts = [("p-value", f"{self.pvalue:.4g}"), (f"upper limit ({100 * self.level:g} %)", f"{self.upper:.4g}")]
        facts += [("rows", " and ".join(f"{size:,}" for size in self.sizes))]
        facts += [("p-value from", self.method), ("kernel", repr(self.kernel))]
        pairs = isinstance(self.kernel, tuple)
        what, negation = "dependence" if pairs else "difference", "" if self.equivalent else "not "
        units = {"distance": "√HSIC" if pairs else "MMD", "explained": "share of variance explained"}
        margin = f"{self.margin:.4g} ({units.get(self.unit, self.unit)})"
        sentence = f"A {what} of less than {margin} was {negation}shown at level {1.0 - self.level:.3g}."
        return Description("Equivalence test", sentence, facts)


@final
@dataclass(frozen=True)
class Hypothesis:
    """What is to be rejected: a difference, or a dependence, of ``margin`` or more.

    Attributes
    ----------
    margin : float
        The largest difference or dependence that does not matter.
    unit : str
        "distance", or a share: "explained" for two samples, "alignment" for two variables.
    level : float
        1 - α.
    """

    margin: float
    unit: str = "distance"
    level: float = 0.95

    def check(self, shares: str, most: float) -> None:
        """Raise when the margin or the unit does not fit the subject."""
        check_fraction(self.level, "level", 0.95)
        if self.unit not in ("distance", shares):
            raise ValueError(f"unit is {self.unit!r}; pass 'distance' or {shares!r}")
        if np.ndim(check_positive(self.margin, "margin")):
            raise ValueError(f"margin is {self.margin!r}; pass one number")
        largest = 1.0 if self.unit == shares else most
        if self.margin >= largest:
            raise ValueError(f"margin is {self.margin!r}, but no difference exceeds {largest:.4g}; pass a smaller one")


def equivalence(
    subject: Subject, hypothesis: Hypothesis, *, method: str = "simulated", n_resamples: int = 999, rng: RngLike = None
) -> EquivalenceResult:
    """Test the hypothesis of a difference, or a dependence; see :meth:`kernelmean.TestResult.equivalence`."""
    if method not in ("simulated", "bound"):
        raise ValueError(f"method is {method!r}; pass 'simulated' or 'bound'")
    if method == "bound" and not isinstance(subject, SampleSubject):
        raise ValueError(
            "method 'bound' is for two samples without a design; for two variables, and with a design, write "
            "method='simulated'"
        )
    if isinstance(subject, PairSubject):
        return _of_pairs(subject, hypothesis, n_resamples, rng)
    return _of_samples(subject, hypothesis, method, n_resamples, rng)


def _of_samples(
    subject: SampleSubject | DesignedSubject, hypothesis: Hypothesis, method: str, n_resamples: int, rng: RngLike
) -> EquivalenceResult:
    hypothesis.check("explained", most := maximum_distance(subject.kernel, subject.pooled.shape[1]))
    effect = difference_of_means(subject)
    used = _usable(method, effect, hypothesis.unit, most, designed=isinstance(subject, DesignedSubject))
    if method == "bound":
        refuse("method='bound' simulates nothing", n_resamples=(n_resamples, 999), rng=(rng, None))
    about = subject.kernel, subject.sizes
    if used == "simulated":
        outcome = _by_simulation(effect, hypothesis, n_resamples, rng)
        if effect.rare:
            largest = most if hypothesis.unit == "distance" else _shares(np.array(most), effect.scale, "explained")
            outcome, used = (1.0, max(outcome[1], float(largest))), "rare"
        return _result(effect, outcome, hypothesis, used, *about, n_resamples)
    distance = float(np.sqrt(max(effect.mean.total, 0.0)))
    return _result(effect, _by_bound(distance, hypothesis, most, subject.sizes), hypothesis, used, *about, 0)


def _of_pairs(pairs: PairSubject, hypothesis: Hypothesis, n_resamples: int, rng: RngLike) -> EquivalenceResult:
    hypothesis.check("alignment", float("inf"))
    effect = cross_covariance(pairs)
    if not effect.defined:
        raise ValueError("X or Y is constant, so its dependence has no size; pass variables that vary")
    outcome = _by_simulation(effect, hypothesis, n_resamples, rng)
    method = "simulated"
    if effect.rare and hypothesis.unit == "distance":
        outcome, method = (1.0, maximum_dependence(pairs)), "rare"
    return _result(effect, outcome, hypothesis, method, pairs.kernels, (pairs.n,), n_resamples)


METHODS = {
    "simulated": "asymptotic p-value from simulated fluctuations",
    "bound": "p-value bounded by McDiarmid's inequality, exact for all sizes",
    "rare": "most rows have one value, or most pairs equal halves: fewer than 30 others are too few for an upper limit",
    "constant": "all rows are equal, nothing to simulate: p-value bounded by McDiarmid's inequality",
}


def _by_simulation(effect: Effect, hypothesis: Hypothesis, n_resamples: int, rng: RngLike) -> tuple[float, float]:
    """Return the p-value and the upper limit; for a share explained the larger, with errors of the scale or without."""
    unit = hypothesis.unit
    drawn = fluctuations(effect.mean, n_resamples, as_rng(rng))
    scaled = {"distance": (False,), "alignment": (True,), "explained": (True, False)}[unit]
    sizes = [drawn.distances(scaled=each)[1] for each in scaled]
    if unit != "distance":
        sizes = [_shares(size, effect.scale, unit) for size in sizes]
    beyond = max(int(np.count_nonzero(size >= hypothesis.margin)) for size in sizes)
    upper = max(np.quantile(size, hypothesis.level, method="higher") for size in sizes)
    return (1.0 + beyond) / (1.0 + n_resamples), float(upper)


def _shares(distances: Array, scale: float, unit: str) -> Array:
    """Return δ² / (4V + δ²), or δ² over the scale of an alignment; 1 where the scale is not known."""
    squares = np.square(distances)
    if unit == "alignment":
        return np.minimum(squares / scale, 1.0) if scale > 0.0 else np.ones_like(squares)
    total = 4.0 * scale + squares
    return np.divide(squares, total, out=np.zeros_like(squares), where=total > 0.0)


def _usable(method: str, effect: Effect, unit: str, most: float, *, designed: bool) -> str:
    """Return the method, or the bound if nothing varies: values that no row has leave no trace to simulate."""
    if method == "bound" or effect.defined:
        return method
    if designed:
        raise ValueError(
            "all rows of X and Y are equal, so there is nothing to simulate, and a bound is for rows without a design; "
            "pass data that vary"
        )
    if unit != "distance" or not np.isfinite(most):
        raise ValueError(
            "all rows of X and Y are equal, so there is nothing to simulate, and a bound needs unit='distance' and a "
            "bounded kernel, such as a Gaussian one; pass these, or data that vary"
        )
    return "constant"


def _by_bound(distance: float, hypothesis: Hypothesis, most: float, sizes: tuple[int, int]) -> tuple[float, float]:
    """Return the p-value and the upper limit by McDiarmid's inequality, with radius √(K (1/n + 1/m)) and K = max k."""
    if hypothesis.unit != "distance" or not np.isfinite(most):
        raise ValueError(
            "method 'bound' needs unit='distance' and a bounded kernel, such as a Gaussian one; write "
            "method='simulated' otherwise"
        )
    radius = float(most * np.sqrt((1.0 / sizes[0] + 1.0 / sizes[1]) / 2.0))
    beyond = max(hypothesis.margin - distance - radius, 0.0)
    pvalue = max(float(np.exp(-np.square(beyond / radius))), np.finfo(float).tiny)
    return pvalue, distance + radius * (1.0 + float(np.sqrt(-np.log(1.0 - hypothesis.level))))


def _result(
    effect: Effect, outcome: tuple[float, float], hypothesis: Hypothesis, method: str, *rest: Any
) -> EquivalenceResult:
    (pvalue, upper), margin = outcome, float(hypothesis.margin)
    about = margin, hypothesis.unit, upper, hypothesis.level, METHODS[method]
    return EquivalenceResult(effect.mean.squared, pvalue, *about, *rest)
