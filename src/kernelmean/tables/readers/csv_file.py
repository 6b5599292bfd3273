"""CSV and TSV files: their separator, whether the first line is a header, and reading them into memory."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, final

import numpy as np

from ...core.array import LARGEST_EXACT
from ...core.cells import Cells, column_name
from ...core.table import Frame, as_frame
from ...core.words import count, printable, skipping, written
from ..files import MISSING_TEXTS, SEPARATORS, check_header, empty, ending, first_line, import_arrow, unnamed_note
from .columns import TextColumns, check_units
from .text_file import TextFile, not_encoded, open_text
from .text_format import PLAIN, TextFormat

BLOCK_BYTES: Final = 2**23
_LINES, _LONGEST = 50, 40
_SEPARATOR: Final = re.compile(r'"?sep=(?P<separator>[,;|\t])"?[;,|\t]*(?:\r\n|\r|\n|$)', re.IGNORECASE)
_NUMBER: Final = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' ]*%?")
_UNIT = r"[^\d,;|\t\"]{0,4}"
_VALUE: Final = re.compile(
    rf"{_UNIT}{_NUMBER.pattern}{_UNIT}|\d{{1,4}}([-./])\d{{1,2}}\1\d{{1,4}}|true|false", re.IGNORECASE
)
"""Patterns of cells that are not text: a number, with or without a unit, a date or a truth value."""

_CODE: Final = r"^\s*[+-]?0([0-9]+|[xX][0-9a-fA-F]+)\s*$"
_LONG: Final = r"^\s*[+-]?([0-9]{17,}|9[0-9]{15})\s*$"  # 2^53 has 16 digits and begins with 9
_WHOLE: Final = r"^\s*[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)\s*$"
"""Whole numbers that Arrow would turn into others: 01067 and 0x10, those beyond 2^53, and all of them."""
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
    told = _SEPARATOR.match(file.head)
    if told is not None:
        below = replace(file, head=file.head[told.end() :])
        names = _Cut.of(below, told["separator"]).lines[:1] if below.head.strip() else []
        return Header(tuple(map(column_name, (names or [[]])[0])), told["separator"], file.skipped + 1)
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
        found = islice(csv.reader(text, delimiter=separator), _LINES)
        lines = [cells for cells in found if len(cells) > 1 or "".join(cells).strip()]
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
        others = SEPARATORS if self.separator == "," else [one for one in SEPARATORS if one != ","]
        cuts = [_Cut.of(file, separator) for separator in others] if self.width == 1 else [self]
        usual = max(cuts, key=lambda one: one.usual[1] if one.usual[0] > 1 else 0)
        width, lines = usual.usual
        if lines > 1 and width not in (1, self.width) and not (self.width > 1 and self.alike):
            comma = ""
            if self.width == 1 and usual.separator == ",":
                comma = f"; where 1,5 is one number, write {written(f'decimal={chr(44)!r}', '--decimal ,')}"
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


def read_csv(path: Any, text: TextFormat) -> Frame:
    """Return all columns of a CSV file, or of standard input.

    Raises
    ------
    ValueError, OSError
        When the file is empty, damaged, ragged, not text, or has no header with names; when a column with a unit does
        not exist or holds a cell that is not a number in this unit.
    """
    file = open_text(path, text)
    header = read_header(file, text)
    raw = _read(file, header, text)
    names = check_header([*map(column_name, raw.column_names)], file.name)
    check_units(text, names, file.name)
    notes = unnamed_note(raw.num_columns - len(names), file.name)
    raw = raw.select(range(raw.num_columns - len(names), raw.num_columns))
    if not raw.num_rows:
        raise ValueError(f"{file.name} has a header line and no rows; rows are needed")
    check_closed(file, raw)
    raw = _with_texts(file, header, text, raw)
    expected = header.separator == "," or header.one_column or ending(file.path).startswith(".tsv")
    notes += () if expected else (f"{file.name}: cells are separated by {SEPARATORS[header.separator]}",)
    return TextColumns(text, untyped=True).read(as_frame(raw.rename_columns(names), file.name, notes))


def csv_options(file: TextFile, header: Header, text: TextFormat, block: int | None = None, **convert: Any) -> Any:
    """Return Arrow's options for reading a file; blank lines are ignored in a table of several columns."""
    from pyarrow import csv

    parse = {"delimiter": header.separator, "ignore_empty_lines": not header.one_column, "newlines_in_values": True}
    return {
        "read_options": csv.ReadOptions(
            block_size=block, skip_rows=header.above, encoding="utf8" if file.is_utf8 else file.encoding
        ),
        "parse_options": csv.ParseOptions(**parse),
        "convert_options": csv.ConvertOptions(
            null_values=[*MISSING_TEXTS, *text.absent_in()],
            strings_can_be_null=True,
            decimal_point=text.decimal,
            **convert,
        ),
    }


