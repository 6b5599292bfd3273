"""CSV files as Arrow reads them: options, the whole of a file, and words for what goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.table import Frame, as_frame
from ..files import MISSING_TEXTS, SEPARATORS, check_header, ending, first_line, import_arrow
from .columns import TextColumns, check_units
from .header import Header, read_header
from .text_file import TextFile, not_encoded, open_text
from .text_format import PLAIN, TextFormat


def read_csv(path: Any, text: TextFormat) -> Frame:
    """Return all columns of a CSV file, or of standard input.

    Raises
    ------
    ValueError, OSError
        When the file is empty, damaged, ragged, not text, or without a header of names; when a column with a unit does
        not exist or holds a cell that is no number in this unit.
    """
    file = open_text(path, text)
    header = read_header(file, text)
    raw = _read(file, header, text)
    names = [name.strip() for name in raw.column_names]
    check_header(names, file.name)
    check_units(text, names, file.name)
    if not raw.num_rows:
        raise ValueError(f"{file.name} has a header line and no rows; rows of numbers are needed")
    check_closed(file, raw)
    raw = _with_codes(file, header, text, raw)
    expected = header.separator == "," or header.one_column or ending(file.path).startswith(".tsv")
    notes = () if expected else (f"{file.name}: cells are separated by {SEPARATORS[header.separator]}",)
    return TextColumns(text, untyped=True).read(as_frame(raw.rename_columns(names), file.name, notes))


def csv_options(file: TextFile, header: Header, text: TextFormat, block: int | None = None, **convert: Any) -> Any:
    """Return the options that Arrow reads a file with; blank lines are nothing in a wide table."""
    from pyarrow import csv

    parse = {"delimiter": header.separator, "ignore_empty_lines": not header.one_column, "newlines_in_values": True}
    return {
        "read_options": csv.ReadOptions(
            block_size=block, skip_rows=header.above, encoding="utf8" if file.is_utf8 else file.encoding
        ),
        "parse_options": csv.ParseOptions(**parse),
        "convert_options": csv.ConvertOptions(
            null_values=[*MISSING_TEXTS, *text.na_values],
            strings_can_be_null=True,
            decimal_point=text.decimal,
            **convert,
        ),
    }


def text_columns(file: TextFile, header: Header, text: TextFormat) -> dict[str, Any]:
    """Return the types of columns that Arrow must leave as text: those with a unit."""
    arrow = import_arrow()
    return (
        {}
        if not text.units
        else {name: arrow.string() for name in raw_names(file, header) if name.strip() in text.units}
    )


def raw_names(file: TextFile, header: Header) -> list[str]:
    """Return the names of the columns as they are written, with blanks around them."""
    arrow = import_arrow()
    from pyarrow import csv

    try:
        with file.open() as source, csv.open_csv(source, **csv_options(file, header, PLAIN)) as opened:
            return list(opened.schema.names)
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise refused(file, error) from error


def check_closed(file: TextFile, table: Any) -> None:
    """Raise when a quotation mark that opens a cell is never closed: the cell then holds the rest of the file."""
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
        f"{file.name} is not a table of {cells} ({first_line(error)}); every line needs as many cells as the header"
    )


def is_bytes(kind: Any) -> bool:
    """Whether a column has cells that are not UTF-8, which Arrow keeps as bytes."""
    return str(kind) in ("binary", "large_binary")


def codes(table: Any) -> list[str]:
    """Return the names of columns of text in which a whole number begins with a zero, as postcodes do: 01067."""
    from pyarrow import compute

    zeros = (compute.match_substring_regex(column, r"^\s*[+-]?0[0-9]+\s*$") for column in table.columns)
    return [name for name, own in zip(table.column_names, zeros, strict=True) if compute.any(own).as_py()]


def whole_numbers(names: Sequence[str], types: Sequence[Any]) -> dict[str, Any]:
    """Return as text the columns that Arrow takes for whole numbers, whose zeros in front it drops."""
    arrow = import_arrow()
    return {name: arrow.string() for name, kind in zip(names, types, strict=True) if kind == arrow.int64()}


def _with_codes(file: TextFile, header: Header, text: TextFormat, table: Any) -> Any:
    """Return a table in which codes that begin with a zero are text."""
    from pyarrow import csv

    wanted = whole_numbers(table.column_names, table.schema.types)
    if not wanted:
        return table
    options = csv_options(file, header, text, column_types=wanted, include_columns=list(wanted))
    with file.open() as source:
        texts = csv.read_csv(source, **options)
    for name in codes(texts):
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
