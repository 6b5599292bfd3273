"""Passes over rows whose types are known at their end only: a column of text may look like numbers for long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .readers import Widened
from .source import Source

Found = TypeVar("Found")


def settled(tables: Sequence[Source], one_pass: Callable[[], Found]) -> Found:
    """Return what a pass finds that reads columns as their types are in the end; it is repeated until it does.

    Raises
    ------
    TypeError, ValueError
        What the pass raises, unless another type of a column is what it fails of.
    """
    while True:
        try:
            return one_pass()
        except Widened:
            continue
        except (TypeError, ValueError):  # tables may disagree only as far as they were read
            if not _widened(tables):
                raise


def _widened(tables: Sequence[Source]) -> bool:
    """Read tables to their ends, and return whether a column is of another type than it was so far."""
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
