"""The random mixtures of Gaussians of the papers' experiments, with exact means, losses and the best noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar

from kernelmean import embed, median_bandwidth
from kernelmean.embedding import Embedding
from kernelmean.kernels import Gaussian, Kernel
from kernelmean.noise import Normal

from .arrays import Array

WEIGHTS = (0.05, 0.3, 0.4, 0.25)
DEGREES = 7
OBSERVATION = 0.2
"""The variance of ε."""
LARGEST_MEAN = 10.0

_SMALLEST, _STEPS = 1e-4, 33


@dataclass(frozen=True)
class Mixture:
    r"""The mixture :math:`x ∼ Σ_c π_c N(θ_c, Σ_c) + ε` with θ_c ~ U(-10, 10)^d, Σ_c ~ Wishart(2I, 7), ε ~ N(0, 0.2 I).

    Σ_c = GᵀG with G of shape (7, d) and entries N(0, 2): singular for d > 7, where a Wishart matrix has no density.
    Xia et al. (2021), section 5.1; Muandet et al. (2014).

    Parameters
    ----------
    weights : array of shape (4,)
        π.
    means : array of shape (4, d)
    factors : array of shape (4, 7, d)
        The matrices G.

    Examples
    --------
    >>> mixture = Mixture.random(20, np.random.default_rng(0))
    >>> mixture.sample(10, np.random.default_rng(1)).shape
    (10, 20)
    """

    weights: Array
    means: Array
    factors: Array

    @classmethod
    def random(cls, dim: int, rng: np.random.Generator) -> Mixture:
        """Draw a mixture in ``dim`` dimensions."""
        means = random_means(dim, rng)
        factors = rng.normal(scale=np.sqrt(2.0), size=(len(WEIGHTS), DEGREES, dim))
        return cls(np.array(WEIGHTS), means, factors)

    @cached_property
    def covariances(self) -> Array:
        """The covariances of the components, including that of ε, shape (4, d, d)."""
        return np.einsum("ckd,cke->cde", self.factors, self.factors) + OBSERVATION * np.eye(self.means.shape[1])

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw ``n`` rows, shape (n, d)."""
        chosen = rng.choice(len(self.weights), size=n, p=self.weights)
        spread = np.einsum("nk,nkd->nd", rng.normal(size=(n, DEGREES)), self.factors[chosen])
        drawn: Array = self.means[chosen] + spread + rng.normal(scale=np.sqrt(OBSERVATION), size=spread.shape)
        return drawn

    def moved(self, share: float, rng: np.random.Generator) -> Mixture:
        """Return the mixture with the means moved this share of the way to other random means."""
        others = random_means(self.means.shape[1], rng)
        return Mixture(self.weights, (1.0 - share) * self.means + share * others, self.factors)

    def embed(self, kernel: Kernel) -> Embedding:
        """Return the exact kernel mean."""
        return embed(self.means, kernel, weights=self.weights, noise=Normal(self.covariances))


def random_means(dim: int, rng: np.random.Generator) -> Array:
    """Draw θ_c, shape (4, d)."""
    return rng.uniform(-LARGEST_MEAN, LARGEST_MEAN, size=(len(WEIGHTS), dim))


@dataclass(frozen=True)
class Drawn:
    """A sample of a random mixture, the Gaussian kernel at its median bandwidth, and the exact mean.

    Parameters
    ----------
    X : array of shape (n, d)
    kernel : Gaussian
    truth : Embedding
    """

    X: Array
    kernel: Gaussian
    truth: Embedding

    @classmethod
    def random(cls, n: int, dim: int, bandwidth: str, rng: np.random.Generator) -> Drawn:
        """Draw a mixture and a sample from it; ``bandwidth`` is "median" or "median-unsquared"."""
        mixture = Mixture.random(dim, rng)
        X = mixture.sample(n, rng)
        kernel = Gaussian(float(median_bandwidth(X, squared=bandwidth == "median")))
        return cls(X, kernel, mixture.embed(kernel))

    @cached_property
    def _squared_norm(self) -> float:
        return self.truth @ self.truth

    def loss(self, estimate: Embedding) -> float:
        """Return |μ̂ - μ|² exactly, because the truth is an embedding."""
        return max(estimate @ estimate - 2.0 * (estimate @ self.truth) + self._squared_norm, 0.0)

    def marginalized_loss(self, variance: float) -> float:
        """Return the loss of MKME with this σ²; at 0 it is KME."""
        return self.loss(embed(self.X, self.kernel, noise=Normal(variance) if variance > 0 else None))

    def best_variance(self) -> tuple[float, float]:
        """Return the σ² ≥ 0 with the smallest loss, and that loss: an oracle, because it needs the truth.

        Searches a logarithmic grid, then uses Brent's method between the neighbors of its best point.
        """
        theta = float(self.kernel.bandwidth) ** 2
        largest = max(10.0 * theta, 10.0 * float(np.square(self.X - self.X.mean(axis=0)).sum(axis=1).max()))
        grid = np.geomspace(_SMALLEST * theta, largest, _STEPS)
        losses = [self.marginalized_loss(value) for value in grid]
        best = int(np.argmin(losses))
        around = float(np.log(grid[max(best - 1, 0)])), float(np.log(grid[min(best + 1, _STEPS - 1)]))
        refined = minimize_scalar(lambda u: self.marginalized_loss(float(np.exp(u))), bounds=around, method="bounded")
        candidates = [0.0, float(grid[best]), float(np.exp(refined.x))]
        loss, variance = min((self.marginalized_loss(value), value) for value in candidates)
        return variance, loss
