"""Descriptions for notebooks: a card in HTML, which takes its colours from the page around it."""

from __future__ import annotations

from ..core.words import count
from .description import Description, Grid
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
_LONGEST, _ROWS = 120, 8


def render(description: Description) -> str:
    """Return a description as HTML: what it is, the outcome in a sentence, facts, tables, notes to be unfolded.

    Nothing is loaded and no script runs. Text has the colour of the page, and lines a part of it, so that the card is
    legible in the light and in the dark; without its style it is a plain table.

    Examples
    --------
    >>> text = render(Description("A <test>", facts=[("p-value", "0.01")], notes=["exact"]))
    >>> "<strong>A &lt;test&gt;</strong>" in text, "<summary>1 note</summary>" in text
    (True, True)
    """
    parts = [element("style", Markup(_STYLE)), element("p", element("strong", description.title))]
    parts += [element("p", description.sentence)] if description.sentence else []
    pairs = [_pair(name, text) for name, text in description.facts]
    parts += [element("table", element("tbody", *pairs))] if pairs else []
    parts += [part for grid in description.grids if grid.rows for part in _grid(grid)]
    if description.notes:
        items = element("ul", *(element("li", note) for note in description.notes))
        parts.append(element("details", element("summary", count(len(description.notes), "note")), items))
    return element("div", *parts, class_="km-card")


def _pair(name: str, text: str) -> Markup:
    return element("tr", element("th", name, scope="row"), element("td", _cut(text)))


def _grid(grid: Grid) -> list[Markup]:
    head = element("tr", *(element("th", name, scope="col") for name in grid.header))
    rows = [
        element("tr", *(_cell(text, number=k >= grid.numbers) for k, text in enumerate(cells)))
        for cells in grid.rows[:_ROWS]
    ]
    rest = grid.left_out(_ROWS)
    more = [element("p", f"and {rest}")] if rest else []
    table = element("table", element("thead", head), element("tbody", *rows), class_="grid")
    return [element("p", grid.title), table, *more]


def _cell(text: str, *, number: bool) -> Markup:
    return element("td", _cut(text), class_="number") if number else element("td", _cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
