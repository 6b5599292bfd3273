"""Whether tables are read batch by batch: what their sources say, or else how long they are; and reading them twice."""

from __future__ import annotations

import gzip
import os
import pickle
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, final

import numpy as np

from ..core.table import Frame, Table
from .datasets import BUILT_IN
from .files import ARROW, JSON_LINES, PARQUET, TEXT, ending
from .read import check_apart, is_path, read
from .source import Source, joined


def asked_for(*tables: Any) -> bool | None:
    """Whether tables say that they are read batch by batch; None where none says anything of it.

    Raises
    ------
    ValueError
        When one is to be held in memory and another is not, or two are one iterator.
    """
    check_apart(*tables)
    sources = [table for table in tables if isinstance(table, Source)]
    asked = {source.in_memory for source in sources if source.in_memory is not None}
    if len(asked) > 1:
        raise ValueError("one table is to be held in memory and another is not; write the same in_memory= for all")
    if asked:
        return asked == {False}
    return True if any(source.checkpoint is not None for source in sources) else None


def is_long(table: Any, limit: int) -> bool:
    """Whether a file has more rows than a limit; one that cannot be read has none, which reading it says."""
    if isinstance(table, Source) and table.n_rows is not None:
        return table.n_rows > limit
    path = _path(table)
    if path is None:
        return False
    if path.is_dir():
        return any(file.suffix.lower() in PARQUET for file in path.iterdir())
    try:
        if ending(path) in (*PARQUET, *ARROW):
            return (read(path).n_rows or 0) > limit
        return ending(path) in (*TEXT, *JSON_LINES) and path.is_file() and _lines_beyond(path, limit + 1)
    except (ValueError, OSError, EOFError, zlib.error):
        return False


def measured(source: Source, limit: int, *, frames: bool = False) -> tuple[Source | Table | Frame, bool]:
    """Return the rows of a source, and whether they are more than a limit.

    Where nobody knows how many batches there are, they are read so far, as numbers or with ``frames`` as columns of any
    kind: fewer rows are a table then, and more of them a source that goes on with those that were read.
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
    """Return a source whose columns, or whose numbers, are read from batches."""
    if frames:
        return replace(source, _frames=lambda _: iter(batches))
    return replace(source, _arrays=lambda: iter(batches))


@contextmanager
def readable(source: Any, *, frames: bool = False) -> Iterator[Any]:
    """Lend a source that can be read again: rows that come once are put into a temporary file.

    What is put there are numbers, or with ``frames`` columns of any kind.

    Raises
    ------
    OSError
        When the file system of temporary files has no room for them.
    """
    if not source.once:
        yield source
        return
    with tempfile.TemporaryFile() as file:
        spooled = _Spooled(file, source.frames() if frames else source)
        if not spooled.rows:
            raise ValueError(f"{source.source} has no rows")
        yield replace(_read_from(source, spooled, frames), n_rows=spooled.rows, _once=None)


@final
class _Spooled:
    """Batches that came once, in a file that only this process can open."""

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


def read_together(A: Source, B: Source) -> str | os.PathLike[str] | None:
    """Return where sums of two tables are saved: what either says, or both alike."""
    first, second = A.checkpoint, B.checkpoint
    if None not in (first, second) and first != second:
        raise ValueError(
            f"{A.source} is read with checkpoint={first!r} and {B.source} with checkpoint={second!r}; both are read "
            "together, so write it once"
        )
    return second if first is None else first


def _path(table: Any) -> Path | None:
    """Return the file or folder that a table is in, None where it is in none."""
    name = table.source if isinstance(table, Source) else os.fspath(table) if is_path(table) else ""
    return Path(name) if name and name not in BUILT_IN and Path(name).exists() else None


def _lines_beyond(path: Path, limit: int) -> bool:
    found = 0
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
        while found <= limit and (block := file.read(1 << 20)):
            found += block.count(b"\n")
    return found > limit
