"""Files that are written whole or not at all, and files of bounded size that are read: never a pipe or a device."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_LARGEST_TEXT = 2**28


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of ``path`` when the block ends well.

    A reader, or a kill at any time, finds the old file or the new one, never a part. A link is followed.
    """
    target = path.resolve()
    part = target.with_name(f".{target.name[:100]}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        part.unlink(missing_ok=True)  # of a process of this number that was killed; a link there is not followed
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, part, str(part)):
            error.filename = str(path)  # not the part that was to become it
        raise
    sync_folder(target.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; see :func:`whole_file`."""
    with whole_file(path) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    write_whole(path, text.encode())


def write_file(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all; a device or a pipe has no place beside it and is written to as it is."""
    target = Path(path)
    if not is_special(target):
        write_whole(target, data)
        return
    try:
        target.write_bytes(data)
    except OSError as error:
        error.filename = str(path)
        raise


def is_special(target: Path) -> bool:
    """Say whether a path is a device or a pipe, or stands for the output of this program: written to, not replaced."""
    return target.exists() and (not target.is_file() or Path("/dev") in target.absolute().parents)


def sync_folder(folder: Path) -> None:
    """Put the names of the files in a folder on the disk, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_regular(path: Path) -> None:
    """Raise when a path is a folder, a pipe or a device: one may never end, or never begin."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; pass one file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a regular file; write what it gives to a file first, and pass that")


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8.

    Raises
    ------
    ValueError
        When it is no regular file, longer than 256 MiB, or not UTF-8.
    OSError
        When it cannot be read.
    """
    check_regular(path)
    with path.open("rb") as file:
        data = file.read(_LARGEST_TEXT + 1)
    if len(data) > _LARGEST_TEXT:
        raise ValueError(f"{path} has more than {_LARGEST_TEXT >> 20} MiB; pass a smaller file")
    return data.decode("utf-8")
