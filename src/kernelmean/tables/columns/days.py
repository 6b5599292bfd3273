"""Days that are written as whole numbers: 20240301, between which there is no distance that means anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array
from .texts import Finding

_FIRST, _LAST, _LEAST_CELLS = 1850, 2149, 5


@final
@dataclass
class DaysSeen:
    """Whether all cells of a column are days without marks; NaN is a missing cell.

    Attributes
    ----------
    rows : int
        The cells that are not missing.
    example : float
        The first of them.
    days : bool
        Whether all are days: other measurements of eight digits would soon have a month beyond 12 or a day beyond 31.
    """

    rows: int = 0
    example: float = np.nan
    days: bool = True

    def add(self, cells: Array) -> None:
        """Look at more cells."""
        values = cells[~np.isnan(cells)]
        if not self.days or not len(values):
            return
        self.example = self.example if self.rows else float(values[0])
        self.rows += len(values)
        self.days = bool(_are_days(values).all())

    def finding(self, name: str) -> Finding | None:
        """Return why the column is refused."""
        if not self.days or self.rows < _LEAST_CELLS:
            return None
        day = f"{self.example:.0f}"
        why = f"column {name!r} holds dates as numbers ({day})"
        mend = f"write them as {day[:4]}-{day[4:6]}-{day[6:]}"
        return Finding(name, why, mend, "keep", wrong_type=True)


def _are_days(values: Array) -> Array:
    values = np.where(np.isfinite(values), values, 0.0)
    inside = (values >= 1e4 * _FIRST) & (values < 1e4 * (_LAST + 1)) & (values == np.rint(values))
    months, days = values // 100 % 100, values % 100
    return np.asarray(inside & (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31))
