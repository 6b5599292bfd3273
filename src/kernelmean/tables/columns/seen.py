"""What is seen of a column while its tables are read: its kind, moments or counts of categories, missing cells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from ...core.array import Array
from ...core.cells import missing_cells
from ...core.table import Frame, check_deviation
from ..limits import MOST_COUNTED
from .column_codings import Categories, Coding, Numbers, Spread
from .encoding import Encoding
from .kinds import ColumnType, as_numbers, label_counts, nanoseconds
from .summaries import ColumnSummary, of_moments, pooled_within, shares_of

_LARGEST_EXPONENT, _FAR = 1000, 2.0**400


@final
@dataclass(eq=False)
class NumbersSeen:
    """Counts, means and sums of squares about the mean of the numbers of every table."""

    origin: int
    """For times, what was subtracted, in nanoseconds."""
    earliest: int
    """For times, the earliest one, in nanoseconds."""
    unit: float
    """A power of two that numbers are divided by, so that their squares do not overflow."""
    counts: Array
    means: Array
    squares: Array
    """These three are of the cells that are not missing, in the unit, shape (tables,)."""
    lows: Array
    highs: Array
    """The extremes of every table, shape (tables,)."""

    @classmethod
    def start(cls, values: Array, origin: int, tables: int) -> Self:
        """Return the summary of no rows, in a unit that fits some values."""
        counts, means, squares = np.zeros((3, tables))
        highs = np.full(tables, -np.inf)
        return cls(origin, origin, _unit(values), counts, means, squares, -highs, highs)

    def add(self, values: Array, table: int) -> None:
        """Add numbers of a table, none of them missing."""
        if not len(values):
            return
        self._fit(_unit(values))
        scaled = values / self.unit
        mean = float(scaled.mean())
        self._merge(table, float(len(values)), mean, float(np.square(scaled - mean).sum()))
        self.lows[table] = min(self.lows[table], float(values.min()))
        self.highs[table] = max(self.highs[table], float(values.max()))

    def _fit(self, unit: float) -> None:
        """Take a unit instead in which squares do not overflow, if this one is far too small for it."""
        if unit > _FAR * self.unit:
            ratio, self.unit = self.unit / unit, unit
            self.means, self.squares = self.means * ratio, self.squares * ratio**2

    def _merge(self, table: int, count: float, mean: float, squares: float) -> None:
        """Chan, Golub & LeVeque (1979)."""
        if not count:
            return
        total = self.counts[table] + count
        gap = mean - self.means[table]
        self.squares[table] += squares + gap**2 * self.counts[table] * count / total
        self.means[table] += gap * count / total
        self.counts[table] = total

    def __add__(self, other: NumbersSeen) -> NumbersSeen:
        """Return the moments of the rows of both."""
        merged = replace(self, counts=self.counts.copy(), means=self.means.copy(), squares=self.squares.copy())
        merged._fit(other.unit)
        ratio, shift = other.unit / merged.unit, (other.origin - self.origin) / 1e9
        merged.earliest = min(self.earliest, other.earliest)
        for table in range(len(self.counts)):
            mean = other.means[table] * ratio + shift / merged.unit
            merged._merge(table, float(other.counts[table]), mean, float(other.squares[table]) * ratio**2)
        merged.lows, merged.highs = (
            np.minimum(self.lows, other.lows + shift),
            np.maximum(self.highs, other.highs + shift),
        )
        return merged

    def coding(self, name: str, column: ColumnType, absent: float, encoding: Encoding, rule: str) -> Numbers:
        """Return the coding of the column, times counted from the first one."""
        mean, deviation = self.pooled
        if deviation:
            check_deviation(name, deviation)
        origin = self.earliest
        center = mean - (origin - self.origin) / 1e9
        return Numbers.of_moments(name, column, Spread(origin, center, deviation, absent), rule, encoding.scale)

    @property
    def low(self) -> float:
        """The least number of all tables."""
        return float(self.lows.min())

    @property
    def high(self) -> float:
        """The largest number of all tables."""
        return float(self.highs.max())

    @property
    def pooled(self) -> tuple[float, float]:
        """The mean and the standard deviation over all tables; the latter is 0 if all numbers are equal."""
        if not self.high > self.low:
            return (self.low if self.counts.any() else 0.0), 0.0
        total = float(self.counts.sum())
        mean = float(self.counts @ self.means) / total
        squares = float(self.squares.sum() + self.counts @ np.square(self.means - mean))
        return mean * self.unit, math.sqrt(squares / total) * self.unit

    def summary(self) -> ColumnSummary:
        """Return the means of the tables, and of two the gap between them."""
        means = tuple(
            float(mean) * self.unit + self.origin / 1e9 if n else math.nan
            for mean, n in zip(self.means, self.counts, strict=True)
        )
        squares = np.where(self.highs > self.lows, self.squares, 0.0)  # those of equal numbers are rounding
        within = pooled_within(squares, self.counts) * self.unit
        if len(means) != 2:
            return ColumnSummary(means, (), within)
        with np.errstate(over="ignore"):
            variances = self.squares / np.maximum(self.counts, 1.0) * np.square(self.unit)
        return ColumnSummary(means, (), within, of_moments(self.means * self.unit, variances, self.counts))


def _unit(values: Array) -> float:
    """Return a power of two in which the squares of numbers do not overflow."""
    exponent = int(np.frexp(np.abs(values).max())[1])
    return float(2.0 ** min(max(exponent, -_LARGEST_EXPONENT), _LARGEST_EXPONENT))


@final
@dataclass(frozen=True, eq=False)
class CategoriesSeen:
    """How often every category occurs in every table."""

    counts: tuple[Counter[str], ...]

    @classmethod
    def start(cls, tables: int) -> Self:
        """Return the counts of no rows."""
        return cls(tuple(Counter() for _ in range(tables)))

    def add(self, counts: Mapping[str | None, int], table: int) -> None:
        """Add the categories of a table; None is a missing cell, which is counted elsewhere."""
        self.counts[table].update({each: n for each, n in counts.items() if each is not None})

    def __add__(self, other: CategoriesSeen) -> CategoriesSeen:
        """Return the counts of the rows of both."""
        return CategoriesSeen(tuple(one + two for one, two in zip(self.counts, other.counts, strict=True)))

    def coding(
        self, name: str, column: ColumnType, absent: int, encoding: Encoding, rule: str, *, whole: bool
    ) -> Categories:
        """Return the coding of the column."""
        tables: list[Mapping[Any, int]] = [*self.counts, {None: absent}]
        return Categories.of_counts(name, column, tables, rule, encoding.max_categories, whole=whole)

    def summary(self, coding: Categories, absent: Array) -> ColumnSummary:
        """Return the shares of the categories; for truth values also their means."""
        shares = shares_of(coding, [{**own, None: gone} for own, gone in zip(self.counts, absent, strict=True)])
        if coding.type.kind != "boolean":
            return ColumnSummary((math.nan,) * len(self.counts), shares)
        known = np.array([float(own.total()) for own in self.counts])
        means = tuple(own["True"] / n if n else math.nan for own, n in zip(self.counts, known, strict=True))
        variances = np.array([mean * (1.0 - mean) for mean in means])
        within = pooled_within(known * np.nan_to_num(variances), known)
        if len(means) != 2:
            return ColumnSummary(means, shares, within)
        return ColumnSummary(means, shares, within, of_moments(means, variances, known))


@final
@dataclass(eq=False)
class ColumnSeen:
    """A column of some tables: its kind (None before the first cell), its missing cells (tables,), its values."""

    name: str
    kind: Any
    levels: tuple[str, ...]
    zoned: bool
    absent: Array
    values: NumbersSeen | CategoriesSeen | None

    @property
    def type(self) -> ColumnType:
        """The type; numeric if no cell says otherwise."""
        return ColumnType(self.kind or "numeric", self.levels, self.zoned)

    def settle(self, column: ColumnType) -> None:
        """Take the type of the first cells."""
        self.kind, self.levels, self.zoned = column.kind, column.levels, column.zoned

    def add(self, frame: Frame, table: int) -> None:
        """Add the cells of some rows."""
        absent = missing_cells(frame[self.name])
        self.absent[table] += absent.sum()
        if absent.all():
            return
        if self.kind in ("boolean", "categorical"):
            if self.values is None:
                self.values = CategoriesSeen.start(len(self.absent))
            assert isinstance(self.values, CategoriesSeen)
            self.values.add(label_counts(frame, self.name), table)
            return
        earliest = int(nanoseconds(frame, self.name)[~absent].min()) if self.kind == "datetime" else 0
        if self.values is None:
            first = as_numbers(frame, self.name, self.type, earliest)[~absent]
            self.values = NumbersSeen.start(first, earliest, len(self.absent))
        assert isinstance(self.values, NumbersSeen)
        self.values.earliest = min(self.values.earliest, earliest)
        self.values.add(as_numbers(frame, self.name, self.type, self.values.origin)[~absent], table)

    def __add__(self, other: ColumnSeen) -> ColumnSeen:
        """Return the summary of the rows of both."""
        if self.kind and other.kind and self.type != other.type:
            raise ValueError(f"column {self.name!r} is {self.type} in some rows and {other.type} in others")
        known = self if self.kind else other
        both = self.values is not None and other.values is not None
        values: Any = self.values + other.values if both else self.values or other.values  # type: ignore[operator]
        return ColumnSeen(self.name, known.kind, known.levels, known.zoned, self.absent + other.absent, values)

    def check_categories(self, encoding: Encoding) -> None:
        """Raise as soon as there are too many categories to count."""
        if not isinstance(self.values, CategoriesSeen):
            return
        most = max(encoding.max_categories, MOST_COUNTED)
        if sum(map(len, self.values.counts)) > most and len(set().union(*self.values.counts)) > most:
            self.values.coding(self.name, self.type, 0, encoding, "error", whole=True)

    def coding(self, rows: float, encoding: Encoding, rule: str, *, whole: bool = True) -> Coding:
        """Return how the column becomes coordinates."""
        absent, values = float(self.absent.sum()), self._known()
        if isinstance(values, CategoriesSeen):
            return values.coding(self.name, self.type, int(absent), encoding, rule, whole=whole)
        return values.coding(self.name, self.type, absent / max(rows, 1.0), encoding, rule)

    def summary(self, coding: Coding) -> ColumnSummary:
        """Return what the column is like in every table."""
        values = self._known()
        if isinstance(values, NumbersSeen):
            return values.summary()
        assert isinstance(coding, Categories)
        return values.summary(coding, self.absent)

    def _known(self) -> NumbersSeen | CategoriesSeen:
        """Return what was seen, also of a column without any cell."""
        if self.values is not None:
            return self.values
        tables = len(self.absent)
        if self.kind in ("boolean", "categorical"):
            return CategoriesSeen.start(tables)
        return NumbersSeen.start(np.ones(1), 0, tables)
