"""Reading while other threads compute: a thread that stays two items ahead."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")
_WAIT = 0.2  # seconds after which a thread checks whether it is still needed


def ahead(items: Iterable[Item]) -> Generator[Item]:
    """Yield items in order while a thread makes the next ones, at most two of them.

    An error in making an item is raised when its turn comes; the thread ends when the iterator is closed. Where none
    starts, as in a browser, each item is made when its turn comes.

    Examples
    --------
    >>> list(ahead(range(3)))
    [0, 1, 2]
    """
    waiting: queue.Queue[tuple[bool, Any]] = queue.Queue(1)
    closed = threading.Event()

    def put(item: tuple[bool, Any]) -> None:
        while not closed.is_set():
            try:
                waiting.put(item, timeout=_WAIT)
            except queue.Full:
                continue
            return

    def make() -> None:
        try:
            for item in items:
                put((True, item))
                if closed.is_set():
                    return
            put((False, None))
        except BaseException as error:  # raised again where the items are used
            put((False, error))

    thread = threading.Thread(target=make, daemon=True)
    if not _starts(thread):
        yield from items
        return
    try:
        while True:
            more, item = waiting.get()
            if more:
                yield item
            elif item is None:
                return
            else:
                raise item
    finally:
        closed.set()
        thread.join()


def _starts(thread: threading.Thread) -> bool:
    try:
        thread.start()
    except RuntimeError:
        return False
    return True
