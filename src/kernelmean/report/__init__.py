"""Documents of words, tables, charts and verdicts, written as one HTML file or as Markdown."""

from __future__ import annotations

from .document import Band, Chart, Curve, Document, Panel, Section, Table, Verdict

__all__ = ["Band", "Chart", "Curve", "Document", "Panel", "Section", "Table", "Verdict"]
