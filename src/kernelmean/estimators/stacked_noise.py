"""The common noise of each of many samples at once, as :func:`~.noise_search.search_isotropic` finds it for one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..core.array import Array, IntArray, slices
from ..core.roots import rising_roots
from .loocv.isotropic import Sketch, sketched, stacked, terms
from .noise_search import log_grid

_FEW = 1000
"""Up to this many distances, a search uses each of them from the start."""
_AT_ONCE = 2**16  # exponentials
_STEP = 1e-3  # first step from a guess, in the logarithm of a variance
_BENDS = 1e-3

Slope = Callable[[Array], Array]


def best_variances(distances: Array, dim: int, alpha: float, largest: float) -> Array:
    """Return the σ²/θ² ≥ 0 with the smallest score of every sample, shape (b,).

    Parameters
    ----------
    distances : array of shape (b, p)
        The p = n (n-1)/2 squared distances of every sample, in units of θ.
    dim : int
        The number of columns d.
    alpha : float
        As :func:`~kernelmean.embedding.score.diagonal_share` returns it.
    largest : float
        A bound of the distances over all samples, so that no result depends on which samples are stacked together.

    Notes
    -----
    Every minimum on a grid of logarithms is polished to 1e-7 (for many distances, first on a sketch of them). As in the
    search for one sample, the result is 0 where no noise is better.
    """
    exact = stacked(distances, dim)
    coarse = exact if distances.shape[1] <= _FEW else sketched(distances, dim)
    grid = _grid(largest, dim)
    sample, low, high = _turns(coarse, grid, alpha)
    guesses = rising_roots(_slope(coarse.of(sample), alpha), low, high)
    if coarse is not exact:
        guesses = _near(_slope(exact.of(sample), alpha), guesses, grid)
    return _least(exact, sample, guesses, alpha)


def _grid(largest: float, dim: int) -> Array:
    """Return logarithms of variances from 1e-10 θ² on; the second is the first at which the score bends.

    Below it, exp(-t/2s) and powers of s = 1 + σ²/θ² or 1 + 2σ²/θ² up to d/2 are parabolas in σ² to a thousandth, so the
    score turns there at most once.
    """
    grid = log_grid(10 * largest / dim)
    return np.concatenate([grid[:1], grid[1:][grid[1:] > math.log(_BENDS / (largest + dim))]])


def _slope(sketch: Sketch, alpha: float) -> Slope:
    """Return the derivative of the score in log σ², up to a positive factor."""

    def at(u: Array) -> Array:
        noise = np.exp(u)
        return noise * terms(sketch, noise, alpha).slope()[0]

    return at


def _turns(coarse: Sketch, grid: Array, alpha: float) -> tuple[IntArray, Array, Array]:
    """Return the samples and intervals in which scores turn from falling to rising, or the ends they fall to."""
    slope, b = _slope(coarse, alpha), coarse.shape[0]
    pieces = slices(len(grid), max(1, _AT_ONCE // math.prod(coarse.shape)))
    slopes = np.concatenate([slope(np.broadcast_to(grid[piece, None], (len(grid[piece]), b))) for piece in pieces])
    turn, sample = np.nonzero((slopes[:-1] < 0) & (slopes[1:] >= 0))
    first, last = np.flatnonzero(slopes[0] >= 0), np.flatnonzero(slopes[-1] < 0)
    ends = np.repeat([grid[0], grid[-1]], [len(first), len(last)])
    places = (np.concatenate([grid[turn + side], ends]) for side in (0, 1))
    return np.concatenate([sample, first, last]), *places  # type: ignore[return-value]


def _near(slope: Slope, guesses: Array, grid: Array) -> Array:
    """Return the roots nearest to guesses, by steps in both directions until the slope rises in between."""
    low, high, step = guesses - _STEP, guesses + _STEP, _STEP
    while True:
        low, high = np.maximum(low, grid[0]), np.minimum(high, grid[-1])
        over, under = (slope(low) >= 0) & (low > grid[0]), (slope(high) < 0) & (high < grid[-1])
        if not (over | under).any():
            return rising_roots(slope, low, high)
        step *= 8
        low, high = low - step * over, high + step * under


def _least(exact: Sketch, sample: IntArray, guesses: Array, alpha: float) -> Array:
    """Return for every sample the guess with the smallest score, 0 where none is below the score of 0."""
    whose = np.concatenate([np.arange(exact.shape[0]), sample])
    variances = np.concatenate([np.zeros(exact.shape[0]), np.exp(guesses)])
    sign, log = terms(exact.of(whose), variances, alpha).excess()
    order = np.lexsort((sign * np.where(sign == 0, 0.0, log), sign, whose))
    return np.asarray(variances[order][np.unique(whose[order], return_index=True)[1]])
