"""How points, lines, bars, cells and areas look in a picture: no two of them differ by colour alone."""

from __future__ import annotations

from typing import Any

from .document import Points, Strip, Surface
from .palette import QUIET, SHADES, Look

MOST_MARKERS, _FEW_POINTS = 15, 60
HATCHES = ("", "///", "...", "xxx")
_MARK_DASHES = ((0, (1, 1.5)), (0, (6, 2)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2, 1, 2, 1, 2)))
_STEP_DASHES = ("solid", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_HEAT, _FAINT = 0.6, 0.5
"""The opacity of a cell of value 1, on which text is still legible in light and dark mode, and how it fades."""


def ink() -> str:
    """Return the text colour of the current style: black, or white in a dark style."""
    import matplotlib as mpl

    return str(mpl.rcParams["text.color"])


def edge() -> str:
    """Return the colour of minor parts: that of the axes in our style, or grey in another style."""
    import matplotlib as mpl

    color = mpl.rcParams["axes.edgecolor"]
    return str(color) if color == SHADES["edge"].light else QUIET


def color_of(look: Look) -> str:
    """Return the colour of a look; ink has that of the text."""
    return ink() if look.part == "ink" else look.color


def line_style(look: Look, *, dashed: bool) -> dict[str, Any]:
    """Return colour and marker, filled or open: no two lines differ by colour alone."""
    style: dict[str, Any] = {"color": color_of(look), "marker": look.marker}
    if dashed:
        return style | {"linestyle": (0, (5, 2.5)), "markerfacecolor": "none", "markeredgewidth": 1.0}
    return style | {"markeredgewidth": 0}


def step_style(look: Look, which: int) -> dict[str, Any]:
    """Return colour and dashes of the outline of a histogram."""
    return {"color": color_of(look), "linewidth": 1.8, "linestyle": _STEP_DASHES[which % len(_STEP_DASHES)]}


def point_style(points: Points, look: Look, width: float | None = None) -> dict[str, Any]:
    """Return large marks for few points, which matter individually, and small ones for clouds."""
    style: dict[str, Any] = {"color": color_of(look), "marker": look.marker, "linestyle": "none", "zorder": 3.0}
    if len(points.x) > _FEW_POINTS:
        return style | {"markersize": width or 3.0, "alpha": 0.55, "markeredgewidth": 0}
    size = width or (7.5 if len(points.x) <= MOST_MARKERS else 4.5)
    return style | {"markersize": size, "markeredgecolor": ink(), "markeredgewidth": 0.8}


def surface_style(panel: Surface, which: int, look: Look) -> dict[str, Any]:
    """Return points that are visible on every shade, or grey ones beside lines."""
    style: dict[str, Any] = {"marker": look.marker, "linestyle": "none", "zorder": 3.0}
    if panel.levels:
        return style | {"markersize": 2.5, "color": QUIET, "alpha": 0.7, "markeredgewidth": 0}
    face, rim = ("white", "black")[:: -1 if which % 2 else 1]
    return style | {"markersize": 4.0, "markerfacecolor": face, "markeredgecolor": rim, "markeredgewidth": 0.7}


def strip_style(strip: Strip, look: Look | None) -> dict[str, Any]:
    """Return the style of an area: grey and hatched for chance, a colour with an edge for a finding."""
    if strip.quiet or look is None:
        return band_style("///") | {"alpha": 0.3}
    return {"facecolor": color_of(look), "edgecolor": color_of(look), "alpha": 0.55, "lw": 0.8, "zorder": 1.2}


def bar_style(look: Look, which: int) -> dict[str, Any]:
    """Return colour, edge and hatches of a bar."""
    hatch = HATCHES[which % len(HATCHES)]
    return {"facecolor": color_of(look), "edgecolor": ink(), "alpha": 0.75, "lw": 0.6, "hatch": hatch}


def cell_style(value: float) -> dict[str, Any]:
    """Return the shade of a cell of a heat map, of a value from 0 to 1."""
    opacity = _HEAT * min(max(value, 0.0), 1.0) ** _FAINT
    return {"facecolor": (SHADES["series-1"].light, opacity), "edgecolor": edge(), "lw": 0.4}


def band_style(hatch: str) -> dict[str, Any]:
    """Return a grey area with hatches, for a range."""
    return {"facecolor": edge(), "edgecolor": edge(), "alpha": 0.25, "lw": 0, "hatch": hatch, "zorder": 0.5}


def mark_style(which: int) -> dict[str, Any]:
    """Return the dashes of a line across a picture."""
    return {"color": ink(), "linewidth": 1.1, "linestyle": _MARK_DASHES[which % len(_MARK_DASHES)], "zorder": 1.5}
