"""Charts drawn in one style: as files that stand alone, and as parts of a page. Needs the extra ``plot``."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ..core.disk import write_file
from . import pictures
from .document import AnyPanel, Chart
from .drawing import draw, plain, samples, size_of
from .figures import describe, labels
from .palette import SHADES, Look, looks
from .templates import clean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT, _ON_PAGE = 4.6, 3.3, (4.2, 3.1)
"""Of a panel, in inches; on a page smaller, so that its texts are larger on a phone."""
_LETTERS = 45
"""In a line of a title, for one panel."""
_WIDEST, _REM_AN_INCH = 1.25, 4.8
_INK, _EDGE, _RULE, _SURFACE = (SHADES[part].light for part in ("ink", "edge", "rule", "surface"))
_STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "svg.fonttype": "none",
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
_FONT = "'DejaVu Sans'"
"""What texts were measured in; Verdana has the same widths where a reader lacks it."""
_VARIABLES = {shade.light: f"var(--{part})" for part, shade in reversed(SHADES.items())}


@dataclass(frozen=True)
class Drawing:
    """A chart as parts of a page: panels as SVG, and a sample of every line with its label."""

    panels: tuple[str, ...]
    legend: tuple[tuple[str, str], ...]
    wide: bool
    """Whether a panel is too wide for a phone, so that it needs a box to scroll in."""


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
    pictures.check_format(path)
    if Path(path).suffix.lower() == ".svg":
        write_file(path, standalone(chart).encode())
        return
    with _style():
        pictures.save(_figure(chart), path)


def standalone(chart: Chart) -> str:
    """Return the text of an SVG file, with what is to be seen in its title and description."""
    with _style():
        text = _svg(_figure(chart))
    named = _named(chart.title, chart.text)
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
    styles = looks(labels(chart.panels))
    with _style():
        panels = tuple(_page_panel(chart, k, styles, f"{prefix}-{k + 1}") for k in range(len(chart.panels)))
        found = {label: sample for panel in chart.panels for label, sample in samples(panel, styles).items()}
        legend = tuple(
            (_sample(sample, f"{prefix}-line-{k}"), label) for k, (label, sample) in enumerate(found.items())
        )
    return Drawing(panels, legend, any(_is_wide(panel) for panel in chart.panels))


def _page_panel(chart: Chart, which: int, styles: dict[str, Look], prefix: str) -> str:
    panel = chart.panels[which]
    figure = _on_page(size_of(panel, _ON_PAGE))
    draw(figure.add_subplot(facecolor="none"), panel, styles)
    title = f"{chart.title}: {panel.title}" if len(chart.panels) > 1 and panel.title else chart.title
    named = _named(title, describe(panel), f"{prefix}-")
    naming = {"role": "img", "aria-labelledby": f"{prefix}-title", "aria-describedby": f"{prefix}-desc"}
    if _is_wide(panel):
        width = f"width: {_REM_AN_INCH * figure.get_figwidth():.1f}rem"
        return _inline(_svg(figure), named, prefix, {"class": "panel wide", "style": width, **naming})
    return _inline(_svg(figure), named, prefix, {"class": "panel", **naming})


def _named(title: str, text: str, prefix: str = "") -> str:
    """Return the title and the description of a picture."""
    title, text = (escape(clean(one)) for one in (title, text))
    return f'<title id="{prefix}title">{title}</title><desc id="{prefix}desc">{text}</desc>'


def _is_wide(panel: AnyPanel) -> bool:
    """Say whether a panel is so wide that its texts would be too small on a phone."""
    return size_of(panel, _ON_PAGE)[0] > _WIDEST * _ON_PAGE[0]


def _figure(chart: Chart) -> Figure:
    """Return all panels under the title, above the legend."""
    wide = min(len(chart.panels), 2 if len(chart.panels) in (2, 4) else 3) or 1
    high = -(-len(chart.panels) // wide)
    sizes = [size_of(panel, (_WIDTH, _HEIGHT)) for panel in chart.panels] or [(_WIDTH, _HEIGHT)]
    width, height = (max(one[axis] for one in sizes) for axis in (0, 1))
    figure = pictures.new_figure((max(width * wide, 6.0), height * high + 0.8))
    styles, found = looks(labels(chart.panels)), {}
    for k, panel in enumerate(chart.panels):
        draw(figure.add_subplot(high, wide, k + 1), panel, styles)
        found.update(samples(panel, styles))
    figure.suptitle(plain(fill(chart.title, _LETTERS * wide)), ha="left", x=0.01)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.08)
    columns = max(1, min(len(found), 2 * wide))
    names = [plain(label) for label in found]
    figure.legend(list(found.values()), names, loc="outside lower center", ncols=columns)
    return figure


def _sample(sample: Any, prefix: str) -> str:
    """Return the sample of a line as a small SVG of its own."""
    figure = _on_page((0.42, 0.18))
    figure.set_layout_engine("none")
    figure.legend([sample], [""], loc="center", borderpad=0, borderaxespad=0, handletextpad=0, handlelength=2.6)
    return _inline(_svg(figure), "", prefix, {"class": "sample", "aria-hidden": "true"})


def _on_page(size: tuple[float, float]) -> Figure:
    """Return a figure without a surface of its own."""
    figure = pictures.new_figure(size)
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
    pictures.write(figure, stream, ".svg")
    text = re.sub(r"<!--.*?-->\n?", "", stream.getvalue(), flags=re.DOTALL)
    return text.replace(_FONT, f"{_FONT}, Verdana, sans-serif")


def _inline(text: str, named: str, prefix: str, attributes: dict[str, str]) -> str:
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
    written = {"viewBox": view[1] if view else "0 0 1 1", **attributes}
    opening = " ".join(f'{name}="{escape(value)}"' for name, value in written.items())
    return f"<svg {opening}>{named}{body.strip()}"
