"""Draws panels on axes, and makes their legend samples. Needs the extra ``plot``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle, pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ..core.words import cut, rounded, signed
from .beside import BESIDE, LINE, beside
from .chart_texts import blanks
from .document import AnyPanel, Bars, Curve, Events, HeatMap, Panel, Points, Surface
from .palette import FIRST, QUIET, SECOND, Look
from .styles import (
    HATCHES,
    MOST_MARKERS,
    band_style,
    bar_style,
    cell_style,
    color_of,
    edge,
    ink,
    line_style,
    mark_style,
    point_style,
    step_style,
    strip_style,
    surface_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTER = 5.5
"""The width of a letter in points."""
_LETTERS_OF_TICKS, _LETTERS_OF_NAME, _MOST_WRITTEN_CELLS = 24, 22, 16
_SHADES_OF_SURFACE = 13
_LONG_NUMBERS = 1e4
"""From here on, the numbers of an axis are so long that four of them fill it."""
_MOST_WHOLE, _WIDTH, _SPREAD = 12, 0.5, (0.7548776662, 0.5698402910)
"""The most whole numbers around which points are spread, how widely, and the steps of an even sequence in a square."""
_HEAT_SAMPLES = (0.0, 0.1, 0.5, 1.0)


def size_of(panel: AnyPanel, standard: tuple[float, float]) -> tuple[float, float]:
    """Return the width and height of a panel in inches: the standard, or room for every name and cell."""
    width, height = standard
    if isinstance(panel, Bars):
        return width, max(height, 1.0 + len(panel.names) * (0.12 + 0.14 * len(panel.series)))
    if isinstance(panel, HeatMap):
        names = 0.085 * max((len(cut(name, _LETTERS_OF_NAME)) for name in panel.rows + panel.columns), default=0)
        cell = (0.46, 0.36) if _written(panel) else (0.3, 0.26)
        wide, high = (
            0.6 + names + side * n for side, n in zip(cell, (len(panel.columns), len(panel.rows)), strict=True)
        )
        return max(width, wide), max(height, high)
    named = max((len(one.names) for one in panel.points), default=0)
    return (width + 1.0, max(height, 1.3 + 0.22 * named)) if named else standard


def draw(ax: Axes, panel: AnyPanel, styles: dict[str, Look]) -> None:
    """Draw a panel on axes, without a legend."""
    if isinstance(panel, Bars):
        _draw_bars(ax, panel, styles)
    elif isinstance(panel, HeatMap):
        _draw_cells(ax, panel)
    elif isinstance(panel, Surface):
        _draw_surface(ax, panel, styles)
    else:
        _draw_lines(ax, panel, styles)
    wide, high = (72.0 / ax.figure.dpi * side for side in (ax.bbox.width, ax.bbox.height))
    ax.set_xlabel("" if isinstance(panel, HeatMap) else _fitted(panel.x_label, wide))
    ax.set_ylabel("" if isinstance(panel, HeatMap | Bars) else _fitted(panel.y_label, high))
    title = panel.title + (f" ({blanks(panel)})" if isinstance(panel, Panel) and panel.blank else "")
    if title:
        ax.set_title(_fitted(title, wide), loc="left", fontsize="medium")


def _fitted(text: str, points: float) -> str:
    """Break a text into lines of so many points, and escape it for matplotlib."""
    lines = (fill(line, max(int(points / _LETTER), 12), break_long_words=False) for line in text.splitlines())
    return plain("\n".join(lines))


def samples(panel: AnyPanel, styles: dict[str, Look]) -> dict[str, Any]:
    """Return the legend sample of each label of a panel."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if isinstance(panel, Bars):
        labels = [label for label, _ in panel.series]
        return {label: Patch(**bar_style(styles[label], k)) for k, label in enumerate(labels)}
    if isinstance(panel, HeatMap):
        cells = {f"{panel.value_label} {value:g}": Patch(**cell_style(value)) for value in _HEAT_SAMPLES}
        star = Line2D([], [], color=ink(), marker="*", linestyle="none")
        return cells | ({panel.star_label: star} if panel.star_label else {})
    if isinstance(panel, Surface):
        return _samples_of_surface(panel, styles)
    strips = {s.label: Patch(**strip_style(s, styles.get(s.label))) for s in panel.strips if s.x}
    steps = {s.label: Line2D([], [], **step_style(styles[s.label], k)) for k, s in enumerate(panel.steps) if s.heights}
    lines = {c.label: Line2D([], [], **line_style(styles[c.label], dashed=c.dashed)) for c in panel.curves if c.x}
    points = {p.label: Line2D([], [], **point_style(p, styles[p.label], 6.0)) for p in panel.points if p.x}
    hatches = zip(panel.bands, cycle(HATCHES), strict=False)
    bands = {band.label: Patch(**band_style(hatch)) for band, hatch in hatches}
    labels = [label for label, _ in panel.marks] + ([panel.events.label] if panel.events else [])
    marks = {label: Line2D([], [], **mark_style(k)) for k, label in enumerate(labels)}
    return strips | steps | lines | points | bands | marks


