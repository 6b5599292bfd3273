"""A random kernel, points and a small noise, and brute-force results for them.

Nothing here uses the library's closed forms: expectations are Gauss-Hermite sums, derivatives are finite differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from kernelmean import embed
from kernelmean.embedding import Embedding
from kernelmean.kernels import Gaussian
from kernelmean.noise import Noise

from .arrays import Array

POINTS, DIM = 6, 3
THETAS = 0.8, 1.6
"""The smallest and the largest bandwidth."""
NOISE, SMALL = 1e-3, 1e-4
"""The scale of the variances, in units of θ²: for most checks, and for those of the theorems' weights."""
SPREAD = 0.1, 3.0
"""The smallest and the largest variance, in these units."""
_NODES, _STEP = 7, 1e-3


@dataclass(frozen=True)
class Case:
    """A random Gaussian kernel, points, and variances of a small noise, one for each axis.

    Parameters
    ----------
    points : array of shape (n, d)
        The last two are x and y in formulas with two points.
    theta : float
    variances : array of shape (d,)
    """

    points: Array
    theta: float
    variances: Array

    @classmethod
    def random(cls, rng: np.random.Generator, scale: float = NOISE) -> Case:
        """Draw points around 0 and a bandwidth of their size."""
        theta = float(rng.uniform(*THETAS))
        variances = scale * theta**2 * rng.uniform(*SPREAD, size=DIM)
        return cls(rng.normal(size=(POINTS, DIM)), theta, variances)

    @property
    def pair(self) -> tuple[Array, Array]:
        """Two of the points, x and y."""
        return self.points[-2], self.points[-1]

    def kernel(self, x: Array, y: Array) -> Array:
        """Return exp(-|x-y|²/(2θ²)), from the definition; x of shape (..., d)."""
        return np.exp(-np.square(x - y).sum(axis=-1) / (2 * self.theta**2))

    def from_point(self, y: Array) -> Callable[[Array], Array]:
        """Return k(·, y)."""
        return lambda x: self.kernel(x, y)

    def expected(self, f: Callable[[Array], Array], x: Array, variances: Array) -> float:
        """Return E f(x + ε), ε ~ N(0, diag variances), by a Gauss-Hermite sum; f takes points (m, d)."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        grid = np.array(list(product(nodes, repeat=len(x))))
        masses = np.prod(list(product(weights / weights.sum(), repeat=len(x))), axis=1)
        return float(masses @ f(x + np.sqrt(variances) * grid))

    def second_derivatives(self, f: Callable[[Array], Array], x: Array) -> Array:
        """Return ∂²f/∂x_j² (d,) by finite differences of fourth order."""
        step = _STEP * self.theta * 10
        shifts = np.array([-2, -1, 0, 1, 2])[:, None, None] * step * np.eye(len(x))
        values = np.array([f(x + shift) for shift in shifts])
        derivatives: Array = np.array([-1, 16, -30, 16, -1]) @ values / (12 * step**2)
        return derivatives

    def estimate(self, noise: Noise) -> Embedding:
        """Return the marginalized estimate of the points."""
        return embed(self.points, Gaussian(self.theta), noise=noise)

    def brute_weights(self, variances: Array) -> Array:
        """Return the weights of the best linear form: K^{-1} L 1_n, with L by Gauss-Hermite sums."""
        gram = np.array([self.kernel(self.points, y) for y in self.points])
        noisy = [np.mean([self.expected(self.from_point(y), x, variances) for x in self.points]) for y in self.points]
        return np.linalg.solve(gram, np.array(noisy))
