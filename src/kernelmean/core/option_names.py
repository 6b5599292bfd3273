"""How a message names an option: by its parameter in Python, by its option on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_surface = "python"


@contextmanager
def command_line() -> Iterator[None]:
    """Let messages name the options of the command line; other threads of the process included."""
    global _surface  # noqa: PLW0603 (a process has one surface; readers in other threads raise messages as well)
    before, _surface = _surface, "command line"
    try:
        yield
    finally:
        _surface = before


def written(python: str, command: str) -> str:
    """Return what a person writes: ``python`` in Python, ``command`` on the command line.

    Examples
    --------
    >>> written("missing='drop'", "--missing drop")
    "missing='drop'"
    >>> with command_line():
    ...     written("missing='drop'", "--missing drop")
    '--missing drop'
    """
    return command if _surface == "command line" else python
