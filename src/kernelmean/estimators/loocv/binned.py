"""Squared distances in narrow bins with moments: one pass over the pairs, then sums at any scale, exact to 1e-12."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ...core.array import Array, IntArray

BITS = 10
"""Values 1 + t in a bin share the exponent and this many bits of the mantissa: 0.1 % wide, or 0.001 where t < 1."""
_ORDER = 4
_ZERO = 1023 << BITS
"""The leading bits of 1.0."""
_TAYLOR = np.array([1 / math.factorial(k) for k in range(_ORDER + 2)])


class DistanceBins:
    r"""Bins with the moments Σ (t - c)^k, k = 0 … 4, of the distances in them about their centres c.

    The Taylor series of exp(-t/2s) about c gives the sum of a bin. With half width h, the remainder of each term is at
    most exp(-(c - h)/2s) (h/2s)^5 / 5!.

    Parameters
    ----------
    moments : array of shape (n_bins, 5)
        Of bin 0, which starts at t = 0, and the following ones.
    """

    def __init__(self, moments: Array) -> None:
        occupied = np.flatnonzero(moments[:, 0])
        self.moments = moments[occupied]
        self.counts = self.moments[:, 0]
        self.centers, self._half_widths = _centers(occupied), _half_widths(occupied)
        self._count = float(self.counts.sum())

    @property
    def means(self) -> Array:
        """The mean distance of every bin."""
        return self.centers + self.moments[:, 1] / self.counts

    @np.errstate(over="ignore", invalid="ignore")  # bins far wider than the kernel: the error bound shows it
    def laplace(self, s: float) -> tuple[float, float, float]:
        """Return log mean exp(-t/2s), its derivative in s, and a bound on the error of the logarithm; O(bins)."""
        rate = -0.5 / s
        series = _TAYLOR * rate ** np.arange(_ORDER + 2)
        values, slopes = self.moments @ series[:-1], self.moments[:, 1:] @ series[:-2]
        first = self.centers[0]
        weights = np.exp(rate * (self.centers - first))
        total = float(weights @ values)
        moment = float(weights @ (self.centers * values + slopes))
        largest = np.exp(rate * (self.centers - self._half_widths - first))  # of the derivatives within a bin
        error = float((largest * self.counts) @ np.power(self._half_widths * -rate, _ORDER + 1)) * _TAYLOR[-1]
        log_mean = math.log(total / self._count) + rate * first
        return log_mean, 0.5 * moment / total / s / s, error / total


@np.errstate(over="ignore", invalid="ignore")
def gathered(chunks: Iterable[Array], largest: float) -> Array:
    """Return the moments (n_bins, 5) of all distances, each at most ``largest`` up to rounding; O(1) for each."""
    total = np.zeros((n_bins(largest), _ORDER + 1))
    for chunk in chunks:
        bins = index(chunk)
        gaps = chunk - _centers(bins)
        powers = np.ones_like(chunk)
        for k in range(_ORDER + 1):
            total[:, k] += np.bincount(bins, weights=powers, minlength=len(total))
            powers *= gaps
    return total


def n_bins(largest: float) -> int:
    """Return how many bins distances up to ``largest`` need, and one more for rounding just above it."""
    return int(index(np.array([largest]))[0]) + 2


def index(distances: Array) -> IntArray:
    """Return the bins of distances."""
    return np.asarray(((1.0 + distances).view(np.int64) >> (52 - BITS)) - _ZERO)


def _centers(bins: IntArray) -> Array:
    """Return the centres of bins, by setting the bit after the shared ones."""
    return np.asarray((((2 * (bins + _ZERO) + 1) << (51 - BITS)).view(np.float64)) - 1.0)


def _half_widths(bins: IntArray) -> Array:
    return np.ldexp(0.5 ** (BITS + 1), (bins >> BITS).astype(np.int32))
