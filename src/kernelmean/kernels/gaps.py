"""The median of all distances |x_i - x_j| of numbers, found in the sorted numbers, without n² / 2 distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ..core.array import Array, IntArray

_ENOUGH = 4  # pairs of different numbers per number: so few distances are computed and sorted
VANISHING = float(np.nextafter(2.0**-537 * np.sqrt(0.5), 0.0))
"""The largest number whose square is rounded to 0."""


@final
@dataclass(frozen=True, eq=False)
class Gaps:
    """All distances fl(x_j - x_i) ≥ 0, i < j, of sorted numbers; order statistics are exact to the last bit.

    Rounded differences grow with j, so how many are at most t is a matter of where each row passes t.
    """

    values: Array
    """The different numbers, sorted; shape (u,)."""
    counts: IntArray
    """How often each is there; shape (u,)."""
    before: IntArray
    """How many numbers are smaller, and at the end all; shape (u + 1,)."""

    @classmethod
    def of(cls, numbers: Array) -> Self:
        """Sort the numbers; shape (n,)."""
        values, counts = np.unique(numbers, return_counts=True)
        return cls(values, counts.astype(np.int64), np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))

    @property
    def n_pairs(self) -> int:
        """The number of pairs i < j."""
        n = int(self.before[-1])
        return n * (n - 1) // 2

    def median(self, above: float | None = None) -> tuple[float, float]:
        """Return the two middle distances (twice the same one if the number is odd), or of those ``above`` a number."""
        less = 0 if above is None else self._pairs(self._within(above))
        half, odd = divmod(self.n_pairs - less, 2)
        return self._ranked(less + half - (not odd), less + half)

    def _within(self, t: float) -> IntArray:
        """Return for every value the index of the first one that is further than ``t`` above it."""
        x = self.values
        around = 4.0 * np.finfo(np.float64).eps * (np.abs(x) + t)  # more than what rounding moves
        first = np.searchsorted(x, x + t - around, "left")
        last = np.searchsorted(x, x + t + around, "right")
        rows = np.flatnonzero(first < last)
        low, high = first[rows], last[rows]
        while rows.size:  # rounded differences decide between the two
            middle = (low + high) // 2
            near = x[middle] - x[rows] <= t
            low, high = np.where(near, middle + 1, low), np.where(near, high, middle)
            first[rows] = low
            open_ = low < high
            rows, low, high = rows[open_], low[open_], high[open_]
        return first

    def _pairs(self, ends: IntArray) -> int:
        """Return how many pairs lie before these indices, equal numbers among them."""
        return int(self.counts @ (self.before[ends] - self.before[1:]) + (self.counts * (self.counts - 1) // 2).sum())

    def _ranked(self, lower: int, upper: int) -> tuple[float, float]:
        """Return the distances with two ranks from 0 on, the same or successive ones."""
        x, rows = self.values, np.arange(len(self.values))
        start: IntArray = rows + 1
        end: IntArray = np.full(len(x), len(x))
        zeros = self._pairs(start)
        if upper < zeros:
            return 0.0, 0.0
        if lower < zeros:
            return 0.0, float(np.diff(x).min())
        small, large = 0, _bits(x[-1] - x[0])
        while (end - start).sum() > _ENOUGH * len(x) and large - small > 1:  # halve the floats between, not their range
            middle = (small + large) // 2
            t = _number(middle)
            ends = self._within(t)
            pairs = self._pairs(ends)
            if pairs > upper:
                end, large = ends, middle
            elif pairs <= lower:
                start, small = ends, middle
            else:
                inside, outside = ends > rows + 1, ends < len(x)
                below = x[ends[inside] - 1] - x[rows[inside]]
                return float(below.max()), float((x[ends[outside]] - x[rows[outside]]).min())
        return self._among(start, end, lower, upper)

    def _among(self, start: IntArray, end: IntArray, lower: int, upper: int) -> tuple[float, float]:
        """Return the distances with these ranks, which are between the indices ``start`` and ``end`` of their rows."""
        many = end - start
        row = np.repeat(np.arange(len(many)), many)
        other = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many) + start[row]
        distances, counts = self.values[other] - self.values[row], self.counts[row] * self.counts[other]
        return _weighted(distances, counts, lower - self._pairs(start), upper - self._pairs(start))


def tied_median(distances: Array, counts: IntArray, zeros: int) -> tuple[float, bool]:
    """Return the median of distances that are there so often, and of ``zeros``; if it is 0, of the positive ones.

    Say also which of the two it is. It is 0 if all are.
    """
    for positive in (False, True):
        half, odd = divmod(int(counts.sum()) + zeros, 2)
        median = float(np.mean(_weighted(distances, counts, half - (not odd) - zeros, half - zeros)))
        if median > 0.0:
            return median, positive
        distances, counts, zeros = distances[distances > 0.0], counts[distances > 0.0], 0
        if not len(distances):
            break
    return 0.0, False


def _weighted(distances: Array, counts: IntArray, lower: int, upper: int) -> tuple[float, float]:
    """Return the distances with two ranks among those that are there so often; 0 where the rank is negative."""
    order = np.argsort(distances)
    places = np.searchsorted(np.cumsum(counts[order]), (lower, upper), side="right")
    first, second = (float(distances[order[k]]) if r >= 0 else 0.0 for k, r in zip(places, (lower, upper), strict=True))
    return first, second


def _bits(number: float) -> int:
    """Return where a number ≥ 0 is among all such floats in their order."""
    return int(np.float64(number).view(np.int64))


def _number(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))
