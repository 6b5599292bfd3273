r"""The ridge of features and its leave-one-out score, exact for the kernel of the features.

With C = Σ φφᵀ and s = Σ φ the estimate (K+λI)^{-1} K 1_n is :math:`(C+λI)^{-1} C s / n`. Without row i, by the formula
of Sherman and Morrison, with G = (C+λI)^{-1}, :math:`h = φ_i^⊤ G φ_i` and :math:`w = (φ_i^⊤ G s - 1) / (1 - h)`, it is
:math:`[C G s - φ_i - λ w G φ_i] / (n-1)`. This is no function of sums: the rows are read a second time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.array import Array
from ..embedding.features import FeatureMap
from ..embedding.features.base import tiled
from ..embedding.means import Means
from ..embedding.score import Score
from ..noise.dirac import Dirac
from ..plan.plan import Plan
from .regularization import strength_of_equal_entries


@final
@dataclass(frozen=True, eq=False)
class FeatureRidge:
    """The ridge of n rows, from their sums."""

    n: int
    values: Array
    """γ, the eigenvalues of C, shape (m,)."""
    vectors: Array
    """Those of C in columns, shape (m, m)."""
    total: Array
    """s along the eigenvectors, shape (m,)."""

    @classmethod
    def of(cls, n: int, mean: Array, second: Array) -> FeatureRidge:
        """Decompose the sums of n rows, of which the mean of φ and that of φφᵀ are given."""
        values, vectors = np.linalg.eigh(n * second)
        return cls(n, np.maximum(values, 0.0), vectors, n * (mean @ vectors))

    def coordinates(self, strength: float) -> Array:
        """Return the estimate in feature space, shape (m,)."""
        if strength == math.inf:
            return np.zeros_like(self.total)
        return np.asarray(self.vectors @ (self.values / (self.values + strength) * self.total / self.n))

    def direction(self, strength: float) -> Array:
        r"""Return g = (C+λI)^{-1} s/n, shape (m,), by which the estimate of all rows may differ from this one.

        With P the projection and :math:`\hat C = Σ k_i ⊗ k_i` the difference is
        :math:`λ (\hat C+λ)^{-1} (I-P) \hat C g + (\hat C+λ)^{-1} \hat C (I-P) \hat μ`, where no factor in front makes a
        function longer: the length of :math:`Σ_i g(x_i) (I-P) k_i` and that of :math:`(I-P) \hat μ` bound it.
        """
        return np.asarray(self.vectors @ (self.total / (self.values + strength)) / self.n)

    def scores(self, features: FeatureMap, batches: Iterator[Array], strengths: Array, plan: Plan) -> Array:
        """Return the score of every λ less the mean of |φ|², shape (k,); O(n m (m + k)) time."""
        inverse = 1.0 / (self.values[:, None] + strengths)
        fitted = self.values[:, None] * self.total[:, None] * inverse
        columns = np.concatenate([self.total[:, None] * inverse, fitted * inverse], axis=1)
        squares = np.concatenate([inverse, inverse**2], axis=1)
        norm = np.square(fitted).sum(axis=0)

        def run(X: Array) -> Array:
            tile = np.empty((len(X), features.size))
            features.fill(X, Dirac(), tile)
            Z = tile @ self.vectors
            own, direct = np.square(Z).sum(axis=1)[:, None], (Z @ self.total)[:, None]
            (first, cross), (h, h2) = (np.split(part, 2, axis=1) for part in (Z @ columns, Z**2 @ squares))
            w = strengths * (first - 1.0) / (1.0 - h)
            target = direct - strengths * first  # φᵀ C G s
            lin = (target - own - w * h) / (self.n - 1.0)
            quad = norm + own - 2.0 * target + w * (w * h2 - 2.0 * (cross - h))
            return np.asarray((quad / (self.n - 1.0) ** 2 - 2.0 * lin).sum(axis=0))

        tiles = tiled(features, batches)
        return np.asarray(sum(plan.map(run, tiles, self.n * features.size), start=np.zeros(len(strengths)))) / self.n

    def best(
        self, features: FeatureMap, batches: Iterator[Array], means: Means, strength: float | None, plan: Plan
    ) -> tuple[float, Score]:
        """Return the ``strength`` that was given or the best λ of a grid, with its score; infinity if μ = 0 is best.

        The grid has two strengths a decade from 1e-8 to 1e3 n, and 24 around what would be best if all rows were
        equally alike.
        """
        unit = means.constant
        grid = unit * np.geomspace(1e-8, 1e3 * self.n, math.ceil(2 * (11 + math.log10(self.n))))
        alike = means.cross / unit
        if 0.0 < alike < 1.0:
            around = unit * strength_of_equal_entries(alike, self.n) * np.geomspace(0.1, 10.0, 49)
            grid = np.unique(np.concatenate([grid, around]))
        grid = grid if strength is None else np.array([strength])
        scores = self.scores(features, batches, grid, plan)
        k = int(np.argmin(scores))
        if scores[k] >= 0 and strength is None:
            return math.inf, Score(unit, 0, -math.inf)
        return float(grid[k]), Score.of(float(scores[k]), unit)
