"""The variance of a common noise chosen by leaving one out, for kernels other than the Gaussian: no gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ..core.array import Array, column_variances
from ..embedding.means import Means, means
from ..embedding.score import Score
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from .noise_problem import some_rows

_CANDIDATES, _GRID = 2, 41


@dataclass(frozen=True)
class NoiseChoice:
    """A noise with its means and its score."""

    noise: Noise
    means: Means
    score: Score


def search_variance(
    X: Array, kernel: Kernel, noise_of: Callable[[float], Noise], alpha: float, scale: float | None
) -> NoiseChoice:
    """Return the best noise ``noise_of(s)``, s ≥ 0, never worse than none: a grid over log s, then Brent's method.

    The grid runs over multiples 1e-8 … 1e4 of the mean variance of the columns, on at most 300 rows; minima are
    refined with the exact score. Every evaluation is O(n² d).
    """
    rows = some_rows(X)

    def at(u: float, points: Array) -> NoiseChoice:
        noise = noise_of(math.exp(u))
        found = means(kernel, points, noise, alpha)
        return NoiseChoice(noise, found, found.score(scale))

    grid = math.log(max(float(column_variances(X).mean()), 1e-300)) + np.linspace(math.log(1e-8), math.log(1e4), _GRID)
    rough = [at(u, rows).score for u in grid]
    minima = [k for k in range(_GRID) if all(rough[k] <= rough[j] for j in (k - 1, k + 1) if 0 <= j < _GRID)]
    found = [_without(X, kernel, alpha, scale)]
    for k in sorted(minima, key=lambda index: rough[index].key)[:_CANDIDATES]:
        found.extend(_refine(lambda u: at(u, X), grid[max(k - 1, 0)], grid[min(k + 1, _GRID - 1)]))
    return min(found, key=lambda choice: choice.score.key)


def _without(X: Array, kernel: Kernel, alpha: float, scale: float | None) -> NoiseChoice:
    found = means(kernel, X, Dirac(), alpha)
    return NoiseChoice(Dirac(), found, found.score(scale))


def _refine(at: Callable[[float], NoiseChoice], low: float, high: float) -> list[NoiseChoice]:
    seen: list[NoiseChoice] = []

    def value(u: float) -> float:
        seen.append(at(u))
        return seen[-1].score.excess

    minimize_scalar(value, bounds=(low, high), method="bounded", options={"xatol": 1e-6})
    return seen
