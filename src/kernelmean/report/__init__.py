"""Documents of text, tables and charts, written as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import lazy as _lazy
from .chart_texts import describe, labels, numbers
from .description import Description, Grid, Shown
from .document import (
    Band,
    Bars,
    Chart,
    Curve,
    Events,
    Extent,
    HeatMap,
    Panel,
    Points,
    Section,
    Sketches,
    Steps,
    Strip,
    Surface,
    TextTable,
    Ticks,
)
from .html import Document
from .html import render as to_html
from .palette import LOOKS, SHADES, looks, variables

if TYPE_CHECKING:
    from .marginals import bins, marginal, outline, span

__all__ = [
    "LOOKS",
    "SHADES",
    "Band",
    "Bars",
    "Chart",
    "Curve",
    "Description",
    "Document",
    "Events",
    "Extent",
    "Grid",
    "HeatMap",
    "Panel",
    "Points",
    "Section",
    "Shown",
    "Sketches",
    "Steps",
    "Strip",
    "Surface",
    "TextTable",
    "Ticks",
    "bins",
    "describe",
    "labels",
    "looks",
    "marginal",
    "numbers",
    "outline",
    "span",
    "to_html",
    "variables",
]

_lazy.attach(__name__, {"marginals": "bins marginal outline span"})
