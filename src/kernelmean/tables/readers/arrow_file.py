"""Files whose columns have types: Parquet, and Arrow IPC (Feather)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ...core.array import slices
from ...core.cells import column_name
from ..files import as_written, check_columns, check_name, check_room, check_rows, first_line, import_arrow

_INDEX = "__index_level_"


@final
@dataclass(frozen=True)
class ArrowPart:
    """A file of a table: where it is, its columns without a saved index, that index, and its rows."""

    path: Path
    names: tuple[str, ...]
    index: tuple[str, ...]
    rows: int
    batches: Callable[[Sequence[str], int], Iterator[Any]]
    """Yields the cells of some columns, with at most so many rows each, checked since readers trust what files say."""


def parquet_part(path: Path) -> ArrowPart:
    """Return a Parquet file, of which only the footer has been read.

    Raises
    ------
    ValueError, OSError
        When the file is damaged or has another format, or no columns.
    """
    check_name(path)
    with _parquet(path) as file:
        written = file.schema_arrow.names
        check_rows(file.metadata, path)
        rows = file.metadata.num_rows

    def batches(names: Sequence[str], most: int) -> Iterator[Any]:
        with _parquet(path) as file:
            for batch in file.iter_batches(most, columns=as_written(names, written)):
                batch.validate(full=True)  # texts that are not UTF-8
                if len(batch):
                    yield batch

    return _part(path, written, rows, batches)


def arrow_part(path: Path) -> ArrowPart:
    """Return an Arrow IPC file; errors as for :func:`parquet_part`."""
    with _ipc(path) as reader:
        written = reader.schema.names
        rows = sum(len(batch) for batch in _checked(reader, path))

    def batches(names: Sequence[str], most: int) -> Iterator[Any]:
        with _ipc(path) as reader:
            for batch in _checked(reader, path):
                chosen = batch.select(as_written(names, written))
                for part in slices(len(batch), most):
                    yield chosen.slice(part.start, part.stop - part.start)

    return _part(path, written, rows, batches)


def _part(path: Path, written: Sequence[str], rows: int, batches: Any) -> ArrowPart:
    names = [column_name(name) for name in written if not name.startswith(_INDEX)]
    check_columns(names, path)
    return ArrowPart(path, tuple(names), tuple(name for name in written if name.startswith(_INDEX)), rows, batches)


def _checked(reader: Any, path: Path) -> Iterator[Any]:
    for number in range(reader.num_record_batches):
        batch = reader.get_batch(number)
        check_room(batch.num_rows * max(batch.num_columns, 1), path)
        batch.validate(full=True)
        yield batch


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    import_arrow()
    from pyarrow import parquet

    with _refusing(path, "a Parquet file"), parquet.ParquetFile(path, pre_buffer=False) as file:
        yield file  # with pre_buffer, all rows read would stay in memory


@contextmanager
def _ipc(path: Path) -> Iterator[Any]:
    arrow = import_arrow()
    from pyarrow import ipc

    kind = "an Arrow IPC file, also called feather version 2"
    with _refusing(path, kind), arrow.OSFile(str(path)) as file, ipc.open_file(file) as reader:
        yield reader


@contextmanager
def _refusing(path: Path, kind: str) -> Iterator[None]:
    arrow = import_arrow()
    try:
        yield
    except MemoryError:  # also the base class of Arrow's
        raise
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged or not {kind} ({first_line(error)}); write it again") from error
