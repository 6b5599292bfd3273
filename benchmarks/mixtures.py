"""The random mixtures of Gaussians of the papers' experiments, and the exact loss of an estimate on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import kernelmean as km


@dataclass(frozen=True)
class Mixture:
    """π_c, m_c ~ U(-10, 10)^d, Σ_c = GᵀG + 0.2 I with G of shape (7, d), entries N(0, 2)."""

    weights: np.ndarray
    means: np.ndarray
    factors: np.ndarray

    @classmethod
    def random(cls, dim: int, rng: np.random.Generator) -> Mixture:
        means = rng.uniform(-10.0, 10.0, size=(4, dim))
        return cls(np.array([0.05, 0.3, 0.4, 0.25]), means, rng.normal(scale=np.sqrt(2.0), size=(4, 7, dim)))

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        chosen = rng.choice(4, size=n, p=self.weights)
        spread = np.einsum("nk,nkd->nd", rng.normal(size=(n, 7)), self.factors[chosen])
        return self.means[chosen] + spread + rng.normal(scale=np.sqrt(0.2), size=spread.shape)

    def embed(self, kernel: km.kernels.Kernel) -> km.Embedding:
        """The exact kernel mean."""
        covariances = np.einsum("ckd,cke->cde", self.factors, self.factors) + 0.2 * np.eye(self.means.shape[1])
        return km.embed(self.means, kernel, weights=self.weights, noise=km.noise.Normal(covariances))
