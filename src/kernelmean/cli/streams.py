"""Tables that are too long for memory: when a comparison reads them batch by batch, and how it is stopped."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.array import Progress
from ..inference.streaming.table_pass import LABEL
from ..studies.comparison.comparing import are_read_in_batches
from ..tables.datasets import BUILT_IN
from ..tables.read import read
from ..tables.source import Source
from .errors import Stopped
from .inputs import Reading
from .options import LongTables, TwoTables
from .words import split_names


def is_streamed(tables: TwoTables, long: LongTables, estimator: str, reading: Reading) -> bool:
    """Whether tables are read batch by batch: where it is asked for, or where they are long and nothing forbids it."""
    streams = _is_streamed(tables, long.stream, estimator, reading)
    named = long.given()
    if named and not streams:
        raise ValueError(f"{named[0]} belongs to tables that are read batch by batch; add --stream")
    return streams


def _is_streamed(tables: TwoTables, stream: bool | None, estimator: str, reading: Reading) -> bool:
    if stream is not None:
        if stream and tables.b is None:
            raise ValueError("--stream reads two tables; write: compare A B --stream")
        if stream and reading.max_rows is not None:
            raise ValueError("--stream takes all rows; leave --max-rows out")
        return stream
    if tables.b is None or reading.max_rows is not None:
        return False
    return are_read_in_batches(tables.a, tables.b, estimator)


def long_tables(tables: TwoTables, long: LongTables, reading: Reading) -> tuple[Source, Source]:
    """Return two files that are read batch by batch, the columns chosen."""
    names = tables.a, str(tables.b)
    for name in names:
        if name in BUILT_IN:
            raise ValueError(f"{name} is a built-in table, which is small; leave --stream out")
    whole = [read(name, text=reading.text) for name in names]
    first, second = (_chosen(name, source, reading) for name, source in zip(names, whole, strict=True))
    first = read(first, in_memory=False, passes=long.passes, checkpoint=long.checkpoint)
    return first, read(second, in_memory=False)


def _chosen(name: str, source: Source, reading: Reading) -> Source:
    columns = split_names(reading.columns, source.names)
    drop = split_names(reading.drop, source.names)
    if not columns and not drop:
        return source
    return read(name, columns=columns or None, drop=drop, text=reading.text)


@contextmanager
def stoppable(report: Progress, checkpoint: str | None) -> Iterator[Progress]:
    """Yield a progress function that ends the work between two batches after Ctrl-C, or when it is told to end."""
    wanted = threading.Event()
    last = ["0", "0"]

    def checked(label: str, done: int, total: int) -> None:
        report(label, done, total)
        last[:] = f"{done:,}", f"{total:,}"
        if wanted.is_set():
            raise Stopped(_stopped(label, last, checkpoint))

    with _handled(lambda *_: wanted.set()):
        yield checked


@contextmanager
def _handled(handler: Callable[..., Any]) -> Iterator[None]:
    """Handle what a terminal or the system sends to end a program; other threads than the first one may not."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


def _stopped(label: str, where: list[str], checkpoint: str | None) -> str:
    text = f"stopped at {where[0]} of {where[1]} ({label})"
    if checkpoint is None:
        return f"{text}; with --checkpoint FILE the same command goes on from there"
    if label == LABEL or os.path.exists(checkpoint):
        return f"{text}; the same command goes on from {checkpoint}"
    return f"{text}, before the first pass was complete; the same command begins anew"
