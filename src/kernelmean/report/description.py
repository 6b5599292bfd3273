"""The description of a value, from which terminal output, notebook cards and pages are written."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from operator import gt
from textwrap import wrap
from typing import Any, ClassVar, final

from ..core.words import Unwrapped, count, cut, printable
from . import templates
from .document import Section, TextTable, program
from .html import Document

_DIGITS = re.compile(r"(?<![\d:])\d+\.\d{6,}")  # not those of a time of the day
Facts = Sequence[tuple[str, str]]
MOST_ROWS, _MOST_ON_PAGE = 50, 1000
"""The first rows of a grid that a page shows; it shows all that stand out, up to so many."""


@final
@dataclass(frozen=True)
class Grid:
    """A table of texts; short forms show its first rows."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    numbers: int = 1
    """Columns from here on hold numbers."""
    noun: str = "row"
    """What a row is."""
    strong: frozenset[tuple[int, int]] = frozenset()
    """Cells (row, column) that stand out."""
    mark: str = ""
    """A heading such as "differs": a page adds a column that says yes for rows with a strong cell, else no."""
    whole: bool = False
    """Whether the terminal shows all rows, for example one for every column of a table."""
    names: int = 1
    """Columns before this one hold names, which the terminal cuts with … if there is no room."""

    def left_out(self, shown: int) -> str:
        """Return in words how many rows follow the first ``shown``, or "" if none does."""
        rest = len(self.rows) - shown
        if rest <= 0:
            return ""
        marked, verb = sum(row >= shown for row in self._standing_out()), self.mark.removesuffix("s")
        if not marked:
            return f"{count(rest, self.noun)} more" + (f", not found to {verb}" if verb else "")
        others = (
            f", {rest - marked:,} that {'was' if rest - marked == 1 else 'were'} not found to" if rest > marked else ""
        )
        return f"{count(marked, self.noun)} more that {verb}{'s' if marked == 1 else ''}{others}"

    def words_on_rest(self) -> tuple[str, ...]:
        """Return the sentence on the rows that a page leaves out, if any."""
        rest = self.left_out(self.on_page())
        return (f"Left out here: {rest}.",) if rest else ()

    def table(self, caption: str = "") -> TextTable:
        """Return the table for a page: the first rows, and a column that says which of them stand out."""
        rows, header, strong = tuple(self.rows[: self.on_page()]), self.header, self._standing_out()
        if self.mark:
            k = self.names  # beside the names, in sight on a phone
            header = (*header[:k], self.mark, *header[k:])
            words = ("yes" if row in strong else "no" for row in range(len(rows)))
            rows = tuple((*row[:k], word, *row[k:]) for row, word in zip(rows, words, strict=True))
        return TextTable(
            caption or self.title, header, rows, frozenset(cell for cell in self.strong if cell[0] < len(rows))
        )

    def _standing_out(self) -> set[int]:
        return {row for row, _ in self.strong}

    def on_page(self) -> int:
        """Return how many rows a page shows: the first ones, and all up to the last that stands out."""
        return max(MOST_ROWS, min(max(self._standing_out(), default=0) + 1, _MOST_ON_PAGE))


def _short(text: str) -> str:
    return _DIGITS.sub(lambda match: f"{float(match[0]):.6g}", text)


@final
@dataclass(frozen=True)
class Description:
    """What a value is, the outcome in a sentence, facts, grids, and what else a reader should know."""

    title: str
    sentence: str = ""
    facts: Facts = ()
    grids: Sequence[Grid] = ()
    notes: Sequence[str] = ()
    details: Facts = ()
    """Facts that only some readers need; ``--verbose`` shows them."""
    detailed: Sequence[Grid] = ()
    """Grids that only some readers need."""

    def __post_init__(self) -> None:
        # no more digits than a reader needs
        legible = ((name, text if isinstance(text, Unwrapped) else _short(text)) for name, text in self.facts)
        object.__setattr__(self, "facts", tuple(legible))

    def in_detail(self) -> Description:
        """Return the description with the details among the facts, and the grids that only some readers need."""
        return replace(
            self,
            facts=(*self.facts, *self.details),
            grids=(*self.grids, *self.detailed),
            details=(),
            detailed=(),
        )

    def without(self, *names: str) -> list[tuple[str, str]]:
        """Return the facts but those of some names, which a page shows elsewhere."""
        return [fact for fact in self.facts if fact[0] not in names]

    def document(self) -> Document:
        """Return the page with exactly this content."""
        sections = [
            Section(grid.title, grid.words_on_rest(), tables=(grid.table(),)) for grid in self.grids if grid.rows
        ]
        if self.facts:
            sections.append(Section("What it rests on", settings=tuple(self.facts)))
        if self.notes:
            sections.append(Section("Notes", items=tuple(self.notes)))
        return Document(self.title, (), tuple(sections), (program(),), self.sentence)


