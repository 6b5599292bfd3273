"""Ridge regressions of many targets on features, for all strengths, each with its exact leave-one-out errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.array import Array, IntArray, slices
from ..core.frozen import Frozen
from .candidates import RegressionFeatures

STRENGTHS = 10.0 ** np.arange(1.0, -8.0, -1.0)
"""λ in units of the largest eigenvalue of the sum of products of the features."""
_NEGLIGIBLE, _LEAST_KEPT, _BLOCK = 1e-12, 1e-10, 4096


@final
@dataclass(frozen=True, eq=False)
class RidgeFits(Frozen):
    r"""All ridge regressions on one feature map, on the axes V of its features: :math:`Σ_i φ_i φ_i^⊤ = V s V^⊤`.

    :math:`f_λ(z) = \bar y + (φ(z) - \bar φ)^⊤ V (s + λ)^{-1} V^⊤ Σ_i (φ_i - \bar φ) y_i`; the mean is not shrunk.
    """

    candidate: RegressionFeatures
    center: Array
    axes: Array
    """V, shape (m, r)."""
    values: Array
    """s, shape (r,)."""
    moments: Array
    """Vᵀ Σ (φ_i - φ̄) y_i, shape (r, q)."""
    mean: Array
    """ȳ, shape (q,)."""
    n_rows: int

    @classmethod
    def of(cls, candidate: RegressionFeatures, rows: Array, targets: Array) -> RidgeFits:
        """Return the regressions of targets (n, q) on the features of scaled rows, which are added up in blocks."""
        n, mean = len(rows), targets.mean(axis=0)
        start, total, square, product = np.empty(0), np.array(0.0), np.array(0.0), np.array(0.0)
        for block in slices(n, _BLOCK):
            features = candidate(rows[block])
            if not len(start):
                start = features.mean(axis=0)  # near the centre, so that the sums lose no digits
            features = features - start
            total, square = total + features.sum(axis=0), square + features.T @ features
            product = product + features.T @ (targets[block] - mean)
        shift = np.asarray(total) / n
        values, axes = np.linalg.eigh(square - n * np.outer(shift, shift))
        rank = values > _NEGLIGIBLE * max(values[-1], np.finfo(float).tiny)
        return cls(candidate, start + shift, axes[:, rank], values[rank], axes[:, rank].T @ product, mean, n)

    def scores(self, rows: Array) -> Array:
        """Return the coordinates of scaled rows on the axes, shape (n, r)."""
        return np.asarray((self.candidate(rows) - self.center) @ self.axes)

    def shrunk(self, chosen: IntArray) -> Array:
        """Return 1/(s + λ) for strengths by their numbers, shape (r, numbers)."""
        return np.asarray(1.0 / (self.values[:, None] + STRENGTHS[chosen] * self.values.max(initial=1e-300)))

    def losses(self, scores: Array, targets: Array) -> Array:
        """Return the sums of squared leave-one-out errors of rows of the fit, shape (strengths, q)."""
        squares, found = scores**2, np.empty((len(STRENGTHS), targets.shape[1]))
        for number in range(len(STRENGTHS)):
            errors = self.errors(scores, targets, np.array([number]), squares)
            found[number] = np.einsum("nq,nq->q", errors, errors)
        return found

    def errors(self, scores: Array, targets: Array, chosen: IntArray, squares: Array | None = None) -> Array:
        """Return the leave-one-out errors of rows of the fit, shape (n, q): residuals by one minus their leverage.

        Each target has its own strength, or all have one; O(n r q) time.
        """
        shrunk = self.shrunk(chosen)
        kept = 1.0 - 1.0 / self.n_rows - (scores**2 if squares is None else squares) @ shrunk
        errors = scores @ (-shrunk * self.moments)
        errors += targets
        errors -= self.mean
        errors /= np.maximum(kept, _LEAST_KEPT)
        return np.asarray(errors)

    def coefficients(self, chosen: IntArray) -> Array:
        """Return the coefficients of the centred features, shape (m, q)."""
        return np.asarray(self.axes @ (self.moments * self.shrunk(chosen)))

    def predict(self, rows: Array, chosen: IntArray) -> Array:
        """Return the predictions at scaled rows, shape (n, q)."""
        return np.asarray((self.candidate(rows) - self.center) @ self.coefficients(chosen) + self.mean)
