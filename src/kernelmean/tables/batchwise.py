"""Whether two tables are read batch by batch: what their sources say, or else how long they are."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..core.array import Array
from ..core.table import Table
from .datasets import BUILT_IN
from .files import ARROW, JSON_LINES, PARQUET, TEXT, ending
from .read import check_apart, is_path, read
from .source import Source, split_rows


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


def measured(source: Source, limit: int) -> tuple[Source | Table, bool]:
    """Return the numbers of a source, and whether they are more rows than a limit.

    Where nobody knows how many batches there are, they are read so far: fewer rows are a table then, and more of them a
    source that goes on with those that were read.
    """
    if source.n_rows is not None or _path(source) is not None:
        return source, is_long(source, limit)
    head, rest = split_rows(iter(source), limit + 1)
    if head is None:
        raise ValueError(f"{source.source} has no rows")
    if len(head) <= limit:
        return Table(head, source.names, named=source.named), False
    if not source.once:
        return source, True
    batches: Iterator[Array] = chain([head], rest)
    return replace(source, _arrays=lambda: batches), True


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
