"""Files of any length as sources of rows: Parquet, Feather, CSV and JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ..core.array import slices
from ..core.cells import column_name
from ..core.table import Frame, as_frame, check_names
from ..core.words import count, listed, refuse
from .files import (
    ARROW,
    JSON_LINES,
    PARQUET,
    TEXT,
    as_written,
    check_columns,
    check_file,
    check_name,
    check_rows,
    ending,
    first_line,
    import_arrow,
    parquet_files,
    table_files,
    unknown_ending,
)
from .readers import PLAIN, TextColumns, TextFormat, check_absent
from .readers.arrow_file import arrow_batches, arrow_names, arrow_rows
from .readers.csv_file import CsvFile
from .readers.json_lines import JsonLines
from .readers.text_file import STANDARD_INPUT
from .reading import read_frame
from .source import Source, joined, numbered, numbers_of

BATCH_ROWS = 2**16


def chosen_names(
    names: Sequence[str], source: str, columns: Sequence[str] | None, drop: Sequence[str]
) -> tuple[str, ...]:
    """Return the chosen names, or raise when one is unknown or none is left."""
    check_names(names, source)
    chosen = Frame({name: np.empty(0) for name in names}, source).select(columns, drop).names
    if not chosen:
        raise ValueError(f"{source} has no columns left; choose at least one")
    return chosen


@dataclass(frozen=True)
class ColumnChoice:
    """The columns of a table to read, the format of their text, the rule for missing cells, and the batch size."""

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    text: TextFormat = PLAIN
    missing: str = "error"
    batch_rows: int = BATCH_ROWS

    def names(self, names: Sequence[str], source: str) -> tuple[str, ...]:
        """Return the chosen names, or raise when one is unknown or none is left."""
        check_absent(self.text, names, source)
        return chosen_names(names, source, self.columns, self.drop)

    def refuse_for(self, source: Source) -> None:
        """Raise when options are passed for a source that was made already."""
        usual = ColumnChoice()
        refuse(
            f"{source!r} was read already",
            columns=(self.columns, None),
            drop=(self.drop, ()),
            missing=(self.missing, usual.missing),
            batch_rows=(self.batch_rows, usual.batch_rows),
            text=(self.text, usual.text),
        )

    def known(self, rows: int) -> int | None:
        """Return how many rows are read; None if some may be left out."""
        return rows if self.missing == "error" else None

    def whole(self, path: Path) -> Frame:
        """Return a file in memory."""
        return read_frame(path, text=self.text).select(self.columns, self.drop)


_Open: TypeAlias = Callable[[TextColumns], Iterator[Frame]]
"""Maps the reader of text columns to frames."""


def _opened(source: str, names: tuple[str, ...], choice: ColumnChoice, rows: _Open, **how: bool) -> Source:
    """Return the source of the rows of a file; a first pass over all of them decides what columns of text hold."""
    columns = TextColumns(choice.text, **how)

    def frames() -> Iterator[Frame]:
        if not columns.settled:
            for _ in rows(columns):
                pass
            columns.settled = True
        return rows(columns)

    return Source(
        source,
        names,
        None,
        frames,
        lambda: numbers_of(rows(TextColumns(choice.text, **how)), choice.missing),
        lambda: choice.whole(Path(source)),
        missing=choice.missing,
    )


def file_source(path: Path, choice: ColumnChoice) -> Source:
    """Return a file, or a folder of Parquet files, as a source of rows; errors as for :func:`kernelmean.read`."""
    if str(path) == STANDARD_INPUT:
        raise ValueError("standard input can be read once only, not batch by batch; write the table to a file first")
    if path.is_dir():
        files = parquet_files(path)
        if not files:
            raise ValueError(f"{path} is a folder without files that end in .parquet; pass a file, or another folder")
        others = [file.name for file in table_files(path) if file not in files]
        if others:
            raise ValueError(
                f"{path} has {count(len(files), 'Parquet file')} and {count(len(others), 'table')} of another kind, "
                f"such as {others[0]}; keep files of one kind in a folder"
            )
        return parquet_source(files, str(path), choice)
    check_file(path)
    if ending(path) in PARQUET:
        return parquet_source([path], str(path), choice)
    if ending(path) in ARROW:
        return _arrow(path, choice)
    if ending(path) in JSON_LINES:
        lines = JsonLines(path, choice.text)
        names = choice.names(lines.names, str(path))
        return _opened(
            str(path), names, choice, lambda columns: lines.frames(names, choice.batch_rows, columns), iso=True
        )
    if ending(path) in TEXT:
        return _csv(path, choice)
    raise unknown_ending(path)


def _csv(path: Path, choice: ColumnChoice) -> Source:
    file = CsvFile.of(path, choice.text)
    names = choice.names(list(file.raw), str(path))
    opened = _opened(str(path), names, choice, lambda columns: file.frames(names, columns), untyped=True)
    return replace(opened, notes=file.notes)


def _arrow(path: Path, choice: ColumnChoice) -> Source:
    arrow = import_arrow()
    names = choice.names(arrow_names(path), str(path))
    n_rows = sum(arrow_rows(path))
    if not n_rows:
        raise ValueError(f"{path} has no rows")

    def frames(columns: TextColumns) -> Iterator[Frame]:
        start = 0
        for batch in arrow_batches(path, names):
            for part in slices(len(batch), choice.batch_rows):
                rows = arrow.Table.from_batches([batch.slice(part.start, part.stop - part.start)])
                frame = numbered(as_frame(rows, str(path)), start)
                start += len(frame)
                yield columns.read(frame)

    return replace(_opened(str(path), names, choice, frames), n_rows=choice.known(n_rows))


def parquet_source(files: Sequence[Path], source: str, choice: ColumnChoice) -> Source:
    """Return Parquet files with the same columns as one source of rows."""
    looks = [_look(path, choice) for path in files]
    names = looks[0].names
    for path, look in zip(files, looks, strict=True):
        if set(look.names) != set(names):
            raise ValueError(
                f"{path} has the columns {listed(look.names)}, {files[0]} has {listed(names)}; choose columns"
            )
    n_rows = sum(look.rows for look in looks)
    if not n_rows:
        raise ValueError(f"{source} has no rows")

    def frames(columns: TextColumns) -> Iterator[Frame]:
        start = 0
        for path in files:
            for frame in _rows_of(path, names, choice.batch_rows):
                yield columns.read(numbered(frame, start))
                start += len(frame)

    def whole() -> Frame:
        return choice.whole(files[0]) if len(files) == 1 else joined([choice.whole(path) for path in files])

    opened = _opened(source, names, choice, frames)
    return replace(opened, n_rows=choice.known(n_rows), _whole=whole)


def _rows_of(path: Path, names: Sequence[str], batch_rows: int) -> Iterator[Frame]:
    """Yield the rows of one file."""
    arrow = import_arrow()
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:  # otherwise all rows read stay in memory
            columns = as_written(names, file.schema_arrow.names)
            for batch in file.iter_batches(batch_rows, columns=columns):
                batch.validate(full=True)  # texts that are not UTF-8
                if len(batch):
                    yield as_frame(arrow.Table.from_batches([batch]), str(path)).select(names)
    except MemoryError:  # also the base class of Arrow's
        raise
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


@dataclass(frozen=True)
class _Footer:
    """The footer of a Parquet file: the chosen columns, and the number of rows."""

    names: tuple[str, ...]
    rows: int


def _look(path: Path, choice: ColumnChoice) -> _Footer:
    check_name(path)
    arrow = import_arrow()
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names, metadata = [*map(column_name, file.schema_arrow.names)], file.metadata
            check_rows(metadata, path)
            rows = sum(metadata.row_group(k).num_rows for k in range(metadata.num_row_groups))
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from error
    found = [name for name in names if not name.startswith("__index_level_")]
    check_columns(found, path)
    return _Footer(choice.names(found, str(path)), rows)


def _damaged(path: Path, error: BaseException) -> ValueError:
    return ValueError(f"{path} is damaged or not a Parquet file ({first_line(error)}); write it again")
