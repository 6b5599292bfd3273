"""MMD² and HSIC whose common noise is refitted under every permutation, a batch of them at a time.

A Gaussian kernel under the noise σ²I depends on squared distances alone, and so do the scores that choose σ², and the
statistics. Everything is in units of the bandwidth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.spatial.distance import cdist

from ...core.array import Array, IntArray, centered
from ...core.validate import check_range
from ...embedding.score import diagonal_share
from ...estimators import KernelMean
from ...estimators.loocv.isotropic import factor, stacked
from ...estimators.stacked_noise import best_variances
from ..statistics import HSIC, StatisticForm, Sums
from .weighted_mmd import split

_BATCH_ELEMENTS, _MOST = 2**17, 256
_GRID_BYTES = 2.0**22
_ARRAYS = 8  # of the size of all distances of a permutation


def is_common_noise(estimator: KernelMean) -> bool:
    """Say whether an estimator searches for a variance that all columns share, and for nothing else."""
    alone = type(estimator) is KernelMean and estimator.filter is None and estimator.contraction is None
    return alone and isinstance(estimator.noise, str) and estimator.noise == "isotropic"


def squared_distances(points: Array, bandwidth: Any) -> Array:
    """Return the squared distances of all pairs, shape (n, n), in units of the bandwidth or bandwidths."""
    scaled = centered(points)[0] / bandwidth
    distances = cdist(scaled, scaled, "sqeuclidean")
    check_range(math.sqrt(float(distances.max())), "in units of the bandwidth rows are apart by")
    return distances


def batch_of(n: int) -> int:
    """Return how many permutations of n rows are evaluated together."""
    return int(np.clip(_BATCH_ELEMENTS // n**2, 1, _MOST))


def batch_bytes(n: int) -> float:
    """Return the memory that each of them takes."""
    return _ARRAYS * 8.0 * n**2 + _GRID_BYTES / batch_of(n)


def _pairs(distances: Array) -> Array:
    """Return the entries above the diagonal of every matrix, shape (b, n (n-1)/2)."""
    return distances[:, *np.triu_indices(distances.shape[1], 1)]


@final
@dataclass(frozen=True)
class RefittedNoiseMMD:
    """MMD² between two MKMEs."""

    distances: Array
    """The squared distances of the pooled rows, the first sample first, shape (N, N)."""
    n_first: int
    dim: int
    criterion: Any
    """"loocv" or "risk"."""
    kind: StatisticForm

    def __call__(self, batch: IntArray) -> Array:
        """Return the statistics of permutations (b, N) and the values k(x, x) under the noise in them, shape (2, b)."""
        samples = split(batch, self.n_first)
        (first, noise), (second, other) = (self._norm(index) for index in samples)
        between = self._between(*samples).reshape(len(batch), -1)
        values = first + second - 2 * self._mean(between, (noise + other) / 2)
        return np.stack([values, self._diagonal(np.minimum(noise, other))])

    def _between(self, rows: IntArray, columns: IntArray) -> Array:
        return self.distances[rows[:, :, None], columns[:, None, :]]

    def _norm(self, index: IntArray) -> tuple[Array, Array]:
        """Return the squared norms of the means of the rows ``index`` (b, n), and their variances."""
        n, distances = index.shape[1], _pairs(self._between(index, index))
        alpha, largest = diagonal_share(n, self.criterion), float(self.distances.max())
        variances = best_variances(distances, self.dim, alpha, largest)
        norms = self._mean(distances, variances)
        if self.kind == "v":
            norms = ((n - 1) * norms + self._diagonal(variances)) / n
        return norms, variances

    def _diagonal(self, variances: Array) -> Array:
        """Return k(x, x) when both sides have a noise of these variances."""
        return np.asarray((1 + 2 * variances) ** (-self.dim / 2))

    def _mean(self, distances: Array, variances: Array) -> Array:
        """Return the mean kernel over distances (b, p), each side with a noise of the variances (b,)."""
        return np.asarray(np.exp(factor(stacked(distances, self.dim), variances, 2.0)[0]))


@final
@dataclass(frozen=True)
class RefittedNoiseHSIC:
    """HSIC under the noise of the MKME of the pairs."""

    left: Array
    right: Array
    """The squared distances of each variable, shape (n, n)."""
    dim: int
    """The number of columns of both together."""
    criterion: Any
    """"loocv" or "risk"."""
    kind: StatisticForm

    def __call__(self, batch: IntArray) -> Array:
        """Return the statistics of permutations (b, n), shape (1, b)."""
        n, right = len(self.left), self.right[batch[:, :, None], batch[:, None, :]]
        alpha, largest = diagonal_share(n, self.criterion), float(self.left.max() + self.right.max())
        variances = best_variances(_pairs(self.left + right), self.dim, alpha, largest)
        width = 1 + 2 * variances[:, None, None]
        grams = [_centered(np.expm1(-0.5 / width * distances)) for distances in (self.left, right)]
        grams[0] *= width ** (-self.dim / 2)
        pairs = np.einsum("bij,bij->b", *grams)
        diagonals = [np.einsum("bii->bi", gram) for gram in grams]
        traces = [diagonal.sum(axis=1) for diagonal in diagonals]
        sums = Sums(pairs[:, None], np.einsum("bi,bi->b", *diagonals)[:, None], *traces)
        return HSIC(n, self.kind)(sums).T


def _centered(grams: Array) -> Array:
    """Return HKH of every matrix; a constant subtracted from all entries changes nothing."""
    rows = grams.mean(axis=2, keepdims=True)
    return np.asarray(grams - rows - rows.transpose(0, 2, 1) + rows.mean(axis=1, keepdims=True))
