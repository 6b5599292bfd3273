"""What a feature map is: vectors whose inner products are, or come near, the values of a kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from .._array import Array, slices
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan import DEFAULT, Plan

TILE = 1024
HEAD = 4
"""Numbers in front of the features in a vector of sums: Σ w, Σ w², Σ w |φ|², Σ w √residual."""


class Summary(ABC):
    """What rows leave behind, of a size that does not depend on their number; files hold such values."""

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Return what the rows of both leave behind."""


class FeatureMap(ABC):
    """A map φ from rows to vectors with φ(x)ᵀφ(y) ≈ k(x, y)."""

    kernel: Kernel

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of columns of the rows."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number m of features."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """Say in words what the features are."""

    @abstractmethod
    def tile(self, X: Array, noise: Noise) -> Array:
        """Return the features E φ(x̃_i) of few rows, shape (n, m); a noise as :meth:`check_noise` lets it pass."""

    @abstractmethod
    def check_noise(self, noise: Noise) -> None:
        """Raise when rows under this noise have no features in closed form."""

    def damped(self, vectors: Array, noise: Noise) -> Array:
        """Return mean features (..., m) as they are under additional noise, without another look at the rows."""
        if isinstance(noise, Dirac):
            return vectors
        raise TypeError(
            f"{noise!r} cannot be added after the pass: {self.summary} do not tell frequencies apart; pass noise= "
            "before the pass, or use features.fourier(...)"
        )

    def residuals(self, X: Array, tile: Array, noise: Noise) -> Array | None:
        """Return |E k(x̃_i, ·)|² - |φ_i|² ≥ 0, shape (n,), where the features are a projection; None where not."""
        del X, tile, noise
        return None

    def __call__(self, X: Array, noise: Noise | None = None) -> Array:
        """Return the features of all rows, shape (n, m)."""
        noise = Dirac() if noise is None else noise
        return np.concatenate([self.tile(X[rows], noise) for rows in slices(len(X), TILE)])

    def row_sums(self, X: Array, weights: Array | None, noise: Noise, plan: Plan = DEFAULT) -> Array:
        """Return the sums over rows of w, w², w |φ|², w √residual and w φ, shape (4 + m,); O(n) time, O(1) memory."""

        def run(rows: slice) -> Array:
            w = np.ones(rows.stop - rows.start) if weights is None else weights[rows]
            tile = self.tile(X[rows], noise)
            return np.concatenate([self._head(X[rows], tile, w, noise), w @ tile])

        parts = plan.map(run, slices(len(X), TILE), len(X) * self.size)
        return np.sum(list(parts), axis=0)

    def _head(self, X: Array, tile: Array, w: Array, noise: Noise) -> Array:
        left = self.residuals(X, tile, noise)
        residual = 0.0 if left is None else w @ np.sqrt(left)
        return np.array([w.sum(), w @ w, w @ self.squared_norms(tile, noise), residual])

    def squared_norms(self, tile: Array, noise: Noise) -> Array:
        """Return |φ_i|², shape (n,)."""
        del noise
        return np.asarray(np.einsum("nm,nm->n", tile, tile))
