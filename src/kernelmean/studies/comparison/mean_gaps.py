r"""How far the means of a column are apart: an approximate interval, and the deviation within tables and strata.

The difference of means is :math:`\sum_i w_i x_i` over the rows of the first table minus the same over the second, with
weights of sum one that follow the design (:mod:`.row_weights`). Its variance adds up over tables and strata: with r the
distances from the mean of the stratum in the table, and :math:`z_c` the sum of :math:`w_i r_i` over the rows of cluster
c, a stratum of C equal clusters has :math:`\frac{C}{C-1} \sum_c z_c^2`. Without a design it is Welch's.

All of this are moments of the rows of a stratum in a table, or of a cluster there, and is added up batch by batch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.labels import codes
from ...core.table import Frame
from ...inference import Design
from ...tables.columns.kinds import Coding
from ...tables.columns.labels import as_labels
from ...tables.columns.summaries import (
    UNKNOWN,
    CategoryShares,
    ColumnSummary,
    Interval,
    interval,
    pooled_within,
)
from .row_weights import tiny_strata

_FEWEST_STRATA = 10
"""Of strata with a row or cluster of its own, from which the variance between strata is taken."""


@final
@dataclass(frozen=True, eq=False)
class Places:
    """Where every row of two tables belongs: to a stratum of a table, and to a cluster there."""

    place: IntArray
    """The stratum of a table, a stratum in both tables one after another, of all rows, table after table."""
    weights: Array | None
    """Those of the rows, at most 1; None where all are 1."""
    unit: IntArray | None
    """The cluster in its table; None where every row is its own."""
    of_units: IntArray | None
    """The place of every cluster."""
    count: int
    """How many places there are."""
    within: bool
    """Whether deviations are within strata."""
    n: int
    """The rows of the first table."""
    before: int = 0
    """How many rows of all are before the first that is listed."""

    @classmethod
    def of(cls, design: Design, sizes: Sequence[int]) -> Self:
        """Return the places of all rows, of tables of so many rows."""
        table = np.repeat([0, 1], sizes)
        strata = _pooled(design.strata, table)
        place = 2 * strata + table
        unit = of_units = weights = None
        if design.clusters is not None:
            clusters = 2 * _pooled(design.clusters, table) + table
            _, first, unit = np.unique(clusters, return_index=True, return_inverse=True)
            of_units = place[first]
        if design.weights is not None:
            pooled = np.concatenate([np.asarray(part, dtype=np.float64) for part in design.weights])
            weights = pooled / pooled.max()  # no sum overflows
        within = design.strata is None or not tiny_strata(strata)
        return cls(place, weights, unit, of_units, 2 * (int(strata.max()) + 1), within, sizes[0])

    def rows(self, table: int, start: int, stop: int) -> RowPlaces:
        """Return the places of some rows of a table."""
        some = self._slice(table, start, stop)
        weights = np.ones(stop - start) if self.weights is None else self.weights[some]
        return RowPlaces(self.place[some], weights, None if self.unit is None else self.unit[some])

    def only(self, table: int, start: int, stop: int) -> Self:
        """Return the places of some rows of a table, to add these elsewhere."""
        some = self._slice(table, start, stop)
        weights = None if self.weights is None else self.weights[some]
        unit = None if self.unit is None else self.unit[some]
        return replace(self, place=self.place[some], weights=weights, unit=unit, before=self.before + some.start)

    def _slice(self, table: int, start: int, stop: int) -> slice:
        first = table * self.n - self.before
        return slice(first + start, first + stop)


@final
@dataclass(frozen=True, eq=False)
class RowPlaces:
    """The places of some rows."""

    place: IntArray
    weights: Array
    unit: IntArray | None


@final
class MomentsByPlace:
    """The masses, the means and the sums of squares about the mean of weighted numbers in several places."""

    def __init__(self, places: int) -> None:
        self.masses, self.means, self.squares = np.zeros((3, places))

    def add(self, values: Array, place: IntArray, weights: Array) -> None:
        """Add numbers; equal ones have squares of exactly 0."""
        used, first, inverse = np.unique(place, return_index=True, return_inverse=True)
        distances = values - values[first][inverse]
        masses: Array = np.bincount(inverse, weights).astype(np.float64)
        means: Array = np.bincount(inverse, weights * distances) / masses
        squares: Array = np.bincount(inverse, weights * np.square(distances - means[inverse])).astype(np.float64)
        self._merge(used, masses, values[first] + means, squares)

    def merge(self, other: MomentsByPlace) -> None:
        """Add what was seen of other rows."""
        used = np.flatnonzero(other.masses)
        self._merge(used, other.masses[used], other.means[used], other.squares[used])

    def _merge(self, places: IntArray, masses: Array, means: Array, squares: Array) -> None:
        """Chan, Golub & LeVeque (1979)."""
        total = self.masses[places] + masses
        gap = means - self.means[places]
        self.squares[places] += squares + np.square(gap) * self.masses[places] * (masses / total)
        self.means[places] += gap * (masses / total)
        self.masses[places] = total


@final
class NumbersInPlaces:
    """What a design needs to know of a column of numbers."""

    def __init__(self, places: int, units: int) -> None:
        self.rows, self.squared = MomentsByPlace(places), MomentsByPlace(places)
        self.units = MomentsByPlace(units) if units else None
        self.cubes, self.counts = np.zeros((2, places))

    def add(self, values: Array, rows: RowPlaces) -> None:
        """Add the numbers of some rows, NaN where they are not known."""
        known = ~np.isnan(values) & (rows.weights > 0.0)
        if not known.any():
            return
        values, place, weights = values[known], rows.place[known], rows.weights[known]
        self.rows.add(values, place, weights)
        self.squared.add(values, place, weights**2)
        self.cubes += np.bincount(place, weights**3, len(self.cubes))
        self.counts += np.bincount(place, minlength=len(self.counts))
        if self.units is not None and rows.unit is not None:
            self.units.add(values, rows.unit[known], weights)

    def merge(self, other: NumbersInPlaces) -> None:
        """Add what was seen of other rows."""
        self.rows.merge(other.rows)
        self.squared.merge(other.squared)
        if self.units is not None and other.units is not None:
            self.units.merge(other.units)
        self.cubes, self.counts = self.cubes + other.cubes, self.counts + other.counts

    @property
    def shares(self) -> Array:
        """How much every stratum counts, 0 where a table has no row of it; of sum 1, or all are 0."""
        first, second = self.rows.masses.reshape(-1, 2).T
        return _shares(first, second)

    @property
    def means(self) -> tuple[float, float]:
        """The means of both tables, nan if nothing is known."""
        if len(self.rows.masses) == 2:
            known = self.rows.masses > 0.0
            shares, means = known.astype(np.float64)[:, None], self.rows.means[:, None]
        else:
            shares, means = np.tile(self.shares, (2, 1)), self.rows.means.reshape(-1, 2).T
        first, second = (float(row @ of) if row.any() else math.nan for row, of in zip(shares, means, strict=True))
        return first, second

    def interval(self, of_units: IntArray | None = None) -> Interval:
        """Return an approximate 95 % interval of the first mean minus the second.

        It is not known where squares overflow.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self._interval(of_units)

    def _interval(self, of_units: IntArray | None) -> Interval:
        shares = self.shares
        used = np.flatnonzero(shares)
        if not len(used):
            return UNKNOWN
        second, third, squares, counts = self._of_units(of_units)
        means, shares = self.rows.means.reshape(-1, 2)[used], shares[used]
        gaps = means[:, 0] - means[:, 1]
        gap, places = float(shares @ gaps), np.stack([2 * used, 2 * used + 1], axis=1).ravel()
        if (counts[places] < 2).any():
            return _between_strata(gap, shares, gaps)
        masses, both = self.rows.masses[places], np.repeat(shares, 2)
        second, third = second[places] / masses**2, third[places] / masses**3
        return interval(gap, *_variances(second, third, squares[places] * np.square(both / masses)))

    def _of_units(self, of_units: IntArray | None) -> tuple[Array, Array, Array, Array]:
        """Return sums over the units of every place: masses squared and cubed, z squared, and how many there are."""
        means, count = self.rows.means, len(self.counts)
        if self.units is None or of_units is None:
            gaps = np.square(self.squared.means - means)
            return self.squared.masses, self.cubes, self.squared.squares + self.squared.masses * gaps, self.counts
        masses = self.units.masses
        distances = masses * (self.units.means - means[of_units])
        sums = (masses**2, masses**3, np.square(distances), masses > 0.0)
        second, third, squares, many = (np.bincount(of_units, values, count).astype(np.float64) for values in sums)
        return second, third, squares, many

    def deviation(self, *, within: bool) -> float:
        """Return the standard deviation within the tables, and within strata unless these are tiny; nan if not known.

        Rows have their weights, and strata count as in the differences of means. In one stratum of rows of equal
        weights it is the pooled standard deviation, with n + m - 2 degrees of freedom.
        """
        used = np.repeat(self.shares > 0.0, 2)
        if not used.any():
            return math.nan
        masses, means = self.rows.masses[used], self.rows.means[used]
        pairs = masses.reshape(-1, 2)
        counted = np.repeat(pairs.prod(axis=1) / np.square(pairs.sum(axis=1)), 2)
        masses, squares = counted * masses, counted * self.rows.squares[used]
        second = counted**2 * self.squared.masses[used]
        if not within:
            tables = masses.reshape(-1, 2), means.reshape(-1, 2)
            middle = (tables[0] * tables[1]).sum(axis=0) / tables[0].sum(axis=0)
            squares = (squares.reshape(-1, 2) + tables[0] * np.square(tables[1] - middle)).sum(axis=0)
            masses, second = tables[0].sum(axis=0), second.reshape(-1, 2).sum(axis=0)
        return pooled_within(squares, masses, second)


