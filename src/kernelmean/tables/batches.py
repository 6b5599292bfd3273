"""Tables in batches of rows: files of any length, Arrow readers, iterables of arrays, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, final

import numpy as np

from ..core.array import Array, slices
from ..core.conflicts import refuse
from ..core.native import refuse_sparse
from ..core.table import Frame, Table, as_frame, as_table
from ..core.validate import check_integer
from ..core.words import listed
from .files import TEXT, check_file, ending, import_arrow
from .frames import BATCH_ROWS, FileChoice, chosen_names, file_frames, numbered
from .readers import PLAIN, TextFormat
from .text import CsvBlocks

READER = "read_batches"
"""What errors about cells and columns offer the options of."""


@final
@dataclass(frozen=True, eq=False)
class Batches:
    """A table that is read batch by batch: iterating yields finite float64 arrays of shape (b, d), b ≥ 1.

    Attributes
    ----------
    source : str
        What errors call it.
    names : tuple of str
        The columns.
    n_rows : int or None
        How many rows there are, where that is known before reading.
    named : bool
        Whether columns are matched by name: not those of arrays.
    """

    source: str
    names: tuple[str, ...]
    n_rows: int | None
    _open: Callable[[], Iterator[Array]]
    named: bool = True

    def __iter__(self) -> Iterator[Array]:
        return self._open()

    def __repr__(self) -> str:
        rows = "an unknown number of rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"Batches({self.source}: {rows}, columns {listed(self.names)})"

    def skip(self, rows: int) -> Batches:
        """Return the batches without the first rows, to resume where a checkpoint was written."""
        check_integer(rows, "rows", 0)
        left = None if self.n_rows is None else max(self.n_rows - rows, 0)
        return replace(self, n_rows=left, _open=lambda: without_rows(iter(self), rows))

    def reordered(self, names: Sequence[str]) -> Batches:
        """Return the batches with their columns in another order."""
        index = [self.names.index(name) for name in names]
        return replace(self, names=tuple(names), _open=lambda: (np.ascontiguousarray(X[:, index]) for X in self))


def read_batches(
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    missing: str = "error",
    batch_rows: int = BATCH_ROWS,
    text: TextFormat = PLAIN,
) -> Batches:
    """Return a table in batches, whatever holds it.

    Parameters
    ----------
    source : str, path, array, data frame, Arrow reader, or iterable of arrays or data frames
        A file of any kind that :func:`kernelmean.tables.read_table` reads, or a folder of Parquet files, which are
        read in the order of their names; a ``pyarrow.RecordBatchReader``; or an iterable, which may be read once only.
    columns, drop : iterables of str
        The columns to use (None: all), and those of them to leave out.
    missing : {"error", "drop"}
        What to do with rows that hold a blank or NaN cell. With "drop" the number of rows is not known before.
    batch_rows : int
        Rows at a time, at most, from Parquet files, arrays and data frames.
    text : TextFormat
        How numbers are written in the columns of text of files, and the encoding of text files.

    Returns
    -------
    Batches

    Raises
    ------
    TypeError, ValueError, OSError
        As :func:`kernelmean.tables.read_table`: at once where the source as a whole is at fault, and while reading
        where a row is.
    ImportError
        When a file is read without pyarrow, which ``kernelmean[cli]`` installs.

    Notes
    -----
    Memory is that of a few batches (of a row group, for Parquet), whatever the length.

    Examples
    --------
    >>> batches = read_batches(np.arange(10.0).reshape(5, 2), batch_rows=2)
    >>> batches, [len(X) for X in batches]
    (Batches(an array: 5 rows, columns x0, x1), [2, 2, 1])
    """
    check_integer(batch_rows, "batch_rows", 1)
    if missing not in ("error", "drop"):
        raise ValueError(f"missing is {missing!r}; write 'error' or 'drop'")
    if isinstance(source, Batches):
        refuse(
            f"{source!r} was read already",
            columns=(columns, None),
            drop=(tuple(drop), ()),
            missing=(missing, "error"),
            batch_rows=(batch_rows, BATCH_ROWS),
        )
        return source
    refuse_sparse(source, "the table")
    choice = _Choice(None if columns is None else tuple(columns), tuple(drop), missing)
    if isinstance(source, str | os.PathLike):
        return _file(Path(source), choice, batch_rows, text)
    if hasattr(source, "read_next_batch"):
        return _arrow_reader(source, choice)
    if hasattr(source, "__next__") or (isinstance(source, list) and source and np.ndim(source[0]) == 2):
        return _iterable(source, choice)
    return _in_memory(source, choice, batch_rows)


def split_rows(batches: Iterator[Array], rows: int) -> tuple[Array | None, Iterator[Array]]:
    """Return the first rows (fewer where there are not so many, None for none) and what is left, in batches."""
    head: list[Array] = []
    missing = rows
    rest: list[Array] = []
    while missing > 0 and not rest:
        batch = next(batches, None)
        if batch is None:
            break
        head.append(batch[:missing])
        rest = [batch[missing:]] if len(batch) > missing else []
        missing -= len(head[-1])
    return np.concatenate(head) if head else None, chain(rest, batches)


def without_rows(batches: Iterator[Array], rows: int) -> Iterator[Array]:
    """Yield batches without the first rows, which are read and forgotten."""
    for batch in batches:
        if len(batch) > rows:
            yield batch[rows:]
        rows = max(rows - len(batch), 0)


@dataclass(frozen=True)
class _Choice:
    """Which columns, and what to do with missing cells."""

    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    missing: str

    def names(self, names: Sequence[str], source: str) -> tuple[str, ...]:
        """Return the chosen ones of all names."""
        return chosen_names(names, source, self.columns, self.drop)

    def numbers(self, frames: Iterator[Frame]) -> Iterator[Array]:
        """Yield the numbers of frames that follow one another; errors count rows from the start."""
        start = 0
        for frame in frames:
            chosen = numbered(frame, start).select(self.columns, self.drop)
            start += len(frame)
            if self.missing == "drop":
                chosen = chosen.take(chosen.complete())
            if len(chosen):
                yield np.asarray(chosen.to_table(reader=READER))


def _file(path: Path, choice: _Choice, batch_rows: int, text: TextFormat) -> Batches:
    if not path.is_dir() and ending(path) in TEXT:
        check_file(path)
        return _csv(path, choice, text)
    frames = file_frames(path, FileChoice(choice.columns, choice.drop, text, numbers=True), batch_rows)
    inner = replace(choice, columns=frames.names, drop=())
    n_rows = frames.n_rows if choice.missing == "error" else None
    return Batches(frames.source, frames.names, n_rows, lambda: inner.numbers(iter(frames)))


def _csv(path: Path, choice: _Choice, text: TextFormat) -> Batches:
    blocks = CsvBlocks.of(path, text)
    names = choice.names(list(blocks.raw), str(path))
    inner = replace(choice, columns=names, drop=())
    return Batches(str(path), names, None, lambda: inner.numbers(blocks.numbers(names)))


def _arrow_reader(reader: Any, choice: _Choice) -> Batches:
    source = "the Arrow reader"
    names = choice.names(reader.schema.names, source)
    inner = replace(choice, columns=names, drop=())

    def frames() -> Iterator[Frame]:
        return (as_frame(import_arrow().Table.from_batches([batch]), source) for batch in reader)

    return Batches(source, names, None, lambda: inner.numbers(frames()))


def _iterable(source: Iterable[Any], choice: _Choice) -> Batches:
    """Return the batches of an iterable of tables; the first one is looked at for its names."""
    iterator = iter(source)
    first = next(iterator, None)
    if first is None:
        raise ValueError("the iterable of batches is empty, at least one batch is needed")
    head = as_table(first, "the first batch", missing=choice.missing, reader=READER)
    names = choice.names(head.names, "the first batch")
    again = source if iter(source) is not iterator else None

    def tables() -> Iterator[Any]:
        return iter(again) if again is not None else chain([first], iterator)

    def numbers() -> Iterator[Array]:
        for position, batch in enumerate(tables(), start=1):
            table = as_table(batch, f"batch {position}", missing=choice.missing, reader=READER)
            if set(table.names) != set(head.names) or table.named != head.named:
                raise ValueError(f"batch {position} has {_columns(table)}, the first one has {_columns(head)}")
            yield table.columns([table.names.index(name) for name in names]).values

    return Batches("the iterable", names, None, numbers, head.named)


def _columns(table: Table) -> str:
    return f"the columns {listed(table.names)}" + ("" if table.named else ", as an array without names")


def _in_memory(source: Any, choice: _Choice, batch_rows: int) -> Batches:
    table = as_table(source, "the table", missing=choice.missing, reader=READER)
    names = choice.names(table.names, "the table")
    values = table.columns([table.names.index(name) for name in names]).values
    kind = "an array" if isinstance(source, np.ndarray) else "a table"

    def parts() -> Iterator[Array]:
        return (values[rows] for rows in slices(len(values), batch_rows))

    return Batches(kind, names, len(values), parts, table.named)
