"""Tables of columns of any kind in batches of rows: Parquet and CSV files of any length, and what memory holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from .._array import IntArray, slices
from .._files import PARQUET, TEXT, check_columns, check_file, check_rows, first_line, import_arrow
from .._table import Frame, as_frame, check_names, listed, to_frame
from .text import csv_frames, csv_names

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
        Of CSV files: the Arrow types of the columns, which a pass widens where cells ask for it.
    named : bool
        Whether columns are matched by name: not those of an array.
    """

    source: str
    names: tuple[str, ...]
    n_rows: int | None
    row_groups: tuple[RowGroup, ...]
    plain: bool
    _open: Callable[[Sequence[RowGroup] | None], Iterator[Frame]]
    types: dict[str, Any] = field(default_factory=dict)
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
    source: Any, *, columns: Iterable[str] | None = None, drop: Iterable[str] = (), batch_rows: int = BATCH_ROWS
) -> Frames:
    """Return a table of columns of any kind in batches.

    Parameters
    ----------
    source : str, path, data frame, array, Table or Frame
        A file that ends in .parquet, .pq, .csv or .tsv, a folder of Parquet files, which are read in the order of
        their names, or what is in memory already.
    columns, drop : iterables of str
        The columns to use (None: all), and those to leave out.
    batch_rows : int
        Rows at a time, at most; of CSV files a block of 8 MiB.

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
        return _file(Path(source), chosen, left_out, batch_rows)
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


def _file(path: Path, columns: Sequence[str] | None, drop: Sequence[str], batch_rows: int) -> Frames:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in PARQUET)
        if not files:
            raise ValueError(f"{path} is a folder without files that end in .parquet; pass a file, or another folder")
        return _parquet(files, str(path), columns, drop, batch_rows)
    check_file(path)
    if path.suffix.lower() in PARQUET:
        return _parquet([path], str(path), columns, drop, batch_rows)
    if path.suffix.lower() in TEXT:
        raw_names = csv_names(path)
        names = chosen_names([name.strip() for name in raw_names], str(path), columns, drop)
        raw = {name.strip(): name for name in raw_names}
        types: dict[str, Any] = {}
        frames = csv_frames(path, {name: raw[name] for name in names}, types)
        return Frames(str(path), names, None, (), False, frames, types)
    raise ValueError(f"{path}: the ending {path.suffix!r} is unknown; write the table as .csv, .tsv or .parquet")


def _parquet(
    files: list[Path], source: str, columns: Sequence[str] | None, drop: Sequence[str], batch_rows: int
) -> Frames:
    arrow = import_arrow()
    from pyarrow import parquet

    looks = [_look(path, columns, drop) for path in files]
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

    def frames(some: Sequence[RowGroup] | None) -> Iterator[Frame]:
        for path in files:
            wanted = None if some is None else [group.index for group in some if group.path == path]
            if wanted == []:
                continue
            try:
                with parquet.ParquetFile(path, pre_buffer=False) as file:  # else all that was read stays in memory
                    for batch in file.iter_batches(batch_rows, row_groups=wanted, columns=list(names)):
                        if len(batch):
                            yield as_frame(arrow.Table.from_batches([batch]), str(path)).select(names)
            except MemoryError:  # which Arrow's is as well
                raise
            except (arrow.ArrowException, OSError) as error:
                raise _damaged(path, error) from error

    return Frames(source, names, int(starts[-1]), groups, all(look.plain for look in looks), frames)


@dataclass(frozen=True)
class _Look:
    """What a Parquet file says of itself: the chosen columns, the rows of its groups, whether all hold numbers."""

    names: tuple[str, ...]
    rows: tuple[int, ...]
    plain: bool


def _look(path: Path, columns: Sequence[str] | None, drop: Sequence[str]) -> _Look:
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
    names = chosen_names(found, str(path), columns, drop)
    kinds = [schema.field(name).type for name in names]
    return _Look(names, rows, all(types.is_floating(kind) or types.is_integer(kind) for kind in kinds))


def _damaged(path: Path, error: BaseException) -> ValueError:
    return ValueError(f"{path} is damaged or not a Parquet file ({first_line(error)}); write it again")