def plain(text: str) -> str:
    r"""Return text that matplotlib shows literally: dollars make no formula, a first underscore hides no label."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _draw_lines(ax: Axes, panel: Panel, styles: dict[str, Look]) -> None:
    for band, hatch in zip(panel.bands, cycle(HATCHES), strict=False):
        ax.axhspan(band.low, band.high, **band_style(hatch))
    for strip in (one for one in panel.strips if one.x):
        ax.fill_between(strip.x, strip.low, strip.high, **strip_style(strip, styles.get(strip.label)))
    for k, steps in enumerate(panel.steps):
        if steps.heights:
            style = step_style(styles[steps.label], k)
            ax.stairs(steps.heights, steps.edges, fill=True, color=style["color"], alpha=0.14, lw=0)
            ax.stairs(steps.heights, steps.edges, **style)
    for points in (one for one in panel.points if one.x):
        _draw_points(ax, points, styles[points.label])
    for curve in panel.curves:
        if curve.x:
            _draw_curve(ax, curve, styles[curve.label])
    for ticks in panel.ticks:
        low, high = (0.95, 1.0) if ticks.top else (0.0, 0.05)
        color, across = color_of(styles[ticks.label]), ax.get_xaxis_transform()
        ax.vlines(ticks.x, low, high, color=color, lw=0.5, alpha=0.6, transform=across)
    for k, (_, at) in enumerate(panel.marks):
        ax.axvline(at, **mark_style(k))
    _set_axes(ax, panel)
    if panel.events:
        _draw_events(ax, panel.events, mark_style(len(panel.marks)))
    for points in panel.points:
        if points.names:
            _write_names(ax, points)


def _draw_events(ax: Axes, events: Events, style: dict[str, Any]) -> None:
    """Draw lines with their names above them, in as many rows as keep the names apart."""
    inch, ends, raised = 72.0 / ax.figure.dpi, list[float](), list[str]()
    for at, name in sorted(zip(events.x, events.names, strict=True)):
        ax.axvline(at, **style)
        middle, half = inch * ax.transData.transform((at, 0.0))[0], _LETTER * (len(name) + 1) / 2
        row = next((k for k, end in enumerate(ends) if middle - half >= end), len(ends))
        ends[row : row + 1] = [middle + half]
        raised.append(plain(name) + "\n" * row)
    top = ax.secondary_xaxis("top")
    top.set_ticks(sorted(events.x), raised)
    top.tick_params(length=0, labelsize="small")
    top.spines["top"].set_visible(False)


def _write_names(ax: Axes, points: Points) -> None:
    """Write names beside the points of a map; a line leads to one that had to give way."""
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.2)
    ax.apply_aspect()
    inch, texts = 72.0 / ax.figure.dpi, [cut(name, _LETTERS_OF_NAME) for name in points.names]
    ends = list(zip(points.x, points.y, strict=True))
    places = inch * (ax.transData.transform(ends) - (ax.bbox.x0, ax.bbox.y0))
    widths = [_LETTER * len(text) for text in texts]
    sides = beside(list(map(tuple, places.tolist())), widths, inch * ax.bbox.width, inch * ax.bbox.height)
    for at, text, (side, lines) in zip(ends, texts, sides, strict=True):
        leader = {"arrowstyle": "-", "color": edge(), "lw": 0.6, "shrinkA": 0, "shrinkB": 3} if lines else None
        where: dict[str, Any] = {"xytext": (side * BESIDE, lines * LINE), "textcoords": "offset points"}
        where |= {"ha": "left" if side > 0 else "right", "va": "center", "fontsize": "small", "arrowprops": leader}
        ax.annotate(plain(text), at, **where)


def _draw_points(ax: Axes, points: Points, look: Look) -> None:
    """Draw points; around few whole numbers they are spread, always in the same way, and ticks are whole."""
    from matplotlib.ticker import MaxNLocator

    places = []
    for axis, values, step in ((ax.xaxis, points.x, _SPREAD[0]), (ax.yaxis, points.y, _SPREAD[1])):
        few = not points.names and are_spread(values)
        places.append([value + _WIDTH * ((k * step) % 1.0 - 0.5) * few for k, value in enumerate(values)])
        if few:
            axis.set_major_locator(MaxNLocator(integer=True))
    ax.plot(*places, **point_style(points, look))


def are_spread(values: Sequence[float]) -> bool:
    """Return whether values are few whole numbers, around which points are spread so that none hides another."""
    distinct = {*values}
    return 1 < len(distinct) <= min(_MOST_WHOLE, len(values) / 4) and all(value == round(value) for value in distinct)


def _set_axes(ax: Axes, panel: Panel) -> None:
    if any(steps.heights for steps in panel.steps):
        ax.set_ylim(bottom=0.0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(_tick)
    if panel.x_days:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(minticks=3, maxticks=6)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    elif not panel.x_log and max(map(abs, ax.get_xlim())) >= _LONG_NUMBERS:
        ax.locator_params(axis="x", nbins=4)
    edges = [x for steps in panel.steps for x in steps.edges]
    ends = [x for strip in panel.strips for x in strip.x[:1] + strip.x[-1:]]
    if ends:
        ax.set_xlim(min(*ends, *edges), max(*ends, *edges))
    if panel.x_log:
        measured = [x for curve in panel.curves for x in curve.x if not panel.points] + [at for _, at in panel.marks]
        others = [x for curve in panel.curves for x in curve.x] + [x for cloud in panel.points for x in cloud.x]
        _logarithmic(ax, "x", measured, [*others, *ends, *edges])
    if panel.y_log:
        others = [y for curve in panel.curves for y in curve.y] + [y for cloud in panel.points for y in cloud.y]
        _logarithmic(ax, "y", [], others)
    if panel.y_range is not None:
        ax.set_ylim(*panel.y_range)
    if panel.x_falls:
        ax.invert_xaxis()


def _tick(value: float, place: float = 0.0) -> str:
    del place
    return signed(value, "z.6g")


def _draw_curve(ax: Axes, curve: Curve, look: Look) -> None:
    """Draw a line, with error bars at few points or an error strip along many."""
    few = len(curve.x) <= MOST_MARKERS
    style = line_style(look, dashed=curve.dashed)
    if curve.errors and few:
        ax.errorbar(curve.x, curve.y, yerr=curve.errors, capsize=2.5, capthick=1.0, elinewidth=1.0, **style)
        return
    ax.plot(curve.x, curve.y, markevery=None if few else -(-len(curve.x) // MOST_MARKERS), **style)
    if curve.errors:
        low, high = ([y + sign * e for y, e in zip(curve.y, curve.errors, strict=True)] for sign in (-1, 1))
        ax.fill_between(curve.x, low, high, color=color_of(look), alpha=0.2, lw=0)


def _draw_surface(ax: Axes, panel: Surface, styles: dict[str, Look]) -> None:
    """Draw lines of equal height over the points, or shades with the points over them and chance hatched."""
    if panel.levels:
        ax.contour(panel.x, panel.y, panel.values, colors=FIRST, linewidths=1.0, levels=panel.levels)
    else:
        _shade(ax, panel)
    for k, one in enumerate(panel.points):
        ax.plot(one.x, one.y, **surface_style(panel, k, styles[one.label]))
    ax.set(xlim=(panel.x[0], panel.x[-1]), ylim=(panel.y[0], panel.y[-1]))


def _shade(ax: Axes, panel: Surface) -> None:
    """Colour heights from the second sample to the first, and hatch those within chance."""
    import matplotlib as mpl

    colors = mpl.colors.LinearSegmentedColormap.from_list("two", [SECOND, "#f7f7f7", FIRST])
    most = max((abs(value) for row in panel.values for value in row), default=0.0) or 1.0
    levels = [most * (2.0 * k / (_SHADES_OF_SURFACE - 1) - 1.0) for k in range(_SHADES_OF_SURFACE)]
    image = ax.contourf(panel.x, panel.y, panel.values, levels=levels, cmap=colors)
    bar: dict[str, Any] = {
        "label": plain(panel.label),
        "ticks": [-most, 0.0, most],
        "format": lambda value, _: rounded(value),
    }
    ax.figure.colorbar(image, ax=ax, **bar)
    least = min((value for row in panel.chance for value in row), default=0.0)
    if least < 0.0:
        with mpl.rc_context({"hatch.color": QUIET, "hatch.linewidth": 0.7}):
            ax.contourf(panel.x, panel.y, panel.chance, levels=[least, 0.0], colors="none", hatches=["///"])


def _samples_of_surface(panel: Surface, styles: dict[str, Look]) -> dict[str, Any]:
    """Return the legend samples of points, lines of equal height, and chance."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    points = ((k, p) for k, p in enumerate(panel.points) if p.x)
    handles: dict[str, Any] = {p.label: Line2D([], [], **surface_style(panel, k, styles[p.label])) for k, p in points}
    if panel.levels:
        return handles | {panel.label: Line2D([], [], color=FIRST, lw=1.0)}
    hatch: dict[str, Any] = {"facecolor": "none", "edgecolor": QUIET, "hatch": "///", "lw": 0}
    chance = any(value < 0.0 for row in panel.chance for value in row)
    return handles | ({"chance (95 %)": Patch(**hatch)} if chance else {})


