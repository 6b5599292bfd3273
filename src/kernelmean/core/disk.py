"""Writing files whole or not at all, reading files of bounded size, and JSON."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

_LARGEST_TEXT = 2**28
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP)
"""What a file system says that has no fsync of folders."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that replaces ``path`` when the block ends without an error.

    Readers find the old file or the new one, never a part, even if the process is killed. A link is followed.
    """
    target = path.resolve()
    part = target.with_name(f".{target.name[:100]}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        part.unlink(missing_ok=True)  # left by a killed process with this number; a link there is not followed
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, part, str(part)):
            error.filename = str(path)  # not the temporary part
        raise
    sync_folder(target.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; see :func:`whole_file`."""
    with whole_file(path) as file:
        file.write(data)


def write_file(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all; a device or a pipe is written to directly."""
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
    """Return whether a path is a device, a pipe or the output of this program, to be written to and not replaced."""
    return target.exists() and (not target.is_file() or Path("/dev") in target.absolute().parents)


def sync_folder(folder: Path) -> None:
    """Flush the names of the files in a folder to the disk; Windows and some mounted disks have no way to do it."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


def check_regular(path: Path) -> None:
    """Raise when a path is a folder, a pipe or a device, which may never end or never begin."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; pass one file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a regular file; write its contents to a file first, and pass that file")


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8.

    Raises
    ------
    ValueError
        When it is not a regular file, is longer than 256 MiB, or is not UTF-8.
    OSError
        When it cannot be read.
    """
    check_regular(path)
    with path.open("rb") as file:
        data = file.read(_LARGEST_TEXT + 1)
    if len(data) > _LARGEST_TEXT:
        raise ValueError(f"{path} has more than {_LARGEST_TEXT >> 20} MiB; pass a smaller file")
    return data.decode("utf-8")


# -- JSON that all readers read in the same way ------------------------------------------------------------------------


_DEEPEST = 200
"""How deeply objects and lists may be nested. From Python 3.12 on, the parser itself accepts thousands."""
_OTHERS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[^"\[\]{}]+', re.DOTALL)
"""Everything but brackets: texts, also one that never ends, and all other characters."""


def parse(text: str | bytes, *, infinite: bool = False) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        When it is not JSON, uses a name twice, is nested too deeply, or holds NaN or infinite numbers without
        ``infinite``.
    """
    options: dict[str, Any] = {} if infinite else {"parse_constant": _refuse, "parse_float": _finite}
    plain = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    steps = (1 if letter in "[{" else -1 if letter in "]}" else 0 for letter in _OTHERS.sub("", plain))
    if max(accumulate(steps), default=0) > _DEEPEST:  # objects and lists in each other
        raise ValueError("its JSON is nested too deep")
    return json.loads(plain, object_pairs_hook=_object, **options)


def check_members(content: Any, names: Collection[str]) -> None:
    """Raise when a value is no JSON object with exactly these members."""
    if not isinstance(content, dict) or set(content) != set(names):
        raise ValueError(f"an object in braces with {', '.join(names)} is needed, and nothing else in it")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name is used twice in one object of its JSON")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"its JSON holds {text[:20]}, which is too large for a number")
    return number


def _refuse(constant: str) -> Any:
    raise ValueError(f"its JSON holds {constant}, which is not a JSON number")


def plain(value: Any) -> Any:
    """Return a value with infinite numbers as "inf" and "-inf" and NaN as null, for which JSON has no numbers.

    Examples
    --------
    >>> plain({"a": [math.inf, -math.inf, math.nan, 0.5]})
    {'a': ['inf', '-inf', None, 0.5]}
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
