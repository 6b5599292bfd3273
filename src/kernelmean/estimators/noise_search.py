"""The noise chosen by leave-one-out.

Under a Gaussian kernel, Gaussian noise: isotropic (MKME), per axis (MMKME), a multiple of the covariance, or with a
contraction (VPMKME).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.ndimage import minimum_filter

from ..core.array import (
    Array,
    array_api,
    as_float64,
    as_host,
    as_type,
    centered,
    column_variances,
    covariance,
    largest_norm,
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
from .loocv.pair_sums import axis_terms, contracted_on_grid, contracted_terms, spanned
from .search import ScoreObjective, best, descend, minimize_line, polish

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


_SMALLEST, _LARGEST = 1e-8, 1e4  # variances, in units of the column's variance plus θ²
_LEAST = 1e-10  # variance in units of θ² from which lines start
_SAME = 1e-12  # relative difference of scores that is rounding
EXPLORE = 25  # iterations from every start


def search_isotropic(problem: NoiseProblem) -> ScoredNoise:
    """Return the best common σ² ≥ 0, never worse than 0, in O(n²) time.

    A global search over logarithms on binned distances, then a few exact evaluations. With one bandwidth per axis, the
    search follows a line through per-axis variances.
    """
    if np.ptp(problem.bandwidths) > 0:
        return _search_direction(problem, (problem.bandwidths[0] / problem.bandwidths) ** 2, None)
    distances = problem.distances
    exact, coarse = (_isotropic(problem, source) for source in (distances, distances.sketch()))
    minimum = minimize_line(exact, coarse, log_grid(10 * distances.largest / problem.dim))
    noise = np.full(problem.dim, math.exp(minimum.point[0]))
    return lower(problem.without(), problem.choice(minimum.terms, noise))


def _isotropic(problem: NoiseProblem, source: isotropic.Source) -> ScoreObjective:
    def at(u: Array) -> Terms:
        noise = np.exp(u[0])
        return in_logs(isotropic.terms(source, noise, problem.alpha), np.exp(u))

    return replace(problem.objective(at), at_once=isinstance(source, isotropic.Sketch))


def search_full(problem: NoiseProblem) -> ScoredNoise:
    """Return the best s ≥ 0 of Σ = s S, S the sample covariance, along the principal axes of S; O(n² d) a step."""
    values, vectors = np.linalg.eigh(covariance(problem.Y))
    return _search_direction(problem, np.maximum(values, 0.0), vectors)


def _search_direction(problem: NoiseProblem, direction: Array, vectors: Array | None) -> ScoredNoise:
    """Return the best multiple of ``direction``, variances along the axes or the columns of ``vectors``."""
    rotation = np.eye(problem.dim) if vectors is None else vectors
    exact, coarse = (_direction(problem, Y @ like(rotation, Y), direction) for Y in (problem.Y, problem.part))
    span = largest_norm(problem.Y)
    grid = log_grid(40 * span / problem.dim) - math.log(max(direction.mean(), 1e-300))
    minimum = minimize_line(exact, coarse, grid)
    choice = problem.choice(minimum.terms, math.exp(minimum.point[0]) * direction, vectors=vectors)
    return lower(problem.without(), choice)


def _direction(problem: NoiseProblem, Y: Array, direction: Array) -> ScoreObjective:
    def at(u: Array) -> Terms:
        noise = math.exp(u[0]) * direction
        return along(axis_terms(Y, noise, problem.alpha), noise)

    return problem.objective(at)


def log_grid(largest: float) -> Array:
    """Return logarithms of variances, from far below θ² to ``largest`` and at least 10 θ²."""
    return np.arange(math.log(_LEAST), math.log(max(largest, 10.0)) + GRID_STEP, GRID_STEP)


def search_diagonal(problem: NoiseProblem) -> ScoredNoise:
    """Return the best variance per axis, never worse than the best common one.

    Quasi-Newton steps in the logarithms, from several starts on at most 300 rows, then from the best start on all
    rows. The score is not convex in the variances, so this is the best local minimum found.
    """
    common = search_isotropic(problem)
    unit, largest = problem.informative(common), problem.variances + 1.0
    bounds = np.log(np.column_stack([_SMALLEST * largest, _LARGEST * largest]))
    coarse, exact = (_axes(problem, Y) for Y in (problem.part, problem.Y))
    explored = best([descend(coarse, start, bounds, unit, EXPLORE) for start in _starts(problem, common)])
    starts = [np.clip(u, *bounds.T) for u in (np.log(np.maximum(common.noise, 1e-300)), explored.point)]
    minimum = descend(exact, best([exact.at(u) for u in starts]).point, bounds, unit)
    return _tidy(problem, common, lower(common, problem.choice(minimum.terms, np.exp(minimum.point))))


def _axes(problem: NoiseProblem, Y: Array) -> ScoreObjective:
    return problem.objective(lambda u: in_logs(axis_terms(Y, np.exp(u), problem.alpha), np.exp(u)))


def _starts(problem: NoiseProblem, common: ScoredNoise) -> list[Array]:
    """Return logarithms to start from: the common optimum, one in proportion to the variances, less, Silverman's."""
    level = np.log(np.maximum(common.noise, 1e-6))
    spread = np.log(problem.variances + 1e-3 * max(float(problem.variances.mean()), 1e-300))
    proportional = level + spread - spread.mean()
    silverman = spread - 2.0 / (problem.dim + 4) * math.log(problem.n)
    return [level, proportional, proportional - math.log(10.0), silverman]


