"""A sample under a Gaussian kernel, in units of the bandwidth, and searches for the minimum of its score.

Searches follow a line, or take quasi-Newton steps in many logarithms at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import Bounds, brentq, minimize

from ..core.array import (
    Array,
    array_api,
    as_float64,
    as_host,
    as_type,
    centered,
    column_variances,
    like,
    namespace,
    precision,
    to_numpy,
)
from ..core.cached import cached_property
from ..core.validate import check_range, check_spread
from ..embedding.score import Criterion, Score, Terms, diagonal_share
from ..kernels.gaussian import Gaussian
from .loocv import isotropic
from .loocv.pair_sums import axis_terms, spanned

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


def best(found: Sequence[Found]) -> Found:
    """Return the one with the smallest score, the first of equals."""
    return min(found, key=lambda one: one.score.key)


def minimize_line(exact: ScoreObjective, coarse: ScoreObjective, grid: Array) -> Found:
    """Return the global minimum over the range of ``grid``: all minima of the coarse score, polished exactly.

    A minimum is where the coarse score turns from falling to rising, or an end of the range.
    """
    slopes = coarse.slopes(grid)
    rising = np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] >= 0))
    turns = [float(brentq(coarse.slope, grid[k], grid[k + 1], xtol=1e-6)) for k in rising]
    ends = [float(grid[0])] * bool(slopes[0] >= 0) + [float(grid[-1])] * bool(slopes[-1] < 0)
    rough = sorted((coarse.at(np.array([u])) for u in turns + ends), key=lambda found: found.score.key)
    guesses = [float(found.point[0]) for found in rough[:_CANDIDATES]]
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


def polish(objective: ScoreObjective, found: Found, bounds: Array) -> Found:
    """Return an inner minimum by two Newton steps on the slope, which sees 1e-9 where values of the score see 1e-6.

    The slope's Jacobian is taken by central differences, 2p evaluations for p parameters. A minimum on a bound is
    returned as it is, and so is one that the steps would leave.
    """
    point, steps = found.point, _DIFFERENCE * np.eye(len(found.point))
    inside = (point - _DIFFERENCE > bounds[:, 0]) & (point + _DIFFERENCE < bounds[:, 1])
    if not inside.all():
        return found

    def slope(p: Array) -> Array:
        return objective.terms(p).slope(objective.scale)

    jacobian = np.stack([slope(point + h) - slope(point - h) for h in steps]) / (2 * _DIFFERENCE)
    if np.linalg.eigvalsh(jacobian + jacobian.T)[0] <= 0:
        return found
    for _ in range(2):
        point = point - np.linalg.solve(jacobian.T, slope(point))
    if np.abs(point - found.point).max() > _DIFFERENCE:
        return found
    return objective.at(point)


class _Tracker:
    """The objective in scipy's form; it remembers the best point so far."""

    def __init__(self, objective: ScoreObjective, first: Found, unit: float) -> None:
        self.objective, self.reference, self.unit, self.best = objective, first.score.log, unit, first

    def __call__(self, point: Array) -> tuple[float, Array]:
        found = self.objective.at(point.copy())
        if found.score < self.best.score:
            self.best = found
        value, gradient = self._barrier(found)
        return value / self.unit, gradient / self.unit

    def _barrier(self, found: Found) -> tuple[float, Array]:
        """Return -log(J/J₀), continued as a straight line in J where J is above half of J₀."""
        sign, gain = found.score.sign, found.score.log - self.reference
        if sign == 0:
            return 1.0 + math.log(2.0), np.zeros_like(found.point)
        slope = found.terms.log_slope(self.objective.scale)
        if sign < 0 and gain > -math.log(2.0):
            return -gain, -slope
        ratio = -sign * math.exp(min(gain, 300.0))
        return math.log(2.0) + 1.0 - 2.0 * ratio, -2.0 * ratio * slope


COARSE = 300  # rows on which searches explore
FEW = 32  # rows on which they look at a whole grid of two parameters
_SKETCHED = 2000  # rows on which searches for one number explore, where distances are not stored
GRID_STEP = 0.25  # of logarithms


@dataclass(frozen=True)
class ScoredNoise:
    """A noise with its score."""

    noise: Array
    """Variances in units of θ², along the axes or along ``vectors``, shape (d,)."""
    terms: Terms
    score: Score
    contraction: float = 1.0
    """r, the factor that moves the points to their mean; 1 leaves them."""
    vectors: Array | None = None
    """Shape (d, d). Orthonormal columns; the axes when None."""


def lower(first: ScoredNoise, second: ScoredNoise) -> ScoredNoise:
    """Return the choice with the lower score, the first of equals."""
    return second if second.score < first.score else first


_Squared: TypeAlias = isotropic.Distances | isotropic.ScaledDistances | isotropic.SummedDistances


@array_api
def _distances(Y: Array, pairs: isotropic.PairDistances | None, bandwidths: Array) -> _Squared:  # noqa: ARG001
    """Return the squared distances of all pairs of rows; NumPy arrays reuse known ones."""
    return isotropic.SummedDistances(Y, some_rows(Y, _SKETCHED))


@_distances.numpy
def _(Y: Array, pairs: isotropic.PairDistances | None, bandwidths: Array) -> _Squared:
    if pairs is None or np.ptp(bandwidths) > 0:
        return isotropic.Distances(Y)
    return pairs.under(float(bandwidths[0]))


