"""Charts drawn in one style, as parts of a page. Needs the extra ``plot``."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from . import pictures
from .chart_texts import describe, labels
from .document import AnyPanel, Chart
from .drawing import draw, samples, size_of
from .palette import SHADES, Look, looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ON_PAGE = (4.2, 3.1)
"""The size of a panel in inches, so small that texts are large on a phone."""
_WIDEST, _REM_AN_INCH = 1.25, 4.8
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
_TAG = re.compile("<[^>]*>")
_VARIABLES = {shade.light: f"var(--{part})" for part, shade in reversed(SHADES.items())}


@dataclass(frozen=True)
class Drawing:
    """A chart as parts of a page: panels as SVG, and a sample of every line with its label."""

    panels: tuple[str, ...]
    legend: tuple[tuple[str, str], ...]
    wide: bool
    """Whether a panel is too wide for a phone and needs a box to scroll in."""


def drawing(chart: Chart, prefix: str) -> Drawing:
    """Return a chart as parts of a page, whose ids begin with ``prefix`` and whose colours are CSS variables.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    """
    styles = looks(labels(chart.panels))
    with _style():
        panels = tuple(_page_panel(chart, k, styles, f"{prefix}-{k + 1}") for k in range(len(chart.panels)))
        handles = {label: sample for panel in chart.panels for label, sample in samples(panel, styles).items()}
        legend = tuple(
            (_sample(sample, f"{prefix}-line-{k}"), label) for k, (label, sample) in enumerate(handles.items())
        )
    return Drawing(panels, legend, any(_is_wide(panel) for panel in chart.panels))


def _page_panel(chart: Chart, which: int, styles: dict[str, Look], prefix: str) -> str:
    panel = chart.panels[which]
    figure = _on_page(size_of(panel, _ON_PAGE))
    draw(figure.add_subplot(facecolor="none"), panel, styles)
    title = f"{chart.title}: {panel.title}" if len(chart.panels) > 1 and panel.title else chart.title
    named = pictures.naming(title, describe(panel), f"{prefix}-")
    looks = {"class": "panel"}
    if _is_wide(panel):
        looks = {"class": "panel wide", "style": f"width: {_REM_AN_INCH * figure.get_figwidth():.1f}rem"}
    naming = {"role": "img", "aria-labelledby": f"{prefix}-title", "aria-describedby": f"{prefix}-desc"}
    return _inline(figure, named, prefix, looks | naming)


def _is_wide(panel: AnyPanel) -> bool:
    """Return whether a panel is so wide that its texts would be too small on a phone."""
    return size_of(panel, _ON_PAGE)[0] > _WIDEST * _ON_PAGE[0]


def _sample(sample: Any, prefix: str) -> str:
    """Return the legend sample of a line as a small SVG."""
    figure = _on_page((0.42, 0.18))
    figure.set_layout_engine("none")
    figure.legend([sample], [""], loc="center", borderpad=0, borderaxespad=0, handletextpad=0, handlelength=2.6)
    return _inline(figure, "", prefix, {"class": "sample", "aria-hidden": "true"})


def _on_page(size: tuple[float, float]) -> Figure:
    """Return a figure with a transparent background."""
    figure = pictures.new_figure(size)
    figure.patch.set_visible(False)
    return figure


@contextmanager
def _style() -> Iterator[None]:
    """Draw in the style of the reports, whatever the settings of matplotlib."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def _inline(figure: Figure, named: str, prefix: str, attributes: dict[str, str]) -> str:
    """Return a figure as an SVG element of a page, with unique ids and the colours of the page."""
    stream = io.StringIO()
    pictures.write(figure, stream, ".svg")
    text = re.sub(r"<!--.*?-->\n?", "", stream.getvalue(), flags=re.DOTALL)
    view = re.search(r'viewBox="([^"]*)"', text)
    body = text[text.index(">", text.index("<svg ")) + 1 :]
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
    used = {name for tag in _TAG.findall(body) for name in re.findall(r'(?:href="#|url\(#)([^")]+)', tag)}
    body = _TAG.sub(lambda tag: _of_page(tag[0], used, prefix), body)
    body = re.sub(r"\s*\n\s*", " ", body)
    written = {"viewBox": view[1] if view else "0 0 1 1", **attributes}
    opening = " ".join(f'{name}="{escape(value)}"' for name, value in written.items())
    return f"<svg {opening}>{named}{body.strip()}"


def _of_page(tag: str, used: set[str], prefix: str) -> str:
    """Return a tag with unique ids, without ids that nothing refers to, and with the colours of the page."""
    tag = tag.replace("xlink:href", "href")
    tag = re.sub(r' id="([^"]*)"', lambda m: f' id="{prefix}-{m[1]}"' if m[1] in used else "", tag)
    tag = re.sub(r'(href="#|url\(#)', rf"\1{prefix}-", tag)
    return re.sub(r"#[0-9a-f]{6}\b", lambda m: _VARIABLES.get(m[0], m[0]), tag)
