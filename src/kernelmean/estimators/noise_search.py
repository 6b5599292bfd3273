"""The Gaussian noise chosen by leaving one out: isotropic (MKME), per axis (MMKME), a multiple of the covariance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..core.array import Array, covariance, largest_norm, like
from ..embedding.score import Terms
from .loocv import axes, isotropic
from .noise_problem import GRID_STEP, NoiseProblem, ScoredNoise, along, in_logs, lower
from .search import ScoreObjective, best, descend, minimize_line

_SMALLEST, _LARGEST = 1e-8, 1e4  # variances, in units of the column's variance plus θ²
_LEAST = 1e-10  # variance in units of θ² from which lines start
_SAME = 1e-12  # relative difference of scores that is rounding
EXPLORE = 25  # iterations from every start


def search_isotropic(problem: NoiseProblem) -> ScoredNoise:
    """Return the best common σ² ≥ 0, never worse than 0, in O(n²) time.

    A global search over logarithms on binned distances, then a few exact evaluations; one bandwidth per axis
    goes the way of a line through per-axis variances.
    """
    if np.ptp(problem.bandwidths) > 0:
        return _search_direction(problem, (problem.bandwidths[0] / problem.bandwidths) ** 2, None)
    distances = problem.distances
    exact, coarse = (_isotropic(problem, source) for source in (distances, distances.sketch()))
    found = minimize_line(exact, coarse, log_grid(10 * distances.largest / problem.dim))
    noise = np.full(problem.dim, math.exp(found.point[0]))
    return lower(problem.without(), problem.choice(found.terms, noise))


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
    found = minimize_line(exact, coarse, grid)
    choice = problem.choice(found.terms, math.exp(found.point[0]) * direction, vectors=vectors)
    return lower(problem.without(), choice)


def _direction(problem: NoiseProblem, Y: Array, direction: Array) -> ScoreObjective:
    def at(u: Array) -> Terms:
        noise = math.exp(u[0]) * direction
        return along(axes.terms(Y, noise, problem.alpha), noise)

    return problem.objective(at)


def log_grid(largest: float) -> Array:
    """Return logarithms of variances, from far below θ² to ``largest`` and at least 10 θ²."""
    return np.arange(math.log(_LEAST), math.log(max(largest, 10.0)) + GRID_STEP, GRID_STEP)


def search_diagonal(problem: NoiseProblem) -> ScoredNoise:
    """Return the best variance per axis, never worse than the best common one.

    Quasi-Newton steps in the logarithms, explored from several starts on at most 300 rows, then on all rows from
    the best start. The score is not convex in the variances, so this is the best local minimum that was found.
    """
    common = search_isotropic(problem)
    unit, largest = problem.informative(common), problem.variances + 1.0
    bounds = np.log(np.column_stack([_SMALLEST * largest, _LARGEST * largest]))
    coarse, exact = (_axes(problem, Y) for Y in (problem.part, problem.Y))
    explored = best([descend(coarse, start, bounds, unit, EXPLORE) for start in _starts(problem, common)])
    starts = [np.clip(u, *bounds.T) for u in (np.log(np.maximum(common.noise, 1e-300)), explored.point)]
    found = descend(exact, best([exact.at(u) for u in starts]).point, bounds, unit)
    return _tidy(problem, common, lower(common, problem.choice(found.terms, np.exp(found.point))))


def _axes(problem: NoiseProblem, Y: Array) -> ScoreObjective:
    def at(u: Array) -> Terms:
        noise = np.exp(u)
        return in_logs(axes.terms(Y, noise, problem.alpha), noise)

    return problem.objective(at)


def _starts(problem: NoiseProblem, common: ScoredNoise) -> list[Array]:
    """Return logarithms to start from: the common optimum, in proportion to the variances, less, Silverman's rule."""
    level = np.log(np.maximum(common.noise, 1e-6))
    spread = np.log(problem.variances + 1e-3 * max(float(problem.variances.mean()), 1e-300))
    proportional = level + spread - spread.mean()
    silverman = spread - 2.0 / (problem.dim + 4) * math.log(problem.n)
    return [level, proportional, proportional - math.log(10.0), silverman]


def _tidy(problem: NoiseProblem, common: ScoredNoise, choice: ScoredNoise) -> ScoredNoise:
    """Return the choice with variances at their lower bound set to 0, when the score stays the same to rounding."""
    smallest = 1.01 * _SMALLEST * (problem.variances + 1.0)
    if not ((choice.noise > 0) & (choice.noise <= smallest)).any():
        return choice
    tidied = problem.at(np.where(choice.noise <= smallest, 0.0, choice.noise))
    same = tidied.score.log >= choice.score.log - _SAME and tidied.score <= common.score
    return tidied if same else choice
