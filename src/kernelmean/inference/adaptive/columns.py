"""How columns lose their units: by their spreads or by ranks, fitted to some rows and applied to any."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self, final

import numpy as np
from scipy.special import ndtri

from ...core.array import Array, IntArray, as_type, column_of, like, namespace, scaled_by

_LEAST_SPREAD = 1e-8
"""Of the farthest value of a column: beyond, squares of outliers would overflow."""
_FARTHEST = 2.0 / _LEAST_SPREAD
_NORMAL_QUARTILES = 2 * float(ndtri(0.75))


@final
@dataclass(frozen=True)
class Spreads:
    """The means and the spreads of columns: the distance of their quartiles, or their deviation.

    Columns are divided by powers of two beforehand so that nothing overflows. Where a column is constant, only the sign
    of the distance from its value is left of it.
    """

    exponents: IntArray
    means: Array
    spreads: Array
    constant: Array
    """Which columns are constant."""
    values: Array
    """Any value of every column: that of the constant ones."""

    @classmethod
    def of(cls, points: Array) -> Self:
        """Return those of some rows, shape (n, d)."""
        largest = np.abs(points).max(axis=0)
        exponents = np.frexp(np.where(largest > 0.0, largest, 1.0))[1]
        scaled = np.ldexp(points, -exponents)
        means = scaled.mean(axis=0)
        low, high = np.quantile(scaled, (0.25, 0.75), axis=0)
        spread = np.where(high > low, (high - low) / _NORMAL_QUARTILES, scaled.std(axis=0))
        spread = np.maximum(spread, _LEAST_SPREAD * np.abs(scaled - means).max(axis=0))
        constant = (points == points[0]).all(axis=0)
        return cls(exponents, means, np.where(constant, 1.0, spread), constant, points[0])

    def __call__(self, points: Array) -> Array:
        """Return the columns of any rows less the means, in units of the spreads."""
        xp = namespace(points)
        means, spreads, values = (like(own, points) for own in (self.means, self.spreads, self.values))
        with np.errstate(over="ignore"):  # rows much farther away than those that were seen are clipped
            distances = xp.clip((scaled_by(points, -self.exponents) - means) / spreads, -_FARTHEST, _FARTHEST)
        if not self.constant.any():
            return distances
        return xp.where(like(self.constant, points, None), xp.sign(points - values), distances)


def in_spreads(points: Array) -> Array:
    """Return the columns less their means over their spreads, see :class:`Spreads`."""
    return Spreads.of(points)(points)


@final
@dataclass(frozen=True)
class Ranks:
    """Where values stand among those of some rows, column by column.

    The distinct values of a column are knots; a value has a place, 2 i + 1 where it is knot i, 2 i where it is just
    below it.
    """

    n: int
    """The rows that others are ranked among."""
    knots: tuple[Array, ...]
    levels: tuple[Array, ...]
    """The rank of every place: of ties their mean rank, between two knots the middle of their ranks."""

    @classmethod
    def of(cls, points: Array) -> Self:
        """Return the knots of some rows, shape (n, d)."""
        found = [np.unique(column, return_counts=True) for column in points.T]
        return cls(len(points), tuple(knots for knots, _ in found), tuple(_levels(counts) for _, counts in found))

    @cached_property
    def scores(self) -> tuple[Array, ...]:
        """The normal score of every place."""
        return tuple(normal_scores(levels, self.n) for levels in self.levels)

    def places(self, points: Array) -> list[IntArray]:
        """Return the place of every value, column by column."""
        return [_places(like(own, points), column_of(points, j)) for j, own in enumerate(self.knots)]


def _levels(counts: IntArray) -> Array:
    """Return the ranks of places from how often every knot occurs, none of them beyond the first and the last rank."""
    ends = np.append(0.0, np.cumsum(counts))
    levels = np.empty(2 * len(counts) + 1)
    levels[0::2] = np.clip(ends + 0.5, 1.0, ends[-1])
    levels[1::2] = ends[1:] - (counts - 1.0) / 2
    return levels


def _places(knots: Array, values: Array) -> IntArray:
    xp = namespace(values)
    index = xp.searchsorted(knots, values)
    same = xp.take(knots, xp.clip(index, 0, knots.shape[0] - 1), axis=0) == values
    return 2 * index + as_type(same, "int64")


def normal_scores(ranks: Array, n: int) -> Array:
    """Return Φ⁻¹((rank - ½) / n)."""
    return np.asarray(ndtri((ranks - 0.5) / n))


def ranks(column: Array) -> Array:
    """Return ranks as ``scipy.stats.rankdata`` does, in half the time."""
    order = np.argsort(column)
    ascending = column[order]
    ends = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]) + 1.0, len(column))
    counts = np.diff(ends, prepend=0.0)
    found = np.empty(len(column))
    found[order] = np.repeat(ends - (counts - 1.0) / 2, counts.astype(np.intp))
    return found
