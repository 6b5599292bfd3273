"""Make a source of rows from anything that holds rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from ..core.array import Array, slices
from ..core.cells import column_name
from ..core.table import Frame, Table, as_frame, as_table, named_frame, to_frame
from ..core.validate import check_integer, holds_rows, refuse_sparse
from ..core.words import listed, refuse
from .datasets import BUILT_IN
from .files import PARQUET, ending, import_arrow
from .long_files import BATCH_ROWS, ColumnChoice, chosen_names, file_source, parquet_source
from .readers import PLAIN, TextFormat
from .reading import read_frame
from .source import ARROW_READER, BATCHES, DASK, READER, UNNAMED, Source, joined, numbered, numbers_of


def read(
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    missing: str = "error",
    batch_rows: int = BATCH_ROWS,
    text: TextFormat = PLAIN,
    in_memory: bool = False,
) -> Source:
    """Return a source of rows from files, memory or batches, with the options for reading them.

    Parameters
    ----------
    source : str, path, list of paths, array, data frame, dask table, Arrow reader, or iterable of tables
        One of: a file of any kind that :func:`kernelmean.tables.read_table` reads; a folder of Parquet files, which are
        read in the order of their names, or a list of such files; the name of a built-in table; a table in memory,
        which is a source of one batch; a dask array or data frame; a ``pyarrow.RecordBatchReader``; or an iterable of
        arrays or data frames. Readers and iterators can be read only once; a list, and an object whose ``__iter__``
        starts from the beginning, any number of times.
    columns, drop : iterables of str
        The columns to use (None: all), and those of them to leave out.
    missing : {"error", "drop"}
        What to do with rows that hold a blank or NaN cell, if all columns are numbers. With "drop", the number of rows
        is not known in advance. Studies of tables have their own rules.
    batch_rows : int
        The largest number of rows of a batch, for files other than text and for tables in memory.
    text : TextFormat
        How numbers and dates are written in text columns of files, and the encoding of text files.
    in_memory : bool
        Whether a study or a test holds all rows in memory, however many they are. By default it does so up to a number
        of rows, wherever they are, and reads more of them batch by batch.

    Returns
    -------
    Source

    Raises
    ------
    TypeError, ValueError, OSError
        As for :func:`kernelmean.tables.read_table`: at once if the source as a whole is at fault, and while reading if
        a row is.
    ImportError
        When a file is read without pyarrow, which ``kernelmean[cli]`` installs.

    Notes
    -----
    Memory holds a few batches (for Parquet, a row group), whatever the number of rows.

    Examples
    --------
    >>> rows = read(np.arange(10.0).reshape(5, 2), batch_rows=2)
    >>> rows, [len(X) for X in rows]
    (Source(the table: 5 rows, columns x0, x1), [2, 2, 1])
    """
    check_integer(batch_rows, "batch_rows", 1)
    if missing not in ("error", "drop"):
        raise ValueError(f"missing is {missing!r}; write 'error' or 'drop'")
    choice = ColumnChoice(None if columns is None else tuple(columns), tuple(drop), text, missing, batch_rows)
    if isinstance(source, Source):
        choice.refuse_for(source)
        return replace(source, in_memory=in_memory or source.in_memory)
    return replace(_source(source, choice), in_memory=in_memory)


def hold(table: Any) -> Any:
    """Return a table in memory; anything that is neither a path nor a source stays as it is."""
    if is_path(table):
        return read_frame(table)
    return table.whole() if isinstance(table, Source) else table


def check_apart(*tables: Any) -> None:
    """Raise when two tables are the same iterator or reader, so that each would get a part of its rows."""
    once = [id(rows) for table in tables if (rows := _read_once(table)) is not None]
    if len(set(once)) < len(once):
        raise ValueError(
            "one iterator or reader was passed for two tables, and its rows can be read once only; make one for each, "
            "pass a list or a file, or hold the rows in memory"
        )


def _read_once(table: Any) -> Any:
    """Return the iterator or reader behind a table, None if rows can be read again."""
    if isinstance(table, Source):
        return table._once
    return table if hasattr(table, "__next__") or hasattr(table, "read_next_batch") else None


def is_path(source: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a table is given by its path."""
    return isinstance(source, str | os.PathLike)


def is_in_memory(table: Any) -> bool:
    """Return whether rows are in memory, as an array, a data frame or a Series, not in a file or in batches."""
    if isinstance(table, Source) or is_path(table) or hasattr(table, "read_next_batch"):
        return False
    return not (_are_paths(table) or _is_dask(table) or _are_batches(table))


def _are_paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(map(is_path, source))


def _is_dask(source: Any) -> bool:
    return hasattr(source, "to_delayed") and hasattr(source, "dask")


def _are_batches(source: Any) -> bool:
    if hasattr(source, "__next__") or (hasattr(type(source), "__iter__") and not holds_rows(source)):
        return True
    several = isinstance(source, list | tuple) and bool(source)
    return several and (hasattr(source[0], "num_columns") or np.ndim(source[0]) == 2)  # Arrow tables have no ndim


def _source(source: Any, choice: ColumnChoice) -> Source:
    refuse_sparse(source, UNNAMED)
    if is_path(source):
        return _named(source, choice)
    if _are_paths(source):
        return _files([Path(path) for path in source], choice)
    refuse("only the text of files is read", text=(choice.text, PLAIN))
    if hasattr(source, "read_next_batch"):
        return _arrow_reader(source, choice)
    if _is_dask(source):
        return _batches(_Partitions(source), choice, DASK)
    if _are_batches(source):
        return _batches(source, choice, BATCHES)
    return _in_memory(source, choice)


