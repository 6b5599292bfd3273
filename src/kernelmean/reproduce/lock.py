"""One run in a folder: a lock that the system takes back when its holder ends, however it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, busy: str, *, wait: bool = False) -> Iterator[None]:
    """Hold the lock of a file, which is made when it is not there and stays.

    Parameters
    ----------
    path : Path
        The file; it holds the number of the process that locked it last.
    busy : str
        What to say when another process holds it.
    wait : bool
        Whether to wait for its end instead.

    Raises
    ------
    BlockingIOError
        When another process, or this one, holds it.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not _take(handle, wait):
            holder = os.pread(handle, 32, 0).decode(errors="replace").strip() if hasattr(os, "pread") else ""
            raise BlockingIOError(f"{busy} (process {holder or 'unknown'}); wait for its end, or stop it")
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def _take(handle: int, wait: bool) -> bool:
    """Lock an open file until it is closed; return whether nobody else had it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
