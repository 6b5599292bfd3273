"""Where the output goes: the screen, and files that are checked before long work begins and written whole or not."""

from __future__ import annotations

import csv
import io
import json as json_
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import __version__
from ..core.array import Array
from ..core.disk import write_file
from ..core.words import listed, printable
from ..inference.base_result import Result
from ..report import Document, html, markdown, pictures, templates, terminal
from ..report.description import Description
from .cells import csv_cell
from .config import config_file
from .targets import MARK, SCREEN, Target, check_own, check_target, check_targets


@dataclass(frozen=True)
class Output:
    """What a command was asked to write: pages, numbers as CSV and JSON, lines on the screen.

    "-" is the screen, for one of them, which then is all that is printed; not for Markdown, which has files beside it.
    ``config`` is a note on where options came from.
    """

    html: str | None = None
    markdown: str | None = None
    csv: str | None = None
    json: str | None = None
    quiet: bool = False
    verbose: bool = False
    config: str | None = None

    @property
    def page(self) -> bool:
        """Whether a report is asked for."""
        return self.html is not None or self.markdown is not None

    def check(self, *inputs: Target, figures: Sequence[str] = (), **others: Target) -> None:
        """Raise when a file cannot be written, or would be written over another one or one of the ``inputs``.

        ``others`` are further outputs by the names of their options, and ``figures`` those of the report.
        """
        if self.html is not None:
            templates.check()
        options = {f"--{name.replace('_', '-')}": path for name, path in others.items()}
        own = {"--html": self.html, "--markdown": self.markdown, "--csv": self.csv, "--json": self.json}
        check_targets(own | options, (*inputs, config_file(self.config)), figures)

    def put(self, result: Result, page: Document | None = None, files: Sequence[str] = ()) -> None:
        """Print a result, and write what was asked for; ``files`` says which others were written."""
        self.write(result.describe(), result.to_dict(), result.rows(), page, files)

    def write(
        self,
        said: Description,
        content: dict[str, Any],
        rows: Sequence[dict[str, Any]],
        page: Document | None = None,
        files: Sequence[str] = (),
    ) -> None:
        """Print a description (with ``quiet`` its sentence), and write what was asked for."""
        said = replace(said, notes=tuple(dict.fromkeys([*([self.config] if self.config else []), *said.notes])))
        texts: dict[str, str] = {}
        told = list(files)
        said = said.in_detail() if self.verbose else said
        if self.json is not None:
            whole = plain({**content, "notes": [*said.notes, *files], "version": __version__})
            texts[self.json] = json_.dumps(whole, indent=2, allow_nan=False) + "\n"
        if self.csv is not None:
            texts[self.csv] = as_csv(rows)
        if self.html is not None and page is not None:
            texts[self.html] = html.render(page)
        drawn = write_markdown(page, Path(self.markdown)) if self.markdown is not None and page is not None else []
        for path, text in texts.items():
            if path != SCREEN:
                write_file(path, text.encode())
        if SCREEN in texts:
            print(texts[SCREEN], end="")
            return
        told += [f"report written to {path}" for path in (self.html, self.markdown) if path is not None]
        told += [f"its figures: {listed(drawn)}"] if drawn else []
        told += [f"without figures: {pictures.missing()}"] if page is not None and pictures.missing() else []
        whole_text = "\n".join([terminal.render(said), *terminal.notes(told)])
        print(printable(said.sentence) if self.quiet else whole_text)


def check_picture(path: str | None) -> None:
    """Raise for a bad ending or a missing extra when a picture is wanted, before long work begins."""
    if path is not None:
        pictures.check_format(path)
        check_target(path)


def write_rows(values: Array, names: Sequence[str], path: Path) -> None:
    """Write a table of numbers as CSV; every number reads back as it was."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([csv_cell(name) for name in names])
    writer.writerows(values.tolist())
    write_file(path, text.getvalue().encode())


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows of the same columns as CSV; what is not known is empty, and no text is a formula.

    Examples
    --------
    >>> as_csv([{"column": "a, b", "p": 0.5}, {"column": "c", "p": math.nan}]).splitlines()
    ['column,p', '"a, b",0.5', 'c,']
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: None if _unknown(cell) else csv_cell(cell) for key, cell in row.items()} for row in rows)
    return text.getvalue()


def write_markdown(page: Document, path: Path) -> list[str]:
    """Write a page as Markdown, and its figures beside it under names that begin with its own; return these names."""
    stem = path.resolve().stem
    sections = tuple(
        replace(one, charts=tuple(replace(chart, name=f"{stem}-{chart.name}") for chart in one.charts))
        for one in page.sections
    )
    with TemporaryDirectory() as folder:
        text = markdown.render(replace(page, sections=sections), folder)
        figures = {path.resolve().parent / one.name: one.read_bytes() for one in sorted(Path(folder).iterdir())}
    for figure in figures:
        check_own(figure)
    for figure, content in figures.items():
        write_file(figure, content + MARK)
    write_file(path, text.encode())
    return [figure.name for figure in figures]


def write_picture(figure: Any, path: str) -> None:
    """Write a matplotlib figure, or that of axes, in the format that the ending names."""
    stream = io.BytesIO()
    pictures.write(getattr(figure, "figure", figure), stream, Path(path).suffix.lower())
    write_file(path, stream.getvalue())


def plain(value: Any) -> Any:
    """Return a value with infinite numbers as "inf" and "-inf" and NaN as null, for which JSON has no numbers.

    Examples
    --------
    >>> plain({"a": [math.inf, -math.inf, math.nan, 0.5]})
    {'a': ['inf', '-inf', None, 0.5]}
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _unknown(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))