def text_columns(file: TextFile, header: Header, text: TextFormat) -> dict[str, Any]:
    """Return the types of the columns that Arrow must leave as text: those with a unit."""
    names = raw_names(file, header) if text.units else []
    return {name: import_arrow().string() for name in names if column_name(name) in text.units}


def raw_names(file: TextFile, header: Header) -> list[str]:
    """Return the names of the columns as written in the file, with blanks around them."""
    arrow = import_arrow()
    from pyarrow import csv

    try:
        with file.open() as source, csv.open_csv(source, **csv_options(file, header, PLAIN)) as opened:
            return list(opened.schema.names)
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise refused(file, error) from error


def check_closed(file: TextFile, table: Any) -> None:
    """Raise when an opening quotation mark is never closed, so that its cell holds the rest of the file."""
    last = table.slice(table.num_rows - 1).column(table.num_columns - 1).to_pylist()
    if last and isinstance(last[0], str) and "\n" in last[0].replace("\r", "\n") and not file.ends_with_quote():
        raise ValueError(
            f"{file.name}: a quotation mark in row {table.num_rows:,} is never closed, so that the cell would hold the "
            "rest of the file; close it, or write two for one that is part of the text"
        )


def refused(file: TextFile, error: BaseException, separator: str = "") -> ValueError:
    """Return the error for a file that Arrow cannot cut into cells."""
    if isinstance(error, UnicodeDecodeError) or "UTF8" in str(error):
        return not_encoded(file.name, file.encoding)
    cells = f"cells separated by {SEPARATORS[separator]}" if separator else "cells"
    return ValueError(
        f"{file.name} is not a table of {cells} ({first_line(error)}); every line needs as many cells as the header. "
        f"Where lines stand above the header, leave them out: {skipping()}"
    )


def is_bytes(kind: Any) -> bool:
    """Return whether a column has cells that are not UTF-8, which Arrow keeps as bytes."""
    return str(kind) in ("binary", "large_binary")


def kept_as_text(file: TextFile, header: Header, text: TextFormat, names: Sequence[str]) -> list[str]:
    """Return which columns of numbers only text holds as they are written; the file is read once more for it.

    These are whole numbers one of which begins with a zero (01067) or is hexadecimal (0x10), and columns with a whole
    number of so many digits that float64 may round it.
    """
    from pyarrow import csv

    codes, long, decimal = set[str](), set[str](), set[str]()
    if names:
        options = csv_options(file, header, text, BLOCK_BYTES, **_as_text(names))
        with file.open() as source, csv.open_csv(source, **options) as reader:
            for batch in reader:
                for name, cells in zip(names, batch.columns, strict=True):
                    for found, pattern, holds in ((codes, _CODE, True), (long, _LONG, True), (decimal, _WHOLE, False)):
                        if name not in found and _any_match(cells, pattern, holds):
                            found.add(name)
    return [name for name in names if name in long or (name in codes and name not in decimal)]


def _as_text(names: Sequence[str]) -> dict[str, Any]:
    """Return the options by which Arrow reads some columns only, as text."""
    return {"column_types": dict.fromkeys(names, import_arrow().string()), "include_columns": list(names)}


def _any_match(cells: Any, pattern: str, holds: bool) -> bool:
    """Return whether a cell of a column matches a pattern, or with ``holds`` False whether one does not."""
    from pyarrow import compute

    matches = compute.match_substring_regex(cells, pattern)
    return bool(compute.any(matches if holds else compute.invert(matches)).as_py())


def may_be_rounded(cells: Cells) -> bool:
    """Return whether numbers are so large that float64 does not hold every integer of their size."""
    return bool(cells.dtype == np.float64 and (np.abs(cells) >= LARGEST_EXACT).any())


def _with_texts(file: TextFile, header: Header, text: TextFormat, table: Any) -> Any:
    """Return a table in which columns that only text holds as they are written are text."""
    arrow = import_arrow()
    from pyarrow import csv

    types = zip(table.column_names, table.schema.types, strict=True)
    doubtful = [
        name
        for name, kind in types
        if kind == arrow.int64() or (kind == arrow.float64() and may_be_rounded(table[name].to_numpy()))
    ]
    names = kept_as_text(file, header, text, doubtful)
    if names:
        with file.open() as source:
            texts = csv.read_csv(source, **csv_options(file, header, text, **_as_text(names)))
        for name in names:
            table = table.set_column(table.column_names.index(name), name, texts[name])
    return table


def _read(file: TextFile, header: Header, text: TextFormat) -> Any:
    arrow = import_arrow()
    from pyarrow import csv

    types = text_columns(file, header, text)
    try:
        with file.open() as source:
            table = csv.read_csv(source, **csv_options(file, header, text, column_types=types))
            table.schema.names  # noqa: B018 (decodes them)
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise refused(file, error, header.separator) from error
    if any(is_bytes(field.type) for field in table.schema):
        raise not_encoded(file.name, file.encoding)
    return table
