"""Rows from any source: batch by batch, and a reference of any length in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Self, TypeVar, final

import numpy as np

from ...core.table import Frame, check_size, to_frame
from ...tables.columns.encoding import Encoding
from ...tables.columns.matching import match_columns
from ...tables.columns.scan import TableScan
from ...tables.drawn import Drawn
from ...tables.read import is_in_memory, is_path, read
from ...tables.source import Source, joined
from .digest import RowDigest

MOST_REFERENCE = 100_000
"""The most rows of a reference that are kept for comparison."""
_TOGETHER = 8192
Found = TypeVar("Found")


def passed_over(rows: Any, name: str, one_pass: Callable[[Iterable[Frame]], Found]) -> Found:
    """Return what a pass over the batches of some rows finds: a table in memory is one batch.

    Several paths and sources are read one after another.

    Raises
    ------
    ValueError, TypeError
        What the pass raises.
    """
    if not _are_places(rows) and is_in_memory(rows):
        frame = to_frame(rows, name)
        check_size(frame)
        return one_pass((frame,))
    sources = _sources(rows)
    return one_pass(chain.from_iterable(map(_frames, sources)))


def _sources(rows: Any) -> tuple[Source, ...]:
    """Return what is read one after another: each of several paths and sources, anything else as a whole."""
    if hasattr(rows, "__next__"):
        first = list(islice(rows, 1))
        rows = chain(first, rows)
        if first and _is_place(first[0]):
            rows = list(rows)
    return tuple(map(read, rows)) if _are_places(rows) else (read(rows),)


def _are_places(rows: Any) -> bool:
    return isinstance(rows, list | tuple) and bool(rows) and all(map(_is_place, rows))


def _is_place(rows: Any) -> bool:
    return is_path(rows) or isinstance(rows, Source)


def _frames(source: Source) -> Iterator[Frame]:
    return _checked((source.whole(),) if source.in_memory else source.frames(), source.source)


def _checked(frames: Iterable[Frame], source: str) -> Iterator[Frame]:
    none = True
    for frame in frames:
        check_size(frame)
        none = False
        yield frame
    if none:
        raise ValueError(f"{source} has no rows")


@final
@dataclass(frozen=True, eq=False)
class Reference:
    """The rows that new ones are compared with, and notes about them."""

    frame: Frame
    """All rows, or those that were drawn, in their order."""
    digest: str
    """Of all rows."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, rows: Any, encoding: Encoding, seed: int) -> Self:
        """Read a reference; of more than 100,000 rows draw that many, each with the same probability."""

        def one_pass(frames: Iterable[Frame]) -> Self:
            drawn, digest = Drawn(MOST_REFERENCE, seed), RowDigest()
            for frame in _together(frames, encoding):
                digest.add(frame)
                drawn.add(frame)
            note = f"{MOST_REFERENCE:,} of the {drawn.seen:,} rows of reference were drawn"
            kept = drawn.frame.take(np.argsort(drawn.numbers))
            return cls(kept, digest.text, (note,) if drawn.seen > len(kept) else ())

        return passed_over(rows, "reference", one_pass)


def _together(frames: Iterable[Frame], encoding: Encoding) -> Iterator[Frame]:
    """Yield the rows of batches that agree in their columns and types, small ones together."""
    first, held, scan = None, list[Frame](), None
    for frame in frames:
        first = frame if first is None else first
        matched, _ = match_columns(first, frame)
        scan = TableScan(first.names, encoding, 1) if scan is None else scan
        scan.agree(matched)
        held.append(matched)
        if sum(map(len, held)) >= _TOGETHER:
            yield _one(held)
            held = []
    if held:
        yield _one(held)


def _one(frames: list[Frame]) -> Frame:
    return frames[0] if len(frames) == 1 else replace(joined(frames), source="reference")
