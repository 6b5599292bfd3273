"""The variance-preserving marginalized estimator: contraction and noise chosen by leaving one out."""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import minimum_filter

from ..core.array import Array
from ..embedding.score import Terms
from .loocv import contracted
from .noise_search import EXPLORE, search_isotropic
from .problem import GRID_STEP, NoiseProblem, ScoredNoise, along, in_logs, lower
from .search import ScoreObjective, best, descend, minimize_line, polish

_LEAST_CONTRACTION, _LEAST_NOISE = 1e-9, 1e-10
_CONTRACTIONS = np.array([_LEAST_CONTRACTION, *np.linspace(0.0, 1.0, 25)[1:]])
_BENDS = 1e-2  # σ²/θ² below which the score bends no more
_STEP = 0.5  # of log σ²/θ²
_VALLEYS = 4  # of the grid, the deepest, from which a search sets out
_WAYS = 4  # of all that a search could set out from
_FAR = 1e10  # bandwidths: a row so far off would draw all others away, and their distances from the mean lose digits


def search_tied(problem: NoiseProblem) -> ScoredNoise:
    """Return the best r of the tied contraction, σ² = (1 - r²) v, v the mean variance of the columns."""
    exact, coarse = (_tied(problem, Y) for Y in problem.spanned)
    grid = np.arange(math.log(1e-8), math.log(-math.log(_LEAST_CONTRACTION)), GRID_STEP)
    found = minimize_line(exact, coarse, grid)
    r, noise = _tied_parameters(problem, float(found.point[0]))
    return lower(problem.without(), problem.choice(found.terms, np.full(problem.dim, noise), r))


def _tied_parameters(problem: NoiseProblem, u: float) -> tuple[float, float]:
    """Return r = exp(-e^u) and (1 - r²) v, without rounding 1 - r where r is near 1."""
    rate = math.exp(u)
    return math.exp(-rate), -float(problem.variances.mean()) * math.expm1(-2 * rate)


def _tied(problem: NoiseProblem, Y: Array) -> ScoreObjective:
    def at(u: Array) -> Terms:
        r, noise = _tied_parameters(problem, float(u[0]))
        r_slope = -math.exp(u[0]) * r
        direction = np.array([r_slope, -2 * float(problem.variances.mean()) * r * r_slope])
        return along(contracted.terms(Y, r, noise, problem.alpha, problem.n, problem.dim), direction)

    return problem.objective(at)


def search_free(problem: NoiseProblem) -> ScoredNoise:
    """Return the best (r, σ²), never worse than the best tied pair and the best σ² without contraction.

    The score has many minima under narrow kernels: descents set out from those two, from between them, and from the
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
    found = polish(exact, descend(exact, best([exact.at(u) for u in starts]).point, bounds, unit), bounds)
    noise = np.full(problem.dim, math.exp(found.point[1]))
    return lower(lower(common, tied), problem.choice(found.terms, noise, float(found.point[0])))


def _valleys(problem: NoiseProblem) -> list[Array]:
    """Return the deepest points (r, log σ²/θ²) of a grid that are no higher than their neighbours."""
    Y = contracted.spanned(problem.few)
    reach = 10 * float(np.square(Y).sum(axis=1).max()) / problem.dim
    logs = np.arange(math.log(_BENDS), math.log(max(reach, 10.0)) + _STEP, _STEP)
    sign, size = contracted.on_grid(Y, _CONTRACTIONS, np.exp(logs), problem.alpha, problem.n, problem.dim).excess()
    height = np.where(sign < 0, -size, np.inf)
    r, u = np.nonzero((height <= minimum_filter(height, 3, mode="nearest")) & (sign < 0))
    order = np.argsort(height[r, u], kind="stable")[:_VALLEYS]
    return [np.array([_CONTRACTIONS[r[k]], logs[u[k]]]) for k in order]


def _corner(choice: ScoredNoise) -> Array:
    return np.array([choice.contraction, math.log(max(float(choice.noise[0]), _LEAST_NOISE))])


def _free(problem: NoiseProblem, Y: Array) -> ScoreObjective:
    def at(p: Array) -> Terms:
        noise = math.exp(p[1])
        return in_logs(contracted.terms(Y, p[0], noise, problem.alpha, problem.n, problem.dim), np.array([1.0, noise]))

    return problem.objective(at)
