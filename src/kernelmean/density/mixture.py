"""A Gaussian mixture as a value: its density, its samples, its embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..core.array import Array, slices
from ..core.frozen import Frozen
from ..embedding.embedding import Embedding, embed
from ..kernels.base import Kernel
from ..noise.normal import Normal
from .gaussians import Bumps

_BLOCK_NUMBERS = 2**21


@dataclass(frozen=True)
class GaussianMixture(Frozen):
    """The mixture Σ_k w_k N(m_k, S_k), S_k positive definite.

    Attributes
    ----------
    weights : array of shape (K,)
        Non-negative, summing to one.
    means : array of shape (K, d)
    covariances : array of shape (K, d) or (K, d, d)
        Variances of the axes, or full matrices.
    """

    weights: Array
    means: Array
    covariances: Array

    def logpdf(self, Y: Array) -> Array:
        """Return the log density at the rows of ``Y``, shape (m,), in O(m K d) time, O(m K d²) if full."""
        size = max(1, _BLOCK_NUMBERS // self.means.size)
        return np.concatenate([self.logpdf_at(Bumps(Y[i] - self._origin)) for i in slices(len(Y), size)])

    @property
    def _origin(self) -> Array:
        return self.weights @ self.means

    def logpdf_at(self, bumps: Bumps, origin: Array | None = None) -> Array:
        """Return the log density at prepared points, which were shifted by ``origin``."""
        alive = self.weights > 0
        shift = self._origin if origin is None else origin
        logs = bumps.log(self.means[alive] - shift, self.covariances[alive])
        constant = 0.5 * self.means.shape[1] * np.log(2 * np.pi)
        return np.asarray(logsumexp(logs + np.log(self.weights[alive]), axis=1) - constant)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw ``n`` rows: a component by its weight, then its Gaussian."""
        owner = rng.choice(len(self.weights), size=n, p=self.weights)
        gaps = rng.standard_normal((n, self.means.shape[1]))
        for k in np.unique(owner):
            mine = owner == k
            if self.covariances.ndim == 2:
                gaps[mine] *= np.sqrt(self.covariances[k])
            else:
                gaps[mine] = gaps[mine] @ np.linalg.cholesky(self.covariances[k]).T
        return self.means[owner] + gaps

    def embedding(self, kernel: Kernel) -> Embedding:
        """Return the embedding Σ_k w_k μ[N(m_k, S_k)]."""
        axes = self.covariances.ndim == 2
        noise = Normal.diagonal(self.covariances) if axes else Normal(self.covariances)
        return embed(self.means, kernel, weights=self.weights, noise=noise)
