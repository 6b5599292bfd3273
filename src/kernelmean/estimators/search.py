"""The search for the minimum of a score: along a line, or by quasi-Newton steps in many logarithms at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.optimize import Bounds, brentq, minimize, minimize_scalar

from ..core.array import Array
from ..embedding.score import Means, Score, Terms
from ..noise.base import Noise
from ..noise.dirac import Dirac

TermsAt = Callable[[Array], Terms]

_CANDIDATES = 3  # local minima of the coarse score that are polished
_TOLERANCE = 1e-7
_DIFFERENCE = 1e-3  # of parameters, for second derivatives


@dataclass(frozen=True)
class Found:
    """A point with the terms of the score there."""

    point: Array
    terms: Terms
    score: Score


@dataclass(frozen=True)
class ScoreObjective:
    """A score as a function of parameters p, at a fixed scale of the estimate or (None) at the best one.

    With ``at_once``, one call gives the terms at many parameters, shape (p, G).
    """

    terms: TermsAt
    scale: float | None = 1.0
    at_once: bool = False

    def at(self, point: Array) -> Found:
        """Return the terms and the score at a point."""
        terms = self.terms(point)
        return Found(point, terms, terms.score(self.scale))

    def slope(self, u: float) -> float:
        """Return the derivative of the score along a line, up to a positive factor."""
        return float(self.terms(np.array([u])).slope(self.scale)[0])

    def slopes(self, grid: Array) -> Array:
        """Return it at many places, in one call where possible."""
        if self.at_once:
            return self.terms(grid[None]).slope(self.scale)[0]
        return np.array([self.slope(u) for u in grid])


def best(candidates: Sequence[Found]) -> Found:
    """Return the one with the smallest score, the first of equals."""
    return min(candidates, key=lambda one: one.score.key)


def minimize_line(exact: ScoreObjective, coarse: ScoreObjective, grid: Array) -> Found:
    """Return the global minimum over the range of ``grid``: all minima of the coarse score, polished exactly.

    A minimum is where the coarse score turns from falling to rising, or an end of the range.
    """
    slopes = coarse.slopes(grid)
    rising = np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] >= 0))
    turns = [float(brentq(coarse.slope, grid[k], grid[k + 1], xtol=1e-6)) for k in rising]
    ends = [float(grid[0])] * bool(slopes[0] >= 0) + [float(grid[-1])] * bool(slopes[-1] < 0)
    rough = sorted((coarse.at(np.array([u])) for u in turns + ends), key=lambda minimum: minimum.score.key)
    guesses = [float(minimum.point[0]) for minimum in rough[:_CANDIDATES]]
    return best([exact.at(np.array([_root(exact.slope, u, grid[0], grid[-1])])) for u in guesses])


def _root(slope: Callable[[float], float], guess: float, low: float, high: float) -> float:
    """Return a root of an increasing slope near ``guess`` in [low, high], or the end towards which the score falls."""
    step, here = 1e-3, slope(guess)
    direction = -1.0 if here > 0 else 1.0
    near, far = guess, guess
    while here * direction < 0:
        near, far = far, min(max(guess + direction * step, low), high)
        if far == near:
            return far
        here, step = slope(far), 8 * step
    return near if near == far else float(brentq(slope, near, far, xtol=_TOLERANCE))


def descend(objective: ScoreObjective, start: Array, bounds: Array, unit: float = 1.0, most: int = 500) -> Found:
    r"""Return a local minimum by L-BFGS-B from ``start`` within ``bounds`` (p, 2), never worse than the start.

    Minimizes :math:`-\log(J/J_0)/u`, with J the (negative) excess of the score, J₀ that of the start, and u = ``unit``
    the relative size of its informative part: at wide bandwidths, plain gradients are below every default tolerance.
    Takes at most ``most`` iterations.
    """
    start = np.clip(start, bounds[:, 0], bounds[:, 1])
    first = objective.at(start)
    if first.score.sign >= 0:
        return first
    tracker = _Tracker(objective, first, unit)
    options: Any = {"gtol": 1e-5, "ftol": 1e-10, "maxiter": most, "maxfun": 2 * most, "maxcor": 20}
    minimize(tracker, start, jac=True, method="L-BFGS-B", bounds=Bounds(*bounds.T), options=options)
    return tracker.best


def polish(objective: ScoreObjective, minimum: Found, bounds: Array) -> Found:
    """Return an inner minimum by two Newton steps on the slope, which sees 1e-9 where values of the score see 1e-6.

    The slope's Jacobian is taken by central differences, 2p evaluations for p parameters. A minimum on a bound is
    returned as it is, and so is one that the steps would leave.
    """
    point, steps = minimum.point, _DIFFERENCE * np.eye(len(minimum.point))
    inside = (point - _DIFFERENCE > bounds[:, 0]) & (point + _DIFFERENCE < bounds[:, 1])
    if not inside.all():
        return minimum

    def slope(p: Array) -> Array:
        return objective.terms(p).slope(objective.scale)

    jacobian = np.stack([slope(point + h) - slope(point - h) for h in steps]) / (2 * _DIFFERENCE)
    if np.linalg.eigvalsh(jacobian + jacobian.T)[0] <= 0:
        return minimum
    for _ in range(2):
        point = point - np.linalg.solve(jacobian.T, slope(point))
    if np.abs(point - minimum.point).max() > _DIFFERENCE:
        return minimum
    return objective.at(point)


class Scored(Protocol):
    """Anything with a score."""

    @property
    def score(self) -> Score:
        """The score."""


S = TypeVar("S", bound=Scored)


def minimize_scores(
    at: Callable[[float], S], rough: Sequence[Score], grid: Array, most: int, unit: float = 1.0
) -> list[S]:
    """Return all that is seen on the way to the ``most`` deepest minima of a score without slope over a grid.

    Every minimum is refined between its neighbours by Brent's method, in a ``unit`` of the score.
    """
    last, tried = len(grid) - 1, []
    minima = [k for k in range(last + 1) if all(rough[k] <= rough[j] for j in (k - 1, k + 1) if 0 <= j <= last)]

    def value(u: float) -> float:
        tried.append(at(u))
        return tried[-1].score.excess / unit

    for k in sorted(minima, key=lambda index: rough[index].key)[:most]:
        ends = grid[max(k - 1, 0)], grid[min(k + 1, last)]
        minimize_scalar(value, bounds=ends, method="bounded", options={"xatol": 1e-6})
    return tried


class _Tracker:
    """The objective in scipy's form; it remembers the best point so far."""

    def __init__(self, objective: ScoreObjective, first: Found, unit: float) -> None:
        self.objective, self.reference, self.unit, self.best = objective, first.score.log, unit, first

    def __call__(self, point: Array) -> tuple[float, Array]:
        scored = self.objective.at(point.copy())
        if scored.score < self.best.score:
            self.best = scored
        value, gradient = self._barrier(scored)
        return value / self.unit, gradient / self.unit

    def _barrier(self, scored: Found) -> tuple[float, Array]:
        """Return -log(J/J₀), continued as a straight line in J where J is above half of J₀."""
        sign, gain = scored.score.sign, scored.score.log - self.reference
        if sign == 0:
            return 1.0 + math.log(2.0), np.zeros_like(scored.point)
        slope = scored.terms.log_slope(self.objective.scale)
        if sign < 0 and gain > -math.log(2.0):
            return -gain, -slope
        ratio = -sign * math.exp(min(gain, 300.0))
        return math.log(2.0) + 1.0 - 2.0 * ratio, -2.0 * ratio * slope


MeansOf = Callable[[Noise], Means]
"""From a noise to the means that make up its score."""


@dataclass(frozen=True)
class NoiseChoice:
    """A noise with its means and its score."""

    noise: Noise
    means: Means
    score: Score


def search_variance(
    variance: float, noise_of: Callable[[float], Noise], exact: MeansOf, coarse: MeansOf, scale: float | None = 1.0
) -> NoiseChoice:
    """Return the best noise ``noise_of(s)``, s ≥ 0, never worse than none.

    The grid covers multiples 1e-8 … 1e4 of ``variance`` and uses the means of some rows, ``coarse``; minima are refined
    with those of all rows, ``exact``.
    """

    def at(noise: Noise, means: MeansOf) -> NoiseChoice:
        averages = means(noise)
        return NoiseChoice(noise, averages, averages.score(scale))

    grid = math.log(max(variance, 1e-300)) + np.linspace(math.log(1e-8), math.log(1e4), 41)
    rough = [at(noise_of(math.exp(u)), coarse).score for u in grid]
    choices = minimize_scores(lambda u: at(noise_of(math.exp(u)), exact), rough, grid, 2)
    return min([at(Dirac(), exact), *choices], key=lambda choice: choice.score.key)
