"""CSV files in blocks: types of columns are found in the first block, and widened where a later cell does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._files import MISSING_TEXTS, check_header, first_line, header_line, import_arrow, separator_of
from .._table import Frame, as_frame

BLOCK_BYTES = 2**23
_COLUMN = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error")


class Widened(Exception):  # noqa: N818 (no failure: read once more)
    """A cell did not fit the type of its column, which is wider from now on: read the file from its start again."""


def csv_names(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file as they are written, with blanks around them."""
    arrow = import_arrow()
    try:
        with _open(path) as file:
            names = list(file.schema.names)
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise _failed(path, error) from error
    check_header([name.strip() for name in names], path)
    return names


def csv_frames(path: Path, names: Mapping[str, str], types: dict[str, Any]) -> Callable[[Any], Iterator[Frame]]:
    """Return what yields the frames of a CSV file, columns of any kind; names are (as they are called, as written).

    Types of columns that are not known yet are found in the first block. A pass may raise :class:`Widened`; types that
    a whole pass went through stay as they are.
    """
    arrow = import_arrow()

    def frames(_: Any) -> Iterator[Frame]:
        types.update({raw: kind for raw, kind in _inferred(path, names).items() if raw not in types})
        try:
            with _open(path, column_types=dict(types), include_columns=list(names.values())) as file:
                for batch in file:
                    if len(batch):
                        yield as_frame(arrow.Table.from_batches([batch]).rename_columns(list(names)), str(path))
        except arrow.ArrowException as error:
            _widen(types, path, error)

    return frames


def csv_numbers(path: Path, names: Sequence[str]) -> Iterator[Frame]:
    """Yield the frames of columns of numbers, by their names as written."""
    arrow = import_arrow()
    types = {name: arrow.float64() for name in names}
    try:
        with _open(path, column_types=types, include_columns=list(names)) as file:
            for batch in file:
                yield as_frame(arrow.Table.from_batches([batch]), str(path))
    except arrow.ArrowException as error:
        raise ValueError(
            f"{path} is not a table of numbers ({first_line(error)}); every line needs as many cells as the header; "
            "leave out columns that are not numbers with drop=, or choose others with columns="
        ) from error


def _open(path: Path, **options: Any) -> Any:
    from pyarrow import csv

    header = header_line(path)
    separator = separator_of(header)
    parse = csv.ParseOptions(delimiter=separator, ignore_empty_lines=separator in header)
    convert = csv.ConvertOptions(null_values=MISSING_TEXTS, strings_can_be_null=True, **options)
    return csv.open_csv(path, csv.ReadOptions(block_size=BLOCK_BYTES), parse, convert)


def _inferred(path: Path, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the types that the first block suggests; a column without any cell there may hold numbers."""
    arrow = import_arrow()
    try:
        with _open(path, include_columns=list(names.values())) as file:
            found = {field.name: field.type for field in file.schema}
    except arrow.ArrowException as error:
        raise _failed(path, error) from error
    if any(str(kind) in ("binary", "large_binary") for kind in found.values()):
        raise ValueError(
            f"{path} is not UTF-8 text; convert it first, for example: iconv -f latin1 -t utf-8 {path.name}"
        )
    return {name: arrow.float64() if str(kind) == "null" else kind for name, kind in found.items()}


def _widen(types: dict[str, Any], path: Path, error: BaseException) -> None:
    """Give the column of an error the next wider type, and raise Widened; or raise what is wrong."""
    arrow = import_arrow()
    found = _COLUMN.search(str(error))
    if found is None:
        raise _failed(path, error) from error
    name = csv_names(path)[int(found.group(1))]  # numbers count the columns of the file, also those that are left out
    if types[name] == arrow.string():
        raise _failed(path, error) from error
    wider = {arrow.int64(): arrow.float64(), arrow.date32(): arrow.timestamp("s")}
    wider[arrow.timestamp("s")] = arrow.timestamp("ns")
    types[name] = wider.get(types[name], arrow.string())
    raise Widened from error


def _failed(path: Path, error: BaseException) -> ValueError:
    return ValueError(
        f"{path} is not a table of cells ({first_line(error)}); every line needs as many cells as the header"
    )
