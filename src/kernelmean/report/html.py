"""Documents as one HTML file that needs no other: for a phone or a wide screen, in the light or in the dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import charts, pictures, templates
from .anchors import Anchors
from .content import OUTCOMES, UNKNOWN, check_table, numeric_columns, tally
from .document import Section, TextTable
from .figures import BARS, has_errors, numbers
from .palette import variables

if TYPE_CHECKING:
    from .page import Document


def render(document: Document) -> str:
    """Return a document as one HTML file: no script, and nothing to be loaded.

    Charts are drawn when matplotlib is there; otherwise their numbers stand in their places. The same document gives
    the same text.

    Raises
    ------
    ImportError
        When Jinja2 is not installed.
    ValueError
        When a row of a table has not as many cells as its header.

    Examples
    --------
    >>> from kernelmean.report import Document, to_html
    >>> page = to_html(Document("Title", ("In short.",), ()))
    >>> page.startswith("<!doctype html>"), "<h1>Title</h1>" in page
    (True, True)
    """
    anchors = Anchors()
    places = [anchors.take(section.title) for section in document.sections]
    main, verdicts, made_by = (anchors.take(name) for name in ("content", "verdicts", "made-by"))
    parts = [_placed(section, place, anchors) for section, place in zip(document.sections, places, strict=True)]
    page = templates.filled(
        "page.html",
        document=document,
        parts=parts,
        main=main,
        verdicts=verdicts,
        made_by=made_by,
        judged=any(section.verdicts for section in document.sections),
        counts=tally(document),
        colours=variables(),
        why_no_pictures=pictures.missing(),
        named=anchors.take,
        prepared=lambda table: _prepared(table, anchors),
        drawing=charts.drawing,
        numbers=numbers,
        has_errors=has_errors,
        bars=BARS,
        outcome=lambda verdict: OUTCOMES.get(verdict.outcome, UNKNOWN),
    )
    return f"{page}\n"


def framed(document: Document) -> str:
    """Return the page in a frame of its own, for notebooks: no script runs in it, and nothing of it gets out."""
    return templates.filled("frame.html", page=render(document), title=document.title)


@dataclass(frozen=True)
class _Placed:
    """A section with its place, and those of its verdicts."""

    section: Section
    place: str
    claims: tuple[str, ...]


def _placed(section: Section, place: str, anchors: Anchors) -> _Placed:
    claims = tuple(anchors.take(f"{place} verdict {number + 1}") for number in range(len(section.verdicts)))
    return _Placed(section, place, claims)


@dataclass(frozen=True)
class _Cell:
    """A cell: the first of a row heads it, the best of theirs are strong."""

    text: str
    number: bool
    strong: bool
    heads: bool


@dataclass(frozen=True)
class _Grid:
    """A table with its name in the page, and which of its columns hold numbers."""

    name: str
    numeric: list[bool]
    rows: list[list[_Cell]]


def _prepared(table: TextTable, anchors: Anchors) -> _Grid:
    check_table(table)
    numeric = numeric_columns(table)
    rows = [
        [
            _Cell(text, numeric[j], (i, j) in table.emphasis, j == 0 and not numeric[0] and bool(text.strip()))
            for j, text in enumerate(row)
        ]
        for i, row in enumerate(table.rows)
    ]
    return _Grid(anchors.take(table.caption), numeric, rows)
