"""What the writers of documents share: signs of outcomes, columns of numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.words import count
from .document import TextTable, Verdict

if TYPE_CHECKING:
    from .page import Document

OUTCOMES = {
    "reproduced": ("✓", "good"),
    "holds": ("✓", "good"),
    "same ordering": ("≈", "part"),
    "not reproduced": ("✗", "bad"),
    "fails": ("✗", "bad"),
    "undecided": ("?", "none"),
    "not measured": ("–", "none"),
}
"""The sign of an outcome, and its part in the palette."""
UNKNOWN = ("•", "none")
_NUMBER = re.compile(r"[+\-−<>≤≥~≈(\s]*\.?\d")


def tally(document: Document) -> str:
    """Return how often each outcome was reached, in words."""
    verdicts = [verdict for section in document.sections for verdict in section.verdicts]
    return f"{count(len(verdicts), 'verdict')}, each by a rule from the numbers: {counted(verdicts)}."


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many verdicts have each outcome, in words.

    Examples
    --------
    >>> counted([Verdict("It adds up", outcome, "", "") for outcome in ("fails", "holds", "fails")])
    '1 holds, 2 fails'
    """
    counts = Counter(verdict.outcome for verdict in verdicts)
    order = [*OUTCOMES, *sorted(counts.keys() - OUTCOMES.keys())]
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in order if counts[outcome])


def numeric_columns(table: TextTable) -> list[bool]:
    """Say of each column whether all its filled cells begin with a number."""
    columns = [[row[k] for row in table.rows if k < len(row) and row[k].strip()] for k in range(len(table.header))]
    return [bool(cells) and all(_NUMBER.match(cell) or cell in "–—-" for cell in cells) for cells in columns]


def check_table(table: TextTable) -> None:
    """Raise when a row has not as many cells as the header."""
    for row in table.rows:
        if len(row) != len(table.header):
            raise ValueError(
                f"table {table.caption!r}: the row {row!r} has {len(row)} cells, the header {len(table.header)}"
            )
