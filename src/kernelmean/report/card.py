"""Descriptions for notebooks: a card in HTML, which takes its colours from the page around it."""

from __future__ import annotations

from . import templates
from .description import Description

_LONGEST, _ROWS = 120, 8


def render(description: Description) -> str:
    """Return a description as HTML: what it is, the outcome in a sentence, facts, tables, notes to be unfolded.

    Nothing is loaded and no script runs.

    Examples
    --------
    >>> text = render(Description("A <test>", facts=[("p-value", "0.01")], notes=["exact"]))
    >>> "<strong>A &lt;test&gt;</strong>" in text, "<summary>1 note</summary>" in text
    (True, True)
    """
    return templates.filled("card.html", said=description, cut=_cut, most=_ROWS)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
