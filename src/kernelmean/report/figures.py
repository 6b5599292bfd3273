"""Charts as numbers and as words: what the pages say of a picture to who cannot see it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from .document import AnyPanel, Bars, Chart, Curve, HeatMap, Panel, Points, Steps, Strip, Surface, TextTable

BARS = "Bars and shaded strips around lines are one standard error to either side."
_Row = tuple[str, str, str, str, str]


def labels(panels: Sequence[AnyPanel]) -> list[str]:
    """Return the labels that have a look of their own, each once, in their order."""
    return list(dict.fromkeys(label for panel in panels for label in _labels(panel)))


def has_errors(chart: Chart) -> bool:
    """Say whether there are standard errors to be drawn."""
    return any(curve.errors for panel in chart.panels if isinstance(panel, Panel) for curve in panel.curves)


def numbers(chart: Chart) -> TextTable:
    """Return what a chart draws as a table; of clouds of points only where they lie."""
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
        return _describe_cells(panel)
    if isinstance(panel, Surface):
        return _describe_surface(panel)
    parts = [f"{panel.y_label}{_log(panel.y_log)} against {panel.x_label}{_log(panel.x_log)}."]
    parts += [_strip(strip) for strip in panel.strips if strip.x]
    parts += [_outline(steps) for steps in panel.steps if steps.heights]
    parts += [_line(curve) for curve in panel.curves if curve.x]
    parts += [f"{one.label}: {len(one.x)} points, {_extent(one)}." for one in panel.points if one.x]
    parts += [f"{band.label}: from {_number(band.low)} to {_number(band.high)}." for band in panel.bands]
    parts += [f"{label}: at {_number(at)}." for label, at in panel.marks]
    return " ".join(parts)


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
    if isinstance(panel, Panel):
        yield from _panel_rows(panel)
    elif isinstance(panel, Surface):
        yield from ((panel.title, *row) for row in _surface_rows(panel))
    elif isinstance(panel, Bars):
        for label, values in panel.series:
            yield from ((panel.title, label, name, _number(v), "") for name, v in zip(panel.names, values, strict=True))
    else:
        for (i, row), (j, column) in ((a, b) for a in enumerate(panel.rows) for b in enumerate(panel.columns)):
            yield panel.title, panel.value_label, f"{row}, {column}", _cell(panel, i, j), ""


def _panel_rows(panel: Panel) -> Iterator[_Row]:
    title = panel.title
    for curve in panel.curves:
        for x, y, error in zip(curve.x, curve.y, curve.errors or curve.y, strict=True):
            yield title, curve.label, _number(x), _number(y), _number(error) if curve.errors else ""
    for strip in panel.strips:
        for x, low, high in zip(strip.x, strip.low, strip.high, strict=True):
            yield title, strip.label, _number(x), _range(low, high), ""
    for steps in panel.steps:
        for k, height in enumerate(steps.heights):
            yield title, steps.label, _range(steps.edges[k], steps.edges[k + 1]), _number(height), ""
    for one in panel.points:
        if one.x:
            yield (
                title,
                f"{one.label} ({len(one.x)})",
                _range(min(one.x), max(one.x)),
                _range(min(one.y), max(one.y)),
                "",
            )
    for band in panel.bands:
        yield title, band.label, "", _range(band.low, band.high), ""
    for label, at in panel.marks:
        yield title, label, _number(at), "", ""


def _surface_rows(panel: Surface) -> Iterator[tuple[str, str, str, str]]:
    """Yield where heights are largest and least, and where the points lie."""
    for value, x, y in _ends(panel):
        yield f"{panel.label} {_number(value)}", _number(x), _number(y), ""
    for one in panel.points:
        if one.x:
            where = _range(min(one.x), max(one.x)), _range(min(one.y), max(one.y))
            yield f"{one.label} ({len(one.x)})", *where, ""


def _ends(panel: Surface) -> tuple[tuple[float, float, float], ...]:
    """Return the largest and the least height with their places."""
    heights = [
        (v, x, y) for y, row in zip(panel.y, panel.values, strict=True) for x, v in zip(panel.x, row, strict=True)
    ]
    return (max(heights), min(heights)) if heights else ()


def _describe_surface(panel: Surface) -> str:
    parts = [f"{panel.label} over {panel.x_label} and {panel.y_label}."]
    parts += [f"{one.label}: {len(one.x)} points, {_extent(one)}." for one in panel.points if one.x]
    for which, (value, x, y) in zip(("Largest", "Least"), _ends(panel), strict=False):
        parts.append(f"{which}: {_number(value)} at {_number(x)} and {_number(y)}.")
    return " ".join(parts)


def _cells(panel: HeatMap, caption: str) -> TextTable:
    """Return a heat map as a table with its rows and columns."""
    rows = tuple((row, *(_cell(panel, i, j) for j in range(len(panel.columns)))) for i, row in enumerate(panel.rows))
    star = f"; * {panel.star_label}" if panel.stars else ""
    return TextTable(f"{caption} ({panel.value_label}{star})", ("", *panel.columns), rows)


def _cell(panel: HeatMap, i: int, j: int) -> str:
    value = panel.values[i][j]
    return "" if value is None else _number(value) + ("*" if (i, j) in panel.stars else "")


def _describe_cells(panel: HeatMap) -> str:
    known = [
        (value, row, column)
        for row, values in zip(panel.rows, panel.values, strict=True)
        for column, value in zip(panel.columns, values, strict=True)
        if value is not None
    ]
    parts = [f"{panel.value_label} of {len(panel.rows)} rows and {len(panel.columns)} columns."]
    if known:
        value, row, column = max(known)
        parts.append(f"Largest: {_number(value)} of {row} and {column}.")
    return " ".join([*parts, *([f"{panel.star_label}: {len(panel.stars)} cells."] if panel.star_label else [])])


def _strip(strip: Strip) -> str:
    """Return where an area is highest or lowest, and how wide one around 0 is."""
    where = max(range(len(strip.x)), key=lambda k: strip.high[k] - strip.low[k])
    return f"{strip.label}: widest at {_number(strip.x[where])}, {_range(strip.low[where], strip.high[where])}."


def _outline(steps: Steps) -> str:
    top = max(range(len(steps.heights)), key=steps.heights.__getitem__)
    between = f"between {_number(steps.edges[top])} and {_number(steps.edges[top + 1])}"
    return (
        f"{steps.label}: histogram from {_range(steps.edges[0], steps.edges[-1])}, highest "
        f"{_number(steps.heights[top])} {between}."
    )


def _extent(one: Points) -> str:
    return f"x from {_range(min(one.x), max(one.x))}, y from {_range(min(one.y), max(one.y))}"


def _line(curve: Curve) -> str:
    first, last = (f"{_number(curve.y[k])} at {_number(curve.x[k])}" for k in (0, -1))
    return (
        f"{curve.label}: {first}." if len(curve.x) == 1 else f"{curve.label}: from {first} to {last}{_lowest(curve)}."
    )


def _lowest(curve: Curve) -> str:
    """Return where a line is lowest, if not at an end."""
    inner: Sequence[int] = [k for k in range(len(curve.y)) if math.isfinite(curve.y[k])]
    lowest = min(inner, key=curve.y.__getitem__, default=0)
    between = 0 < lowest < len(curve.y) - 1
    return f", lowest {_number(curve.y[lowest])} at {_number(curve.x[lowest])}" if between else ""


def _log(logarithmic: bool) -> str:
    return " (logarithmic)" if logarithmic else ""


def _range(low: float, high: float) -> str:
    return f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−") if math.isfinite(value) else "not measured"