class Shown(ABC):
    """A value that describes itself: ``print`` shows it in at most 80 columns, a notebook shows a card."""

    holds: ClassVar[tuple[type[Any], ...] | None] = None
    """The classes of its parts, if it can be saved to files."""

    @abstractmethod
    def describe(self) -> Description:
        """Return the description."""

    def summary(self) -> str:
        """Return what ``print`` and the terminal show, in at most 80 columns."""
        return as_text(self.describe())

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str | None:
        """Return the card that a notebook shows; None without the extra "plot", so that the text is shown."""
        return as_card(self.describe()) if templates.available() else None


# -- as text for a terminal of 80 columns: the outcome first, then facts, tables and notes -----------------------------


WIDTH = 80
_ROWS, _NARROWEST, _SHORTEST_NAME = 10, 6, 16


def as_text(description: Description) -> str:
    """Return a description as lines of at most 80 columns.

    Examples
    --------
    >>> grid = Grid("Columns", ("column", "p"), [("dose", "0.5")])
    >>> print(as_text(Description("A test", "They differ.", [("rows", "3")], [grid], ["one row left out"])))
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
    width = max((len(name) for name, _ in description.facts), default=0)
    facts = [wrapped(text, f"  {name:<{width}}  ", " " * (width + 4)) for name, text in description.facts]
    blocks += [[line for lines in facts for line in lines]] if facts else []
    blocks += [list(_grid(grid)) for grid in description.grids if grid.rows]
    lines = [line for block in blocks for line in ("", *block)][1:]
    return "\n".join([*lines, *noted(description.notes)])


def noted(texts: Sequence[str]) -> list[str]:
    """Return notes as lines."""
    return [line for text in texts for line in wrapped(text, "  note: ", "    ")]


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """Return a text as lines of at most 80 columns; the first begins with ``first``, others with ``rest``.

    Examples
    --------
    >>> command = "kernelmean compare before.csv after.csv --columns 'age (years),height (cm),weight (kg),sex'"
    >>> len(wrapped(command)), wrapped(Unwrapped(command)) == [command]
    (2, True)
    """
    if isinstance(text, Unwrapped):
        return [first + printable(text)]
    options = {"break_on_hyphens": False, "initial_indent": first, "subsequent_indent": rest}
    return wrap(printable(text), WIDTH, **options) or [first.rstrip()]  # type: ignore[arg-type]


def _grid(grid: Grid) -> Iterator[str]:
    """Yield the title, the first rows with numbers aligned right, and how many more there are."""
    most = len(grid.rows) if grid.whole else _ROWS
    shown = [tuple(map(printable, cells)) for cells in (grid.header, *grid.rows[:most])]
    widths = _fitted(zip(*shown, strict=True), grid.names)
    yield from wrapped(grid.title)
    for row in shown:
        fits = enumerate(zip(row, widths, strict=True))
        cells = [_lines(cell, width, name=k < grid.names) for k, (cell, width) in fits]
        for line in zip_longest(*cells, fillvalue=""):
            beside = enumerate(zip(line, widths, strict=True))
            placed = (text.ljust(width) if k < grid.numbers else text.rjust(width) for k, (text, width) in beside)
            yield f"  {'  '.join(placed)}".rstrip()
    if rest := grid.left_out(most):
        yield from wrapped(f"and {rest} (to_frame() or --json FILE has all)", "  ", "    ")


def _lines(cell: str, width: int, *, name: bool) -> list[str]:
    """Return the lines of a cell; a name has one line, which is cut if it is too long."""
    if len(cell) <= width or name:
        return [cut(cell, width)]
    return wrap(cell, width, break_on_hyphens=False)


def _fitted(columns: Iterable[Sequence[str]], names: int) -> list[int]:
    """Return widths of columns that fit the terminal, narrowing the widest.

    First the heads of columns are wrapped, then names are cut, then cells are wrapped, and last their words are broken.
    """
    cells = list(columns)
    widths = [max(map(len, column)) for column in cells]
    words = [max(len(word) for cell in column for word in cell.split() or [""]) for column in cells]
    whole = [max([*map(len, rows), *map(len, head.split())], default=0) for head, *rows in cells]
    whole[:names] = widths[:names]
    cut_names = [min(width, _SHORTEST_NAME) for width in widths[:names]]
    narrow = [_NARROWEST] * len(cells)
    for least in (whole, [*cut_names, *whole[names:]], [*cut_names, *words[names:]], narrow):
        while sum(widths) + 2 * len(widths) > WIDTH and any(map(gt, widths, least)):
            widest = max(range(len(cells)), key=lambda k: (widths[k] > least[k], widths[k]))
            widths[widest] -= 1
    return widths


# -- for notebooks: a card in HTML, which takes its colours from the page around it ------------------------------------


_LONGEST_OF_CARD, _ROWS_OF_CARD = 120, 8


def as_card(description: Description) -> str:
    """Return a description as HTML: the title, the outcome in one sentence, facts, tables, and notes to unfold.

    It loads nothing and runs no script.

    Examples
    --------
    >>> text = as_card(Description("A <test>", facts=[("p-value", "0.01")], notes=["exact"]))
    >>> "<strong>A &lt;test&gt;</strong>" in text, "<summary>1 note</summary>" in text
    (True, True)
    """
    return templates.filled("card.html", said=description, cut=cut, longest=_LONGEST_OF_CARD, most=_ROWS_OF_CARD)
