"""Charts drawn in one style: as files that stand alone, and as parts of a page. Needs the extra ``plot``."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from .. import plots
from .content import describe, labels
from .document import Chart, Curve, Panel
from .markup import Markup, element
from .palette import SHADES, Look, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT, _ON_PAGE = 4.6, 3.3, (4.2, 3.1)
"""Of a panel, in inches; on a page smaller, so that its texts are larger on a phone."""
_MOST_MARKERS, _LETTERS, _LETTERS_OF_TICKS = 15, 45, 24
_INK, _EDGE, _RULE, _SURFACE = (SHADES[part].light for part in ("ink", "edge", "rule", "surface"))
_STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "figure.titlesize": 12,
    "legend.frameon": False,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _EDGE,
    "xtick.color": _EDGE,
    "ytick.color": _EDGE,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _RULE,
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.7,
    "lines.markersize": 5.5,
    "hatch.linewidth": 0.6,
}
_MARK_DASHES = ((0, (1, 1.5)), (0, (6, 2)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2, 1, 2, 1, 2)))
_HATCHES = ("", "///", "...", "xxx")
_VARIABLES = {shade.light: f"var(--{part})" for part, shade in reversed(SHADES.items())}


@dataclass(frozen=True)
class Drawing:
    """A chart as parts of a page: panels as SVG, and a sample of every line with its label."""

    panels: tuple[Markup, ...]
    legend: tuple[tuple[Markup, str], ...]


def missing() -> str | None:
    """Return why charts cannot be drawn and what to do, or None when they can."""
    try:
        plots.check_format("chart.svg")
    except ImportError as error:
        return str(error)
    return None


def save(chart: Chart, path: str | Path) -> None:
    """Write a chart with all its panels, title and legend on a light surface, as .svg, .png or .pdf.

    The same chart gives the same bytes. An SVG says in its title and description what is to be seen.

    Raises
    ------
    ValueError
        When the ending is another one.
    ImportError
        When matplotlib is not installed.
    """
    plots.check_format(path)
    if Path(path).suffix.lower() == ".svg":
        Path(path).write_text(standalone(chart), encoding="utf-8", newline="\n")
        return
    with _style():
        plots.save(_figure(chart), path)


def standalone(chart: Chart) -> str:
    """Return the text of an SVG file, with what is to be seen in its title and description."""
    with _style():
        text = _svg(_figure(chart))
    named = element("title", chart.title, id="title") + element("desc", chart.text, id="desc")
    opening = r"(<svg [^>]*)>"
    return re.sub(
        opening, lambda found: f'{found[1]} role="img" aria-labelledby="title desc">\n {named}', text, count=1
    )


def drawing(chart: Chart, prefix: str) -> Drawing:
    """Return a chart as parts of a page, whose ids begin with ``prefix`` and whose colours are CSS variables.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    """
    styles = looks(labels(chart))
    with _style():
        panels = tuple(_page_panel(chart, k, styles, f"{prefix}-{k + 1}") for k in range(len(chart.panels)))
        samples = {label: sample for panel in chart.panels for label, sample in _samples(panel, styles).items()}
        legend = tuple(
            (_sample(sample, f"{prefix}-line-{k}"), label) for k, (label, sample) in enumerate(samples.items())
        )
    return Drawing(panels, legend)


def _page_panel(chart: Chart, which: int, styles: dict[str, Look], prefix: str) -> Markup:
    panel = chart.panels[which]
    figure = _on_page(_ON_PAGE)
    _draw(figure.add_subplot(facecolor="none"), panel, styles)
    title = f"{chart.title}: {panel.title}" if len(chart.panels) > 1 and panel.title else chart.title
    named = element("title", title, id=f"{prefix}-title") + element("desc", describe(panel), id=f"{prefix}-desc")
    naming = {"aria_labelledby": f"{prefix}-title", "aria_describedby": f"{prefix}-desc"}
    return _inline(_svg(figure), Markup(named), prefix, class_="panel", role="img", **naming)


def _figure(chart: Chart) -> Figure:
    """Return all panels under the title, above the legend."""
    wide = min(len(chart.panels), 2 if len(chart.panels) in (2, 4) else 3) or 1
    high = -(-len(chart.panels) // wide)
    figure = plots.new_figure((max(_WIDTH * wide, 6.0), _HEIGHT * high + 0.8))
    styles, samples = looks(labels(chart)), {}
    for k, panel in enumerate(chart.panels):
        _draw(figure.add_subplot(high, wide, k + 1), panel, styles)
        samples.update(_samples(panel, styles))
    figure.suptitle(_plain(fill(chart.title, _LETTERS * wide)), ha="left", x=0.01)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.08)
    columns = max(1, min(len(samples), 2 * wide))
    names = [_plain(label) for label in samples]
    figure.legend(list(samples.values()), names, loc="outside lower center", ncols=columns)
    return figure


def _draw(ax: Axes, panel: Panel, styles: dict[str, Look]) -> None:
    """Draw a panel on axes, without a legend."""
    for band, hatch in zip(panel.bands, _repeated(_HATCHES, len(panel.bands)), strict=True):
        ax.axhspan(band.low, band.high, **_band_style(hatch))
    for curve in panel.curves:
        if curve.x:
            _draw_curve(ax, curve, styles[curve.label])
    for k, (_, at) in enumerate(panel.marks):
        ax.axvline(at, **_mark_style(k))
    title, x_label, y_label = (_plain(fill(text, _LETTERS)) for text in (panel.title, panel.x_label, panel.y_label))
    ax.set(title=title, xlabel=x_label, ylabel=y_label)
    if panel.x_log:
        places = [x for curve in panel.curves for x in curve.x] + [at for _, at in panel.marks]
        _logarithmic(ax, "x", places)
    if panel.y_log:
        _logarithmic(ax, "y", [y for curve in panel.curves for y in curve.y])


def _draw_curve(ax: Axes, curve: Curve, look: Look) -> None:
    """Draw a line: with bars at few points, with a strip along many."""
    few = len(curve.x) <= _MOST_MARKERS
    style = _line_style(look, dashed=curve.dashed)
    if curve.errors and few:
        ax.errorbar(curve.x, curve.y, yerr=curve.errors, capsize=2.5, capthick=1.0, elinewidth=1.0, **style)
        return
    ax.plot(curve.x, curve.y, markevery=None if few else -(-len(curve.x) // _MOST_MARKERS), **style)
    if curve.errors:
        low, high = ([y + sign * e for y, e in zip(curve.y, curve.errors, strict=True)] for sign in (-1, 1))
        ax.fill_between(curve.x, low, high, color=look.color, alpha=0.2, lw=0)


def _line_style(look: Look, *, dashed: bool) -> dict[str, Any]:
    """Return colour and marker, filled or open: lines never differ by their colour alone."""
    style: dict[str, Any] = {"color": look.color, "marker": look.marker}
    if dashed:
        return style | {"linestyle": (0, (5, 2.5)), "markerfacecolor": "none", "markeredgewidth": 1.0}
    return style | {"markeredgewidth": 0}


def _band_style(hatch: str) -> dict[str, Any]:
    return {"facecolor": _EDGE, "edgecolor": _EDGE, "alpha": 0.25, "lw": 0, "hatch": hatch, "zorder": 0.5}


def _mark_style(which: int) -> dict[str, Any]:
    return {"color": _INK, "linewidth": 1.1, "linestyle": _MARK_DASHES[which % len(_MARK_DASHES)], "zorder": 1.5}


def _logarithmic(ax: Axes, axis: str, values: Sequence[float]) -> None:
    """Make an axis logarithmic; a zero stands before its smallest value."""
    finite = [value for value in values if math.isfinite(value)]
    positive = sorted({value for value in finite if value > 0})
    if not positive:
        return
    if len(positive) == len(set(finite)):
        getattr(ax, f"set_{axis}scale")("log")
    else:
        _beside_zero(ax, axis, positive)
    names = {place: f"{place:g}" for place in sorted(set(finite))}
    apart = all(after > 1.3 * value for value, after in pairwise(positive))
    if axis == "x" and apart and sum(map(len, names.values())) <= _LETTERS_OF_TICKS:
        ax.set_xticks(list(names), list(names.values()))
        ax.set_xticks([], minor=True)


def _beside_zero(ax: Axes, axis: str, positive: Sequence[float]) -> None:
    """Make an axis logarithmic from the smallest positive value on, with 0 half a decade before it."""
    getattr(ax, f"set_{axis}scale")("symlog", linthresh=positive[0], linscale=0.5)
    decades = [10.0**k for k in range(math.ceil(math.log10(2 * positive[0])), math.floor(math.log10(positive[-1])) + 1)]
    getattr(ax, f"set_{axis}ticks")([0.0, *decades], ["0", *(f"{decade:g}" for decade in decades)])
    getattr(ax, f"set_{axis}ticks")([], minor=True)
    getattr(ax, f"set_{axis}lim")(-0.2 * positive[0], 1.3 * positive[-1])


def _samples(panel: Panel, styles: dict[str, Look]) -> dict[str, Any]:
    """Return what stands for each label of a panel in a legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = {c.label: Line2D([], [], **_line_style(styles[c.label], dashed=c.dashed)) for c in panel.curves if c.x}
    hatches = _repeated(_HATCHES, len(panel.bands))
    bands = {band.label: Patch(**_band_style(hatch)) for band, hatch in zip(panel.bands, hatches, strict=True)}
    return lines | bands | {label: Line2D([], [], **_mark_style(k)) for k, (label, _) in enumerate(panel.marks)}


