"""Scores of one common Gaussian noise σ²I under a Gaussian kernel, from squared distances alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from scipy.spatial.distance import cdist, pdist

from .._array import Array, IntArray, slices
from ..plan import DEFAULT
from .score import Terms, norm_terms

Result = TypeVar("Result")

STORE_UP_TO = 5000
_CHUNK = 2**15
_TILE = 512
_KEPT_BITS = 7  # of the mantissa: bins of the sketch are 0.8 % wide


class Distances:
    """The n (n-1)/2 squared distances of a sample, stored up to 5000 points and recomputed in tiles above.

    Sums of squared differences: an offset or an outlier costs no digits.
    """

    def __init__(self, Y: Array) -> None:
        self.n, self.dim = Y.shape
        self._points = Y
        self._stored = pdist(Y, "sqeuclidean") if self.n <= STORE_UP_TO else None
        ends = list(self._map(lambda chunk: (float(chunk.min()), float(chunk.max()))))
        self.smallest, self.largest = min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def count(self) -> int:
        """The number of pairs i < j."""
        return self.n * (self.n - 1) // 2

    def _map(self, run: Callable[[Array], Result]) -> Iterator[Result]:
        """Run over flat pieces of all distances, each small enough for the cache; recomputed ones in threads."""
        if self._stored is not None:
            stored = self._stored
            return (run(stored[piece]) for piece in slices(len(stored), _CHUNK))
        rows = slices(self.n, _TILE)
        cells = ((i, j) for k, i in enumerate(rows) for j in rows[k:] if i != j or i.stop - i.start > 1)
        return DEFAULT.map(lambda cell: run(self._cell(*cell)), cells, self.n**2)

    def _cell(self, i: slice, j: slice) -> Array:
        """Return the distances of one tile, each pair once."""
        if i == j:
            return pdist(self._points[i], "sqeuclidean")
        return cdist(self._points[i], self._points[j], "sqeuclidean").ravel()

    def laplace(self, s: float) -> tuple[float, float]:
        """Return log mean exp(-t/2s) and its derivative in s, in O(n²)."""

        def sums(chunk: Array) -> tuple[float, float]:
            weights = np.subtract(self.smallest, chunk)
            weights *= 0.5 / s
            np.exp(weights, out=weights)
            return float(weights.sum()), float(weights @ chunk)

        total, moment = np.sum(list(self._map(sums)), axis=0)
        log_mean = math.log(total / self.count) - 0.5 * self.smallest / s
        return log_mean, 0.5 * float(moment / total) / s / s

    def sketch(self) -> Sketch:
        """Return the distances gathered in narrow bins, each with its count and its mean."""
        counts, sums = _gathered(self._map(_binned))
        occupied = counts > 0
        return Sketch(self.dim, sums[occupied] / counts[occupied], np.log(counts[occupied] / self.count))


class Sketch:
    """Binned distances: scores at many noise levels to about 1e-4, to see where minima are, not to report."""

    def __init__(self, dim: int, centers: Array, log_shares: Array) -> None:
        self.dim, self._centers, self._log_shares = dim, centers, log_shares

    def laplace(self, s: float) -> tuple[float, float]:
        """Return log mean exp(-t/2s) of the bins and its derivative in s."""
        exponents = self._log_shares - 0.5 * self._centers / s
        largest = float(exponents.max())
        weights = np.exp(exponents - largest)
        total = float(weights.sum())
        return largest + math.log(total), 0.5 * float(weights @ self._centers) / total / s / s


def _binned(chunk: Array) -> tuple[Array, Array]:
    """Return the count and the sum of distances in every bin; a bin is a range of leading bits."""
    bins = _leading_bits(chunk)
    counts, sums = np.bincount(bins), np.bincount(bins, weights=chunk)
    return counts.astype(np.float64), sums.astype(np.float64, copy=False)


def _gathered(parts: Iterator[tuple[Array, Array]]) -> Array:
    """Return the sums of bins of different lengths, shape (2, number of bins)."""
    total = np.zeros((2, 0))
    for part in parts:
        missing = len(part[0]) - total.shape[1]
        if missing > 0:
            total = np.pad(total, ((0, 0), (0, missing)))
        total[:, : len(part[0])] += part
    return total


def _leading_bits(distances: Array) -> IntArray:
    """Return exponent and leading mantissa bits as a small integer; all below 2^-64 share bin 0."""
    bits = np.ascontiguousarray(distances).view(np.int64) >> (52 - _KEPT_BITS)
    return np.asarray(np.maximum(bits - ((1023 - 64) << _KEPT_BITS), 0))


def terms(distances: Distances | Sketch, noise: float, alpha: float) -> Terms:
    r"""Return the terms of the score at the noise σ²/θ² = ``noise``, for points in units of θ.

    L_ij = (1+a)^{-d/2} exp(-t_ij/(2(1+a))), Q_ij the same with 2a; one exponential a pair each.
    """
    cross = _factor(distances, noise, 1.0)
    off = _factor(distances, noise, 2.0)
    half = 0.5 * distances.dim
    diag = -half * math.log1p(2 * noise), -2 * half / (1 + 2 * noise)
    square = norm_terms(alpha, off, diag)
    return Terms(cross[0], square[0], np.array([cross[1]]), np.array([square[1]]))


def _factor(distances: Distances | Sketch, noise: float, sides: float) -> tuple[float, float]:
    """Return the logarithm of the mean smoothed kernel with ``sides`` noisy sides, and its derivative."""
    s = 1.0 + sides * noise
    log_mean, slope = distances.laplace(s)
    half = 0.5 * distances.dim
    return log_mean - half * math.log1p(sides * noise), sides * (slope - half / s)
