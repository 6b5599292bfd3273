"""What a value says of itself, said once: the terminal, cards in notebooks and pages are written from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from ..core.words import count
from .document import Section, TextTable, program
from .page import Document

_DIGITS = re.compile(r"\d+\.\d{6,}")
Facts = Sequence[tuple[str, str]]
MOST_ROWS = 50
"""Of a grid on a page."""


@final
@dataclass(frozen=True)
class Grid:
    """A table of texts, of which short forms show the first rows."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    numbers: int = 1
    """Columns from here on hold numbers."""
    noun: str = "row"
    beyond: str = ""
    """What a row is, and what is to be said of rows that are left out: "which differ less"."""
    strong: frozenset[tuple[int, int]] = frozenset()
    """Cells (row, column) that stand out."""
    mark: str = ""
    """What the rows with such a cell do: on a page a column says it in words."""

    def left_out(self, shown: int) -> str:
        """Return in words how many rows there are beside the first ``shown``, "" where there is none."""
        rest = len(self.rows) - shown
        if rest <= 0:
            return ""
        return f"{count(rest, self.noun)} more" + (f", {self.beyond}" if self.beyond else "")

    def words_on_rest(self) -> tuple[str, ...]:
        """Return the sentence on the rows that a page leaves out, where there are some."""
        rest = self.left_out(MOST_ROWS)
        return (f"Left out here: {rest}.",) if rest else ()

    def table(self, caption: str = "") -> TextTable:
        """Return the table of a page: the first rows, and in words which of them stand out."""
        rows, header, strong = tuple(self.rows[:MOST_ROWS]), self.header, {row for row, _ in self.strong}
        if self.mark:
            header = (*header, self.mark)
            rows = tuple((*row, "yes" if k in strong else "no") for k, row in enumerate(rows))
        return TextTable(
            caption or self.title, header, rows, frozenset(cell for cell in self.strong if cell[0] < len(rows))
        )


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
    """Facts that only some readers ask for."""

    def __post_init__(self) -> None:
        # numbers with no more digits than a reader needs
        legible = ((name, _DIGITS.sub(lambda found: f"{float(found[0]):.6g}", text)) for name, text in self.facts)
        object.__setattr__(self, "facts", tuple(legible))

    def in_detail(self) -> Description:
        """Return the same with the details among the facts."""
        return replace(self, facts=(*self.facts, *self.details), details=())

    def document(self) -> Document:
        """Return the page that says this and no more."""
        sections = [
            Section(grid.title, grid.words_on_rest(), tables=(grid.table(),)) for grid in self.grids if grid.rows
        ]
        if self.facts:
            sections.append(Section("What it rests on", settings=tuple(self.facts)))
        if self.notes:
            sections.append(Section("Notes", items=tuple(self.notes)))
        return Document(self.title, (), tuple(sections), (program(),), self.sentence)
