"""Numbers, and all kinds whose cells have a place on a line."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from ....core.array import Array
from ....core.cells import Cells, Declared, missing_cells
from ....core.table import Frame, check_deviation
from ...limits import MAX_CATEGORIES
from ..labels import finite
from ..summaries import ColumnSummary, of_moments, pooled_within
from ..texts import insist
from .base import IS_MISSING, NOT_FITTED, CellsSeen, Coding, ColumnKind, Wanted

_LARGEST_EXPONENT, _FAR = 1000, 2.0**400
_STEADY_BITS = 40
_FARTHEST = 1e6  # standard deviations: beyond, every kernel is 0 and waves lose their phase


class OnALine(ColumnKind):
    """Cells with a place on a line; a subclass says which by :meth:`numbers`."""

    def seen(self, tables: int) -> NumbersSeen:
        """Return the moments of no rows."""
        return NumbersSeen.start(self, tables)

    def origin(self, frame: Frame, name: str, known: npt.NDArray[np.bool_]) -> int:
        """Return what to subtract from the cells, some of which are known, before float64 would round; of times."""
        del frame, name, known
        return 0


@final
@dataclass(frozen=True)
class NumberKind(OnALine):
    """Numbers."""

    kind, taken, inspected = "numeric", "number", "numbers"
    plain = noisy = True

    @classmethod
    def recognised(cls, cells: Cells, declared: Declared | None) -> Self | None:
        """Take numbers whose type says nothing else."""
        return cls() if cells.dtype == np.float64 and declared is None else None

    def numbers(self, frame: Frame, name: str, origin: int = 0) -> Array:
        """Return the cells, or raise where one is infinite."""
        del origin
        return finite(frame, name)

    def reasons(self, name: str, distinct: int, *, whole: bool, declared: bool) -> tuple[str, list[str]]:
        """Whole numbers may be codes."""
        del declared
        codes = [f"{insist('categorical', [name])} if they are codes"] * (whole and 2 < distinct <= MAX_CATEGORIES)
        return "whole numbers" if whole else "numbers", codes


@final
@dataclass(frozen=True)
class Numbers(Coding):
    r"""Numbers, levels or times on one coordinate, in standard deviations; missing ones have the mean."""

    origin: int
    """For times, the number of nanoseconds to subtract before float64 would round."""
    center: float
    deviation: float
    """The mean and the standard deviation of the cells that are not missing."""
    unit: float
    """The divisor of the numbers."""
    indicator: float
    r"""The second coordinate of a missing cell, 0 if there is none. With a share q of missing cells it is
    :math:`s/\sqrt{1-q}`, where s is the deviation in the unit: the two coordinates then have the variance s² of a
    column without missing cells."""
    noisy: bool
    """Whether a missing cell has noise with the variance of the column."""
    complete: bool
    """Whether no cell was missing."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column, and of its indicator of missing cells."""
        return (self.name, self.name + IS_MISSING) if self.indicator else (self.name,)

    @property
    def varies(self) -> bool:
        """Whether there are two values, or one value and missing cells."""
        return self.deviation > 0.0 or self.indicator > 0.0

    @property
    def scale(self) -> float:
        """The unit."""
        return self.unit

    def numbers(self, frame: Frame) -> Array:
        """Return the cells in the units of the column, NaN where missing; times in seconds after ``origin``."""
        return self.type.numbers(frame, self.name, self.origin)

    def coordinates(self, frame: Frame) -> Array:
        """Return the numbers in the unit and, if missing cells are a category, the indicator."""
        values = self.numbers(frame)
        absent = np.isnan(values)
        if self.complete and not self.noisy and absent.any():
            raise ValueError(f"{frame.source}: column {self.name!r} has missing cells, {NOT_FITTED}")
        filled = np.where(absent, self.center, values) / self.unit
        if self.indicator:
            return np.column_stack([filled, self.indicator * absent])
        return np.asarray(filled[:, None])

    @property
    def variance_of_missing(self) -> float:
        """The variance of the column."""
        return (self.deviation / self.unit) ** 2 if self.noisy else 0.0

    def unseen(self, frame: Frame) -> npt.NDArray[np.bool_]:
        """Missing cells are new if none was missing, and other numbers if all were equal."""
        absent = missing_cells(frame[self.name])
        new = absent if self.complete else np.zeros_like(absent)
        if self.deviation > 0.0:
            return new
        return np.asarray(new | (~absent & (self.numbers(frame) != self.center)))

    def bounded(self, block: Array) -> Array:
        """Bound the number to a million standard deviations; an indicator of missing cells stays as it is."""
        if not self.deviation:
            return block
        center, reach = self.center / self.unit, _FARTHEST * self.deviation / self.unit
        return np.column_stack([np.clip(block[:, :1], center - reach, center + reach), block[:, 1:]])

    @property
    def standard(self) -> tuple[float, float, float]:
        """The mean, the standard deviation, and the origin of times, in seconds."""
        return self.center, self.deviation or 1.0, self.origin / 1e9


