r"""Kernel principal components of the pooled rows, on few features: one decomposition serves every filter.

With landmarks S and :math:`φ(x) = W^{-1/2} k(S, x)`, W = k(S, S), the centered features of n rows have the covariance
:math:`\sum_i φ_i φ_i^⊤ = V \mathrm{diag}(w) V^⊤`, and the coordinates :math:`s_i = V^⊤ φ_i` of the rows are all that a
statistic needs: a function g of the spectrum is the kernel :math:`\sum_j g(w_j) s_j s_j' / w_j`, which is k itself,
centered, for g(w) = w, and the whitened or spectrally regularized one for :math:`g(w) = w / (w + λ \sum_j w_j)`
(Hagrass, Sriperumbudur & Li 2024; kernel Fisher discriminants, Harchaoui, Bach & Moulines 2007; with both sides of
HSIC filtered, Fukumizu et al. 2007). Where there are no more rows than landmarks, all rows are landmarks and nothing
is left out.

Landmarks are a function of the rows in no order. Chosen by row numbers, alike for X and Y, they would make independent
variables look dependent: the landmarks' rows have a high leverage on both sides at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.stats import rankdata

from ...core.array import Array, IntArray
from ...kernels import Kernel

_LEAST = 1e-10
_DEPENDENT = 1e-10


@final
@dataclass(frozen=True)
class Spectrum:
    """Coordinates of rows in the directions of their covariance."""

    scores: Array
    """Shape (n, r); columns are orthogonal, centered, and have the squared norms ``values``."""
    values: Array
    """w, shape (r,), positive and ascending."""

    def weights(self, ridge: float | None) -> tuple[float, ...]:
        """Return g(w) / w of the plain kernel, or of the one with λ = ``ridge``."""
        if ridge is None:
            return (1.0,) * len(self.values)
        return tuple((1.0 / (self.values / self.values.sum() + ridge)).tolist()) if len(self.values) else ()


def spectrum(table: Array, kernel: Kernel, landmarks: IntArray) -> Spectrum:
    """Return the spectrum of a kernel over the rows of a table (n, d), on these landmarks; O(n r (d + r)) time."""
    chosen = table[landmarks]
    values, vectors = np.linalg.eigh(kernel(chosen, chosen))
    kept = values > _DEPENDENT * max(values[-1], 0.0)
    features = kernel(table, chosen) @ (vectors[:, kept] / np.sqrt(values[kept]))
    features -= features.mean(axis=0)
    return _principal(features)


def _principal(features: Array) -> Spectrum:
    """Return the coordinates of centered features in the directions of their covariance."""
    values, vectors = np.linalg.eigh(features.T @ features)
    first = _cut(values)
    return Spectrum(features @ vectors[:, first:], values[first:])


def _cut(values: Array) -> int:
    """Return the first eigenvalue to keep, behind the widest gap around 1e-10 of the sum: never within a cluster."""
    least = _LEAST * max(values.sum(), 0.0)
    near = np.flatnonzero((values > 0.01 * least) & (values < 100 * least))
    first = int(np.searchsorted(values, least, side="right"))
    if not len(near) or least == 0.0:
        return first
    edges = np.arange(near[0], near[-1] + 2)
    logs = np.log(np.maximum(np.r_[1e-300, values][edges], 1e-300)), np.log(np.r_[values, np.inf][edges])
    return int(edges[np.argmax(logs[1] - logs[0])])


def landmark_rows(table: Array, most: int, rng: np.random.Generator) -> IntArray:
    """Return all rows, or so many that the seed draws: the same rows in whatever order rows come.

    Rows are numbered by the distance of their ranks from the middle, which no unit, sign or order of columns changes,
    then by the sorted distances of all columns, then by their ranks.
    """
    n = len(table)
    if n <= most:
        return np.arange(n)
    ranks = rankdata(table, axis=0) - (n + 1) / 2
    far = np.sort(np.abs(ranks), axis=1)
    order = np.lexsort((*ranks.T[::-1], *far.T, np.square(far).sum(axis=1)))
    return np.sort(order[rng.choice(n, most, replace=False)])
