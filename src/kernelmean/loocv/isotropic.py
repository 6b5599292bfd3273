"""Scores of one common Gaussian noise σ²I under a Gaussian kernel, from squared distances alone."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist, pdist

from .._array import Array, IntArray, slices
from .score import Terms, norm_terms

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
        self.smallest, self.largest = math.inf, 0.0
        for chunk in self.chunks():
            self.smallest = min(self.smallest, float(chunk.min()))
            self.largest = max(self.largest, float(chunk.max()))

    @property
    def count(self) -> int:
        """The number of pairs i < j."""
        return self.n * (self.n - 1) // 2

    def chunks(self) -> Iterator[Array]:
        """Iterate over flat pieces of all distances, each small enough for the cache."""
        if self._stored is not None:
            yield from (self._stored[piece] for piece in slices(len(self._stored), _CHUNK))
            return
        rows = slices(self.n, _TILE)
        for index, i in enumerate(rows):
            if i.stop - i.start > 1:
                yield pdist(self._points[i], "sqeuclidean")
            for j in rows[index + 1 :]:
                yield cdist(self._points[i], self._points[j], "sqeuclidean").ravel()

    def laplace(self, s: float) -> tuple[float, float]:
        """Return log mean exp(-t/2s) and its derivative in s, in O(n²)."""
        total, moment, buffer = 0.0, 0.0, np.empty(_TILE**2)
        for chunk in self.chunks():
            weights = np.subtract(self.smallest, chunk, out=buffer[: len(chunk)])
            weights *= 0.5 / s
            np.exp(weights, out=weights)
            total += float(weights.sum())
            moment += float(weights @ chunk)
        log_mean = math.log(total / self.count) - 0.5 * self.smallest / s
        return log_mean, 0.5 * moment / total / s**2

    def sketch(self) -> Sketch:
        """Return the distances gathered in narrow bins, each with its count and its mean."""
        counts, sums = _binned(self.chunks())
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
        return largest + math.log(total), float(weights @ self._centers) / (2 * total * s**2)


def _binned(chunks: Iterator[Array]) -> tuple[Array, Array]:
    """Return the count and the sum of the distances in every bin; a bin is a range of leading bits."""
    counts, sums = np.zeros(0), np.zeros(0)
    for chunk in chunks:
        bins = _leading_bits(chunk)
        size = max(len(counts), int(bins.max()) + 1)
        counts, sums = (np.concatenate([old, np.zeros(size - len(old))]) for old in (counts, sums))
        counts += np.bincount(bins, minlength=size)
        sums += np.bincount(bins, weights=chunk, minlength=size)
    return counts, sums


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
