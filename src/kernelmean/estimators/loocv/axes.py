"""Scores of one common Gaussian noise with a variance per axis, with analytic gradient."""

from __future__ import annotations

import numpy as np

from ...core.array import Array, like
from ...embedding.score import Terms, norm_terms
from .pair_sums import pair_sum


def terms(Y: Array, noise: Array, alpha: float, *, slopes: bool = True) -> Terms:
    r"""Return the terms of the score at the variances e_j/θ_j² = ``noise`` (d,), for points in units of θ.

    L_ij = Π_j (1+a_j)^{-1/2} exp(-½ Σ_j (y_ij - y_kj)²/(1+a_j)), Q_ij the same with 2a: θ^d never appears.
    O(n² d) time as matrix products, O(block²) memory. Slopes are derivatives in ``noise``.
    """
    cross = _factor(Y, noise, 1.0, slopes)
    off = _factor(Y, noise, 2.0, slopes)
    diag = -0.5 * float(np.log1p(2 * noise).sum()), -1.0 / (1 + 2 * noise)
    square = norm_terms(alpha, off, diag)
    return Terms(cross[0], square[0], cross[1], square[1])


def _factor(Y: Array, noise: Array, sides: float, slopes: bool) -> tuple[float, Array]:
    """Return the logarithm of the mean over i ≠ j of the smoothed kernel, and its gradient."""
    s = 1.0 + sides * noise
    scaled = Y / like(np.sqrt(2 * s), Y)
    pairs = pair_sum(scaled, scaled, moments=slopes)
    log_mean = pairs.log - np.log(Y.shape[0] * (Y.shape[0] - 1.0)) - 0.5 * np.log1p(sides * noise).sum()
    slope = sides * (pairs.gaps - 0.5) / s if slopes else np.zeros_like(noise)
    return float(log_mean), slope
