"""Passes over rows whose types are known only at the end: a text column may begin with many numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .readers import Widened
from .source import Source

Found = TypeVar("Found")


def settled(tables: Sequence[Source], one_pass: Callable[[], Found]) -> Found:
    """Repeat a pass until it reads all columns with their final types, and return what it finds.

    Raises
    ------
    TypeError, ValueError
        What the pass raises, unless it failed because the type of a column changed.
    """
    while True:
        try:
            return one_pass()
        except Widened:
            continue
        except (TypeError, ValueError):  # tables may disagree only in the part read so far
            if not _widened(tables):
                raise


def _widened(tables: Sequence[Source]) -> bool:
    """Read tables to their ends, and return whether the type of a column changed."""
    typed = [table for table in tables if table.types]
    before = [dict(table.types) for table in typed]
    for table in typed:
        while True:
            try:
                for _ in table.frames():
                    pass
                break
            except Widened:
                continue
    return before != [table.types for table in typed]
