"""What views are made of, all fitted to some rows and applied to any.

Columns lose their units, by their spreads or by ranks; a view transforms them, and is divided by its unit, a distance
between its rows, so that kernels of fixed widths fit any data.

Rows are put in an order that depends only on themselves, so that sums over them have the same last digit in whatever
order they came. Otherwise, where digits are lost, as with values far from 0 or ten orders of magnitude apart, rounding
would depend on the order of the rows, and so on which row is in which sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.special import ndtri

from ...core.array import (
    Array,
    IntArray,
    like,
    namespace,
    pairwise_products,
    rounded,
    row_lengths,
    scaled_by,
    slices,
)
from ...core.cached import cached_property
from ...kernels.bandwidth import median_bandwidth
from .spectrum import decomposed


def row_order(points: Array) -> IntArray:
    """Return row numbers in ascending order of the first column, equal ones of the next, and so on.

    Examples
    --------
    >>> row_order(np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 0.0]])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(points[:, 0], kind="stable")
    first = points[order, 0]
    return order if (first[1:] > first[:-1]).all() else np.lexsort(points.T[::-1])


def put_back(columns: Array, order: IntArray) -> None:
    """Move the entries of columns (D, n), whose rows have this order, in place to where the rows came from."""
    ranks = np.argsort(order)
    for part in slices(len(columns), _MOVED):
        columns[part] = columns[part].take(ranks, axis=1)


_MOVED = 16
"""Columns that are moved at a time."""
_LEAST_SPREAD = 1e-8
"""The least spread, as a share of the farthest value of a column: below it, squares of outliers would overflow."""
_FARTHEST = 2.0 / _LEAST_SPREAD
_NORMAL_QUARTILES = 2 * float(ndtri(0.75))


@final
@dataclass(frozen=True)
class Spreads:
    """The means and the spreads of columns: the distance of their quartiles, or their deviation.

    Columns are divided by powers of two first, so that nothing overflows. Of a constant column only the sign of the
    distance from its value is left.
    """

    exponents: IntArray
    means: Array
    spreads: Array
    constant: Array
    """Which columns are constant."""
    values: Array
    """One value of every column: the value of the constant ones."""

    @classmethod
    def of(cls, points: Array) -> Self:
        """Return the spreads of some rows, shape (n, d)."""
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
        """Return the columns of any rows minus the means, in units of the spreads."""
        xp = namespace(points)
        means, spreads, values = (like(row, points) for row in (self.means, self.spreads, self.values))
        with np.errstate(over="ignore"):  # rows much farther away than the fitted ones are clipped
            distances = xp.clip((scaled_by(points, -self.exponents) - means) / spreads, -_FARTHEST, _FARTHEST)
        if not self.constant.any():
            return distances
        return xp.where(like(self.constant, points, None), xp.sign(points - values), distances)


def in_spreads(points: Array) -> Array:
    """Return the columns minus their means, in units of their spreads; see :class:`Spreads`."""
    return Spreads.of(points)(points)


# -- what views make of a table in its spreads, its ranks or its normal scores -----------------------------------------

_DIGITS = 13
_WIDER = 1e-6
_BENDS = (2, 3, 4)


@final
@dataclass(frozen=True)
class Whitening:
    """The table times C^{-1/2}, with C the covariance of some rows, shrunk by d / (n + d) towards its mean variance."""

    means: Array
    factors: tuple[Array, ...]

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit it to some rows."""
        n, dim = table.shape
        means = table.mean(axis=0)
        centered = table - means
        covariance = centered.T @ centered / n
        mean_variance = np.trace(covariance) / dim
        if mean_variance == 0.0:
            return cls(means, ())
        shrinkage = dim / (n + dim)
        values, vectors = decomposed((1 - shrinkage) * covariance + shrinkage * mean_variance * np.eye(dim))
        return cls(means, (vectors / np.sqrt(values), vectors.T))

    def __call__(self, table: Array) -> Array:
        """Return the whitened rows."""
        whitened = table - like(self.means, table)
        for factor in self.factors:
            whitened = whitened @ like(factor, table)
        return whitened


@final
@dataclass(frozen=True)
class Length:
    """The lengths of rows, one column, to 13 digits of the longest: rounding must not separate equal ones."""

    unit: float

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit the digits to some rows."""
        largest = float(np.linalg.norm(table, axis=1).max())
        return cls(float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest else 1.0)

    def __call__(self, table: Array) -> Array:
        """Return the lengths, shape (n, 1)."""
        return rounded(row_lengths(table) / self.unit, _DIGITS) * self.unit