@final
class CategoriesInPlaces:
    """The weight of every category in every place."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._weights: dict[Any, Array] = {}

    def add(self, labels: Sequence[Any], rows: RowPlaces) -> None:
        """Add the categories of some rows, None where they are missing."""
        numbers: dict[Any, int] = {}
        places = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)
        sums = np.bincount(self._places * places + rows.place, rows.weights, self._places * len(numbers))
        for label, weights in zip(numbers, sums.reshape(-1, self._places), strict=True):
            self._weights[label] = self._weights.get(label, 0.0) + weights

    def merge(self, other: CategoriesInPlaces) -> None:
        """Add what was seen of other rows."""
        for label, weights in other._weights.items():
            self._weights[label] = self._weights.get(label, 0.0) + weights

    def counts(self) -> list[Counter[Any]]:
        """Return the weight of every category in either table, strata as they count."""
        pairs = np.sum(list(self._weights.values()), axis=0).reshape(-1, 2)
        other = np.ones_like(pairs) if len(pairs) == 1 else pairs[:, ::-1]
        both = np.where(pairs.sum(axis=1) > 0.0, pairs.sum(axis=1), 1.0)[:, None]
        factors = other if len(pairs) == 1 else other / both
        counts: list[Counter[Any]] = [Counter(), Counter()]
        for label, weights in self._weights.items():
            for table, weight in enumerate((weights.reshape(-1, 2) * factors).sum(axis=0).tolist()):
                if weight:
                    counts[table][label] = weight
        return counts


@final
class MeansInPlaces:
    """What is seen of columns under a design: their means, shares and deviations, and how far means are apart."""

    def __init__(self, codings: Sequence[Coding], places: Places) -> None:
        units = 0 if places.of_units is None else len(places.of_units)
        self._codings = codings
        self._numbers = {
            coding.name: NumbersInPlaces(places.count, units) for coding in codings if coding.type.averaged
        }
        self._categories = {
            coding.name: CategoriesInPlaces(places.count) for coding in codings if coding.category_weight is not None
        }

    def add(self, frame: Frame, rows: RowPlaces) -> None:
        """Add some rows."""
        for coding in self._codings:
            if coding.name in self._categories:
                self._categories[coding.name].add(as_labels(frame, coding.name).tolist(), rows)
            if coding.name in self._numbers:
                self._numbers[coding.name].add(_numbers(coding, frame), rows)

    def merge(self, other: MeansInPlaces) -> None:
        """Add what was seen of other rows."""
        for name, numbers in self._numbers.items():
            numbers.merge(other._numbers[name])
        for name, categories in self._categories.items():
            categories.merge(other._categories[name])

    def summaries(self, places: Places) -> list[ColumnSummary]:
        """Return what the columns are like in either table."""
        return [self._summary(coding, places) for coding in self._codings]

    def _summary(self, coding: Coding, places: Places) -> ColumnSummary:
        shares: tuple[CategoryShares, ...] = ()
        if coding.name in self._categories:
            shares = coding.shares(self._categories[coding.name].counts())
        if coding.name not in self._numbers:
            return ColumnSummary((math.nan, math.nan), shares)
        numbers, (middle, unit, offset) = self._numbers[coding.name], coding.standard
        origin = middle + offset
        means = tuple(mean * unit + origin for mean in numbers.means)
        low, high = numbers.interval(places.of_units)
        return ColumnSummary(means, shares, numbers.deviation(within=places.within) * unit, (low * unit, high * unit))


@final
class GapsOfPairs:
    """How far the numbers of columns are apart in pairs."""

    def __init__(self, codings: Sequence[Coding]) -> None:
        self._codings = [coding for coding in codings if coding.type.averaged]
        self._gaps = {coding.name: MomentsByPlace(1) for coding in self._codings}

    def add(self, first: Frame, second: Frame) -> None:
        """Add pairs; a cell that is not known makes an interval unknown: the means beside it are of all known cells."""
        place, ones = np.zeros(len(first), dtype=np.intp), np.ones(len(first))
        for coding in self._codings:
            self._gaps[coding.name].add(_numbers(coding, first) - _numbers(coding, second), place, ones)

    def summaries(self, summaries: Sequence[ColumnSummary], codings: Sequence[Coding]) -> list[ColumnSummary]:
        """Return what is known of the columns, with the intervals of the mean differences of pairs."""
        intervals = {coding.name: self._interval(coding) for coding in self._codings}
        return [
            replace(summary, interval=intervals.get(coding.name, UNKNOWN))
            for coding, summary in zip(codings, summaries, strict=True)
        ]

    def _interval(self, coding: Coding) -> Interval:
        unit, gaps = coding.standard[1], self._gaps[coding.name]
        freedom = gaps.masses - 1.0
        if freedom[0] < 1.0:
            return UNKNOWN
        return interval(gaps.means[0] * unit, gaps.squares * unit**2 / freedom / gaps.masses, freedom)


def _numbers(coding: Coding, frame: Frame) -> Array:
    """Return the numbers of a column less its mean, in its deviations."""
    middle, unit, _ = coding.standard
    return np.asarray((coding.numbers(frame) - middle) / unit)


def _pooled(parts: Any, table: IntArray) -> IntArray:
    if parts is None:
        return np.zeros_like(table)
    return codes(np.concatenate([np.asarray(part) for part in parts]), "labels")[0]


def _shares(first: Array, second: Array) -> Array:
    """Return the shares of strata with so much weight in both tables."""
    both = first + second
    products = np.divide(first * second, both, out=np.zeros(len(both)), where=both > 0.0)
    return products / (products.sum() or 1.0)


def _variances(second: Array, third: Array, squares: Array) -> tuple[Array, Array]:
    """Return the variance of the weighted mean of each place, times its share squared, and the degrees of freedom.

    Of units with shares u in a place, ``squares`` are too small by the factor 1 - 2 Σu³ / Σu² + Σu² if values vary
    alike, and there are as many degrees of freedom as of 1 / Σu² equal units: C - 1 of C equal ones.
    """
    kept = 1.0 - 2.0 * third / second + second
    whole = np.divide(squares, kept, out=np.full(len(kept), np.inf), where=kept > 0.0)
    return whole, 1.0 / second - 1.0


def _between_strata(gap: float, shares: Array, gaps: Array) -> Interval:
    """Return the interval from how the differences within strata vary, where some stratum has one row or cluster."""
    if len(gaps) < _FEWEST_STRATA:
        return UNKNOWN
    second, third = (np.array([np.sum(shares**power)]) for power in (2, 3))
    squares = np.array([np.sum(np.square(shares * (gaps - gap)))])
    return interval(gap, *_variances(second, third, squares))
