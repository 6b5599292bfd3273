"""The variance of a common noise chosen by leaving one out, for kernels other than the Gaussian: no gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ..embedding.means import Means
from ..embedding.score import Score
from ..noise.base import Noise
from ..noise.dirac import Dirac

MeansOf = Callable[[Noise], Means]
"""From a noise to the means of which its score consists."""
_CANDIDATES, _GRID = 2, 41


@dataclass(frozen=True)
class NoiseChoice:
    """A noise with its means and its score."""

    noise: Noise
    means: Means
    score: Score


def search_variance(
    variance: float, noise_of: Callable[[float], Noise], exact: MeansOf, coarse: MeansOf, scale: float | None = 1.0
) -> NoiseChoice:
    """Return the best noise ``noise_of(s)``, s ≥ 0, never worse than none: a grid over log s, then Brent's method.

    The grid runs over multiples 1e-8 … 1e4 of ``variance``, with the means of some rows, ``coarse``; minima are refined
    with those of all, ``exact``.
    """

    def at(noise: Noise, means: MeansOf) -> NoiseChoice:
        found = means(noise)
        return NoiseChoice(noise, found, found.score(scale))

    grid = math.log(max(variance, 1e-300)) + np.linspace(math.log(1e-8), math.log(1e4), _GRID)
    rough = [at(noise_of(math.exp(u)), coarse).score for u in grid]
    minima = [k for k in range(_GRID) if all(rough[k] <= rough[j] for j in (k - 1, k + 1) if 0 <= j < _GRID)]
    found = [at(Dirac(), exact)]
    for k in sorted(minima, key=lambda index: rough[index].key)[:_CANDIDATES]:
        ends = grid[max(k - 1, 0)], grid[min(k + 1, _GRID - 1)]
        found.extend(_refine(lambda u: at(noise_of(math.exp(u)), exact), *ends))
    return min(found, key=lambda choice: choice.score.key)


def _refine(at: Callable[[float], NoiseChoice], low: float, high: float) -> list[NoiseChoice]:
    seen: list[NoiseChoice] = []

    def value(u: float) -> float:
        seen.append(at(u))
        return seen[-1].score.excess

    minimize_scalar(value, bounds=(low, high), method="bounded", options={"xatol": 1e-6})
    return seen