def _draw_bars(ax: Axes, panel: Bars, styles: dict[str, Look]) -> None:
    """Draw one group of bars for each name, the first name at the top."""
    height = 0.8 / max(len(panel.series), 1)
    for k, (label, values) in enumerate(panel.series):
        places = [row + (k - (len(panel.series) - 1) / 2) * height for row in range(len(panel.names))]
        ax.barh(places, values, height=0.9 * height, **bar_style(styles[label], k))
    ax.set_yticks(range(len(panel.names)), [plain(cut(name, _LETTERS_OF_NAME)) for name in panel.names])
    ax.set_ylim(len(panel.names) - 0.4, -0.6)
    ends = [0.0, *(value for _, values in panel.series for value in values)]
    low, high = min(ends), max(ends)
    ax.set_xlim(1.05 * low, (1.22 if panel.notes else 1.05) * high or 1.0)
    for row, note in enumerate(panel.notes):
        at: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": "small"}
        ax.annotate(note, (max(panel.series[0][1][row], 0.0), row), **at)
    ax.grid(visible=False, axis="y")


def _written(panel: HeatMap) -> bool:
    """Whether there is room for the numbers of cells."""
    return max(len(panel.rows), len(panel.columns)) <= _MOST_WRITTEN_CELLS


def _draw_cells(ax: Axes, panel: HeatMap) -> None:
    """Draw cells with stars, and with numbers if there are not too many."""
    from matplotlib.patches import Rectangle

    written = _written(panel)
    for i, row in enumerate(panel.values):
        for j, value in enumerate(row):
            if value is None:
                continue
            ax.add_patch(Rectangle((j, i), 1, 1, **cell_style(value)))
            number = f"{value:z.2f}".replace("0.", ".").replace("-", "−") if written else ""
            text = number + ("*" if (i, j) in panel.stars else "")
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=8.5, color=ink())
    names = [[plain(cut(name, _LETTERS_OF_NAME)) for name in axis] for axis in (panel.columns, panel.rows)]
    ax.set_xticks([j + 0.5 for j in range(len(names[0]))], names[0], rotation=90)
    ax.set_yticks([i + 0.5 for i in range(len(names[1]))], names[1])
    ax.set(xlim=(0, max(len(names[0]), 1)), ylim=(max(len(names[1]), 1), 0))
    ax.grid(visible=False)
    ax.tick_params(length=0)


