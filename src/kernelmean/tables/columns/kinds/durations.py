"""Spans of time, and times of the day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

from ....core.cells import Cells, Declared
from ....core.words import signed
from .times import InSeconds


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
    def mean_in_words(cls, mean: float) -> str:
        """Write seconds."""
        return f"{signed(mean)} s"
