"""Progress on stderr: a bar where somebody is looking, lines now and then where they are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from ..core.words import Notice
from .stderr import tell


@contextmanager
def progress(quiet: bool, lines_every: float = 30.0) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function (what comes next, steps done, steps in all) that draws a bar on a terminal.

    Elsewhere it prints a line every so many seconds, and a :class:`Notice` at once; with ``quiet`` nothing anywhere.
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield (lambda *_: None) if quiet else _lines(lines_every)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield _drawn(bar, bar.add_task("", total=None))


def _drawn(bar: Progress, task: TaskID) -> Callable[[str, int, int], None]:
    """Return a function that moves a bar, and prints above it what is worth a line of its own."""

    def report(label: str, done: int, total: int) -> None:
        if isinstance(label, Notice):
            bar.console.print(label, highlight=False, markup=False)
        else:
            bar.update(task, description=label, completed=done, total=total)

    return report


def _lines(every: float) -> Callable[[str, int, int], None]:
    """Return a function that prints notices, and where the work is at most once every so many seconds."""
    last = time.monotonic()

    def report(label: str, done: int, total: int) -> None:
        nonlocal last
        if isinstance(label, Notice):
            tell(label)
        elif time.monotonic() - last >= every:
            last = time.monotonic()
            tell(f"{done:,} of {total:,}: {label}")

    return report