def _sample(sample: Any, prefix: str) -> Markup:
    """Return the sample of a line as a small SVG of its own."""
    figure = _on_page((0.42, 0.18))
    figure.set_layout_engine("none")
    figure.legend([sample], [""], loc="center", borderpad=0, borderaxespad=0, handletextpad=0, handlelength=2.6)
    return _inline(_svg(figure), Markup(), prefix, class_="sample", aria_hidden="true")


def _on_page(size: tuple[float, float]) -> Figure:
    """Return a figure without a surface of its own."""
    figure = plots.new_figure(size)
    figure.patch.set_visible(False)
    return figure


@contextmanager
def _style() -> Iterator[None]:
    """Draw in the style of the reports, whatever the reader's own settings are."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def _svg(figure: Figure) -> str:
    stream = io.StringIO()
    plots.write(figure, stream, ".svg")
    return re.sub(r"<!--.*?-->\n?", "", stream.getvalue(), flags=re.DOTALL)


def _inline(text: str, named: Markup, prefix: str, **attributes: str) -> Markup:
    """Return an SVG file as an element of a page: own ids, the page's colours, no surface, no declarations."""
    view = re.search(r'viewBox="([^"]*)"', text)
    body = text[text.index(">", text.index("<svg ")) + 1 :]
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
    body = body.replace("xlink:href", "href")
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    body = re.sub(r' id="([^"]*)"', lambda m: f' id="{prefix}-{m[1]}"' if m[1] in used else "", body)
    body = re.sub(r'(href="#|url\(#)', rf"\1{prefix}-", body)
    body = re.sub(r"#[0-9a-f]{6}\b", lambda m: _VARIABLES.get(m[0], m[0]), body)
    body = re.sub(r"\s*\n\s*", " ", body)
    opening = element("svg", viewBox=view[1] if view else "0 0 1 1", **attributes).removesuffix("</svg>")
    return Markup(opening + named + body.strip())


def _plain(text: str) -> str:
    r"""Return text that matplotlib shows as it is: dollars are no mathematics, a first underscore hides nothing."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _repeated(styles: Sequence[str], count: int) -> list[str]:
    return [styles[k % len(styles)] for k in range(count)]
