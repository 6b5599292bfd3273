"""Files that hold tables: checks before reading, headers, separators, and words for errors."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..core.cells import column_name, is_float
from ..core.table import check_names
from ..core.words import count, did_you_mean, listed, printable, skipping
from .datasets import BUILT_IN, OTHER_NAMES

PARQUET, ARROW = (".parquet", ".pq"), (".feather", ".arrow")
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
MOST_COLUMNS = 100_000
MISSING_TEXTS = ["", "?", "NA", "N/A", "#N/A", "n/a", "NaN", "NAN", "nan", "-nan", "NULL", "null", "None"]
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def natural_order(path: str | Path) -> list[tuple[bool, int, str]]:
    """Return a key that sorts paths by the numbers in them: part-2 before part-10.

    Examples
    --------
    >>> sorted(["part-10", "part-2", "a"], key=natural_order)
    ['a', 'part-2', 'part-10']
    """
    parts = re.split(r"(\d+)", str(path))
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, in their natural order."""
    return sorted((file for file in folder.iterdir() if file.suffix.lower() in PARQUET), key=natural_order)


def table_files(folder: Path) -> list[Path]:
    """Return the tables in a folder, of any kind, in their natural order."""
    kinds = (*PARQUET, *ARROW, *JSON_LINES, *TEXT)
    visible = (file for file in folder.iterdir() if not file.name.startswith("."))
    return sorted((file for file in visible if ending(file) in kinds), key=natural_order)


def matching(word: str) -> list[str]:
    """Return the files that match a pattern; a word that is no pattern, or names a file, stands for itself."""
    if not glob.has_magic(word) or os.path.exists(word):
        return [word]
    files = sorted(glob.glob(word))
    if not files:
        raise ValueError(f"no file matches {word}")
    return files


def check_name(path: Path) -> None:
    """Raise when the name of a file is not UTF-8 text, as in old archives; it could be neither printed nor saved."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ValueError(f"the name of the file {printable(str(path))!r} is not UTF-8 text; rename the file") from None


def check_file(path: Path) -> None:
    """Raise unless ``path`` is a file that can be read and is not empty."""
    check_name(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; pass one file")
    if not path.exists():
        raise FileNotFoundError(
            f"there is no file {str(path)!r} and no built-in table of that name"
            f"{did_you_mean(str(path), BUILT_IN)}; the built-in tables are "
            f"{listed(name for name in BUILT_IN if name not in OTHER_NAMES)}"
        )
    if not path.is_file():
        raise ValueError(f"{path} is not a regular file; write the table to a .csv or .parquet file first")
    try:
        with path.open("rb") as file:
            has_content = bool(file.read(1))
    except PermissionError as error:
        raise PermissionError(f"{path} may not be read; change its permissions (chmod u+r)") from error
    if not has_content:
        raise ValueError(empty(str(path)))


def empty(name: str) -> str:
    """Return the message for a file without content."""
    return f"{name} is empty; a header line and rows are needed"


def ending(path: Path) -> str:
    """Return the ending of a file name in lower case: .csv, or .csv.gz for a compressed file."""
    return "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:]).lower()


def unknown_ending(path: Path) -> ValueError:
    """Return the error for a file of an unknown kind."""
    return ValueError(
        f"{path}: the ending {ending(path)!r} is unknown; save the table as CSV or Parquet: its name ends in .csv, "
        ".tsv or .jsonl (also with .gz behind it), .parquet or .feather"
    )


def import_arrow() -> Any:
    """Return pyarrow, or raise and say how to install it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError('reading files needs pyarrow; write: pip install "kernelmean[cli]"') from error
    return pyarrow


def check_header(header: Sequence[str], path: Path | str) -> list[str]:
    """Return the names of the columns of a CSV file, without a first one that has none, as row numbers of pandas have.

    Raises
    ------
    ValueError
        When names are missing, repeated, or look like a row of data.
    """
    left_out = int(len(header) > 1 and not header[0])
    names = list(header[left_out:])
    numbers = [name for name in names if is_float(name)]
    numbered = [str(position) for position in range(len(names))]
    if len(numbers) == len(names) and names != numbered:
        raise ValueError(
            f"{path}: the first line holds numbers ({listed(names)}), a header line with column names is needed"
        )
    if "" in names:
        raise ValueError(
            f"{path}: column {names.index('') + left_out + 1} has no name; name it in the header. Where lines stand "
            f"above the header, leave them out: {skipping()}"
        )
    check_columns(names, path)
    return names


def unnamed_note(left_out: int, path: Path | str) -> tuple[str, ...]:
    """Return the note on a first column that was left out, if one was."""
    note = f"{path}: the first column has no name, as a row index, and was left out; name it in the header to use it"
    return (note,) if left_out else ()


def check_columns(names: Sequence[str], path: Path | str) -> None:
    """Raise when there are too many columns, or one has no name or the name of another."""
    if len(names) > MOST_COLUMNS:
        raise ValueError(
            f"{path} has {count(len(names), 'column')}, at most {MOST_COLUMNS:,} are read from a file; pass an array"
        )
    check_names(names, str(path))


def as_written(names: Iterable[str], raw: Iterable[str]) -> list[str]:
    """Return how a file writes the names of some columns, given how it writes all of them."""
    written = {column_name(name): name for name in raw}
    return [written[name] for name in names]


def check_rows(metadata: Any, path: Path) -> None:
    """Raise when the footer of a Parquet file contradicts itself: readers allocate memory for as many rows as it says.

    Only numbers of rows are checked, because pyarrow ends the process if the description of a column is damaged.
    """
    rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    if min(rows, default=0) < 0 or sum(rows) != metadata.num_rows:
        raise ValueError(f"{path} is damaged or not a Parquet file (its numbers of rows contradict each other)")


def check_room(numbers: int, path: Path) -> None:
    """Raise when a table cannot fit into the memory of this machine; a small file may claim any size."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return
    if 8 * numbers > memory:
        raise ValueError(
            f"{path} says that it has {numbers:,} cells, more than the {memory >> 30} GiB of this machine hold; read "
            "less of it"
        )


def first_line(error: BaseException) -> str:
    """Return the start of an error's text as one printable line."""
    text = " ".join(str(error).split())
    plain = printable(text.replace("\ufffd", "."))
    return plain if len(plain) <= 100 else plain[:100] + "…"
