"""Tables of columns of any kind in batches of rows: Parquet and CSV files of any length, and what memory holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from ..core.array import IntArray, slices
from ..core.table import Frame, as_frame, check_names, to_frame
from ..core.words import listed
from .files import (
    ARROW,
    JSON_LINES,
    PARQUET,
    TEXT,
    check_columns,
    check_file,
    check_rows,
    ending,
    first_line,
    import_arrow,
    unknown_ending,
)
from .readers import PLAIN, TextColumns, TextFormat, check_units
from .readers.arrow_file import arrow_batches, arrow_names, arrow_rows
from .readers.json_lines import JsonLines
from .readers.text_file import STANDARD_INPUT
from .text import CsvBlocks

BATCH_ROWS = 2**16


@final
@dataclass(frozen=True)
class RowGroup:
    """A part of a Parquet file that can be read by itself: its place, its rows, and the number of its first row."""

    path: Path
    index: int
    rows: int
    start: int


@final
@dataclass(frozen=True, eq=False)
class Frames:
    """A table that is read batch by batch, as often as wanted: iterating yields frames of at least one row.

    Attributes
    ----------
    source : str
        What errors call it.
    names : tuple of str
        The columns.
    n_rows : int or None
        How many rows there are, where that is known before reading.
    row_groups : tuple of RowGroup
        Of Parquet files.
    plain : bool
        Whether the types of all columns say that they hold numbers.
    types : dict
        What columns were read as so far, by name, which a pass widens where cells ask for it.
    text : TextFormat
        How the text of a file is written.
    named : bool
        Whether columns are matched by name: not those of an array.
    """

    source: str
    names: tuple[str, ...]
    n_rows: int | None
    row_groups: tuple[RowGroup, ...]
    plain: bool
    _open: Callable[[Sequence[RowGroup] | None], Iterator[Frame]]
    types: dict[str, str] = field(default_factory=dict)
    text: TextFormat = PLAIN
    named: bool = True

    def __iter__(self) -> Iterator[Frame]:
        """Yield frames whose rows carry their numbers, from 1."""
        start = 0
        for frame in self._open(None):
            yield numbered(frame, start)
            start += len(frame)

    def of(self, groups: Sequence[RowGroup]) -> Iterator[Frame]:
        """Yield the frames of some row groups only, in their order."""
        for group in groups:
            start = group.start
            for frame in self._open([group]):
                yield numbered(frame, start)
                start += len(frame)

    def reordered(self, names: Sequence[str]) -> Frames:
        """Return the same table with its columns in another order."""
        return replace(self, names=tuple(names), _open=lambda some: (frame.select(names) for frame in self._open(some)))

    def called(self, names: Sequence[str]) -> Frames:
        """Return the same table with other names of its columns."""
        return replace(self, names=tuple(names), _open=lambda some: (frame.called(names) for frame in self._open(some)))

    def after(self, read: int) -> Iterator[Frame]:
        """Yield the frames of the rows after some, whose row groups are not read again where they are known."""
        left = [group for group in self.row_groups if group.start + group.rows > read]
        for frame in self.of(left) if read and self.row_groups else self:
            if frame.row_numbers()[-1] > read:
                yield frame.take(frame.row_numbers() > read) if frame.row_numbers()[0] <= read else frame

    def __repr__(self) -> str:
        rows = "an unknown number of rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"Frames({self.source}: {rows}, columns {listed(self.names)})"


def numbered(frame: Frame, start: int) -> Frame:
    """Return a frame whose first row is number ``start`` + 1 of its table."""
    return replace(frame, rows=np.arange(start + 1, start + 1 + len(frame)))


def read_frames(
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    batch_rows: int = BATCH_ROWS,
    text: TextFormat = PLAIN,
) -> Frames:
    """Return a table of columns of any kind in batches.

    Parameters
    ----------
    source : str, path, data frame, array, Table or Frame
        A file of any kind that :func:`kernelmean.tables.read_table` reads, a folder of Parquet files, which are read in
        the order of their names, or what is in memory already.
    columns, drop : iterables of str
        The columns to use (None: all), and those of them to leave out.
    batch_rows : int
        Rows at a time, at most; of CSV files a block of 8 MiB.
    text : TextFormat
        How numbers and dates are written in the columns of text of files, and the encoding of text files.

    Raises
    ------
    TypeError, ValueError, OSError, ImportError
        As :func:`kernelmean.tables.read_table`.

    Examples
    --------
    >>> frames = read_frames(np.arange(10.0).reshape(5, 2), batch_rows=2)
    >>> frames, [frame.row_numbers().tolist() for frame in frames]
    (Frames(the table: 5 rows, columns x0, x1), [[1, 2], [3, 4], [5]])
    """
    if isinstance(source, Frames):
        return source
    chosen = None if columns is None else tuple(columns)
    left_out = tuple(drop)
    if isinstance(source, str | os.PathLike):
        return file_frames(Path(source), FileChoice(chosen, left_out, text), batch_rows)
    frame = to_frame(source, "the table").select(chosen, left_out)
    parts = slices(len(frame), batch_rows)

    def opened(_: Sequence[RowGroup] | None) -> Iterator[Frame]:
        return (frame.take(part) for part in parts)

    return Frames(frame.source, frame.names, len(frame), (), False, opened, named=frame.named)


def chosen_names(
    names: Sequence[str], source: str, columns: Sequence[str] | None, drop: Sequence[str]
) -> tuple[str, ...]:
    """Return the chosen ones of all names, or raise when one is unknown or none is left."""
    check_names(names, source)
    chosen = Frame({name: np.empty(0) for name in names}, source).select(columns, drop).names
    if not chosen:
        raise ValueError(f"{source} has no columns left; choose at least one")
    return chosen


@dataclass(frozen=True)
class FileChoice:
    """Which columns of a file, how their text is written, and whether all of them must hold numbers."""

    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    text: TextFormat
    numbers: bool = False

    def names(self, names: Sequence[str], source: str) -> tuple[str, ...]:
        """Return the chosen ones of all names, or raise when one is unknown or none is left."""
        check_units(self.text, names, source)
        return chosen_names(names, source, self.columns, self.drop)

    def reader(self, types: dict[str, str], *, iso: bool = False) -> TextColumns:
        """Return what reads the columns of text in another pass over the file."""
        strict = self.numbers and self.text.reads
        return TextColumns(self.text, types, iso=iso and not self.numbers, strict=strict)


def file_frames(path: Path, choice: FileChoice, batch_rows: int) -> Frames:
    """Return a file, or a folder of Parquet files, in batches; raises as :func:`read_frames`."""
    if str(path) == STANDARD_INPUT:
        raise ValueError("standard input can be read once only, not batch by batch; write the table to a file first")
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in PARQUET)
        if not files:
            raise ValueError(f"{path} is a folder without files that end in .parquet; pass a file, or another folder")
        return _parquet(files, str(path), choice, batch_rows)
    check_file(path)
    if ending(path) in PARQUET:
        return _parquet([path], str(path), choice, batch_rows)
    if ending(path) in ARROW:
        return _arrow(path, choice, batch_rows)
    if ending(path) in JSON_LINES:
        return _json_lines(path, choice, batch_rows)
    if ending(path) in TEXT:
        blocks = CsvBlocks.of(path, choice.text)
        names = choice.names(list(blocks.raw), str(path))
        types: dict[str, str] = {}
        return Frames(str(path), names, None, (), False, blocks.frames(names, types), types, choice.text)
    raise unknown_ending(path)


def _json_lines(path: Path, choice: FileChoice, batch_rows: int) -> Frames:
    lines = JsonLines(path, choice.text)
    names = choice.names(lines.names, str(path))
    types: dict[str, str] = {}

    def frames(_: Any) -> Iterator[Frame]:
        return lines.frames(names, batch_rows, choice.reader(types, iso=True))

    return Frames(str(path), names, None, (), False, frames, types, choice.text)


def _arrow(path: Path, choice: FileChoice, batch_rows: int) -> Frames:
    arrow = import_arrow()
    names = choice.names(arrow_names(path), str(path))
    n_rows = sum(arrow_rows(path))
    if not n_rows:
        raise ValueError(f"{path} has no rows")
    types: dict[str, str] = {}

    def frames(_: Any) -> Iterator[Frame]:
        columns, start = choice.reader(types), 0
        for batch in arrow_batches(path, names):
            for part in slices(len(batch), batch_rows):
                rows = arrow.Table.from_batches([batch.slice(part.start, part.stop - part.start)])
                frame = numbered(as_frame(rows, str(path)), start)
                start += len(frame)
                yield columns.read(frame)

    return Frames(str(path), names, n_rows, (), False, frames, types, choice.text)


def _parquet(files: list[Path], source: str, choice: FileChoice, batch_rows: int) -> Frames:
    looks = [_look(path, choice) for path in files]
    names = looks[0].names
    for path, look in zip(files, looks, strict=True):
        if set(look.names) != set(names):
            raise ValueError(
                f"{path} has the columns {listed(look.names)}, {files[0]} has {listed(names)}; choose columns"
            )
    starts: IntArray = np.cumsum([0, *(rows for look in looks for rows in look.rows)])
    places = [(path, k, rows) for path, look in zip(files, looks, strict=True) for k, rows in enumerate(look.rows)]
    groups = tuple(RowGroup(*place, int(start)) for place, start in zip(places, starts, strict=False))
    if not starts[-1]:
        raise ValueError(f"{source} has no rows")
    types: dict[str, str] = {}

    def frames(some: Sequence[RowGroup] | None) -> Iterator[Frame]:
        columns = choice.reader(types)
        for path in files:
            own = [group for group in (groups if some is None else some) if group.path == path]
            start = own[0].start if own else 0
            for frame in _rows_of(own, names, batch_rows):
                yield columns.read(numbered(frame, start))
                start += len(frame)

    return Frames(source, names, int(starts[-1]), groups, all(look.plain for look in looks), frames, types, choice.text)


def _rows_of(groups: Sequence[RowGroup], names: Sequence[str], batch_rows: int) -> Iterator[Frame]:
    """Yield the rows of some row groups of one file."""
    if not groups:
        return
    arrow, path = import_arrow(), groups[0].path
    from pyarrow import parquet

    wanted = [group.index for group in groups]
    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:  # else all that was read stays in memory
            for batch in file.iter_batches(batch_rows, row_groups=wanted, columns=list(names)):
                batch.validate(full=True)  # texts that are no UTF-8
                if len(batch):
                    yield as_frame(arrow.Table.from_batches([batch]), str(path)).select(names)
    except MemoryError:  # which Arrow's is as well
        raise
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


@dataclass(frozen=True)
class _Look:
    """What a Parquet file says of itself: the chosen columns, the rows of its groups, whether all hold numbers."""

    names: tuple[str, ...]
    rows: tuple[int, ...]
    plain: bool


def _look(path: Path, choice: FileChoice) -> _Look:
    arrow = import_arrow()
    from pyarrow import parquet, types

    try:
        with parquet.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
            check_rows(metadata, path)
            rows = tuple(metadata.row_group(k).num_rows for k in range(metadata.num_row_groups))
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error
    found = [name for name in schema.names if not name.startswith("__index_level_")]
    check_columns(found, path)
    names = choice.names(found, str(path))
    kinds = [schema.field(name).type for name in names]
    return _Look(names, rows, all(types.is_floating(kind) or types.is_integer(kind) for kind in kinds))


def _damaged(path: Path, error: BaseException) -> ValueError:
    return ValueError(f"{path} is damaged or not a Parquet file ({first_line(error)}); write it again")
