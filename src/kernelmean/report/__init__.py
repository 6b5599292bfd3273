"""Documents of words, tables, charts and verdicts, written as one HTML file or as Markdown."""

from __future__ import annotations

from .document import (
    AnyPanel,
    Band,
    Bars,
    Chart,
    Curve,
    Document,
    HeatMap,
    Panel,
    Points,
    Section,
    Steps,
    Strip,
    Table,
    Verdict,
)

__all__ = [
    "AnyPanel",
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
    "Table",
    "Verdict",
]
