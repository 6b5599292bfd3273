"""Reading tables: CSV and Parquet files, and the built-in tables by name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.cell_formats import is_number
from ..core.cells import Declared, column_name, label, time_label
from ..core.table import Frame, Table, as_table
from ..core.words import ABSENT, count, listed
from .columns import match_columns
from .columns.labels import as_labels
from .datasets import BUILT_IN
from .files import natural_order
from .long_files import ColumnChoice, file_source, read_frame
from .readers import PLAIN, TextFormat

__all__ = [
    "Frame",
    "Table",
    "TextFormat",
    "as_table",
    "column_names",
    "match_columns",
    "read_frame",
    "read_table",
    "split_groups",
]

MOST_GROUPS = 12
"""The largest number of groups in one comparison: 12 groups have 66 pairs."""


def __dir__() -> list[str]:
    return sorted(__all__)


def read_table(
    source: str | os.PathLike[str],
    *,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    missing: str = "error",
    text: TextFormat = PLAIN,
) -> Table:
    """Return the numbers of a file or a built-in table, with their column names.

    Parameters
    ----------
    source : str or path
        A file that ends in .csv, .tsv, .jsonl or .ndjson (also followed by .gz), .parquet or .pq, .feather or .arrow;
        "-" for CSV text from standard input; or the name of a built-in table: wine, breast_cancer (also wbdc), iris,
        diabetes, digits, eckerle4.
    columns, drop : iterables of str
        The columns to use (None: all), and those of them to leave out.
    missing : {"error", "drop"}
        What to do with rows that hold a blank or NaN cell.
    text : TextFormat
        How numbers and dates are written in text, and the encoding of text files.

    Raises
    ------
    ValueError
        When the file is empty, damaged, ragged or not text; when a column name is missing or used twice; when a cell is
        missing or infinite.
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
    return read_frame(source, text=text).select(columns, drop).to_table(missing, reader="read_table")


def column_names(source: str | os.PathLike[str]) -> list[str]:
    """Return the column names of a table; errors as for `read_frame`."""
    name = os.fspath(source)
    return list(BUILT_IN[name]().names if name in BUILT_IN else file_source(Path(name), ColumnChoice()).names)


def split_groups(frame: Frame, by: str, groups: Iterable[Any] | None = None) -> tuple[Frame, ...]:
    """Split a frame into groups by the values of one column, which is left out of all of them.

    Parameters
    ----------
    frame : Frame
        The table.
    by : str
        The column that holds the groups.
    groups : iterable of str or of numbers, optional
        Two or more groups to take, in this order. By default both of two, and of more all that have at least two rows;
        a note names the others. Numbers then come by value, levels of an ordered type by rank, and names by the
        alphabet. The groups of a boolean column are True and False, also written true and false, or 1 and 0. You may
        name those of a column of times by texts, such as "2024-12-31 10:20:00", or by dates and times. The rows
        without a group are one called "(missing)", if you name it.

    Raises
    ------
    ValueError
        When the column or a group is unknown, a group is named twice, there are fewer than two groups, or more than
        12.

    Examples
    --------
    >>> frame = read_frame("iris")
    >>> [group.source for group in split_groups(frame, "target")]
    ['target=0', 'target=1', 'target=2']
    """
    if not isinstance(by, str):
        raise TypeError(
            f"by has type {type(by).__name__}; pass the name of a column of the table, such as {frame.names[0]!r}, and "
            "labels as a column of it"
        )
    by = column_name(by)
    is_boolean = by in frame.declared and frame.declared[by].kind == "boolean"
    is_time = frame[by].dtype.kind == "M"
    labels = list(as_labels(frame, by)) if is_boolean or is_time else [label(cell) for cell in frame[by]]
    named = None if groups is None else [_named(name, {*labels} if is_time else None) for name in groups]
    if named is not None and ABSENT in named:
        labels = [ABSENT if name is None else name for name in labels]
    sizes = _in_order(Counter(name for name in labels if name is not None), frame.declared.get(by))
    if named is not None and is_boolean:
        named = [_TRUTH.get(name.lower(), name) for name in named]
    chosen = _chosen(sizes, f"{frame.source}: column {by!r}", named)
    rest = frame.select(drop=[by])
    if not rest.names:
        raise ValueError(f"{frame.source} has no column beside {by!r}, which splits it; there is nothing to compare")
    blank = labels.count(None)
    if blank:
        note = f"{frame.source}: {count(blank, 'row')} without {by!r} left out; as a group they are called {ABSENT!r}"
        rest = replace(rest, notes=(*rest.notes, note))
    alone = [name for name in sizes if name not in chosen] if named is None else []
    if alone:
        rest = replace(rest, notes=(*rest.notes, f"{frame.source}: groups of one row left out: {listed(alone)}"))
    rows = {name: np.array([each == name for each in labels], dtype=bool) for name in chosen}
    return tuple(replace(rest.take(mask), source=f"{by}={name}") for name, mask in rows.items())


def _in_order(sizes: Counter[str], declared: Declared | None) -> dict[str, int]:
    """Return the sizes of groups: numbers by value, levels by rank, names by the alphabet and the numbers in them."""
    levels = declared.levels if declared is not None else ()
    are_numbers = all(map(is_number, sizes)) and not {*sizes} <= {*levels}

    def key(name: str) -> Any:
        rank = levels.index(name) if name in levels else len(levels)
        return rank, float(name) if are_numbers else natural_order(name.casefold()), name

    return {name: sizes[name] for name in sorted(sizes, key=key)}


def _named(group: Any, times: Set[str | None] | None) -> str:
    """Return the label of a group that you name; ``times`` are those of a column of times."""
    text = label(group) or str(group)
    return text if times is None or text in times else time_label(group)


_TRUTH = {"true": "True", "1": "True", "false": "False", "0": "False"}


def _chosen(sizes: dict[str, int], column: str, groups: Iterable[str] | None) -> list[str]:
    """Return the groups to take: those asked for, or both, or of more all that have at least two rows."""
    all_groups = [name for name in sizes if sizes[name] > 1 or len(sizes) == 2]
    chosen = all_groups if groups is None else list(groups)
    unknown = [name for name in chosen if name not in sizes]
    if unknown:
        raise ValueError(f"{_found(sizes, column)}; there is no group {listed(map(repr, unknown))}")
    if len(set(chosen)) < max(len(chosen), 2):
        needed = "at least two of them must have two rows or more" if groups is None else "name two or more, each once"
        raise ValueError(f"{_found(sizes, column)}; {needed}")
    if len(chosen) > MOST_GROUPS:
        raise ValueError(
            f"{_found(sizes, column)}; at most {MOST_GROUPS} are compared at a time: name those that matter with "
            "groups=('a', 'b', 'c'), or join groups into fewer first"
        )
    return chosen


def _found(sizes: dict[str, int], column: str) -> str:
    many = f"{len(sizes)} groups: " if len(sizes) > MOST_GROUPS else "the groups "
    return f"{column} has {many}" + listed(f"{name} ({count(n, 'row')})" for name, n in sizes.items())
