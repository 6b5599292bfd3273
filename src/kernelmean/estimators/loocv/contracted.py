r"""Scores of the variance-preserving estimator: points drawn towards their mean, the lost variance as noise.

:math:`\tilde x = \bar x + r (x - \bar x) + ε`, ε ~ N(0, σ²I), tied σ² = (1 - r²) v or free. Leaving one out also
moves the mean, so that L is not symmetric.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.array import Array, namespace
from ...embedding.score import Terms, norm_terms
from .pair_sums import PairSum, pair_sum

_STEPS = 100  # of log r²/(1+2a), between which exploring interpolates
_NONE = np.zeros((0,))


def spanned(Y: Array) -> Array:
    """Return the points in coordinates of their span: the same inner products, in at most n columns."""
    if Y.shape[1] <= Y.shape[0]:
        return Y
    left, lengths, _ = namespace(Y).linalg.svd(Y, full_matrices=False)
    coordinates: Array = left * lengths
    return coordinates


def terms(Y: Array, contraction: float, noise: float, alpha: float, n: int, dim: int) -> Terms:
    r"""Return the terms of the score at r = ``contraction`` and σ²/θ² = ``noise``, for points in units of θ.

    L_ij = κ(|y_i - (1-r) ȳ_(-i) - r y_j|²; a) and Q_ij = κ(r² |y_i - y_j|²; 2a) with
    κ(t; a) = (1+a)^{-d/2} exp(-t/(2(1+a))). Exact in O(n² d); slopes are derivatives in (r, a), r > 0. The ``n``
    points of the sample have mean zero; Y may be a part of them, and lie in a subspace of the ``dim`` columns.
    """
    contraction = float(contraction)
    cross, cross_slope = _cross(Y, contraction, noise, n, dim)
    off = _off_diagonal(Y, contraction, noise, dim)
    half = 0.5 * dim
    diag = -half * math.log1p(2 * noise), np.array([0.0, -2 * half / (1 + 2 * noise)])
    square, square_slope = norm_terms(alpha, off, diag)
    return Terms(cross, square, cross_slope, square_slope)


def on_grid(Y: Array, contractions: Array, noises: Array, alpha: float, n: int, dim: int) -> Terms:
    """Return the terms at every r of ``contractions`` with every σ²/θ² of ``noises``, shape (R, G), without slopes.

    For exploring: of the off-diagonal of Q, which depends on r²/(1+2a) alone, values in between are interpolated.
    O(R G n²) time.
    """
    inner = Y @ Y.T
    pairs = ~np.eye(len(Y), dtype=bool)
    rows, columns = (np.broadcast_to(side, inner.shape)[pairs] for side in (np.diag(inner)[:, None], np.diag(inner)))
    both, half = inner[pairs], 0.5 * dim
    c = 1 + (1 - contractions) / (n - 1)
    products = zip(c, contractions, strict=True)
    widths = 0.5 / (1 + noises)
    cross = [_log_means(left**2 * rows + r**2 * columns - 2 * left * r * both, widths) for left, r in products]
    shares = np.log(contractions[:, None] ** 2 / (1 + 2 * noises))
    steps = np.linspace(shares.min(), shares.max(), _STEPS)
    off = np.interp(shares, steps, _log_means(rows + columns - 2 * both, 0.5 * np.exp(steps)))
    square, _ = norm_terms(alpha, (off, 0.0), (0.0, 0.0))
    return Terms(np.stack(cross) - half * np.log1p(noises), square - half * np.log1p(2 * noises), _NONE, _NONE)


def _log_means(distances: Array, widths: Array) -> Array:
    """Return the log mean of exp(-width · distance) over the distances, for every width."""
    least = max(float(distances.min()), 0.0)
    return np.log(np.exp(-widths[:, None] * (distances - least)).mean(axis=1)) - widths * least


def _cross(Y: Array, r: float, noise: float, n: int, dim: int) -> tuple[float, Array]:
    """Return log L̄ and its slopes: without y_i the mean is -y_i/(n-1), so the target becomes c y_i."""
    c, c_slope = 1 + (1 - r) / (n - 1), -1.0 / (n - 1)
    root = math.sqrt(2 * (1 + noise))
    pairs = pair_sum(c * Y / root, r * Y / root)
    return _log_mean(pairs, Y.shape[0], dim, noise, 1.0, _distance_slope(pairs, c, c_slope, r))


def _off_diagonal(Y: Array, r: float, noise: float, dim: int) -> tuple[float, Array]:
    """Return log of the mean of Q over i ≠ j and its slopes."""
    scaled = r * Y / math.sqrt(2 * (1 + 2 * noise))
    pairs = pair_sum(scaled, scaled)
    distance = float(pairs.gaps.sum())
    return _log_mean(pairs, Y.shape[0], dim, noise, 2.0, 2 * distance / r)


def _distance_slope(pairs: PairSum, c: float, c_slope: float, r: float) -> float:
    """Return the weighted mean of d/dr |c y_i - r y_j|², in the scaled units of the sum."""
    left, right, both = (float(part.sum()) for part in (pairs.left, pairs.right, pairs.both))
    return 2 * c_slope * (left - both) / c + 2 * (right - both) / r


def _log_mean(
    pairs: PairSum, n: int, dim: int, noise: float, sides: float, distance_slope: float
) -> tuple[float, Array]:
    s = 1 + sides * noise
    log_mean = pairs.log - math.log(n * (n - 1.0)) - 0.5 * dim * math.log1p(sides * noise)
    slope = sides * (float(pairs.gaps.sum()) - 0.5 * dim) / s
    return log_mean, np.array([-distance_slope, slope])
