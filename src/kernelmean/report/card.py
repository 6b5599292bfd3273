"""What notebooks show of a value: a card in HTML, which takes its colours from the page around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

from .markup import Markup, element

_LINE = "1px solid color-mix(in srgb, currentColor 30%, transparent)"
_STYLE = f"""
.km-card {{ color: inherit; border: {_LINE}; border-radius: 6px; padding: 0.5em 0.9em; max-width: 60em; }}
.km-card {{ overflow-x: auto; }}
.km-card p {{ margin: 0.3em 0; }}
.km-card table {{ border-collapse: collapse; margin: 0.5em 0; font-size: inherit; }}
.km-card table th, .km-card table td {{ text-align: left; vertical-align: top; border: 0; }}
.km-card table th, .km-card table td {{ padding: 0.15em 1.2em 0.15em 0; }}
.km-card table th {{ font-weight: 600; }}
.km-card table.grid th, .km-card table.grid td {{ border-bottom: {_LINE}; }}
.km-card table td.number {{ text-align: right; font-variant-numeric: tabular-nums; }}
"""
_LONGEST = 120
_DIGITS = re.compile(r"\d+\.\d{6,}")
"""Numbers with more digits than a reader needs."""


@final
@dataclass(frozen=True)
class Grid:
    """A table of texts under a header; columns from ``numbers`` on hold numbers.

    Attributes
    ----------
    header : tuple of str
    rows : sequence of sequence of str
    numbers : int
    left_out : int
        Rows that are not shown.
    """

    header: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    numbers: int = 1
    left_out: int = 0


def card(
    title: str,
    facts: Iterable[tuple[str, str]] = (),
    *,
    sentence: str = "",
    grid: Grid | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return a value as HTML: what it is, the outcome in a sentence, facts, a table, notes to be unfolded.

    Nothing is loaded and no script runs. Text has the colour of the page, and lines a part of it, so that the card is
    legible in the light and in the dark; without its style it is a plain table.

    Examples
    --------
    >>> text = card("A <test>", [("p-value", "0.01")], notes=["exact"])
    >>> "<strong>A &lt;test&gt;</strong>" in text, "<summary>1 note</summary>" in text
    (True, True)
    """
    parts = [element("style", Markup(_STYLE)), element("p", element("strong", title))]
    parts += [element("p", sentence)] if sentence else []
    pairs = [_pair(name, text) for name, text in facts]
    parts += [element("table", element("tbody", *pairs))] if pairs else []
    parts += _grid(grid) if grid is not None and grid.rows else []
    if notes:
        summary = f"{len(notes)} note{'s' if len(notes) > 1 else ''}"
        items = element("ul", *(element("li", note) for note in notes))
        parts.append(element("details", element("summary", summary), items))
    return element("div", *parts, class_="km-card")


def _pair(name: str, text: str) -> Markup:
    short = _DIGITS.sub(lambda number: f"{float(number[0]):.6g}", text)
    return element("tr", element("th", name, scope="row"), element("td", _cut(short)))


def _grid(grid: Grid) -> list[Markup]:
    head = element("tr", *(element("th", name, scope="col") for name in grid.header))
    rows = [
        element("tr", *(_cell(text, number=k >= grid.numbers) for k, text in enumerate(cells))) for cells in grid.rows
    ]
    more = [element("p", f"and {grid.left_out} more")] if grid.left_out > 0 else []
    return [element("table", element("thead", head), element("tbody", *rows), class_="grid"), *more]


def _cell(text: str, *, number: bool) -> Markup:
    return element("td", _cut(text), class_="number") if number else element("td", _cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
