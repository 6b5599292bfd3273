"""Arrow IPC files (Feather), and tables whose columns already have types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...core.cells import column_name
from ...core.table import Frame, as_frame
from ...core.words import listed
from ..files import as_written, check_columns, check_room, first_line, import_arrow
from .columns import TextColumns, check_absent
from .text_format import TextFormat

_INDEX = "__index_level_"


def read_arrow(path: Path, text: TextFormat) -> Frame:
    """Return all columns of an Arrow IPC file.

    Raises
    ------
    ValueError, OSError
        When the file is damaged or has another format, has no rows or columns, or claims to be larger than memory.
    """
    arrow = import_arrow()
    batches = list(arrow_batches(path))
    if not sum(map(len, batches)):
        raise ValueError(f"{path} has no rows")
    return typed_frame(arrow.Table.from_batches(batches), path, text)


def typed_frame(table: Any, path: Path, text: TextFormat) -> Frame:
    """Return the columns of an Arrow table; text columns may become numbers or times."""
    index = [name for name in table.column_names if name.startswith(_INDEX)]
    notes = (f"{path}: the saved row index ({listed(index)}) was left out",) if index else ()
    check_columns([*map(column_name, table.column_names)], path)
    frame = as_frame(table.drop_columns(index), str(path), notes)
    check_absent(text, frame.names, frame.source)
    return TextColumns(text).read(frame)


def arrow_names(path: Path) -> list[str]:
    """Return the names of the columns of an Arrow IPC file, without a saved index."""
    with _opened(path) as reader:
        names = [column_name(name) for name in reader.schema.names if not name.startswith(_INDEX)]
    check_columns(names, path)
    return names


def arrow_rows(path: Path) -> tuple[int, ...]:
    """Return the numbers of rows of the batches of an Arrow IPC file."""
    return tuple(map(len, arrow_batches(path)))


def arrow_batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield the record batches of an Arrow IPC file with checked cells, because readers trust what the file says."""
    with _opened(path) as reader:
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            check_room(batch.num_rows * max(batch.num_columns, 1), path)
            batch.validate(full=True)
            yield batch if columns is None else batch.select(as_written(columns, batch.schema.names))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    arrow = import_arrow()
    from pyarrow import ipc

    try:
        with arrow.OSFile(str(path)) as file, ipc.open_file(file) as reader:
            yield reader
    except MemoryError:  # also the base class of Arrow's
        raise
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path} is damaged or not an Arrow IPC file, also called feather version 2 ({first_line(error)}); write "
            "it again"
        ) from error
