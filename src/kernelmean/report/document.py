"""What a report says, without how it looks: sections of words, verdicts, tables and charts; names of places in it."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from ..core.words import count

if TYPE_CHECKING:
    from .html import Document


@dataclass(frozen=True)
class TextTable:
    """Cells of text under a header; ``emphasis`` names the cells (row, column) that are the best of theirs."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    emphasis: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Curve:
    """A line with its points; ``errors`` are standard errors, ``dashed`` a line for reference."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    dashed: bool = False


@dataclass(frozen=True)
class Band:
    """A shaded strip between two values of y: an interval that a level has to lie in."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Strip:
    """An area between two heights at every x; ``quiet`` for what is chance and not a finding."""

    label: str
    x: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    quiet: bool = False


@dataclass(frozen=True)
class Steps:
    """The outline of a histogram: one height between every two of the ``edges``."""

    label: str
    edges: tuple[float, ...]
    heights: tuple[float, ...]


@dataclass(frozen=True)
class Points:
    """A cloud of points, such as the rows of a table in two columns."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Ticks:
    """The rows of a sample as short lines at the edge of the axes: at the top, or at the bottom."""

    label: str
    x: tuple[float, ...]
    top: bool = True


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...] = ()
    bands: tuple[Band, ...] = ()
    marks: tuple[tuple[str, float], ...] = ()
    """Labels and places of vertical lines."""
    x_log: bool = False
    y_log: bool = False
    strips: tuple[Strip, ...] = ()
    steps: tuple[Steps, ...] = ()
    points: tuple[Points, ...] = ()
    ticks: tuple[Ticks, ...] = ()
    """In the looks of lines and areas of the same label."""
    x_falls: bool = False
    """Whether the largest x stands at the left."""
    y_range: tuple[float, float] | None = None
    """What is shown of y, where curves rise far above what matters."""


@dataclass(frozen=True)
class Surface:
    """Heights over two axes: shades around 0, or lines where ``levels`` are given; ``chance`` is hatched below 0."""

    title: str
    x_label: str
    y_label: str
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    """One row for every y."""
    levels: tuple[float, ...] = ()
    chance: tuple[tuple[float, ...], ...] = ()
    points: tuple[Points, ...] = ()


@dataclass(frozen=True)
class Bars:
    """Values of names, one horizontal bar beside another for every series: the shares of categories."""

    title: str
    x_label: str
    names: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]
    """Labels, and one value of every name."""
    notes: tuple[str, ...] = ()
    """What is written at the ends of the bars of a single series."""


@dataclass(frozen=True)
class HeatMap:
    """Cells between named rows and columns, the darker the larger their value from 0 to 1; None leaves a cell empty."""

    title: str
    value_label: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    stars: frozenset[tuple[int, int]] = frozenset()
    """Cells (row, column) that carry a star."""
    star_label: str = ""


AnyPanel = Panel | Surface | Bars | HeatMap


@dataclass(frozen=True)
class Chart:
    """Panels side by side under a title; ``text`` says in words what is to be seen, for who cannot see it."""

    name: str
    """A file name without its ending."""
    title: str
    panels: tuple[AnyPanel, ...]
    text: str


@dataclass(frozen=True)
class Verdict:
    """An outcome that a rule reached from numbers, with the numbers."""

    claim: str
    outcome: str
    """reproduced, same ordering, not reproduced, holds, fails, undecided (measured, but the trials are too few to tell
    either way), or not measured."""
    evidence: str
    rule: str


@dataclass(frozen=True)
class Section:
    """A part of a document, in the order in which it is read: words, verdicts, tables and charts, settings.

    ``items`` are shown as a list after the paragraphs.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    tables: tuple[TextTable, ...] = ()
    charts: tuple[Chart, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    items: tuple[str, ...] = ()


def program() -> tuple[str, str]:
    """Return what makes pages, by its name and version."""
    name = __package__.partition(".")[0]
    return "Program", f"{name} {sys.modules[name].__version__}"


# -- what the writers of documents share: signs of outcomes, columns of numbers ----------------------------------------


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
    """Say of each column whether all its filled cells begin with a number; raise where a row has other cells."""
    for row in table.rows:
        if len(row) != len(table.header):
            raise ValueError(
                f"table {table.caption!r}: the row {row!r} has {len(row)} cells, the header {len(table.header)}"
            )
    columns = [[row[k] for row in table.rows if row[k].strip()] for k in range(len(table.header))]
    return [bool(cells) and all(_NUMBER.match(cell) or cell in "–—-" for cell in cells) for cells in columns]


_OF_WORDS = ("L", "M", "Nd", "Pc")
"""The categories of letters, marks on them, digits, and what joins words as _ does."""


@final
class Anchors:
    """Gives every text a name that no other has.

    Examples
    --------
    >>> anchors = Anchors()
    >>> [anchors.take(title) for title in ("Table 3: NLL, σ² = 0", "Summary", "Summary")]
    ['table-3-nll-σ--0', 'summary', 'summary-1']
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, text: str) -> str:
        """Return the name: lower case, spaces as hyphens, without signs; numbered when it was taken before."""
        signs = text.strip().lower()
        kept = (sign for sign in signs if sign in "- " or unicodedata.category(sign).startswith(_OF_WORDS))
        stem = "".join(kept).replace(" ", "-") or "part"
        name, number = stem, 0
        while name in self._taken:
            number += 1
            name = f"{stem}-{number}"
        self._taken.add(name)
        return name
