"""The cells of a column in readable form: places on an axis, names of categories, texts; and some rows of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..core.array import Array, IntArray
from ..core.cells import label, missing_cells
from ..core.table import Frame
from ..core.words import ABSENT, cut, of_cell
from ..tables.columns.kinds import Coding

_LONGEST = 40
"""The most letters of a cell."""


@final
@dataclass(frozen=True, eq=False)
class Axis:
    """How a column is shown."""

    name: str
    label: str
    """The name, with the unit of times."""
    coding: Coding
    unit: float
    """For times, the seconds in one unit of the axis; else 1."""

    @classmethod
    def of(cls, coding: Coding, *frames: Frame) -> Axis:
        """Return the axis of a column."""
        label, unit = coding.type.axis(coding, frames)
        return cls(coding.name, label, coding, unit)

    @property
    def ordered(self) -> bool:
        """Whether the cells have places on the axis, as numbers and times have."""
        return self.coding.type.on_axis

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of an ordinal column, lowest first; empty for others."""
        return self.coding.type.levels

    def values(self, frame: Frame) -> Array:
        """Return the places of the cells on the axis, shape (n,), NaN where missing."""
        return self.coding.numbers(frame) / self.unit

    def cells(self, frame: Frame) -> Any:
        """Return the cells, shape (n,): places on the axis, NaN where missing, or the names of categories, or None."""
        return self.values(frame) if self.ordered else self.coding.labels(frame)


def drawn(n: int, most: int, rng: np.random.Generator) -> IntArray:
    """Return all of n rows, or ``most`` of them drawn at random, in order."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def names_of(coding: Coding, frame: Frame) -> Any:
    """Return the names of the categories of a column, "(missing)" for missing cells, shape (n,)."""
    labels = coding.labels(frame)
    return np.where(missing_cells(labels), ABSENT, labels)


def texts_of(frame: Frame, name: str, rows: IntArray, *, exact: bool = False) -> list[str]:
    """Return some cells as text: numbers with six digits and times to the second, or with all that they hold.

    Times with a time zone are in UTC; with ``exact`` they say so, by the letter Z.

    Examples
    --------
    >>> from kernelmean.tables.columns.encoded import as_frames
    >>> (frame,) = as_frames([[[1.25], [3.0]]], ["A"])
    >>> texts_of(frame, "x0", np.array([1, 0]))
    ['3', '1.25']
    """
    cells, declared = frame[name][rows], frame.declared.get(name)
    if cells.dtype == np.float64:
        texts = [(label(cell) or "") if exact else of_cell(cell) for cell in cells.tolist()]
        if declared is not None and declared.kind == "boolean":
            texts = [str(bool(cell)) for cell in cells.tolist()]
    elif cells.dtype.kind in "mM":
        times = (cells.astype(f"{cells.dtype.kind}8[{unit}]") for unit in ("s", "ms", "us", "ns"))
        shown = next((rounded for rounded in times if not exact or (rounded == cells).all()), cells)
        zone = "Z" if exact and declared is not None and declared.kind == "zoned" else ""
        texts = [f"{cell}{zone}".removesuffix("T00:00:00") for cell in shown]
    else:
        texts = [cut(label(cell) or "", _LONGEST) for cell in cells]
    return [ABSENT if gone else text for text, gone in zip(texts, missing_cells(cells), strict=True)]
