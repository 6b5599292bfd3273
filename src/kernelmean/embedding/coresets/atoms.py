"""The functions that an embedding is a weighted sum of, and their inner products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...expected import expected_blocks
from ...expected.expectations import expected_diag
from ...kernels.base import Kernel
from ...kernels.blocks import Blocks
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...plan.plan import DEFAULT, Plan
from ..embedding import Embedding
from ..parts import PointPart


@final
@dataclass(frozen=True, eq=False)
class Atoms:
    r"""The functions :math:`ξ_i = E_{v(·|x_i)} k(\tilde x, ·)`, with their non-negative weights."""

    kernel: Kernel
    points: Array
    """Shape (n, d)."""
    noise: Noise
    weights: Array
    """Shape (n,)."""
    plan: Plan = DEFAULT

    @classmethod
    def of(cls, mu: Embedding) -> Self:
        """Return the atoms of an embedding.

        Raises
        ------
        ValueError
            When weights are negative or all zero, or its parts have different noises.
        """
        if (mu.weights < 0).any() or not mu.weights.any():
            raise ValueError(
                "the embedding has negative weights, or none that is not 0; compress the sample that it was made of, "
                "or herd it with mu.herd(m)"
            )
        return cls(mu.kernel, mu.points, mu.noise, mu.weights, mu.plan)

    @classmethod
    def sample(cls, kernel: Kernel, points: Array) -> Self:
        """Return the atoms of a sample, with equal weights of sum 1."""
        return cls(kernel, points, Dirac(), np.full(len(points), 1.0 / len(points)))

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: IntArray) -> Atoms:
        """Return some atoms."""
        noise = self.noise if self.noise.per_point is None else self.noise.take(rows)  # type: ignore[arg-type] # numbers of rows index every array
        return Atoms(self.kernel, self.points[rows], noise, self.weights[rows], self.plan)

    def weighted(self, weights: Array) -> Atoms:
        """Return the atoms with other weights."""
        return Atoms(self.kernel, self.points, self.noise, weights, self.plan)

    def scaled(self, factor: float) -> Atoms:
        """Return the atoms with weights times a factor."""
        return self.weighted(factor * self.weights)

    def blocks(self, other: Atoms | None = None) -> Blocks:
        """Prepare ``f(i, j) = ⟨ξ_i, ξ'_j⟩`` for slices, of these atoms and others."""
        other = self if other is None else other
        return expected_blocks(self.kernel, self.points, self.noise, other.points, other.noise)

    def values(self, at: Atoms) -> Array:
        """Return ⟨ξ'_j, Σ w_i ξ_i⟩ for other atoms, in O(n m) time."""
        return self.plan.matmul(at.blocks(self), len(at), len(self), self.weights, symmetric=at is self)

    def diag(self) -> Array:
        """Return |ξ_i|², shape (n,)."""
        return self.kernel.diag(self.points) if isinstance(self.noise, Dirac) else self._noisy_diag()

    def _noisy_diag(self) -> Array:
        return expected_diag(self.kernel, self.points, self.noise, self.noise)

    def embedding(self) -> Embedding:
        """Return the weighted sum."""
        return Embedding(self.kernel, (PointPart(self.points, self.weights, self.noise),), self.plan)
