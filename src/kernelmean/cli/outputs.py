"""What a command writes, in which form, and checks of the targets before work begins."""

from __future__ import annotations

import csv
import io
import json as json_
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from .. import __version__
from ..core.array import Array
from ..core.cells import is_float
from ..core.disk import is_special, plain, write_file
from ..core.words import printable
from ..estimators.files import check_ending
from ..report import Document, html, pictures, templates
from ..report.description import Description, as_text, noted
from ..report.document import program
from ..tables.files import matching
from .spelling import spelled_content, spelled_description, spelled_page

SCREEN = "-"
_ON_SCREEN = ("--html", "--csv", "--json")
"""Options that take - for the screen."""

_NO_PAGES = (".pdf", ".docx")
"""Endings of files that hold no page of HTML."""

Target = str | Path | None


def check_targets(outputs: Mapping[str, Target], inputs: Iterable[Target]) -> None:
    """Raise if an output cannot be written, or would overwrite another output, an input or a foreign file.

    Parameters
    ----------
    outputs : mapping
        From options to the files that they name.
    inputs : iterable
        What is read: files, folders, and names of built-in tables.
    """
    named = {option: str(path) for option, path in outputs.items() if path is not None}
    if list(named.values()).count(SCREEN) > 1:
        raise ValueError("two outputs are to go to the screen (-); write one of them to a file")
    read = [file for path in map(str, filter(None, inputs)) if path != SCREEN for file in matching(path)]
    taken = {_place(path): f"{path!r}, which is read" for path in read}
    folders = [Path(_place(path)) for path in read if os.path.isdir(path)]
    for option, path in named.items():
        if path == SCREEN and option not in _ON_SCREEN:
            raise ValueError(f"{option} writes a file, not to the screen (-); write its name")
        if option == "--html" and Path(path).suffix.lower() in _NO_PAGES:
            raise ValueError(f"--html {path}: it writes a page for a browser; write a name that ends in .html")
        check_target(path)
        if path not in (SCREEN, os.devnull):
            _take(taken, folders, path, option)
    if named.get("--save") is not None:
        check_ending(named["--save"])


def check_target(path: Target) -> None:
    """Raise if a file cannot be written there; create nothing."""
    if path is None or str(path) == SCREEN:
        return
    target = Path(path)
    if not target.name or target.is_dir():
        raise ValueError(f"{str(path)!r} is a folder or empty; write the name of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to write {target.name!r} in; make it first")
    if not is_special(target) and not os.access(target.resolve().parent, os.W_OK):
        raise PermissionError(
            f"the folder {str(target.parent)!r} cannot be written in; write {target.name!r} elsewhere"
        )


def _take(taken: dict[str, str], folders: Sequence[Path], path: str, option: str) -> None:
    """Record that an option writes a file; raise if the file is taken."""
    place = _place(path)
    if place in taken:
        raise ValueError(f"{path!r} is named twice: {option} would write over {taken[place]}; rename it")
    if any(folder in Path(place).parents for folder in folders):
        raise ValueError(f"{option} {path} lies in a folder that is read; write it elsewhere")
    taken[place] = f"what {option} writes"


def _place(path: str | Path) -> str:
    """Return one text for all spellings of a path: links, relative paths, letters that a system treats alike."""
    return unicodedata.normalize("NFC", os.path.realpath(path)).casefold()


_FORMULA = re.compile("[=+\\-@＝＋－＠\t\r\n]")
"""The first character of a cell that a spreadsheet would run: of a formula, or a line break."""


def csv_cell(cell: Any) -> Any:
    """Return a CSV cell that a spreadsheet shows but does not run: text like a formula gets an apostrophe in front.

    Numbers, and text that is a number, stay as they are; NaN becomes an empty cell. Every line break becomes a newline,
    which the writer quotes: a bare carriage return would begin another row.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("a=1"), csv_cell("-2.5"), csv_cell(-2.5)
    ("'=1+1", 'a=1', '-2.5', -2.5)
    """
    if not isinstance(cell, str):
        return None if isinstance(cell, float) and math.isnan(cell) else cell
    text = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if _FORMULA.match(text) and not (is_float(text) and text == text.strip()) else text