def _logarithmic(ax: Axes, axis: str, measured: Sequence[float], others: Sequence[float]) -> None:
    """Make an axis logarithmic, with any zero before the smallest value; a few measured values are its ticks."""
    finite = [value for value in (*measured, *others) if math.isfinite(value)]
    positive = sorted({value for value in finite if value > 0})
    if not positive:
        return
    if len(positive) == len(set(finite)):
        getattr(ax, f"set_{axis}scale")("log")
        getattr(ax, f"{axis}axis").set_major_formatter(_tick)
    else:  # from the smallest positive value on, with 0 half a decade before it
        getattr(ax, f"set_{axis}scale")("symlog", linthresh=positive[0], linscale=0.5)
        first, last = math.ceil(math.log10(2 * positive[0])), math.floor(math.log10(positive[-1]))
        decades = [10.0**k for k in range(first, last + 1)]
        getattr(ax, f"set_{axis}ticks")([0.0, *decades], ["0", *(rounded(decade) for decade in decades)])
        getattr(ax, f"set_{axis}ticks")([], minor=True)
        getattr(ax, f"set_{axis}lim")(-0.2 * positive[0], 1.3 * positive[-1])
    places = sorted({value for value in measured if math.isfinite(value)})
    apart = all(after > 1.3 * value for value, after in pairwise(place for place in places if place > 0))
    names = {place: _tick(place) for place in places}
    if axis == "x" and names and apart and sum(map(len, names.values())) <= _LETTERS_OF_TICKS:
        ax.set_xticks(list(names), list(names.values()))
        ax.set_xticks([], minor=True)
