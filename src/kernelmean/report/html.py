"""Documents as one HTML file that needs no other, for phones and wide screens, in light and dark mode."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

from . import page_charts, pictures, templates
from .chart_texts import BARS, has_errors, numbers
from .document import Anchors, Section, numeric_columns
from .inline_svg import full, sketch
from .palette import variables


@dataclass(frozen=True)
class Document:
    """A title, a summary in plain words, sections, and how it was made (versions, seed, commit).

    ``headline`` is the one sentence that a reader in a hurry needs, ``strip`` its figures. ``overview`` answers the
    next questions, each in a few lines: before the summary, or after the first section if there is a strip.
    """

    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    made_by: tuple[tuple[str, str], ...] = ()
    headline: str = ""
    overview: tuple[tuple[str, tuple[str, ...]], ...] = ()
    strip: tuple[tuple[str, str], ...] = ()

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, for notebooks: it runs no script and leaves the notebook alone."""
        return templates.filled("frame.html", page=render(self), title=self.title)


def render(document: Document) -> str:
    """Return a document as one HTML file that loads nothing.

    Charts are drawn if matplotlib is installed; otherwise you see their numbers instead. The only script sorts a table
    when you click the head of a column; without scripts, tables stay as they are. The same document gives the same
    text.

    Raises
    ------
    ImportError
        When Jinja2 is not installed.
    ValueError
        When a row of a table does not have as many cells as its header.

    Examples
    --------
    >>> from kernelmean.report import Document, to_html
    >>> page = to_html(Document("Title", ("In short.",), ()))
    >>> page.startswith("<!doctype html>"), "<h1>Title</h1>" in page
    (True, True)
    """
    anchors = Anchors()
    places = [anchors.take(section.title) for section in document.sections]
    main, made_by = (anchors.take(name) for name in ("content", "made-by"))
    parts = [*zip(places, document.sections, strict=True)]
    script = templates.source("sort.js")
    page = templates.filled(
        "page.html",
        script=script,
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        document=document,
        parts=parts,
        main=main,
        made_by=made_by,
        colours=variables(),
        why_no_pictures=pictures.missing(),
        named=anchors.take,
        numeric_columns=numeric_columns,
        drawing=page_charts.drawing,
        sketch=sketch,
        full=full,
        numbers=numbers,
        has_errors=has_errors,
        bars=BARS,
    )
    return f"{page}\n"