class NoiseProblem:
    """A sample in units of the bandwidth, and its score at a noise.

    Parameters
    ----------
    X : array of shape (n, d)
    kernel : Gaussian
    criterion : {"loocv", "risk"}
    scale : float or None
        The factor of all weights; None takes the best one for every noise.
    pairs : isotropic.PairDistances, optional
        The distances of the rows, when other bandwidths need them too.
    n : int, optional
        The number of rows of the sample, if these are a part of it; the score is that of the sample.
    """

    def __init__(
        self,
        X: Array,
        kernel: Gaussian,
        criterion: Criterion = "loocv",
        scale: float | None = 1.0,
        pairs: isotropic.PairDistances | None = None,
        n: int | None = None,
    ) -> None:
        rows, self.dim = X.shape
        self.n = n or rows
        check_spread(X)
        self.bandwidths = kernel.bandwidths(self.dim)
        check_range(self.bandwidths, "the bandwidth is")
        self.Y = as_type(centered(as_float64(X))[0] / like(self.bandwidths, X, "float64"), precision(X))
        self.off = float(namespace(self.Y).max(namespace(self.Y).abs(self.Y)))
        check_range(self.off, "in units of the bandwidth rows lie off their median by")
        self.alpha = diagonal_share(self.n, criterion)
        self.constant = 0.0 if criterion == "risk" else 1.0
        self.scale = scale
        self._pairs = pairs

    @cached_property
    def distances(self) -> _Squared:
        """The squared distances of all pairs."""
        return _distances(self.Y, self._pairs, self.bandwidths)

    @cached_property
    def part(self) -> Array:
        """At most 300 rows, for finding good starts; every reported score uses all rows."""
        return some_rows(self.Y)

    @cached_property
    def spanned(self) -> tuple[Array, Array]:
        """All points and ``part``, minus the mean, in coordinates of their span (small when d > n)."""
        mean = namespace(self.Y).mean(self.Y, axis=0)
        whole = spanned(self.Y - mean)
        return whole, whole if self.part is self.Y else spanned(self.part - to_numpy(mean))

    @cached_property
    def few(self) -> Array:
        """At most 32 rows, minus the mean of all."""
        return some_rows(self.part, FEW) - to_numpy(namespace(self.Y).mean(self.Y, axis=0))

    @cached_property
    def variances(self) -> Array:
        """The variance of every column, shape (d,)."""
        return column_variances(self.Y)

    def without(self) -> ScoredNoise:
        """Return the score without noise."""
        return self.choice(isotropic.terms(self.distances, 0.0, self.alpha), np.zeros(self.dim))

    def at(self, noise: Array, vectors: Array | None = None) -> ScoredNoise:
        """Return the score at given variances (d,), along the axes or the columns of ``vectors``."""
        if np.ptp(noise) == 0:
            return self.choice(isotropic.terms(self.distances, float(noise[0]), self.alpha), noise)
        Y = self.Y if vectors is None else self.Y @ like(vectors, self.Y)
        return self.choice(axis_terms(Y, noise, self.alpha, slopes=False), noise, vectors=vectors)

    def choice(self, terms: Terms, noise: Array, contraction: float = 1.0, vectors: Array | None = None) -> ScoredNoise:
        """Return the choice of a noise whose terms are known."""
        score = terms.score(self.scale, constant=self.constant)
        return ScoredNoise(noise, terms, score, contraction, vectors)

    def objective(self, terms: Callable[[Array], Terms]) -> ScoreObjective:
        """Return the score as a function of parameters."""
        return ScoreObjective(terms, self.scale)

    def rescored(self, choice: ScoredNoise, criterion: Criterion, scale: float) -> Score:
        """Return the score of a choice without contraction by another criterion, at a given scale."""
        other = copy(self)
        other.alpha, other.scale = diagonal_share(self.n, criterion), scale
        other.constant = 0.0 if criterion == "risk" else 1.0
        return other.at(choice.noise, choice.vectors).score

    def informative(self, choice: ScoredNoise) -> float:
        """Return the relative gain of a choice over no noise: the size of the informative part of the score."""
        nothing = self.without().score
        if nothing.sign >= 0 or choice.score.sign >= 0:
            return 1.0
        return float(np.clip(choice.score.log - nothing.log, 1e-9, 1.0))


def some_rows(X: Array, most: int = COARSE) -> Array:
    """Return at most 300 rows, the same for any order of the rows: permutation tests rely on this.

    Rows from libraries other than NumPy are copied.
    """
    X = as_host(X)
    if len(X) <= most:
        return X
    return X[np.lexsort(X.T)][np.random.default_rng(0).choice(len(X), most, replace=False)]


def in_logs(terms: Terms, parameters: Array) -> Terms:
    """Return the terms with slopes in the logarithms of the parameters."""
    return Terms(terms.cross, terms.square, parameters * terms.cross_slope, parameters * terms.square_slope)


def along(terms: Terms, direction: Array) -> Terms:
    """Return the terms with slopes along one direction in the space of the parameters."""
    slopes = (np.array([direction @ slope]) for slope in (terms.cross_slope, terms.square_slope))
    return Terms(terms.cross, terms.square, *slopes)
