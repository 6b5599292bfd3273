"""How a command that reads batch by batch is stopped: between two batches, and where nothing is lost."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.array import Progress
from ..studies.comparison.table_pass import LABEL
from .errors import Stopped


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
