"""Columns over time, with the places where they change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ...core.array import Array, IntArray
from ...core.table import Frame
from ...report import Curve, Events, Panel
from ...tables.columns import Encoded
from ...tables.columns.kinds import Coding
from ..cells import Axis, names_of

_WITHOUT_FINDING, _MOST_PLACES = 4, 60
_SECONDS = 86400.0


class FoundChanges(Protocol):
    """What is drawn of a :class:`~kernelmean.studies.Changes`."""

    @property
    def encoded(self) -> Encoded:
        """The rows."""

    @property
    def time(self) -> str | None:
        """The column that orders them."""

    @property
    def stamps(self) -> Frame | None:
        """The cells of this column."""

    @property
    def points(self) -> Sequence[Any]:
        """The places where their distribution changes."""

    @property
    def segments(self) -> Sequence[Any]:
        """The stretches of rows between them."""


def series_panels(result: FoundChanges) -> tuple[Panel, ...]:
    """Return a panel for each of the columns that are shown: means over time and of the segments."""
    codings, bare = {coding.name: coding for coding in result.encoded.codings}, _bare(result)
    return tuple(_panel(result, codings[name], bare) for name in shown(result))


def shown(result: FoundChanges) -> list[str]:
    """Return the columns that change, those that do at most places first; if none does, the first ones."""
    telling = Counter(name for point in result.points for name in point.columns)
    return [name for name, _ in telling.most_common()] or list(result.encoded.in_table_order())[:_WITHOUT_FINDING]


def _bare(result: FoundChanges) -> tuple[Panel, Array]:
    """Return a panel with the axis of time and the change points, and where on this axis the rows are."""
    rows: Array = result.encoded.frames[0].row_numbers() - 1.0
    at = np.array([float(point.row) for point in result.points])
    names = tuple(point.time or f"{point.row:,}" for point in result.points)
    label, days = "row", False
    if result.stamps is not None:
        places, label, days = _times(result.stamps)
        rows, at = (places[np.searchsorted(result.stamps.row_numbers() - 1, numbers)] for numbers in (rows, at))
    events = Events("change point", tuple(at.tolist()), names) if names else None
    return Panel("", label, "", events=events, x_days=days), rows


def _times(stamps: Frame) -> tuple[Array, str, bool]:
    """Return where the rows are on the axis of time, its label, and whether it counts days since 1970."""
    ((name, cells),) = stamps.cells.items()
    if cells.dtype.kind == "f":
        return cells, name, False
    seconds = cells.astype(f"{cells.dtype.kind}8[us]").astype(np.int64) / 1e6
    if cells.dtype.kind == "m":
        return seconds, f"{name}, seconds", False
    return seconds / _SECONDS, name + " (UTC)" * (name in stamps.declared), True


def _panel(result: FoundChanges, coding: Coding, bare: tuple[Panel, Array]) -> Panel:
    """Return the means of a column; for categories the share of the most frequent one."""
    (frame,), (panel, places) = result.encoded.frames, bare
    axis = Axis.of(coding, frame)
    label, values = f"mean{axis.label.removeprefix(axis.name)}", axis.values(frame) if axis.ordered else None
    if values is None:
        cells = names_of(coding, frame)
        names, counts = np.unique(cells.astype(str), return_counts=True)
        most = str(names[counts.argmax()])
        label, values = f"share of {most}", (cells.astype(str) == most).astype(float)
    rows = frame.row_numbers() - 1
    ends = np.searchsorted(rows, [segment.start for segment in result.segments[1:]])
    stretches = np.array_split(np.arange(len(rows)), min(len(rows), _MOST_PLACES))
    means = [(float(places[part].mean()), mean) for part, mean in _means(values, stretches)]
    segments = _means(values, np.split(np.arange(len(rows)), ends))
    levels = [(float(places[end]), mean) for part, mean in segments for end in part[[0, -1]]]
    curves = (
        Curve("mean", tuple(x for x, _ in means), tuple(y for _, y in means)),
        Curve("mean of the segment", tuple(x for x, _ in levels), tuple(y for _, y in levels), dashed=True),
    )
    return replace(panel, title=coding.name, y_label=label, curves=curves)


def _means(values: Array, parts: Sequence[IntArray]) -> Iterator[tuple[IntArray, float]]:
    """Yield, for every part, the rows without a missing cell, and their mean."""
    for part in parts:
        known = part[~np.isnan(values[part])]
        if len(known):
            yield known, float(values[known].mean())