@final
@dataclass(eq=False)
class NumbersSeen(CellsSeen):
    """Counts, means and sums of squares about the mean of the numbers of every table."""

    kind: OnALine
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
    def start(cls, kind: OnALine, tables: int) -> Self:
        """Return the summary of no rows."""
        counts, means, squares = np.zeros((3, tables))
        highs = np.full(tables, -np.inf)
        return cls(kind, 0, 0, 1.0, counts, means, squares, -highs, highs)

    def add(self, frame: Frame, name: str, known: npt.NDArray[np.bool_], table: int) -> None:
        """Add the known cells of some rows; the first ones choose the origin and the unit."""
        earliest, is_first = self.kind.origin(frame, name, known), not self.counts.any()
        self.origin, self.earliest = (earliest,) * 2 if is_first else (self.origin, min(self.earliest, earliest))
        values = self.kind.numbers(frame, name, self.origin)[known]
        self.unit = _unit(values) if is_first else self.unit
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

    def coding(self, name: str, wanted: Wanted) -> Numbers:
        """Return the coding of the column, times counted from the first one."""
        mean, deviation = self.pooled
        if deviation:
            check_deviation(name, deviation)
        absent, indicator = wanted.absent / max(wanted.rows, 1.0), 0.0
        center = mean - (self.earliest - self.origin) / 1e9
        center, deviation = (_steady(moment, deviation) for moment in (center, deviation))
        unit = deviation if wanted.scale and deviation > 0.0 else 1.0
        if wanted.rule == "category" and 0.0 < absent < 1.0:
            alone = 1.0 / np.sqrt(absent * (1.0 - absent))  # for a column in which all cells but missing ones are equal
            indicator = float(deviation / unit / np.sqrt(1.0 - absent) if deviation else alone)
        noisy, complete = wanted.rule == "noise", absent == 0.0
        return Numbers(name, self.kind, self.earliest, center, deviation, unit, indicator, noisy, complete)

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

    def summary(self, coding: Any, absent: Array) -> ColumnSummary:
        """Return the means of the tables, and of two the gap between them."""
        del coding, absent
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


def _steady(moment: float, deviation: float) -> float:
    """Return a mean or a deviation to the nearest 2⁻⁴⁰ of the deviation: the same in whatever batches rows come.

    Otherwise the last digit of coordinates would depend on the batches, and what is fitted to them, such as directions
    of small eigenvalues, makes this digit up to a million times larger.
    """
    if not deviation:
        return moment
    return moment - math.remainder(moment, math.ldexp(1.0, math.frexp(deviation)[1] - _STEADY_BITS))


def _unit(values: Array) -> float:
    """Return a power of two in which the squares of numbers do not overflow."""
    exponent = int(np.frexp(np.abs(values).max())[1])
    return float(2.0 ** min(max(exponent, -_LARGEST_EXPONENT), _LARGEST_EXPONENT))
