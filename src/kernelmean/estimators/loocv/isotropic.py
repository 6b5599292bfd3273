"""Scores of one common Gaussian noise σ²I under a Gaussian kernel, from squared distances alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, TypeVar

import numpy as np
from scipy.spatial.distance import cdist, pdist

from ...core.array import Array, IntArray, centered, largest_norm, slices
from ...core.cached import cached_property
from ...embedding.score import Terms, norm_terms
from ...plan.plan import running
from .binned import DistanceBins, gathered, n_bins
from .pair_sums import pair_sum

Result = TypeVar("Result")
Tile = tuple[slice, slice]

STORE_UP_TO = 5000
SUM_UP_TO = 700
"""Up to this many points, a sum over all pairs is as fast as one over bins."""
_PRECISION = 1e-12
"""The largest error of logarithms of sums over bins; the search for log σ² ends at 1e-7."""
_CHUNK = 2**15
_TILE = 512
_KEPT_BITS = 7  # of the mantissa: bins of the sketch are 0.8 % wide


class Distances:
    """The n (n-1)/2 squared distances of a sample, in units in which no kernel is narrower than exp(-t/2).

    A few are stored and summed one by one. Many are gathered once in bins with moments, which give sums exact to
    1e-12; where that bound does not hold, they are summed one by one. Distances are sums of squared differences, so
    neither an offset nor an outlier costs digits.

    Parameters
    ----------
    Y : array of shape (n, d)
    """

    def __init__(self, Y: Array) -> None:
        self.n, self.dim = Y.shape
        self._points = Y

    def leading(self, count: int) -> Distances:
        """Return the distances of the leading points."""
        return Distances(self._points[:count])

    @property
    def count(self) -> int:
        """The number of pairs i < j."""
        return self.n * (self.n - 1) // 2

    @cached_property
    def largest(self) -> float:
        """The largest distance, or a little more if distances are not stored."""
        if self._stored is not None:
            return float(self._stored.max())
        return 4.0 * float(np.square(self._points - self._points.mean(axis=0)).sum(axis=1).max())

    @cached_property
    def _smallest(self) -> float:
        return float(min(self._map(np.min)))

    @cached_property
    def _stored(self) -> Array | None:
        return pdist(self._points, "sqeuclidean") if self.n <= STORE_UP_TO else None

    @cached_property
    def _bins(self) -> DistanceBins:
        if self._stored is not None:
            return DistanceBins(gathered(self._map(lambda chunk: chunk), self.largest))
        return DistanceBins(self.moments())

    def moments(self) -> Array:
        """Return the moments of all bins."""
        strips = _strips(slices(self.n, _TILE))
        return np.asarray(sum(running().map(self._gathering(), strips, self.n**2), start=np.zeros(())))

    def _gathering(self) -> Callable[[list[Tile]], Array]:
        """Return a function from tiles to the moments of their distances."""
        if not running().compiles(self.n**2 * self.dim):
            return lambda tiles: gathered((self._cell(*tile) for tile in tiles), self.largest)
        from .compiled import gatherer

        return gatherer(self._points, n_bins(self.largest))

    def _map(self, run: Callable[[Array], Result]) -> Iterator[Result]:
        """Run over flat pieces of all distances, each small enough for the cache; recomputed ones in threads."""
        if self._stored is None:
            tiles = (tile for strip in _strips(slices(self.n, _TILE)) for tile in strip)
            yield from running().map(lambda tile: run(self._cell(*tile)), tiles, self.n**2)
            return
        for piece in slices(len(self._stored), _CHUNK):
            yield run(self._stored[piece])

    def _cell(self, i: slice, j: slice) -> Array:
        """Return the distances of one tile, each pair once."""
        if i == j:
            return pdist(self._points[i], "sqeuclidean")
        return cdist(self._points[i], self._points[j], "sqeuclidean").ravel()

    def laplace(self, s: float) -> tuple[float, float]:
        """Return log mean exp(-t/2s) and its derivative in s, in O(n²), or less if there are bins."""
        if self.n > SUM_UP_TO:
            log_mean, slope, error = self._bins.laplace(s)
            if error <= _PRECISION:
                return log_mean, slope
        return self._summed(s)

    def _summed(self, s: float) -> tuple[float, float]:
        """Return the same, summed over single distances."""
        first = self._smallest

        def sums(chunk: Array) -> tuple[float, float]:
            weights = np.subtract(first, chunk)
            weights *= 0.5 / s
            np.exp(weights, out=weights)
            return float(weights.sum()), float(weights @ chunk)

        total, moment = np.sum(list(self._map(sums)), axis=0)
        return math.log(total / self.count) - 0.5 * first / s, 0.5 * float(moment / total) / s / s

    def sketch(self) -> Sketch:
        """Return the distances gathered in wider bins, each with its count and its mean."""
        pieces = [(self._bins.means, self._bins.counts)] if self.n > SUM_UP_TO else self._map(lambda c: (c, None))
        counts, sums = _sketched(_binned(*piece) for piece in pieces)
        occupied = counts > 0
        return Sketch(self.dim, sums[occupied] / counts[occupied], np.log(counts[occupied] / self.count))


class ScaledDistances:
    """Distances multiplied by a factor: the same points in other units."""

    def __init__(self, distances: Distances, factor: float) -> None:
        self.dim, self._distances, self._factor = distances.dim, distances, factor

    @property
    def largest(self) -> float:
        """The largest distance, or a little more."""
        return self._factor * self._distances.largest

    def laplace(self, s: float) -> tuple[float, float]:
        """Return log mean exp(-t/2s) and its derivative in s."""
        log_mean, slope = self._distances.laplace(s / self._factor)
        return log_mean, slope / self._factor

    def sketch(self) -> Sketch:
        """Return the distances gathered in wider bins."""
        return self._distances.sketch().scaled(self._factor)


class SummedDistances:
    """The distances of points of a library other than NumPy: not stored, every sum runs over all pairs again.

    Parameters
    ----------
    Y : array of shape (n, d)
    some : array of shape (m, d)
        Rows on the host, for the sketch.
    """

    def __init__(self, Y: Array, some: Array) -> None:
        self.dim, self._points, self._some = Y.shape[1], Y, some

    @cached_property
    def largest(self) -> float:
        """The largest distance, or a little more."""
        return 4.0 * largest_norm(centered(self._points)[0])

    def laplace(self, s: float) -> tuple[float, float]:
        """Return log mean exp(-t/2s) and its derivative in s, in O(n² d)."""
        n, scaled = self._points.shape[0], self._points / math.sqrt(2 * s)
        pairs = pair_sum(scaled, scaled)
        return pairs.log - math.log(n * (n - 1.0)), float(pairs.gaps.sum()) / s

    def sketch(self) -> Sketch:
        """Return the distances of some rows, gathered in wider bins."""
        return Distances(self._some).sketch()


class PairDistances:
    """The distances between a sample's rows, shared by searches under several bandwidths.

    Parameters
    ----------
    X : array of shape (n, d)
    unit : float
        About the smallest bandwidth to be used.
    """

    def __init__(self, X: Array, unit: float) -> None:
        self._distances, self._unit = Distances((X - X.mean(axis=0)) / unit), unit

    def leading(self, count: int) -> PairDistances:
        """Return the pairs of the leading rows."""
        pairs = copy(self)
        pairs._distances = self._distances.leading(count)
        return pairs

    def under(self, bandwidth: float) -> ScaledDistances:
        """Return the distances in units of a bandwidth."""
        return ScaledDistances(self._distances, (self._unit / bandwidth) ** 2)


def _strips(rows: list[slice]) -> Iterator[list[Tile]]:
    """Yield the tiles of the upper triangle that hold a pair i < j, by rows."""
    return ([(i, j) for j in rows[k:] if i != j or i.stop - i.start > 1] for k, i in enumerate(rows))


class Sketch:
    """Distances in bins, each at its mean: sums for many noises at once.

    With the bins of :meth:`Distances.sketch`, scores are exact to about 1e-4: enough to locate minima, not to report.
    """

    def __init__(self, dim: int, centers: Array, log_shares: Array) -> None:
        self.dim, self._centers, self._log_shares = dim, centers, log_shares

    def scaled(self, factor: float) -> Sketch:
        """Return the sketch of the distances times a factor."""
        return Sketch(self.dim, factor * self._centers, self._log_shares)

    def laplace(self, s: Any) -> tuple[Any, Any]:
        """Return log mean exp(-t/2s) of the bins and its derivative in s, at one s or many, (G,)."""
        exponents = self._log_shares - 0.5 * self._centers / np.asarray(s)[..., None]
        largest = exponents.max(axis=-1)
        weights = np.exp(exponents - largest[..., None])
        total = weights.sum(axis=-1)
        moments = np.asarray(np.einsum("...m,...m->...", weights, self._centers))
        return largest + np.log(total), 0.5 * moments / total / s / s


def _binned(chunk: Array, counts: Array | None) -> tuple[Array, Array]:
    """Return the count and the sum of distances in every bin; a bin is a range of leading bits."""
    bins = leading_bits(chunk)
    number, sums = np.bincount(bins, counts), np.bincount(bins, chunk if counts is None else counts * chunk)
    return number.astype(np.float64), sums.astype(np.float64, copy=False)


def _sketched(parts: Iterator[tuple[Array, Array]]) -> Array:
    """Return the sums of bins of different lengths, shape (2, number of bins)."""
    total = np.zeros((2, 0))
    for part in parts:
        missing = len(part[0]) - total.shape[1]
        if missing > 0:
            total = np.pad(total, ((0, 0), (0, missing)))
        total[:, : len(part[0])] += part
    return total


def leading_bits(distances: Array) -> IntArray:
    """Return exponent and leading mantissa bits as a small integer; all values below 2^-64 share bin 0."""
    bits = np.ascontiguousarray(distances).view(np.int64) >> (52 - _KEPT_BITS)
    return np.asarray(np.maximum(bits - ((1023 - 64) << _KEPT_BITS), 0))


Source = Distances | ScaledDistances | SummedDistances | Sketch


def terms(distances: Source, noise: Any, alpha: float) -> Terms:
    r"""Return the terms of the score at the noise σ²/θ² = ``noise``, for points in units of θ.

    L_ij = (1+a)^{-d/2} exp(-t_ij/(2(1+a))), Q_ij the same with 2a; one exponential per pair for each.
    A sketch takes many noises at once, shape (G,).
    """
    cross = factor(distances, noise, 1.0)
    nothing = np.ndim(noise) == 0 and noise == 0.0  # then both sums are the same
    off = (cross[0], 2.0 * cross[1]) if nothing else factor(distances, noise, 2.0)
    half = 0.5 * distances.dim
    diag = -half * np.log1p(2 * noise), -2 * half / (1 + 2 * noise)
    square = norm_terms(alpha, off, diag)
    return Terms(cross[0], square[0], np.array([cross[1]]), np.array([square[1]]))


def factor(distances: Source, noise: Any, sides: float) -> tuple[Any, Any]:
    """Return the logarithm of the mean smoothed kernel with ``sides`` noisy sides, and its derivative."""
    s = 1.0 + sides * noise
    log_mean, slope = distances.laplace(s)
    half = 0.5 * distances.dim
    return log_mean - half * np.log1p(sides * noise), sides * (slope - half / s)
