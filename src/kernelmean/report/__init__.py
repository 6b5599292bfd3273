"""Documents of words, tables, charts and verdicts, written as one HTML file or as Markdown."""

from __future__ import annotations

from .content import counted
from .document import (
    Band,
    Bars,
    Chart,
    Curve,
    HeatMap,
    Panel,
    Points,
    Section,
    Steps,
    Strip,
    Surface,
    TextTable,
    Ticks,
    Verdict,
)
from .html import render as to_html
from .markdown import render as to_markdown
from .page import Document

__all__ = [
    "Band",
    "Bars",
    "Chart",
    "Curve",
    "Document",
    "HeatMap",
    "Panel",
    "Points",
    "Section",
    "Steps",
    "Strip",
    "Surface",
    "TextTable",
    "Ticks",
    "Verdict",
    "counted",
    "to_html",
    "to_markdown",
]
