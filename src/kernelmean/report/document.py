"""The content of a report, without its looks: sections of words, tables and charts, and their anchors."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final


@dataclass(frozen=True)
class TextTable:
    """Cells of text under a header; ``emphasis`` names the cells (row, column) that stand out."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    emphasis: frozenset[tuple[int, int]] = frozenset()
    sketches: tuple[Sketches, ...] = ()
    """Columns of small pictures."""
    folded: str = ""
    """What a page shows of the table until it is unfolded; "" shows all of it."""

    def take(self, rows: Sequence[int]) -> TextTable:
        """Return the table of some rows, in this order."""
        cells = frozenset((k, column) for k, row in enumerate(rows) for old, column in self.emphasis if old == row)
        sketches = (replace(one, pictures=tuple(one.pictures[row] for row in rows)) for one in self.sketches)
        return replace(self, rows=tuple(self.rows[row] for row in rows), emphasis=cells, sketches=tuple(sketches))


@dataclass(frozen=True)
class Sketches:
    """A column of small pictures under a head, one for every row of a table; None leaves a cell empty."""

    head: str
    pictures: tuple[AnySketch | None, ...]
    after: int = 1
    """How many columns of text stand before it."""


@dataclass(frozen=True)
class Extent:
    """A value and its interval on an axis from -``reach`` to ``reach``."""

    title: str
    value: float
    low: float
    high: float
    reach: float


@dataclass(frozen=True)
class Curve:
    """A line with its points; ``errors`` are standard errors, ``dashed`` marks a reference line."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    dashed: bool = False


@dataclass(frozen=True)
class Band:
    """A shaded strip between two values of y, such as the interval that a level must lie in."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Strip:
    """An area between two heights at every x; ``quiet`` marks chance, not a finding."""

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
    names: tuple[str, ...] = ()
    """Texts beside the points of a map, whose two axes then have one scale."""


@dataclass(frozen=True)
class Ticks:
    """The rows of a sample as short lines at the top or bottom edge of the axes."""

    label: str
    x: tuple[float, ...]
    top: bool = True


@dataclass(frozen=True)
class Events:
    """Vertical lines of one look, with a name above each of them."""

    label: str
    x: tuple[float, ...]
    names: tuple[str, ...]


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
    blank: tuple[float, ...] = ()
    """Beside the steps: the share of rows of each of them that have no value."""
    points: tuple[Points, ...] = ()
    ticks: tuple[Ticks, ...] = ()
    """They look like the lines and areas with the same label."""
    x_falls: bool = False
    """Whether x falls from left to right."""
    y_range: tuple[float, float] | None = None
    """The range of y to show, if curves rise far above what matters."""
    events: Events | None = None
    x_days: bool = False
    """Whether x counts days since 1970, and is written as dates."""


@dataclass(frozen=True)
class Surface:
    """Heights over two axes: shades around 0, or lines if there are ``levels``; hatched where ``chance`` is below 0."""

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
    """Horizontal bars for named values, one for every series, such as the shares of categories."""

    title: str
    x_label: str
    names: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]
    """Labels, each with one value for every name."""
    notes: tuple[str, ...] = ()
    """Texts at the ends of the bars of a single series."""


@dataclass(frozen=True)
class HeatMap:
    """Cells of named rows and columns, darker for larger values from 0 to 1; None leaves a cell empty."""

    title: str
    value_label: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    stars: frozenset[tuple[int, int]] = frozenset()
    """Cells (row, column) that carry a star."""
    star_label: str = ""


AnyPanel = Panel | Surface | Bars | HeatMap
AnySketch = Panel | Bars | Extent


@dataclass(frozen=True)
class Chart:
    """Panels side by side under a title; ``text`` says in words what they show, for readers who cannot see them."""

    name: str
    """A part of its anchor on a page."""
    title: str
    panels: tuple[AnyPanel, ...]
    text: str


@dataclass(frozen=True)
class Section:
    """A part of a document, in reading order: words, tables and charts, settings.

    ``items`` are shown as a list after the paragraphs.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[TextTable, ...] = ()
    charts: tuple[Chart, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    items: tuple[str, ...] = ()


def program() -> tuple[str, str]:
    """Return the name and version of the program that makes pages."""
    name = __package__.partition(".")[0]
    return "Program", f"{name} {sys.modules[name].__version__}"


# -- what the writers of documents share: columns of numbers, anchors --------------------------------------------------


_NUMBER = re.compile(r"[+\-−<>≤≥~≈(\s]*\.?\d")


def numeric_columns(table: TextTable) -> list[bool]:
    """Return for each column whether all its filled cells begin with a number; raise if a row has other cells."""
    for row in table.rows:
        if len(row) != len(table.header):
            raise ValueError(
                f"table {table.caption!r}: the row {row!r} has {len(row)} cells, the header {len(table.header)}"
            )
    columns = [[row[k] for row in table.rows if row[k].strip()] for k in range(len(table.header))]
    return [bool(cells) and all(_NUMBER.match(cell) or cell in "–—-" for cell in cells) for cells in columns]


_OF_WORDS = ("L", "M", "Nd", "Pc")
"""The Unicode categories of letters, marks, digits, and connectors such as _."""


@final
class Anchors:
    """Gives every text a unique name.

    Examples
    --------
    >>> anchors = Anchors()
    >>> [anchors.take(title) for title in ("Table 3: NLL, σ² = 0", "Summary", "Summary")]
    ['table-3-nll-σ--0', 'summary', 'summary-1']
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, text: str) -> str:
        """Return the name: lower case, with hyphens for spaces, without signs, numbered if it is taken."""
        signs = text.strip().lower()
        kept = (sign for sign in signs if sign in "- " or unicodedata.category(sign).startswith(_OF_WORDS))
        stem = "".join(kept).replace(" ", "-") or "part"
        name, number = stem, 0
        while name in self._taken:
            number += 1
            name = f"{stem}-{number}"
        self._taken.add(name)
        return name