class AnyResult(Protocol):
    """What commands show and write."""

    def verdict(self) -> str:
        """Return the outcome in one sentence, with which the description begins."""

    def describe(self) -> Description:
        """Return the description."""

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` writes."""

    def rows(self) -> Sequence[dict[str, Any]]:
        """Return what ``--csv`` writes."""

    def document(self) -> Document:
        """Return the page."""


@dataclass(frozen=True)
class Output:
    """What a command was asked to write: pages, numbers as CSV and JSON, a picture, lines on the screen.

    One of the outputs may be "-", the screen; then nothing else is printed.
    """

    html: str | None = None
    csv: str | None = None
    json: str | None = None
    plot: str | None = None
    quiet: bool = False
    verbose: bool = False

    def check(self, *inputs: Target, **others: Target) -> None:
        """Raise if a file cannot be written, or would overwrite another output or one of the ``inputs``.

        ``others`` are further outputs by the names of their options.
        """
        if self.html is not None:
            templates.check()
        options = {"html": self.html, "csv": self.csv, "json": self.json, "plot": self.plot, **others}
        check_targets({f"--{name.replace('_', '-')}": path for name, path in options.items()}, inputs)
        if self.plot is not None:
            pictures.check_format(self.plot)

    def drawn(self, what: str, plot: Callable[[], Any]) -> list[str]:
        """Draw a picture if one is asked for, and return the note that says what it shows."""
        if self.plot is None:
            return []
        pictures.save(plot(), self.plot)
        return [f"{what} drawn in {self.plot}"]

    def put(self, result: AnyResult, files: Sequence[str] = (), page: Document | None = None) -> None:
        """Print a result, and write what was asked for; ``files`` are notes on files already written."""
        if self.quiet and (self.json, self.csv, self.html) == (None, None, None):
            print(printable(result.verdict()))
            return
        if self.html is not None and page is None:
            page = result.document()
        self.write(result.describe(), result.to_dict, result.rows, files, page)

    def write(
        self,
        description: Description,
        content: Callable[[], dict[str, Any]],
        rows: Callable[[], Sequence[dict[str, Any]]],
        files: Sequence[str] = (),
        page: Document | None = None,
    ) -> None:
        """Print a description (only its sentence if ``quiet``), and write what was asked for."""
        description = spelled_description(replace(description, notes=tuple(dict.fromkeys(description.notes))))
        texts: dict[str, str] = {}
        if self.json is not None:
            whole = plain({**spelled_content(content()), "notes": [*description.notes, *files], "version": __version__})
            texts[self.json] = json_.dumps(whole, indent=2, allow_nan=False) + "\n"
        if self.csv is not None:
            texts[self.csv] = as_csv(spelled_content(rows()))
        if self.html is not None and page is not None:
            texts[self.html] = html.render(spelled_page(page))
        for path, text in texts.items():
            if path != SCREEN:
                write_file(path, text.encode())
        if SCREEN in texts:
            print(texts[SCREEN], end="")
            return
        if self.quiet:
            print(printable(description.sentence))
            return
        if self.verbose:
            description = replace(description, details=(*description.details, ("program", program()[1]))).in_detail()
        named = {"numbers": self.json, "rows": self.csv, "report": self.html}
        written = [*files, *(f"{what} written to {path}" for what, path in named.items() if path is not None)]
        written += [f"without figures: {pictures.missing()}"] if page is not None and pictures.missing() else []
        print("\n".join([as_text(description), *noted(written)]))


def write_rows(values: Array, names: Sequence[str], path: Path) -> None:
    """Write a table of numbers as CSV; every number reads back unchanged."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([csv_cell(name) for name in names])
    writer.writerows(values.tolist())
    write_file(path, text.getvalue().encode())


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV with the columns of all; unknown cells are empty, and no text is a formula.

    Examples
    --------
    >>> as_csv([{"column": "a, b", "p": 0.5}, {"column": "c", "p": math.nan, "margin": 1.0}]).splitlines()
    ['column,p,margin', '"a, b",0.5,', 'c,,1.0']
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: csv_cell(cell) for key, cell in row.items()} for row in rows)
    return text.getvalue()