def _named(path: str | os.PathLike[str], choice: ColumnChoice) -> Source:
    """Return a file, a folder, or a built-in table."""
    if os.fspath(path) in BUILT_IN:
        return _in_memory(read_frame(path, text=choice.text), choice)
    return file_source(Path(path), choice)


def _files(paths: Sequence[Path], choice: ColumnChoice) -> Source:
    others = [path for path in paths if ending(path) not in PARQUET]
    if others and len(paths) > 1:
        raise ValueError(
            f"texts are the paths of files here, and {others[0]} is not a Parquet file; several files are read as one "
            "table only if all are Parquet. Pass cells as an array or a data frame"
        )
    return file_source(paths[0], choice) if len(paths) == 1 else parquet_source(paths, listed(map(str, paths)), choice)


def _arrow_reader(reader: Any, choice: ColumnChoice) -> Source:
    source = ARROW_READER
    names = choice.names([*map(column_name, reader.schema.names)], source)
    once = _OneReading(reader, source)

    def frames() -> Iterator[Frame]:
        return (as_frame(import_arrow().Table.from_batches([batch]), source).select(names) for batch in once.items())

    rows = _streamed(source, names, frames, lambda: numbers_of(frames(), choice.missing), choice)
    return replace(rows, _once=reader)


def _streamed(
    source: str,
    names: tuple[str, ...],
    frames: Callable[[], Iterator[Frame]],
    arrays: Callable[[], Iterator[Array]],
    choice: ColumnChoice,
) -> Source:
    """Return a source of batches from elsewhere."""

    def whole() -> Frame:
        parts, start = [], 0
        for frame in frames():
            parts.append(numbered(frame, start))
            start += len(frame)
        return joined(parts)

    return Source(source, names, None, frames, arrays, whole, missing=choice.missing)


class _OneReading:
    """Items that can be read only once; reading them again raises an error."""

    def __init__(self, items: Iterable[Any], called: str) -> None:
        self._items, self._called, self._read = items, called, False

    def items(self) -> Iterator[Any]:
        """Return the items; raise the second time."""
        if self._read:
            raise ValueError(
                f"{self._called} was read already and can be read once only; pass a list or a file, or hold all rows "
                "in memory with kernelmean.read(..., in_memory=True)"
            )
        self._read = True
        return iter(self._items)


class _Partitions:
    """The parts of a dask table, each computed when its turn comes, any number of times."""

    def __init__(self, table: Any) -> None:
        if hasattr(table, "rechunk"):
            table = table[:, None] if table.ndim == 1 else table
            self._parts = table.rechunk({1: -1}).to_delayed().ravel()
        else:
            self._parts = table.to_delayed()

    def __iter__(self) -> Iterator[Any]:
        computed = (part.compute() for part in self._parts)
        return (part for part in computed if len(part))


def _batches(source: Iterable[Any], choice: ColumnChoice, called: str) -> Source:
    """Return the rows of an iterable of tables; the names are those of the first one."""
    iterator = iter(source)
    first = next(iterator, None)
    if first is None:
        raise ValueError("the iterable of batches is empty, at least one batch is needed")
    head = to_frame(first, "the first batch")
    names = choice.names(head.names, "the first batch")
    once = _OneReading(chain([first], iterator), called) if iter(source) is iterator else None

    def tables() -> Iterator[tuple[str, Any]]:
        parts = iter(source) if once is None else once.items()
        return ((f"batch {position}", part) for position, part in enumerate(parts, start=1))

    def frames() -> Iterator[Frame]:
        for name, part in tables():
            frame = to_frame(part, name)
            _check_alike(name, frame, head)
            yield frame.select(names)

    def arrays() -> Iterator[Array]:
        for name, part in tables():
            frame = named_frame(part, name)
            table = as_table(part, name) if frame is None else frame
            _check_alike(name, table, head)
            yield _numbers(table, names, choice.missing)

    rows = _streamed(called, names, frames, arrays, choice)
    return replace(rows, named=head.named, _once=None if once is None else source)


def _numbers(table: Table | Frame, names: Sequence[str], missing: str) -> Array:
    """Return the numbers of some columns of a table, which may have others."""
    if isinstance(table, Frame):
        return table.select(names).to_table(missing, reader=READER).values
    return table.columns([table.names.index(name) for name in names]).values


def _check_alike(name: str, table: Table | Frame, head: Frame) -> None:
    if set(table.names) != set(head.names) or table.named != head.named:
        raise ValueError(f"{name} has {_columns(table)}, the first one has {_columns(head)}")


def _columns(table: Table | Frame) -> str:
    return f"the columns {listed(table.names)}" + ("" if table.named else ", as an array without names")


def _in_memory(source: Any, choice: ColumnChoice) -> Source:
    """Return the source of a table in memory, which yields its rows in batches."""
    frame = to_frame(source, UNNAMED)
    names = chosen_names(frame.names, frame.source, choice.columns, choice.drop)
    chosen = frame.select(names)
    parts = slices(len(chosen), choice.batch_rows)

    def arrays() -> Iterator[Array]:
        table = as_table(source, UNNAMED) if named_frame(source, UNNAMED) is None else chosen
        values = _numbers(table, names, choice.missing)
        return (values[rows] for rows in slices(len(values), choice.batch_rows))

    return Source(
        frame.source,
        names,
        len(chosen) if choice.missing == "error" else int(chosen.complete().sum()),
        lambda: (chosen.take(part) for part in parts),
        arrays,
        lambda: chosen,
        named=frame.named,
        missing=choice.missing,
    )
