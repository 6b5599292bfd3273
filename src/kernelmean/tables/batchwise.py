"""Whether to read tables batch by batch, by their numbers of rows; and reading them twice."""

from __future__ import annotations

import gzip
import os
import pickle
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, final

import numpy as np

from ..core.table import Frame, Table
from .datasets import BUILT_IN
from .files import ARROW, JSON_LINES, PARQUET, TEXT, ending
from .read import check_apart, is_in_memory, is_path, read
from .readers import PLAIN, TextFormat
from .source import Source, joined, refuse_dropped


def to_be_held(*tables: Any) -> bool:
    """Return whether one of some tables asks to be held in memory; raise if two are the same iterator."""
    check_apart(*tables)
    return any(isinstance(table, Source) and table.in_memory for table in tables)


def placed(tables: Sequence[Any], limit: int | None, text: TextFormat = PLAIN) -> tuple[list[Any], bool]:
    """Return tables, and whether they are read batch by batch: if one is long, wherever its rows are.

    Those of unknown length are read up to the limit; without a limit all rows are held in memory. ``text`` is how files
    are written.
    """
    tables = [table if is_in_memory(table) or is_path(table) else read(table) for table in tables]
    if limit is None or any(isinstance(table, Source) and table.in_memory for table in tables):
        return tables, False
    looks = [_counted(table, limit, text) for table in tables]
    return [table for table, _ in looks], any(long for _, long in looks)


def _counted(table: Any, limit: int, text: TextFormat) -> tuple[Any, bool]:
    """Return a table, and whether it has more rows than a limit."""
    if isinstance(table, Source):
        return measured(table, limit, frames=True)
    if is_path(table):
        return table, is_long(table, limit, text)
    if hasattr(table, "shape"):
        return table, bool(table.shape) and table.shape[0] > limit
    return table, isinstance(table, Sized) and not isinstance(table, Mapping) and len(table) > limit


def is_long(table: Any, limit: int, text: TextFormat = PLAIN) -> bool:
    """Return whether a file has more rows than a limit; False for an unreadable file, since reading raises later."""
    if isinstance(table, Source) and table.n_rows is not None:
        return table.n_rows > limit
    path = _path(table)
    if path is None:
        return False
    try:
        if path.is_dir() or ending(path) in (*PARQUET, *ARROW):
            return (read(path).n_rows or 0) > limit
        if ending(path) not in (*TEXT, *JSON_LINES) or not path.is_file() or not _has_lines(path, limit):
            return False
        rows = 0  # fewer than lines, where cells have several lines or titles stand above the header
        for frame in (table if isinstance(table, Source) else read(path, text=text)).frames():
            if (rows := rows + len(frame)) > limit:
                return True
    except (ValueError, TypeError, OSError, EOFError, zlib.error):
        pass
    return False


def measured(source: Source, limit: int, *, frames: bool = False) -> tuple[Source | Table | Frame, bool]:
    """Return the rows of a source, and whether there are more than a limit.

    If the number of rows is unknown, batches are read up to the limit, as numbers or with ``frames`` as columns of any
    kind. If that is all, the result is a table; otherwise a source that begins with the batches already read.
    """
    if source.n_rows is not None or _path(source) is not None:
        return source, is_long(source, limit)
    batches: Iterator[Any] = source.frames() if frames else iter(source)
    head: list[Any] = []
    rows = 0
    while rows <= limit and (batch := next(batches, None)) is not None:
        head.append(batch)
        rows += len(batch)
    if not head:
        raise ValueError(f"{source.source} has no rows")
    if rows <= limit:
        return joined(head) if frames else Table(np.concatenate(head), source.names, named=source.named), False
    return (_read_from(source, chain(head, batches), frames) if source.once else source), True


def _read_from(source: Source, batches: Iterable[Any], frames: bool) -> Source:
    """Return a source that reads its columns, or its numbers, from batches."""
    if frames:
        return replace(source, _frames=lambda: iter(batches))
    return replace(source, _arrays=lambda: iter(batches))


@contextmanager
def readable(source: Any, *, frames: bool = False) -> Iterator[Any]:
    """Yield a source that can be read again: rows that can be read only once are put into a temporary file.

    The file holds numbers, or with ``frames`` columns of any kind.

    Raises
    ------
    OSError
        When there is no room for temporary files.
    """
    if not source.once:
        yield source
        return
    with tempfile.TemporaryFile() as file:
        spooled = _Spooled(file, source.frames() if frames else source)
        if not spooled.rows:
            raise ValueError(f"{source.source} has no rows")
        yield replace(_read_from(source, spooled, frames), n_rows=spooled.rows, _once=None)


@contextmanager
def paired(first: Any, second: Any, names: tuple[str, str]) -> Iterator[tuple[Source, Source]]:
    """Yield sources of two tables, row i of both being one observation, that can be read again.

    Raises
    ------
    ValueError
        When both are the same iterator, or one leaves out rows with blank cells.
    """
    check_apart(first, second)
    with ExitStack() as opened:
        sources = [refuse_dropped(read(table)) for table in (first, second)]
        called = [table.titled(name) if table.titleless else table for table, name in zip(sources, names, strict=True)]
        one, other = (opened.enter_context(readable(table)) for table in called)
        yield one, other


@final
class _Spooled:
    """Batches that could be read only once, stored in a file that only this process can open."""

    def __init__(self, file: IO[bytes], batches: Iterable[Any]) -> None:
        self.rows = 0
        self._file = file
        for batch in batches:
            pickle.dump(batch, file, pickle.HIGHEST_PROTOCOL)
            self.rows += len(batch)
        self._end = file.tell()

    def __iter__(self) -> Iterator[Any]:
        place = 0
        while place < self._end:
            self._file.seek(place)
            batch = pickle.load(self._file)
            place = self._file.tell()
            yield batch


def _path(table: Any) -> Path | None:
    """Return the file or folder of a table, None if it has none."""
    name = table.source if isinstance(table, Source) else os.fspath(table) if is_path(table) else ""
    return Path(name) if name and name not in BUILT_IN and Path(name).exists() else None


def _has_lines(path: Path, many: int) -> bool:
    lines = 0
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
        while lines < many and (block := file.read(1 << 20)):
            lines += block.count(b"\n")
    return lines >= many
