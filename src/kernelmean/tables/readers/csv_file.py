"""CSV and TSV files: their separator, whether the first line is a header, and their cells as strings."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from ...core.cached import cached_property
from ...core.cells import column_name
from ...core.table import Frame
from ...core.words import count, printable, skipping
from ..files import MISSING_TEXTS, SEPARATORS, check_header, empty, ending, first_line, import_arrow, unnamed_note
from .columns import TextColumns
from .text_file import TextFile, open_text
from .text_format import TextFormat

BLOCK_BYTES, _FEW_BYTES = 2**23, 2**17
_LINES, _LONGEST = 50, 40
_SEPARATOR: Final = re.compile(r'"?sep=(?P<separator>[,;|\t])"?[;,|\t]*(?:\r\n|\r|\n|$)', re.IGNORECASE)
_NUMBER: Final = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' ]*%?")
_UNIT = r"[^\d,;|\t\"]{0,4}"
_VALUE: Final = re.compile(
    rf"{_UNIT}{_NUMBER.pattern}{_UNIT}|\d{{1,4}}([-./])\d{{1,2}}\1\d{{1,4}}|true|false", re.IGNORECASE
)
"""Patterns of cells that are not text: a number, with or without a unit, a date or a truth value."""

_DIRECTIVE: Final = re.compile("sep=.?", re.IGNORECASE)  # for spreadsheets


@final
@dataclass(frozen=True)
class Header:
    """The first line of a CSV file."""

    names: tuple[str, ...]
    """The cells of the line, without blanks around them."""
    separator: str
    """Between cells."""
    above: int
    """The number of lines above, which do not belong to the table: "sep=;" names the separator for Excel."""

    @property
    def one_column(self) -> bool:
        """Whether there is only one column; a blank line is then a blank cell."""
        return len(self.names) == 1


def read_header(file: TextFile, text: TextFormat) -> Header:
    """Find the separator of a file from its header and its first lines, taking quotes into account.

    Raises
    ------
    ValueError
        When the file holds only blanks, or the lines below the first one have another number of cells, as below a title
        or a comment.
    """
    if not file.head.strip():
        raise ValueError(empty(file.name))
    match = _SEPARATOR.match(file.head)
    if match is not None:
        below = replace(file, head=file.head[match.end() :])
        names = _Cut.of(below, match["separator"]).lines[:1] if below.head.strip() else []
        return Header(tuple(map(column_name, (names or [[]])[0])), match["separator"], file.skipped + 1)
    best = max((_Cut.of(file, separator) for separator in SEPARATORS), key=lambda cut: cut.score)
    if best.width == 1:  # nothing separates the names, and a comma in a number does not separate cells
        best = _Cut.of(file, ";" if "," in (text.decimal, text.thousands) else ",")
    best.check_title(file)
    return Header(tuple(map(column_name, best.lines[0])), best.separator, file.skipped)


@dataclass(frozen=True)
class _Cut:
    """The first lines of a file, cut at one separator."""

    separator: str
    lines: list[list[str]]

    @classmethod
    def of(cls, file: TextFile, separator: str) -> _Cut:
        text = io.StringIO(file.head.lstrip(), newline=None)
        rows = islice(csv.reader(text, delimiter=separator), _LINES)
        lines = [cells for cells in rows if len(cells) > 1 or "".join(cells).strip()]
        complete = file.whole or len(lines) == _LINES
        return cls(separator, lines if complete or len(lines) < 2 else lines[:-1])

    @property
    def width(self) -> int:
        """The number of cells in the header."""
        return len(self.lines[0])

    @property
    def alike(self) -> int:
        """The number of lines below with as many cells as the header."""
        return sum(len(cells) == self.width for cells in self.lines[1:])

    @property
    def usual(self) -> tuple[int, int]:
        """The most frequent number of cells in the lines below, and the number of lines that have it."""
        return Counter(len(cells) for cells in self.lines[1:] or [[]]).most_common(1)[0]

    @property
    def score(self) -> tuple[bool, float, float, bool, int]:
        """The evidence for the separator: lines like the header, cells that are not text, no comma, many cells.

        Commas also occur in names and in numbers, the other separators hardly ever.
        """
        below = self.lines[1:]
        cells = [cell for line in below for cell in line if cell.strip()]
        values = sum(_is(_VALUE, cell) for cell in cells)
        alike, known = self.alike / max(len(below), 1), values / max(len(cells), 1)
        return self.width > 1, alike, known, self.separator != ",", self.width

    def check_title(self, file: TextFile) -> None:
        """Raise when the lines below the first one agree on another number of cells, or the first one is a comment."""
        first = file.head.lstrip().splitlines()[0]
        shown = printable(first if len(first) <= 40 else first[:40] + "…")
        mend = "leave out the lines above the header, so that the first line names the columns"
        below = self.lines[1:3]
        is_comment = first.startswith("#") and len(below) == 2 and _names(below[0]) and not _names(below[1])
        if is_comment or _DIRECTIVE.fullmatch(first.strip()):
            raise ValueError(
                f"{file.name}: the first line ({shown!r}) is a comment above the header; {mend}: {skipping(1)}"
            )
        if self.width > 1 and self.alike:
            return
        others = SEPARATORS if self.separator == "," else [one for one in SEPARATORS if one != ","]
        cuts = [_Cut.of(file, separator) for separator in others] if self.width == 1 else [self]
        usual = max(cuts, key=lambda one: one.usual[1] if one.usual[0] > 1 else 0)
        width, lines = usual.usual
        if lines > 1 and width not in (1, self.width):
            comma = ""
            if self.width == 1 and usual.separator == ",":
                comma = "; where 1,5 is one number, write decimal=','"
            raise ValueError(
                f"{file.name}: the first line ({shown!r}) has {count(self.width, 'cell')} and the lines below have "
                f"{width}; every line needs as many cells as the header, so name all columns, or {mend}: "
                f"{skipping(usual.lines_above(file))}{comma}"
            )

    def lines_above(self, file: TextFile) -> int | None:
        """Return how many lines stand above the first one with the usual number of cells, if it may be a header."""
        lines = csv.reader(io.StringIO(file.head, newline=None), delimiter=self.separator)
        above = file.skipped
        for cells in lines:
            if len(cells) == self.usual[0]:
                return above if _names(cells) else None
            above = file.skipped + lines.line_num
        return None


def _names(cells: list[str]) -> bool:
    return all(cell.strip() and not _is(_NUMBER, cell) for cell in cells)


def _is(pattern: re.Pattern[str], cell: str) -> bool:
    """Return whether a cell matches a pattern; long cells count as no match, because matching them takes long."""
    bare = cell.strip()
    return len(bare) <= _LONGEST and pattern.fullmatch(bare) is not None


@final
@dataclass(frozen=True)
class CsvFile:
    """A CSV file, or standard input, all of whose cells are read as strings.

    Errors are a ``ValueError`` or an ``OSError``: when the file is empty, damaged, ragged, not text, or has no header
    with names; when a column with texts of missing cells does not exist.
    """

    file: TextFile
    header: Header
    text: TextFormat

    @classmethod
    def of(cls, path: Path, text: TextFormat) -> CsvFile:
        """Read the beginning of a file."""
        file = open_text(path, text)
        return cls(file, read_header(file, text), text)

    @cached_property
    def raw(self) -> dict[str, str]:
        """The names of the columns, and the same as written in the file; a first column without a name is left out."""
        names = check_header([*map(column_name, self._written)], self.file.name)
        return dict(zip(names, self._written[-len(names) :], strict=True))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its rows should know."""
        known = self.header.separator == "," or self.header.one_column or ending(self.file.path).startswith(".tsv")
        notes = () if known else (f"{self.file.name}: cells are separated by {SEPARATORS[self.header.separator]}",)
        return (*unnamed_note(len(self._written) - len(self.raw), self.file.name), *notes)

    def whole(self, names: Sequence[str], columns: TextColumns) -> Frame:
        """Return all rows of some columns."""
        batches = list(self._batches(names))
        if not batches:
            raise ValueError(f"{self.file.name} has a header line and no rows; rows are needed")
        return self._frame(columns, import_arrow().Table.from_batches(batches), 0)

    def frames(self, names: Sequence[str], columns: TextColumns) -> Iterator[Frame]:
        """Yield the rows of some columns, block by block."""
        start = 0
        for batch in self._batches(names):
            yield self._frame(columns, batch, start)
            start += len(batch)

    def _frame(self, columns: TextColumns, rows: Any, start: int) -> Frame:
        read = {name: columns.cells(name, _array(rows[name])) for name in rows.schema.names}
        declared = {name: declaration for name, (_, declaration) in read.items() if declaration is not None}
        cells = {name: values for name, (values, _) in read.items()}
        numbers = np.arange(start + 1, start + 1 + rows.num_rows)
        return Frame(cells, self.file.name, (), numbers, declared, marks=self.text.marks)

    def _batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the cells of some columns as strings, block by block."""
        arrow = import_arrow()
        raw = [self.raw[name] for name in names]
        needed = list(dict.fromkeys([*raw, self._written[-1]]))  # the last one shows whether all quotes are closed
        convert: dict[str, Any] = {
            "include_columns": needed,
            "column_types": dict.fromkeys(needed, arrow.large_string()),
        }
        start, last = 0, None
        with self._refusing(), self.file.open() as source, self._reader(source, **convert) as reader:
            for batch in reader:
                if len(batch):
                    start, last = start + len(batch), batch
                    yield arrow.RecordBatch.from_arrays([batch[name] for name in raw], list(names))
        if last is not None:
            self._check_closed(last[self._written[-1]][-1].as_py(), start)

    def _reader(self, source: Any, block: int | None = None, **convert: Any) -> Any:
        """Return Arrow's reader; blank lines are ignored in a table of several columns."""
        from pyarrow import csv

        encoding = "utf8" if self.file.is_utf8 else self.file.encoding
        return csv.open_csv(
            source,
            csv.ReadOptions(block_size=block or BLOCK_BYTES, skip_rows=self.header.above, encoding=encoding),
            csv.ParseOptions(
                delimiter=self.header.separator,
                ignore_empty_lines=not self.header.one_column,
                newlines_in_values=True,
            ),
            csv.ConvertOptions(
                null_values=[*MISSING_TEXTS, *self.text.absent_in()], strings_can_be_null=True, **convert
            ),
        )

    @cached_property
    def _written(self) -> list[str]:
        """The names of all columns as written in the file, with blanks around them."""
        invalid = import_arrow().ArrowInvalid
        with suppress(invalid), self.file.open() as source, self._reader(source, _FEW_BYTES) as reader:
            return list(reader.schema.names)
        with self._refusing(), self.file.open() as source, self._reader(source) as reader:
            return list(reader.schema.names)  # a header longer than that

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn what Arrow says of a file that it cannot cut into cells into a plain error."""
        try:
            yield
        except (import_arrow().ArrowInvalid, UnicodeDecodeError) as error:
            self.file.check_encoding()
            raise ValueError(
                f"{self.file.name} is not a table of cells separated by {SEPARATORS[self.header.separator]} "
                f"({first_line(error)}); every line needs as many cells as the header. Where lines stand above the "
                f"header, leave them out: {skipping()}"
            ) from error

    def _check_closed(self, cell: str | None, rows: int) -> None:
        """Raise when an opening quotation mark is never closed, so that its cell holds the rest of the file."""
        if cell is not None and ("\n" in cell or "\r" in cell) and not self.file.ends_with_quote():
            raise ValueError(
                f"{self.file.name}: a quotation mark in row {rows:,} is never closed, so that the cell would hold the "
                "rest of the file; close it, or write two for one that is part of the text"
            )


def _array(cells: Any) -> Any:
    """Return a column of a table or of a batch as one array."""
    return cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells
