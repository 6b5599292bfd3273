"""Progress on stderr: a bar on a terminal, lines elsewhere; and how to stop work that reports progress."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ..core.pace import Pace
from ..core.words import Notice, roughly
from .errors import Stopped
from .spelling import spelled
from .stderr import tell

Told: TypeAlias = Callable[[str, int, int], None]
"""A function that is called with what comes next, the steps done, and the steps in all."""


@contextmanager
def progress(quiet: bool, lines_every: float = 30.0, *, forecasts: bool = True) -> Iterator[Told]:
    """Yield a function (what comes next, steps done, steps in all) that draws a bar on a terminal.

    Elsewhere it prints a line every ``lines_every`` seconds, and a :class:`Notice` at once; with ``quiet`` it prints
    nothing. For steps that share one label, such as rows of a long table, it also says how long they will take if that
    is more than ten seconds; without ``forecasts`` labels say so themselves.
    """
    ahead: Callable[[Told], Told] = forecast if forecasts else lambda report: report
    console, last = Console(stderr=True), time.monotonic()

    def printed(label: str, done: int, total: int) -> None:
        nonlocal last
        if isinstance(label, Notice):
            tell(spelled(label))
        elif time.monotonic() - last >= lines_every:
            last = time.monotonic()
            tell(f"{done:,} of {total:,}: {label}")

    if quiet or not console.is_terminal:
        yield (lambda *_: None) if quiet else ahead(printed)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def drawn(label: str, done: int, total: int) -> None:
            if isinstance(label, Notice):
                bar.console.print(spelled(label), highlight=False, markup=False)
            else:
                bar.update(task, description=label, completed=done, total=total)

        yield ahead(drawn)


def forecast(report: Told, clock: Callable[[], float] = time.monotonic) -> Told:
    """Return a progress function that also reports, once for each label, how long its remaining steps will take."""
    paces: dict[str, Pace] = {}

    def told(label: str, done: int, total: int) -> None:
        report(label, done, total)
        if isinstance(label, Notice):
            return
        if label not in paces:
            paces[label] = Pace(clock)
        seconds = paces[label].rest(done, total)
        if seconds is not None:
            report(Notice(f"{label}: about {roughly(seconds)} more"), done, total)

    return told


@contextmanager
def stoppable(report: Told) -> Iterator[Told]:
    """Yield a progress function that ends the work between two batches after Ctrl-C or SIGTERM."""
    stop = threading.Event()

    def checked(label: str, done: int, total: int) -> None:
        report(label, done, total)
        if stop.is_set():
            raise Stopped(f"stopped at {done:,} of {total:,} ({label})")

    if threading.current_thread() is not threading.main_thread():  # only the main thread may handle signals
        yield checked
        return
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield checked
    finally:
        for number, one in before.items():
            signal.signal(number, one)
