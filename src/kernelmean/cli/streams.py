"""Tables that are too long for memory: when a comparison reads them batch by batch, and how it is stopped."""

from __future__ import annotations

import gzip
import os
import signal
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..core.array import Progress
from ..inference.streaming.table_pass import LABEL
from ..studies.limits import ADAPTIVE_LIMIT
from ..studies.long_tables import ESTIMATORS
from ..tables.datasets import BUILT_IN
from ..tables.files import ARROW, JSON_LINES, PARQUET, TEXT, ending
from ..tables.frames import Frames, read_frames
from .errors import Stopped
from .inputs import Reading, row_limit
from .options import AUTO, LongTables
from .words import split_names

ONE_KERNEL = (
    "tested with one kernel (mkme) over all rows: the adaptive test, which takes its place in memory, was not run; "
    f"--max-rows {ADAPTIVE_LIMIT} runs it on random rows"
)


def is_streamed(stream: bool | None, estimator: str, reading: Reading, *tables: str | None) -> bool:
    """Whether tables are read batch by batch: where it is asked for, or where they are long and nothing forbids it."""
    sources = [table for table in tables if table is not None]
    if stream is not None:
        if stream and len(sources) < 2:
            raise ValueError("--stream reads two tables; write: compare A B --stream")
        if stream and reading.max_rows is not None:
            raise ValueError("--stream takes all rows; leave --max-rows out")
        return stream
    if len(sources) < 2 or reading.max_rows is not None or estimator not in (AUTO, *ESTIMATORS):
        return False
    return any(_is_long(source, row_limit(estimator)[0]) for source in sources)


def check_stream_options(streams: bool, options: LongTables) -> None:
    """Raise when options of streams are passed for tables that are held in memory."""
    named = options.given()
    if named and not streams:
        raise ValueError(f"{named[0]} belongs to tables that are read batch by batch; add --stream")


def _is_long(source: str, limit: int) -> bool:
    """Whether a file has more rows than a limit; one that cannot be read has none, which reading it says."""
    path = Path(source)
    if source in BUILT_IN or not path.exists():
        return False
    if path.is_dir():
        return any(file.suffix.lower() in PARQUET for file in path.iterdir())
    try:
        if ending(path) in (*PARQUET, *ARROW):
            return (read_frames(path).n_rows or 0) > limit
        return ending(path) in (*TEXT, *JSON_LINES) and path.is_file() and _lines_beyond(path, limit + 1)
    except (ValueError, OSError, EOFError, zlib.error):
        return False


def _lines_beyond(path: Path, limit: int) -> bool:
    found = 0
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
        while found <= limit and (block := file.read(1 << 20)):
            found += block.count(b"\n")
    return found > limit


def long_tables(A: str, B: str, reading: Reading) -> tuple[Frames, Frames]:
    """Return two files as frames in batches, the columns chosen."""
    for source in (A, B):
        if source in BUILT_IN:
            raise ValueError(f"{source} is a built-in table, which is small; leave --stream out")
    whole = [read_frames(source, text=reading.text) for source in (A, B)]
    first, second = (_chosen(source, frames, reading) for source, frames in zip((A, B), whole, strict=True))
    return first, second


def _chosen(source: str, frames: Frames, reading: Reading) -> Frames:
    columns = split_names(reading.columns, frames.names)
    drop = split_names(reading.drop, frames.names)
    if not columns and not drop:
        return frames
    return read_frames(source, columns=columns or None, drop=drop, text=reading.text)


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