def _tidy(problem: NoiseProblem, common: ScoredNoise, choice: ScoredNoise) -> ScoredNoise:
    """Return the choice with variances at their lower bound set to 0, if the score stays the same up to rounding."""
    smallest = 1.01 * _SMALLEST * (problem.variances + 1.0)
    if not ((choice.noise > 0) & (choice.noise <= smallest)).any():
        return choice
    tidied = problem.at(np.where(choice.noise <= smallest, 0.0, choice.noise))
    same = tidied.score.log >= choice.score.log - _SAME and tidied.score <= common.score
    return tidied if same else choice


_LEAST_CONTRACTION, _LEAST_NOISE = 1e-9, 1e-10
_CONTRACTIONS = np.array([_LEAST_CONTRACTION, *np.linspace(0.0, 1.0, 25)[1:]])
_BENDS = 1e-2  # σ²/θ² below which the score no longer bends
_STEP = 0.5  # of log σ²/θ²
_VALLEYS = 4  # deepest points of the grid to start from
_WAYS = 4  # starts in all
_FAR = 1e10  # bandwidths: one row so far off moves the mean from all others, whose distances from it lose digits


def search_tied(problem: NoiseProblem) -> ScoredNoise:
    """Return the best r of the tied contraction: σ² = (1 - r²) v, v the mean variance of the columns."""
    exact, coarse = (_tied(problem, Y) for Y in problem.spanned)
    grid = np.arange(math.log(1e-8), math.log(-math.log(_LEAST_CONTRACTION)), GRID_STEP)
    minimum = minimize_line(exact, coarse, grid)
    r, noise = _tied_parameters(problem, float(minimum.point[0]))
    return lower(problem.without(), problem.choice(minimum.terms, np.full(problem.dim, noise), r))


def _tied_parameters(problem: NoiseProblem, u: float) -> tuple[float, float]:
    """Return r = exp(-e^u) and (1 - r²) v, without rounding 1 - r where r is near 1."""
    rate = math.exp(u)
    return math.exp(-rate), -float(problem.variances.mean()) * math.expm1(-2 * rate)


def _tied(problem: NoiseProblem, Y: Array) -> ScoreObjective:
    def at(u: Array) -> Terms:
        r, noise = _tied_parameters(problem, float(u[0]))
        r_slope = -math.exp(u[0]) * r
        direction = np.array([r_slope, -2 * float(problem.variances.mean()) * r * r_slope])
        return along(contracted_terms(Y, r, noise, problem.alpha, problem.n, problem.dim), direction)

    return problem.objective(at)


def search_free(problem: NoiseProblem) -> ScoredNoise:
    """Return the best (r, σ²), never worse than the best tied pair and the best σ² without contraction.

    Under narrow kernels the score has many minima, so descents start from those two, from between them, and from the
    valleys of a grid on few rows.
    """
    common = search_isotropic(problem)
    if problem.off > _FAR:
        return common
    tied = search_tied(problem)
    unit = problem.informative(lower(common, tied))
    largest = 1e4 * (float(problem.variances.mean()) + 1.0)
    bounds = np.array([[_LEAST_CONTRACTION, 1.0], [math.log(_LEAST_NOISE), math.log(largest)]])
    corners = [_corner(tied), _corner(common)]
    exact, coarse = (_free(problem, Y) for Y in problem.spanned)
    ways = [coarse.at(np.clip(u, *bounds.T)) for u in [*corners, 0.5 * (corners[0] + corners[1]), *_valleys(problem)]]
    ways = sorted(ways, key=lambda way: way.score.key)[:_WAYS]
    explored = [descend(coarse, way.point, bounds, unit, EXPLORE) for way in ways]
    starts = [np.clip(u, *bounds.T) for u in [best(explored).point, *corners]]
    minimum = polish(exact, descend(exact, best([exact.at(u) for u in starts]).point, bounds, unit), bounds)
    noise = np.full(problem.dim, math.exp(minimum.point[1]))
    return lower(lower(common, tied), problem.choice(minimum.terms, noise, float(minimum.point[0])))


def _valleys(problem: NoiseProblem) -> list[Array]:
    """Return the deepest points (r, log σ²/θ²) of a grid that are not above their neighbours."""
    Y = spanned(problem.few)
    reach = 10 * float(np.square(Y).sum(axis=1).max()) / problem.dim
    logs = np.arange(math.log(_BENDS), math.log(max(reach, 10.0)) + _STEP, _STEP)
    sign, size = contracted_on_grid(Y, _CONTRACTIONS, np.exp(logs), problem.alpha, problem.n, problem.dim).excess()
    height = np.where(sign < 0, -size, np.inf)
    r, u = np.nonzero((height <= minimum_filter(height, 3, mode="nearest")) & (sign < 0))
    order = np.argsort(height[r, u], kind="stable")[:_VALLEYS]
    return [np.array([_CONTRACTIONS[r[k]], logs[u[k]]]) for k in order]


def _corner(choice: ScoredNoise) -> Array:
    return np.array([choice.contraction, math.log(max(float(choice.noise[0]), _LEAST_NOISE))])


def _free(problem: NoiseProblem, Y: Array) -> ScoreObjective:
    def at(p: Array) -> Terms:
        noise = math.exp(p[1])
        return in_logs(contracted_terms(Y, p[0], noise, problem.alpha, problem.n, problem.dim), np.array([1.0, noise]))

    return problem.objective(at)
