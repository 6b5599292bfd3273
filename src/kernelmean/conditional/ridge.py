"""Ridge regressions of many targets on features, for all strengths, each with its exact leave-one-out errors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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

    features: RegressionFeatures
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
    known: Array | None = field(default=None, metadata={"kept": False})
    """The scores of the rows of the fit, of few rows."""

    @classmethod
    def of(cls, features: RegressionFeatures, rows: Array, targets: Array) -> RidgeFits:
        """Return the regressions of targets (n, q) on the features of scaled rows, which are added up in blocks."""
        n, mean = len(rows), targets.mean(axis=0)
        start, total, square, product = np.empty(0), np.array(0.0), np.array(0.0), np.array(0.0)
        for block in slices(n, _BLOCK):
            values = features(rows[block])
            if not len(start):
                start = values.mean(axis=0)  # near the centre, so that the sums lose no digits
            values = values - start
            total, square = total + values.sum(axis=0), square + values.T @ values
            product = product + values.T @ (targets[block] - mean)
        shift = total / n
        spectrum, axes = np.linalg.eigh(square - n * np.outer(shift, shift))
        rank = spectrum > _NEGLIGIBLE * max(spectrum[-1], np.finfo(float).tiny)
        axes = axes[:, rank]
        known = (values - shift) @ axes if n <= _BLOCK else None
        return cls(features, start + shift, axes, spectrum[rank], axes.T @ product, mean, n, known)

    def of_targets(self, rows: Array, targets: Array) -> RidgeFits:
        """Return the regressions of other targets on the same features of the same rows."""
        mean, moments = targets.mean(axis=0), np.zeros((len(self.values), targets.shape[1]))
        for block in slices(len(rows), _BLOCK):
            moments += self.scores_of(rows, block).T @ (targets[block] - mean)
        return replace(self, moments=moments, mean=mean)

    def part(self, targets: slice) -> RidgeFits:
        """Return the regressions of some of the targets."""
        return replace(self, moments=self.moments[:, targets], mean=self.mean[targets])

    def scores(self, rows: Array) -> Array:
        """Return the coordinates of scaled rows on the axes, shape (n, r)."""
        return np.asarray((self.features(rows) - self.center) @ self.axes)

    def scores_of(self, rows: Array, some: slice | IntArray) -> Array:
        """Return the coordinates of some rows of the fit."""
        return self.scores(rows[some]) if self.known is None else self.known[some]

    def shrunk(self, chosen: IntArray) -> Array:
        """Return 1/(s + λ) for strengths by their numbers, shape (r, numbers)."""
        return np.asarray(1.0 / (self.values[:, None] + STRENGTHS[chosen] * self.values.max(initial=1e-300)))

    def losses(self, scores: Array, targets: Array, sources: Array | None = None) -> Array:
        """Return the sums of squared leave-one-out errors of rows of the fit, shape (strengths, q)."""
        squares, found = scores**2, np.empty((len(STRENGTHS), targets.shape[1]))
        for number in range(len(STRENGTHS)):
            errors = self.errors(scores, targets, np.array([number]), sources, squares)
            found[number] = np.einsum("nq,nq->q", errors, errors)
        return found

    def errors(
        self,
        scores: Array,
        targets: Array,
        chosen: IntArray,
        sources: Array | None = None,
        squares: Array | None = None,
    ) -> Array:
        """Return the leave-one-out errors of rows of the fit, shape (n, q): y_i minus the prediction without row i.

        Each target has its own strength, or all have one; O(n r q) time. ``sources`` are what the fit is a mean of,
        where they are not the targets: with noise added. A row's source is taken off the prediction by its leverage.
        """
        shrunk = self.shrunk(chosen)
        leverage = 1.0 / self.n_rows + (scores**2 if squares is None else squares) @ shrunk
        kept = np.maximum(1.0 - leverage, _LEAST_KEPT)
        errors = scores @ (-shrunk * self.moments)
        errors += (targets if sources is None else kept * targets + leverage * sources) - self.mean
        errors /= kept
        return np.asarray(errors)

    def coefficients(self, chosen: IntArray) -> Array:
        """Return the coefficients of the centred features, shape (m, q)."""
        return np.asarray(self.axes @ (self.moments * self.shrunk(chosen)))

    def predict(self, rows: Array, chosen: IntArray) -> Array:
        """Return the predictions at scaled rows, shape (n, q)."""
        return np.asarray((self.features(rows) - self.center) @ self.coefficients(chosen) + self.mean)

    def smoother(self, rows: Array, fitted: Array, chosen: IntArray) -> Array:
        """Return how much every row of the fit counts in predictions at scaled rows, shape (rows, n); rows sum to 1."""
        return np.asarray(
            (self.scores(rows) * self.shrunk(chosen)[:, 0]) @ self.scores_of(fitted, slice(None)).T + 1.0 / self.n_rows
        )