@final
@dataclass(frozen=True)
class Ranked:
    """(rank - ½) / n - ½, from -½ to ½, with n the number of ranked rows."""

    n: int

    def __call__(self, table: Array) -> Array:
        """Return the centered shares of the rows below."""
        return (table - 0.5) / self.n - 0.5


@final
@dataclass(frozen=True)
class Products:
    """s_i s_j minus its mean for every two columns i < j, shape (n, d (d - 1) / 2)."""

    means: Array

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit the means to some rows."""
        return cls((table.T @ table)[np.triu_indices(table.shape[1], 1)] / len(table))

    def __call__(self, table: Array) -> Array:
        """Return the products."""
        first, second = np.triu_indices(table.shape[1], 1)
        products = pairwise_products(table, first, second)
        products -= like(self.means, table)
        return products


@final
@dataclass(frozen=True)
class Squares:
    """The squares of columns minus their means."""

    means: Array

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit the means to some rows."""
        return cls(np.square(table).mean(axis=0))

    def __call__(self, table: Array) -> Array:
        """Return the centered squares."""
        return namespace(table).square(table) - like(self.means, table)


@final
@dataclass(frozen=True)
class Hermite:
    """s³ - 3s and s⁴ - 6s² + 3 of columns minus their means: skewness and long tails, without means and spreads.

    They are Hermite polynomials: of normal scores no two of s, s² - 1 and these are correlated.
    """

    means: Array

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit the means to some rows."""
        return cls(_third_and_fourth(table).mean(axis=0))

    def __call__(self, table: Array) -> Array:
        """Return the centered third polynomials of all columns, then the fourth."""
        return _third_and_fourth(table) - like(self.means, table)


def _third_and_fourth(table: Array) -> Array:
    xp = namespace(table)
    squares = xp.square(table)
    both = xp.stack([table * (squares - 3.0), squares * (squares - 6.0) + 3.0], axis=1)
    return xp.reshape(both, (table.shape[0], -1))


@final
@dataclass(frozen=True)
class Interactions:
    """s_i s_j u for every two columns i < j, with u the place of a row along the widest direction, minus their means.

    Where no direction is the widest, u is 0: rounding must not choose one.
    """

    products: Products
    direction: Array
    means: Array

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit the direction and the means to some rows."""
        products, centered = Products.of(table), table - table.mean(axis=0)
        values, vectors = decomposed(centered.T @ centered / len(table))
        widest = values[-1] > 0.0 and (len(values) == 1 or values[-2] < (1.0 - _WIDER) * values[-1])
        direction = vectors[:, -1] / np.sqrt(values[-1]) if widest else np.zeros(table.shape[1])
        return cls(products, direction, (products(table) * (table @ direction)[:, None]).mean(axis=0))

    def __call__(self, table: Array) -> Array:
        """Return the products."""
        along = table @ like(self.direction, table)
        return self.products(table) * along[:, None] - like(self.means, table)


@final
@dataclass(frozen=True)
class Bends:
    """cos(kπu) of the share u of n ranked rows below, k = 2, 3 and 4: what bends once, twice and three times.

    Angles are reduced to half a turn as multiples of a half, without rounding: where two values of a column have the
    same cosine, such as those of two categories for k = 4, it is the same to the last digit.
    """

    n: int

    @cached_property
    def _curves(self) -> Array:
        """The curves of all whole and half ranks from 0 to n, shape (3, 2n + 1)."""
        turned = np.array(_BENDS)[:, None] * (np.arange(2 * self.n + 1) / 2 - 0.5) % (2.0 * self.n)
        return np.asarray(np.cos(np.minimum(turned, 2.0 * self.n - turned) * (np.pi / self.n)))

    def __call__(self, table: Array) -> Array:
        """Return the curves, those of one k for all columns side by side."""
        xp, (n, dim) = namespace(table), table.shape
        places = xp.asarray(xp.reshape(2.0 * table.T, (-1,)), dtype=xp.int64)
        curves = xp.take(like(self._curves, table), places, axis=1)
        return xp.reshape(curves, (len(_BENDS) * dim, n)).T


