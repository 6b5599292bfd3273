"""Charts as numbers and as words, for readers who cannot see the pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np

from ..core.words import listed, percent, signed
from .document import AnyPanel, Bars, Chart, Curve, HeatMap, Panel, Points, Steps, Strip, Surface, TextTable

BARS = "Bars and shaded strips around lines are one standard error to either side."
_Row = tuple[str, str, str, str, str]


def labels(panels: Sequence[AnyPanel]) -> list[str]:
    """Return the labels that have a look of their own, each once and in order."""
    return list(dict.fromkeys(label for panel in panels for label in _labels(panel)))


def has_errors(chart: Chart) -> bool:
    """Return whether a chart has standard errors."""
    return any(curve.errors for panel in chart.panels if isinstance(panel, Panel) for curve in panel.curves)


def numbers(chart: Chart) -> TextTable:
    """Return what a chart draws as a table; for clouds of points without names only their ranges."""
    caption, panels = f"Numbers of: {chart.title}", chart.panels
    if len(panels) == 1 and isinstance(panels[0], HeatMap):
        return _cells(panels[0], caption)
    rows = [row for panel in panels for row in _rows(panel)]
    x, y = ({one[axis] for one in map(_axes, panels)} for axis in (0, 1))
    header = ("panel", "line", x.pop() if len(x) == 1 else "x", y.pop() if len(y) == 1 else "y", "standard error")
    first, last = 0 if len(panels) > 1 else 1, 5 if has_errors(chart) else 4
    return TextTable(caption, header[first:last], tuple(row[first:last] for row in rows))


def describe(panel: AnyPanel) -> str:
    """Return a panel in words: its axes, and where its lines, areas and cells are."""
    if isinstance(panel, Bars):
        parts = [f"{panel.x_label} of {', '.join(panel.names)}."]
        return " ".join(parts + [f"{label}: {', '.join(map(_number, values))}." for label, values in panel.series])
    if isinstance(panel, HeatMap):
        parts = [f"{panel.value_label} of {len(panel.rows)} rows and {len(panel.columns)} columns."]
        cells = product(enumerate(panel.rows), enumerate(panel.columns))
        known = [(v, row, column) for (i, row), (j, column) in cells if (v := panel.values[i][j]) is not None]
        parts += ["Largest: {} of {} and {}.".format(_number(max(known)[0]), *max(known)[1:])] if known else []
        return " ".join(parts + ([f"{panel.star_label}: {len(panel.stars)} cells."] if panel.star_label else []))
    points = [_cloud(one) for one in panel.points if one.x]
    if isinstance(panel, Surface):
        ends = zip(("Largest", "Least"), _ends(panel), strict=False)
        extremes = (f"{which}: {_number(value)} at {_number(x)} and {_number(y)}." for which, (value, x, y) in ends)
        return " ".join([f"{panel.label} over {panel.x_label} and {panel.y_label}.", *points, *extremes])
    x_log, y_log = (" (logarithmic)" if scaled else "" for scaled in (panel.x_log, panel.y_log))
    parts = [f"{panel.y_label}{y_log} against {panel.x_label}{x_log}."]
    parts += [_strip(strip) for strip in panel.strips if strip.x]
    parts += [_outline(steps) for steps in panel.steps if steps.heights]
    parts += [f"{blanks(panel)}."] if panel.blank else []
    parts += [_line(curve, _place(panel)) for curve in panel.curves if curve.x]
    parts += points
    parts += [f"{band.label}: from {_range(band.low, band.high)}." for band in panel.bands]
    parts += [f"{label}: at {_number(at)}." for label, at in panel.marks]
    return " ".join(parts + ([f"{panel.events.label}: {', '.join(panel.events.names)}."] if panel.events else []))


def blanks(panel: Panel) -> str:
    """Return the shares of blank cells beside the steps of a panel, or ""."""
    return f"blank: {listed(map(percent, panel.blank))}" if panel.blank else ""


def _labels(panel: AnyPanel) -> Iterator[str]:
    if isinstance(panel, Bars):
        yield from (label for label, _ in panel.series)
    elif isinstance(panel, Surface):
        yield from (points.label for points in panel.points if points.x)
    elif isinstance(panel, Panel):
        yield from (strip.label for strip in panel.strips if strip.x and not strip.quiet)
        yield from (steps.label for steps in panel.steps if steps.heights)
        yield from (curve.label for curve in panel.curves if curve.x)
        yield from (points.label for points in panel.points if points.x)


def _axes(panel: AnyPanel) -> tuple[str, str]:
    if isinstance(panel, Panel | Surface):
        return panel.x_label, panel.y_label
    return ("value of", panel.x_label) if isinstance(panel, Bars) else ("row and column", panel.value_label)


def _rows(panel: AnyPanel) -> Iterator[_Row]:
    """Yield the numbers of a panel; for surfaces the largest and the least height, for clouds their ranges."""
    title = panel.title
    if isinstance(panel, Bars):
        for label, values in panel.series:
            yield from ((title, label, name, _number(v), "") for name, v in zip(panel.names, values, strict=True))
        return
    if isinstance(panel, HeatMap):
        for (i, row), (j, column) in product(enumerate(panel.rows), enumerate(panel.columns)):
            yield title, panel.value_label, f"{row}, {column}", _cell(panel, i, j), ""
        return
    if isinstance(panel, Surface):
        for value, x, y in _ends(panel):
            yield title, f"{panel.label} {_number(value)}", _number(x), _number(y), ""
    else:
        yield from _line_rows(panel)
    for one in panel.points:
        if one.names:
            yield from ((title, name, _number(x), _number(y), "") for name, x, y in _named(one))
        elif one.x:
            yield title, f"{one.label} ({len(one.x)})", _range(*_span(one.x)), _range(*_span(one.y)), ""
    if isinstance(panel, Panel):
        yield from ((title, band.label, "", _range(band.low, band.high), "") for band in panel.bands)
        yield from ((title, label, _number(at), "", "") for label, at in panel.marks)
        if panel.events:
            label = panel.events.label
            yield from ((title, label, name, "", "") for name in panel.events.names)


def _line_rows(panel: Panel) -> Iterator[_Row]:
    title, place = panel.title, _place(panel)
    for curve in panel.curves:
        for x, y, error in zip(curve.x, curve.y, curve.errors or curve.y, strict=True):
            yield title, curve.label, place(x), _number(y), _number(error) if curve.errors else ""
    for strip in panel.strips:
        for x, low, high in zip(strip.x, strip.low, strip.high, strict=True):
            yield title, strip.label, _number(x), _range(low, high), ""
    for steps in panel.steps:
        for ends, height in zip(pairwise(steps.edges), steps.heights, strict=False):
            yield title, steps.label, _range(*ends), _number(height), ""


def _ends(panel: Surface) -> tuple[tuple[float, float, float], ...]:
    heights = [
        (v, x, y) for y, row in zip(panel.y, panel.values, strict=True) for x, v in zip(panel.x, row, strict=True)
    ]
    return (max(heights), min(heights)) if heights else ()


def _cells(panel: HeatMap, caption: str) -> TextTable:
    """Return a heat map as a table with its rows and columns."""
    rows = tuple((row, *(_cell(panel, i, j) for j in range(len(panel.columns)))) for i, row in enumerate(panel.rows))
    star = f"; * {panel.star_label}" if panel.stars else ""
    return TextTable(f"{caption} ({panel.value_label}{star})", ("", *panel.columns), rows)


def _cell(panel: HeatMap, i: int, j: int) -> str:
    value = panel.values[i][j]
    return "" if value is None else _number(value) + ("*" if (i, j) in panel.stars else "")


def _named(points: Points) -> Iterator[tuple[str, float, float]]:
    return zip(points.names, points.x, points.y, strict=True)


def _cloud(points: Points) -> str:
    """Return where the points of a map are, or the ranges of a cloud."""
    if points.names:
        places = (f"{name} at {_number(x)} and {_number(y)}" for name, x, y in _named(points))
        return f"{points.label}: {', '.join(places)}."
    across, up = (_range(*_span(values)) for values in (points.x, points.y))
    return f"{points.label}: {len(points.x)} points, x from {across}, y from {up}."


def _strip(strip: Strip) -> str:
    """Return where an area is widest, and its two heights there."""
    where = max(range(len(strip.x)), key=lambda k: strip.high[k] - strip.low[k])
    return f"{strip.label}: widest at {_number(strip.x[where])}, {_range(strip.low[where], strip.high[where])}."


def _outline(steps: Steps) -> str:
    top = max(range(len(steps.heights)), key=steps.heights.__getitem__)
    between = f"between {_number(steps.edges[top])} and {_number(steps.edges[top + 1])}"
    return (
        f"{steps.label}: histogram from {_range(steps.edges[0], steps.edges[-1])}, highest "
        f"{_number(steps.heights[top])} {between}."
    )


def _span(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _line(curve: Curve, place: Callable[[float], str]) -> str:
    """Return where a line begins and ends, and where it is lowest if that is not at an end."""
    finite = [k for k in range(len(curve.y)) if math.isfinite(curve.y[k])]
    lowest = min(finite, key=curve.y.__getitem__, default=0)
    first, last, least = (f"{_number(curve.y[k])} at {place(curve.x[k])}" for k in (0, -1, lowest))
    if len(curve.x) == 1:
        return f"{curve.label}: {first}."
    inner = f", lowest {least}" if 0 < lowest < len(curve.y) - 1 else ""
    return f"{curve.label}: from {first} to {last}{inner}."


def _range(low: float, high: float) -> str:
    return f"{_number(low)} to {_number(high)}"


def _place(panel: Panel) -> Callable[[float], str]:
    """Return how the places of an axis are written: as numbers or as times."""
    return _day if panel.x_days else _number


def _day(days: float) -> str:
    return str(np.datetime64(round(86400 * days), "s")).removesuffix("T00:00:00").replace("T", " ")


def _number(value: float) -> str:
    return signed(value) if math.isfinite(value) else "not measured"
