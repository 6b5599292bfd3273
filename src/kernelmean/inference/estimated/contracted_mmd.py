r"""MMD² of means whose points are drawn to the center of their sample, which every permutation moves.

With points :math:`c_s + r (x - c_s)` and the kernel :math:`F \exp(-|u|^2/2)` (in units of its width under the noise of
both sides), distances within a sample are r times those of the rows, whatever the labels. Between samples the centers
enter as :math:`δ = (1-r)(c_X - c_Y)`:

.. math:: |r(x-y) + δ|^2 = r^2 |x-y|^2 + 2r\, x·δ - 2r\, y·δ + |δ|^2,

so that one Gram matrix, multiplied by rows and columns, serves all permutations at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy.spatial.distance import cdist

from ...core.array import Array, IntArray
from ..statistics import StatisticForm

_NEAR = 30.0  # up to these exponents of rows and columns no Gram entry that counts vanishes


@final
@dataclass(frozen=True)
class ContractedMMD:
    """The statistic of one contraction and one noise, fitted to the pooled rows."""

    points: Array
    """The pooled rows, the first sample first, shifted to where most are, in units of the width √(θ² + 2σ²), shape (N,
    d)."""
    n_first: int
    contraction: float
    """The contraction r."""
    height: float
    """k(x, x) under the noise, times the squared scale of the means."""
    kind: StatisticForm
    """As in :class:`~.weighted_mmd.WeightedMMD`."""
    gram: Array = field(init=False)
    """Shape (N, N). The kernel at distances within a sample; computed once, before threads share it."""

    def __post_init__(self) -> None:
        gram = cdist(self.points, self.points, "sqeuclidean")
        gram *= -0.5 * self.contraction**2
        object.__setattr__(self, "gram", np.exp(gram, out=gram))

    def __call__(self, batch: IntArray) -> Array:
        """Return the statistics of permutations (b, N), shape (1, b)."""
        first = (batch < self.n_first).astype(np.float64)
        norms = self._norm(first) + self._norm(1.0 - first)
        return self.height * (norms - 2.0 * self._between(first, 1.0 - first))[None]

    def _norm(self, member: Array) -> Array:
        """Return the mean kernel within the samples whose members ``member`` (b, N) marks."""
        n = member[0].sum()
        total = np.einsum("bi,bi->b", member @ self.gram, member)
        return np.asarray((total - n) / (n * (n - 1)) if self.kind == "u" else total / n**2)

    def _between(self, first: Array, second: Array) -> Array:
        """Return the mean kernel between the two samples, shape (b,)."""
        centers = [member @ self.points / member.sum(axis=1, keepdims=True) for member in (first, second)]
        shift = (1.0 - self.contraction) * (centers[0] - centers[1])
        slope = self.contraction * shift @ self.points.T
        near = np.abs(slope).max(axis=1) <= _NEAR
        tilt = np.where(near[:, None], slope, 0.0)
        sums = np.einsum("bi,bi->b", (first * np.exp(-tilt)) @ self.gram, second * np.exp(tilt))
        means = sums * np.exp(-0.5 * np.einsum("bi,bi->b", shift, shift)) / (first[0].sum() * second[0].sum())
        for index in np.flatnonzero(~near):
            means[index] = self._far(np.flatnonzero(first[index]), np.flatnonzero(second[index]), shift[index])
        return np.asarray(means)

    def _far(self, first: IntArray, second: IntArray, shift: Array) -> float:
        """Return the same for one permutation, entry by entry."""
        moved = self.contraction * self.points
        return float(np.exp(-0.5 * cdist(moved[first] + shift, moved[second], "sqeuclidean")).mean())
