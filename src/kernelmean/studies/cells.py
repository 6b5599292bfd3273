"""The cells of a column in readable form: places on an axis, names of categories, texts; and some rows of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..core.array import Array, IntArray
from ..core.cells import label, missing_cells
from ..core.table import Frame
from ..core.words import cut, signed
from ..tables.columns.column_codings import Coding, Numbers, labels_in
from ..tables.columns.summaries import ABSENT

_SPANS = (("years", 365.25 * 86400.0), ("days", 86400.0), ("hours", 3600.0), ("seconds", 1.0))
_ENOUGH = 3.0
"""A span of time has at least so many units."""
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
        """Return the axis of a column; for times, in the largest unit of which there are at least three."""
        name, kind = coding.name, coding.type.kind
        if not isinstance(coding, Numbers) or kind not in ("datetime", "duration"):
            return cls(name, name, coding, 1.0)
        values = np.concatenate([coding.numbers(frame) for frame in frames])
        reach = float(np.nanmax(np.abs(values)))
        unit, seconds = next((one for one in _SPANS if reach >= _ENOUGH * one[1]), _SPANS[-1])
        after = f" after {np.datetime64(coding.origin, 'ns').astype('datetime64[s]')}" if kind == "datetime" else ""
        return cls(name, f"{name}, {unit}{after.replace('T00:00:00', '')}", coding, seconds)

    @property
    def ordered(self) -> bool:
        """Whether the cells are numbers or times, which have places on an axis."""
        return isinstance(self.coding, Numbers) and self.coding.type.kind != "ordinal"

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of an ordinal column, lowest first; empty for others."""
        return self.coding.type.levels

    def values(self, frame: Frame) -> Array:
        """Return the places of the cells on the axis, shape (n,), NaN where missing."""
        assert isinstance(self.coding, Numbers), "categories have no places"
        return self.coding.numbers(frame) / self.unit

    def cells(self, frame: Frame) -> Any:
        """Return the cells, shape (n,): places on the axis, or the names of categories."""
        return self.values(frame) if self.ordered else names_of(self.coding, frame)


def drawn(n: int, most: int, rng: np.random.Generator) -> IntArray:
    """Return all of n rows, or ``most`` of them drawn at random, in order."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def names_of(coding: Coding, frame: Frame) -> Any:
    """Return the names of the categories of a column, "(missing)" for missing cells, shape (n,)."""
    labels = labels_in(coding, frame)
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
        texts = [(label(cell) or "") if exact else signed(cell, ".6g") for cell in cells.tolist()]
        if declared is not None and declared.kind == "boolean":
            texts = [str(bool(cell)) for cell in cells.tolist()]
    elif cells.dtype.kind in "mM":
        times = (cells.astype(f"{cells.dtype.kind}8[{unit}]") for unit in ("s", "ms", "us", "ns"))
        shown = next((own for own in times if not exact or (own == cells).all()), cells)
        zone = "Z" if exact and declared is not None and declared.kind == "zoned" else ""
        texts = [f"{cell}{zone}".removesuffix("T00:00:00") for cell in shown]
    else:
        texts = [cut(label(cell) or "", _LONGEST) for cell in cells]
    return [ABSENT if gone else text for text, gone in zip(texts, missing_cells(cells), strict=True)]
