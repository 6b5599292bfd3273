"""Running summaries of every column of two tables: moments, counts of categories, missing cells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from ...core.array import Array
from ...core.cells import missing_cells
from ...core.table import Frame, check_deviation
from ...tables.columns.column_codings import Categories, Coding, Numbers, Spread
from ...tables.columns.encoding import Encoding
from ...tables.columns.kinds import ColumnType, as_labels, as_numbers, nanoseconds
from ...tables.columns.summaries import ABSENT, CategoryShares, ColumnSummary
from ...tables.limits import MOST_COUNTED
from .mean_gaps import of_moments, pooled_within

_LARGEST_EXPONENT, _FAR = 1000, 2.0**400


@final
@dataclass(eq=False)
class NumbersSeen:
    """Counts, means and sums of squares about the mean of the numbers of two tables."""

    origin: int
    """For times, what was subtracted, in nanoseconds."""
    earliest: int
    """For times, the earliest one, in nanoseconds."""
    unit: float
    """A power of two that numbers are divided by, so that their squares do not overflow."""
    counts: Array
    means: Array
    squares: Array
    """These three are of the cells that are not missing, in the unit, shape (2,)."""
    lows: Array
    highs: Array
    """The extremes of either table, shape (2,)."""

    @classmethod
    def start(cls, values: Array, origin: int) -> Self:
        """Return the summary of no rows, in a unit that fits some values."""
        return cls(
            origin,
            origin,
            _unit(values),
            np.zeros(2),
            np.zeros(2),
            np.zeros(2),
            np.full(2, np.inf),
            np.full(2, -np.inf),
        )

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
        for table in (0, 1):
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
        """The least number of both tables."""
        return float(self.lows.min())

    @property
    def high(self) -> float:
        """The largest number of both tables."""
        return float(self.highs.max())

    @property
    def pooled(self) -> tuple[float, float]:
        """The mean and the standard deviation over both tables; the latter is 0 if all numbers are equal."""
        if not self.high > self.low:
            return (self.low if self.counts.any() else 0.0), 0.0
        total = float(self.counts.sum())
        mean = float(self.counts @ self.means) / total
        squares = float(self.squares.sum() + self.counts @ np.square(self.means - mean))
        return mean * self.unit, math.sqrt(squares / total) * self.unit

    def summary(self) -> ColumnSummary:
        """Return the means of the tables, and the standard deviation within them."""
        found = [
            float(mean) * self.unit + self.origin / 1e9 if n else math.nan
            for mean, n in zip(self.means, self.counts, strict=True)
        ]
        with np.errstate(over="ignore"):
            variances = self.squares / np.maximum(self.counts, 1.0) * np.square(self.unit)
        means = (self.means[0] * self.unit, self.means[1] * self.unit)
        squares = np.where(self.highs > self.lows, self.squares, 0.0)  # those of equal numbers are rounding
        within = pooled_within(squares, self.counts) * self.unit
        return ColumnSummary((found[0], found[1]), (), within, of_moments(means, variances, self.counts))


def _unit(values: Array) -> float:
    """Return a power of two in which the squares of numbers do not overflow."""
    exponent = int(np.frexp(np.abs(values).max())[1])
    return float(2.0 ** min(max(exponent, -_LARGEST_EXPONENT), _LARGEST_EXPONENT))


@final
@dataclass(eq=False)
class CategoriesSeen:
    """How often every category occurs in two tables."""

    first: dict[str, int]
    second: dict[str, int]

    def add(self, labels: Iterable[str | None], table: int) -> None:
        """Add the categories of a table; None is a missing cell, which is counted elsewhere."""
        counts = (self.first, self.second)[table]
        for label, times in Counter(labels).items():
            if label is not None:
                counts[label] = counts.get(label, 0) + times

    def __add__(self, other: CategoriesSeen) -> CategoriesSeen:
        """Return the counts of the rows of both."""
        pairs = ((self.first, other.first), (self.second, other.second))
        first, second = (dict(Counter(one) + Counter(two)) for one, two in pairs)
        return CategoriesSeen(first, second)

    @property
    def pooled(self) -> dict[str | None, int]:
        """The counts over both tables."""
        return {label: self.first.get(label, 0) + self.second.get(label, 0) for label in {**self.first, **self.second}}

    def coding(self, name: str, column: ColumnType, absent: int, encoding: Encoding, rule: str) -> Categories:
        """Return the coding of the column."""
        tables: list[Counter[str | None]] = [Counter(self.first), Counter(self.second), Counter({None: absent})]
        return Categories.of_counts(name, column, tables, rule, encoding.max_categories)

    def summary(self, coding: Categories, absent: Array) -> ColumnSummary:
        """Return the shares of the categories; for truth values also their means."""
        tables = (self.first, self.second)
        known = [float(sum(counts.values())) for counts in tables]
        rows = [max(n + gone, 1.0) for n, gone in zip(known, absent.tolist(), strict=True)]
        shares = [
            CategoryShares(each, tuple(counts.get(each, 0) / n for counts, n in zip(tables, rows, strict=True)))
            for each in coding.categories
        ]
        if coding.pooled:
            sums = (sum(counts.get(each, 0) for each in coding.pooled) for counts in tables)
            shares.append(CategoryShares(coding.others, tuple(own / n for own, n in zip(sums, rows, strict=True))))
        if coding.missing:
            shares.append(
                CategoryShares(ABSENT, tuple(gone / n for gone, n in zip(absent.tolist(), rows, strict=True)))
            )
        if coding.type.kind != "boolean":
            return ColumnSummary((math.nan, math.nan), tuple(shares))
        true = [float(counts.get("True", 0)) for counts in tables]
        means = tuple(t / n if n else math.nan for t, n in zip(true, known, strict=True))
        variances, counts = np.array([mean * (1.0 - mean) for mean in means]), np.array(known)
        within = pooled_within(counts * variances, counts)
        return ColumnSummary(means, tuple(shares), within, of_moments(means, variances, counts))


@final
@dataclass(eq=False)
class ColumnSeen:
    """One column of two tables: its kind (None before the first cell), its missing cells (2,), its values."""

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
                self.values = CategoriesSeen({}, {})
            assert isinstance(self.values, CategoriesSeen)
            self.values.add(as_labels(frame, self.name).tolist(), table)
            return
        earliest = int(nanoseconds(frame, self.name)[~absent].min()) if self.kind == "datetime" else 0
        if self.values is None:
            self.values = NumbersSeen.start(as_numbers(frame, self.name, self.type, earliest)[~absent], earliest)
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
        known = self.values if isinstance(self.values, CategoriesSeen) else CategoriesSeen({}, {})
        most = max(encoding.max_categories, MOST_COUNTED)
        if len(known.first) + len(known.second) > most and len(known.pooled) > most:
            known.coding(self.name, self.type, 0, encoding, "error")

    def coding(self, rows: float, encoding: Encoding, rule: str) -> Coding:
        """Return how the column becomes coordinates."""
        absent = float(self.absent.sum())
        if isinstance(self.values, CategoriesSeen):
            return self.values.coding(self.name, self.type, int(absent), encoding, rule)
        if self.kind in ("boolean", "categorical"):
            return CategoriesSeen({}, {}).coding(self.name, self.type, int(absent), encoding, rule)
        seen = NumbersSeen.start(np.ones(1), 0) if self.values is None else self.values
        return seen.coding(self.name, self.type, absent / max(rows, 1.0), encoding, rule)

    def summary(self, coding: Coding) -> ColumnSummary:
        """Return what the column is like in either table."""
        if isinstance(coding, Categories):
            values = self.values if isinstance(self.values, CategoriesSeen) else CategoriesSeen({}, {})
            return values.summary(coding, self.absent)
        seen = self.values if isinstance(self.values, NumbersSeen) else NumbersSeen.start(np.ones(1), 0)
        return seen.summary()


@final
@dataclass(eq=False)
class TablesSeen:
    """All columns of two tables, how many rows are used (2,), and how many were left out (2,)."""

    columns: tuple[ColumnSeen, ...]
    rows: Array
    left_out: Array

    @classmethod
    def start(cls, names: Iterable[str]) -> Self:
        """Return the summary of no rows."""
        columns = tuple(ColumnSeen(name, None, (), False, np.zeros(2), None) for name in names)
        return cls(columns, np.zeros(2), np.zeros(2))

    def __add__(self, other: TablesSeen) -> TablesSeen:
        """Return the summary of the rows of both."""
        columns = tuple(one + two for one, two in zip(self.columns, other.columns, strict=True))
        return TablesSeen(columns, self.rows + other.rows, self.left_out + other.left_out)

    def codings(self, encoding: Encoding, rules: Mapping[str, str]) -> tuple[Coding, ...]:
        """Return the coding of every column, sorted by name, so that their order in the tables does not matter."""
        columns = sorted(self.columns, key=lambda column: column.name)
        return tuple(column.coding(float(self.rows.sum()), encoding, rules[column.name]) for column in columns)