TRANSFORMATIONS: dict[str, Callable[[Array], Callable[[Array], Array]]] = {
    "white": Whitening.of,
    "radius": Length.of,
    "spread": Length.of,
    "ranks": lambda table: Ranked(len(table)),
    "products": Products.of,
    "squares": Squares.of,
    "square axes": Squares.of,
    "moment axes": Hermite.of,
    "product axes": Products.of,
    "interactions": Interactions.of,
    "curve axes": lambda table: Bends(len(table)),
}
"""The transformation of each view, from the rows that it is fitted to."""


def pairs_of_columns(dim: int) -> int:
    """Return how many products of two different columns there are."""
    return dim * (dim - 1) // 2


# -- units -------------------------------------------------------------------------------------------------------------

DIRECT: dict[str, Callable[[int], int]] = {
    "order": lambda dim: dim,
    "axes": lambda dim: dim,
    "square axes": lambda dim: dim,
    "moment axes": lambda dim: 2 * dim,
    "curve axes": lambda dim: len(_BENDS) * dim,
    "product axes": pairs_of_columns,
    "interactions": pairs_of_columns,
}
"""Views that kernels use as they are, the order of one column and columns one by one: how many columns they have."""
AS_IT_IS = "points"
"""The view of a kernel that the caller chose: the rows in their own units."""
NEAR = {"near": 0.1, "nearest": 0.03}
"""The share of the rows whose distance is the unit of these views."""
_FAR, _SURELY_FAR = 7.25, 9.0
_CLOSE_PAIRS = 0.1


@final
@dataclass(frozen=True)
class Unit:
    """What a view is divided by: a distance; for single columns their deviations; for "order" 1.

    From columns in which all rows were equal their value is subtracted instead: kernels on them are then constant
    without rounding.
    """

    divisor: Any
    origin: Array | None = None

    @classmethod
    def of(cls, name: str, table: Array, rows: IntArray) -> Self:
        """Return the unit of a view, judged by some of its rows."""
        if name == "order":
            return cls(1.0)
        if (table[-1] == table[0]).all() and (table == table[0]).all():
            return cls(1.0, table[0])
        if name == AS_IT_IS:
            return cls(1.0)
        if name in DIRECT:
            equal = (table == table[0]).all(axis=0)
            deviation = np.where(equal, 1.0, table.std(axis=0))
            return cls(
                np.where(deviation > 0.0, deviation, 1.0), np.where(equal, table[0], 0.0) if equal.any() else None
            )
        some = table[rows]
        return cls(1.0 if (some == some[0]).all() else _distance(name, some))

    def __call__(self, table: Array) -> Array:
        """Return rows of the view in this unit."""
        if self.origin is not None:
            table = table - like(self.origin, table)
        if isinstance(self.divisor, float) and self.divisor == 1.0:
            return table
        return table / like(self.divisor, table)


def _distance(name: str, some: Array) -> float:
    """Return the distance that becomes 1 in a view, positive unless all rows are equal."""
    if name == "blocks":
        distances = pdist(some, "cityblock")
        return float(np.median(distances[distances > 0.0]))
    if name in NEAR:  # the median over the rows of the distance within which a share of the others lie
        place = max(1, min(len(some) - 1, round(NEAR[name] * len(some))))
        near = float(np.median(np.partition(squareform(pdist(some)), place, axis=1)[:, place]))
        if near > 0.0:
            return near
    return float(median_bandwidth(some))


def clustered(rows: Array) -> float:
    """Return from 0 to 1 how surely the rows of a table lie in far clusters, from the distances of some of them.

    The median distance is divided by the distance below which a tenth of the pairs are, which lie within a cluster if
    there are clusters. The ratio is 5.4 for normal values in one dimension, less in more, 6.3 for Cauchy and 6.7 for
    lognormal ones. From 7.25 to 9 the answer rises from 0 to 1. Values with many ties are not clusters.
    """
    near, middle = np.quantile(pdist(rows), (_CLOSE_PAIRS, 0.5))
    if near <= 0.0:
        return 0.0
    return float(np.clip(np.log(middle / near / _FAR) / np.log(_SURELY_FAR / _FAR), 0.0, 1.0))
