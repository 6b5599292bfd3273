"""Reading tables: CSV and Parquet files, and the built-in tables by name."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ._cells import label
from ._files import (
    MISSING_TEXTS,
    PARQUET,
    SEPARATORS,
    TEXT,
    check_columns,
    check_file,
    check_header,
    check_room,
    check_rows,
    first_line,
    header_line,
    import_arrow,
    separator_of,
)
from ._surface import written
from ._table import Frame, Table, as_frame, as_table, count, listed
from .columns import match_columns
from .datasets import BUILT_IN

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Frame", "Table", "as_table", "column_names", "match_columns", "read_frame", "read_table", "split_frame"]


def __dir__() -> list[str]:
    return sorted(__all__)


def read_table(
    source: str | os.PathLike[str],
    *,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    missing: str = "error",
) -> Table:
    """Return the numbers of a CSV file, a Parquet file, or a built-in table, with their column names.

    Parameters
    ----------
    source : str or path
        A file that ends in .csv, .tsv, .parquet or .pq, or the name of a built-in table: wine, breast_cancer
        (also wbdc), iris, diabetes, digits, eckerle4.
    columns, drop : iterables of str
        The columns to use (None: all), and those to leave out.
    missing : {"error", "drop"}
        What to do with rows that hold a blank or NaN cell.

    Raises
    ------
    ValueError
        When the file is empty, damaged, ragged or not text, when a column name is missing or used twice, or a
        cell is missing or infinite.
    TypeError
        When a column does not hold numbers.
    OSError
        When there is no such file, or it cannot be read.
    ImportError
        When a file is read without pyarrow, which ``kernelmean[cli]`` installs.

    Notes
    -----
    O(n d) time and memory; the whole file is held in memory.

    Examples
    --------
    >>> read_table("eckerle4")
    Table(35 rows, 2 columns: y, x)
    """
    return read_frame(source).select(columns, drop).to_table(missing, reader="read_table")


def read_frame(source: str | os.PathLike[str]) -> Frame:
    """Return all columns of a file or a built-in table, of any type; see `read_table`."""
    name = os.fspath(source)
    if name in BUILT_IN:
        return BUILT_IN[name]()
    path = Path(name)
    check_file(path)
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        return _read_parquet(path)
    if suffix in TEXT:
        return _read_csv(path)
    raise ValueError(f"{path}: the ending {suffix!r} is unknown; write the table as .csv, .tsv or .parquet")


def column_names(source: str | os.PathLike[str]) -> list[str]:
    """Return the column names of a table by a look at its header only; raises as `read_frame` where it is no table."""
    name = os.fspath(source)
    if name in BUILT_IN:
        return list(BUILT_IN[name]().names)
    path = Path(name)
    check_file(path)
    if path.suffix.lower() in PARQUET:
        from pyarrow import parquet

        return list(parquet.read_schema(path).names)
    header = header_line(path)
    return [cell.strip() for cell in next(csv.reader([header], delimiter=separator_of(header)))]


def split_frame(frame: Frame, by: str, groups: Iterable[str] | None = None) -> tuple[Frame, Frame]:
    """Cut a frame into two by the values of one column, which is left out of both.

    Parameters
    ----------
    frame : Frame
        The table.
    by : str
        The column that holds the groups.
    groups : two str, optional
        The two groups to take; needed when there are more than two.

    Raises
    ------
    ValueError
        When the column or a group is unknown, or it is not clear which two groups are meant.
    """
    labels = [label(cell) for cell in frame[by]]
    sizes = Counter(name for name in labels if name is not None)
    chosen = _two_groups(sizes, f"{frame.source}: column {by!r}", groups)
    rest = frame.select(drop=[by])
    if not rest.names:
        raise ValueError(f"{frame.source} has no column beside {by!r}, which splits it; there is nothing to compare")
    blank = labels.count(None)
    if blank:
        rest = replace(rest, notes=(*rest.notes, f"{frame.source}: {count(blank, 'row')} without {by!r} left out"))
    first, second = (rest.take(np.array([each == name for each in labels], dtype=bool)) for name in chosen)
    return _renamed(first, f"{by}={chosen[0]}"), _renamed(second, f"{by}={chosen[1]}")


def _renamed(frame: Frame, source: str) -> Frame:
    return replace(frame, source=source)


def _two_groups(sizes: dict[str, int], column: str, groups: Iterable[str] | None) -> list[str]:
    chosen = list(sizes if groups is None else groups)
    found = f"{column} has the groups " + listed(f"{name} ({count(n, 'row')})" for name, n in sizes.items())
    if groups is None and len(sizes) != 2:
        two = written("groups=('a', 'b')", "--groups a,b")
        mend = f"choose two of them with {two}" if len(sizes) > 2 else "two are needed"
        raise ValueError(f"{found}; {mend}")
    unknown = [name for name in chosen if name not in sizes]
    if unknown or len(set(chosen)) != 2 or len(chosen) != 2:
        raise ValueError(
            f"{found}; the groups {','.join(chosen)!r} were asked for, two different ones of them are needed"
        )
    return chosen


def _read_parquet(path: Path) -> Frame:
    arrow = import_arrow()
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            check_rows(file.metadata, path)
            check_room(file.metadata.num_rows * file.metadata.num_columns, path)
            table = file.read()
    except MemoryError:  # which Arrow's is as well
        raise
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} is damaged or not a Parquet file ({first_line(error)}); write it again") from error
    index = [name for name in table.column_names if name.startswith("__index_level_")]
    notes = (f"{path}: the saved row index ({listed(index)}) was left out",) if index else ()
    check_columns(table.column_names, path)
    return as_frame(table.drop_columns(index), str(path), notes)


def _read_csv(path: Path) -> Frame:
    header = header_line(path)
    separator = separator_of(header)
    table = _parse_csv(path, separator, one_column=separator not in header)
    names = [name.strip() for name in table.column_names]
    check_header(names, path)
    if not table.num_rows:
        raise ValueError(f"{path} has a header line and no rows; rows of numbers are needed")
    expected = separator == "," or path.suffix.lower() == ".tsv"
    notes = () if expected else (f"{path}: cells are separated by {SEPARATORS[separator]}",)
    return as_frame(table.rename_columns(names), str(path), notes)


def _parse_csv(path: Path, separator: str, *, one_column: bool) -> pa.Table:
    """Parse a file; blank lines are nothing in a wide table, and blank cells in one column."""
    arrow = import_arrow()
    from pyarrow import csv as arrow_csv

    try:
        table = arrow_csv.read_csv(
            path,
            parse_options=arrow_csv.ParseOptions(delimiter=separator, ignore_empty_lines=not one_column),
            convert_options=arrow_csv.ConvertOptions(null_values=MISSING_TEXTS, strings_can_be_null=True),
        )
    except arrow.ArrowException as error:
        raise ValueError(
            f"{path} is not a table of cells separated by {SEPARATORS[separator]} ({first_line(error)}); every line "
            "needs as many cells as the header"
        ) from error
    if not _is_utf8(table):
        raise ValueError(
            f"{path} is not UTF-8 text; convert it first, for example: iconv -f latin1 -t utf-8 {path.name}"
        )
    return table


def _is_utf8(table: pa.Table) -> bool:
    """Whether names and cells are text: pyarrow keeps cells that are not as bytes."""
    try:
        table.schema.names  # noqa: B018 (decodes them)
    except UnicodeDecodeError:
        return False
    return not any(str(field.type) in ("binary", "large_binary") for field in table.schema)
