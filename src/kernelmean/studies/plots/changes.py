"""Columns over time, with the places where they change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from ...core.array import Array, IntArray
from ...report import Curve, Panel
from ...tables.columns import Encoded
from ...tables.columns.kinds import Coding
from ..cells import Axis, names_of

_MOST_PANELS, _MOST_PLACES = 4, 200


class FoundChanges(Protocol):
    """What is drawn of a :class:`~kernelmean.studies.Changes`."""

    @property
    def encoded(self) -> Encoded:
        """The rows."""

    @property
    def time(self) -> str | None:
        """The column that orders them."""

    @property
    def points(self) -> Sequence[Any]:
        """The places where their distribution changes."""

    @property
    def segments(self) -> Sequence[Any]:
        """The stretches of rows between them."""


def series_panels(result: FoundChanges) -> tuple[Panel, ...]:
    """Return a panel for each of the columns that are shown: means over time and of the segments."""
    (frame,) = result.encoded.frames
    codings = {coding.name: coding for coding in result.encoded.codings}
    return tuple(_panel(result, codings[name], frame.row_numbers() - 1) for name in shown(result))


def shown(result: FoundChanges) -> list[str]:
    """Return at most four columns: those that change at most places first."""
    telling = Counter(name for point in result.points for name in point.columns)
    return ([name for name, _ in telling.most_common()] or list(result.encoded.in_table_order()))[:_MOST_PANELS]


def _panel(result: FoundChanges, coding: Coding, rows: IntArray) -> Panel:
    """Return the means of a column; for categories the share of the most frequent one."""
    (frame,) = result.encoded.frames
    axis = Axis.of(coding, frame)
    label, values = axis.label, axis.values(frame) if axis.ordered else None
    if values is None:
        cells = names_of(coding, frame)
        names, counts = np.unique(cells.astype(str), return_counts=True)
        most = str(names[counts.argmax()])
        label, values = f"share of {coding.name} = {most}", (cells.astype(str) == most).astype(float)
    ends = np.searchsorted(rows, [own.start for own in result.segments[1:]])
    stretches = np.array_split(np.arange(len(rows)), min(len(rows), _MOST_PLACES))
    means = [(float(rows[part].mean()), own) for part, own in _means(values, stretches)]
    segments = _means(values, np.split(np.arange(len(rows)), ends))
    levels = [(float(rows[end]), own) for part, own in segments for end in part[[0, -1]]]
    curves = (
        Curve("mean", tuple(x for x, _ in means), tuple(y for _, y in means)),
        Curve("mean of the segment", tuple(x for x, _ in levels), tuple(y for _, y in levels), dashed=True),
    )
    order = "row" if result.time is None else f"row, in the order of {result.time}"
    marks = tuple((f"change point {point.time}".strip(), float(point.row)) for point in result.points)
    return Panel("", order, label, curves, marks=marks)


def _means(values: Array, parts: Sequence[IntArray]) -> Iterator[tuple[IntArray, float]]:
    """Yield, for every part, the rows without a missing cell, and their mean."""
    for part in parts:
        known = part[~np.isnan(values[part])]
        if len(known):
            yield known, float(values[known].mean())
