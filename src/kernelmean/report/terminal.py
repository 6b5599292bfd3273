"""Descriptions as text for a terminal of 80 columns: the outcome first, then facts, tables and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from operator import gt
from textwrap import wrap

from ..core.option_names import written
from ..core.words import printable
from .description import Description, Grid

WIDTH = 80
_ROWS, _NARROWEST = 10, 6


def render(description: Description) -> str:
    """Return a description as lines of at most 80 columns.

    Examples
    --------
    >>> grid = Grid("Columns", ("column", "p"), [("dose", "0.5")])
    >>> print(render(Description("A test", "They differ.", [("rows", "3")], [grid], ["one row left out"])))
    They differ.
    <BLANKLINE>
      rows  3
    <BLANKLINE>
    Columns
      column    p
      dose    0.5
      note: one row left out
    """
    blocks = [wrapped(description.sentence or description.title)]
    blocks += [list(_facts(description.facts))] if description.facts else []
    blocks += [list(_grid(grid)) for grid in description.grids if grid.rows]
    lines = [line for block in blocks for line in ("", *block)][1:]
    return "\n".join([*lines, *notes(description.notes)])


def notes(texts: Sequence[str]) -> list[str]:
    """Return notes as lines."""
    return [line for text in texts for line in wrapped(text, "  note: ", "    ")]


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """Return a text as lines of at most 80 columns, of which only the first begins with ``first``."""
    options = {"break_on_hyphens": False, "initial_indent": first, "subsequent_indent": rest}
    return wrap(printable(text), WIDTH, **options) or [first.rstrip()]  # type: ignore[arg-type]


def _facts(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        yield from wrapped(text, f"  {name:<{width}}  ", " " * (width + 4))


def _grid(grid: Grid) -> Iterator[str]:
    """Yield the title, the first rows with numbers to the right, and how many more there are."""
    shown = [tuple(map(printable, cells)) for cells in (grid.header, *grid.rows[:_ROWS])]
    widths = _fitted(zip(*shown, strict=True))
    yield from wrapped(grid.title)
    for row in shown:
        fits = zip(row, widths, strict=True)
        cells = [[cell] if len(cell) <= width else wrap(cell, width, break_on_hyphens=False) for cell, width in fits]
        for line in zip_longest(*cells, fillvalue=""):
            yield f"  {'  '.join(_placed(line, widths, grid.numbers))}".rstrip()
    if rest := grid.left_out(_ROWS):
        yield from wrapped(f"and {rest} ({written('to_frame()', '--json FILE')} has all)", "  ", "    ")


def _placed(line: Sequence[str], widths: Sequence[int], numbers: int) -> Iterator[str]:
    """Yield the cells of a line in the widths of their columns, numbers to the right."""
    for k, (text, width) in enumerate(zip(line, widths, strict=True)):
        yield text.ljust(width) if k < numbers else text.rjust(width)


def _fitted(columns: Iterable[Sequence[str]]) -> list[int]:
    """Return widths of columns that fit the terminal: the widest are made narrower, words broken only at last."""
    cells = list(columns)
    widths = [max(map(len, column)) for column in cells]
    words = [max(len(word) for cell in column for word in cell.split() or [""]) for column in cells]
    for least in (words, [_NARROWEST] * len(cells)):
        while sum(widths) + 2 * len(widths) > WIDTH and any(map(gt, widths, least)):
            widest = max(range(len(cells)), key=lambda k: (widths[k] > least[k], widths[k]))
            widths[widest] -= 1
    return widths
