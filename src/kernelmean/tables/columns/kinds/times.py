"""Dates and times, and spans of time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from ....core.array import Array
from ....core.cells import Cells, Declared, missing_cells
from ....core.table import Frame
from .numbers import OnALine

_NANOSECONDS = 1e9
_FIRST, _LAST = np.datetime64("1678-01-01", "s"), np.datetime64("2262-01-01", "s")
_LONGEST = 290 * 365 * 86400
_UNITS = ((" days", 86400.0), (" h", 3600.0), (" s", 0.0))
_SPANS = (("years", 365.25 * 86400.0), ("days", 86400.0), ("hours", 3600.0), ("seconds", 1.0))
_ENOUGH = 3.0
"""A span of time on an axis has at least so many units."""


class InSeconds(OnALine):
    """Cells that are counted in seconds."""

    noisy, measured = True, "seconds"

    def numbers(self, frame: Frame, name: str, origin: int = 0) -> Array:
        """Return the seconds after ``origin``."""
        stamps = nanoseconds(frame, name)
        return np.where(missing_cells(frame[name]), np.nan, (stamps - origin) / _NANOSECONDS)

    @classmethod
    def unit(cls, gap: float) -> tuple[str, float]:
        """Write a difference in days, hours or seconds."""
        return next((unit, size or 1.0) for unit, size in _UNITS if abs(gap) >= 2 * size)

    def axis(self, coding: Any, frames: Sequence[Frame]) -> tuple[str, float]:
        """Return the label with the largest unit of which there are at least three."""
        values = np.concatenate([coding.numbers(frame) for frame in frames])
        reach = float(np.nanmax(np.abs(values)))
        unit, seconds = next((one for one in _SPANS if reach >= _ENOUGH * one[1]), _SPANS[-1])
        return f"{coding.name}, {unit}", seconds


@final
@dataclass(frozen=True)
class TimeKind(InSeconds):
    """Dates and times, and spans of time."""

    zoned: bool = False
    """Whether they have a zone."""
    kind, taken, sign = "datetime", "time", "dates or times"
    dated = True

    def __str__(self) -> str:
        return self.kind + " with a time zone" * self.zoned

    @classmethod
    def recognised(cls, cells: Cells, declared: Declared | None) -> Self | None:
        """Take times; only a zone is declared of them."""
        return cls(zoned=declared is not None) if cells.dtype.kind == "M" else None

    def origin(self, frame: Frame, name: str, known: npt.NDArray[np.bool_]) -> int:
        """Return the earliest one."""
        return int(nanoseconds(frame, name)[known].min())

    @classmethod
    def written(cls, means: tuple[float, ...]) -> tuple[str, ...]:
        """Return times as days, or with minutes or seconds where only these tell them apart.

        Examples
        --------
        >>> TimeKind.written((0.0, 1e6)), TimeKind.written((0.0, 3600.0)), TimeKind.written((86399.0, float("nan")))
        (('1970-01-01', '1970-01-12'), ('1970-01-01 00:00', '1970-01-01 01:00'), ('1970-01-01', 'none'))
        """
        written = [[_time(mean, unit) if math.isfinite(mean) else "none" for mean in means] for unit in ("D", "m", "s")]
        return tuple(next((texts for texts in written if len({*texts}) == len({*means})), written[0]))

    def axis(self, coding: Any, frames: Sequence[Frame]) -> tuple[str, float]:
        """Count from the first time."""
        label, seconds = super().axis(coding, frames)
        after = f" after {np.datetime64(coding.origin, 'ns').astype('datetime64[s]')}"
        return f"{label}{after.replace('T00:00:00', '')}", seconds


@final
@dataclass(frozen=True)
class DurationKind(InSeconds):
    """Spans of time."""

    kind, taken, sign = "duration", "span of time", "spans of time or times of the day"

    @classmethod
    def recognised(cls, cells: Cells, declared: Declared | None) -> Self | None:
        """Take spans."""
        del declared
        return cls() if cells.dtype.kind == "m" else None

    @classmethod
    def mean_in_words(cls, mean: float, digits: int) -> str:
        """Write seconds."""
        return f"{super().mean_in_words(mean, digits)} s"


def _time(mean: float, unit: str) -> str:
    return str(np.datetime64(round(mean), "s").astype(f"M8[{unit}]")).replace("T", " ")


def nanoseconds(frame: Frame, name: str) -> Any:
    """Return times as whole nanoseconds since 1970 (UTC), or durations as whole nanoseconds; 0 where missing."""
    cells = frame[name]
    if cells.dtype == np.float64:  # only missing cells
        return np.zeros(len(cells), dtype=np.int64)
    filled = np.where(np.isnat(cells), np.zeros(1, dtype=cells.dtype), cells)
    seconds = filled.astype(f"{'datetime64' if cells.dtype.kind == 'M' else 'timedelta64'}[s]")
    inside = (seconds >= _FIRST) & (seconds < _LAST) if cells.dtype.kind == "M" else abs(seconds.astype(int)) < _LONGEST
    if not inside.all():
        row = int(np.argmin(inside))
        raise ValueError(
            f"{frame.source}: row {frame.row_numbers()[row]}, column {name!r} holds {cells[row]}; times from 1678 to "
            "2261 and spans of at most 290 years are needed, so write it as a number, such as the year"
        )
    return filled.astype(f"{seconds.dtype.str[1]}8[ns]").astype(np.int64)
