"""What must be known before features are added up: how the columns of two tables become coordinates, and a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from .._array import Array, Progress
from .._surface import written
from .._table import Frame, listed
from ..columns.coding import Coding
from ..columns.encoded import Encoding
from ..columns.missing import MissingCells
from .frames import Frames
from .pilot import pilot_rows
from .scan import Drawn, Scanner, drawn_groups
from .seen import TablesSeen
from .text import Widened

PILOT, SHOWN, PILOT_GROUPS = 1000, 2000, 8
"""Rows of a table that scale and bandwidth are chosen by, on average; that pictures show; row groups they come from."""


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """How columns become coordinates, and what was found on the way.

    Attributes
    ----------
    codings : tuple of Coding
        Of the columns that vary, by name.
    constant : tuple of str
        The others.
    drawn : (Frame, Frame)
        Rows of either table in random order.
    pilots : (int, int)
        How many of these the bandwidth is chosen by.
    rows : (int, int)
        The rows of either table that are used.
    seen : TablesSeen or None
        Of all rows, where they were looked at; None where the pilot was all.
    missing : MissingCells
    """

    codings: tuple[Coding, ...]
    constant: tuple[str, ...]
    drawn: tuple[Frame, Frame]
    pilots: tuple[int, int]
    rows: tuple[int, int]
    seen: TablesSeen | None
    missing: MissingCells

    @property
    def passes(self) -> int:
        """How often the tables are read from end to end."""
        return 1 if self.seen is None else 2

    def pilot(self, table: int) -> Frame:
        """Return the rows that the bandwidth is chosen by."""
        return self.drawn[table].take(slice(0, self.pilots[table]))

    def coordinates(self, frame: Frame) -> Array:
        """Return the coordinates of rows, shape (n, D)."""
        return np.concatenate([coding.coordinates(frame) for coding in self.codings], axis=1)


def learn(
    tables: tuple[Frames, Frames], encoding: Encoding, passes: int | None, seed: int, progress: Progress
) -> Learnt:
    """Learn from a pilot where columns are numbers without missing cells, else by a first pass over all rows.

    Raises
    ------
    ValueError, TypeError
        As :func:`kernelmean.compare`, and when one pass is asked for where it is not possible.
    """
    if passes not in (None, 1, 2):
        raise ValueError(f"passes is {passes!r}; write 1, 2, or None")
    why = _why_two(tables, encoding)
    if not why and passes != 2:
        found = _by_pilot(tables, encoding, seed)
        if not found.constant:
            return found
        why = f"all rows of {listed(found.constant)} that were drawn are equal"
    if passes == 1:
        once, twice = (written(f"passes={k}", f"--passes {k}") for k in (1, 2))
        raise ValueError(f"one pass ({once}) is not possible: {why}; leave it out, or write {twice}")
    while True:
        try:
            return _by_pass(tables, encoding, seed, progress)
        except Widened:
            continue


def _why_two(tables: Sequence[Frames], encoding: Encoding) -> str:
    """Say why a pilot does not do, or nothing."""
    if encoding.missing != "error":
        return "missing cells must be counted first"
    if encoding.ordinal or encoding.categorical or not all(table.plain for table in tables):
        return "it needs Parquet files in which all columns are numbers"
    return ""


def _by_pilot(tables: tuple[Frames, Frames], encoding: Encoding, seed: int) -> Learnt:
    lengths = [sum(group.rows for group in table.row_groups) for table in tables]
    pilots = pilot_rows(lengths, PILOT)
    first, second = (
        drawn_groups(table, max(SHOWN, many), PILOT_GROUPS, seed + k)
        for k, (table, many) in enumerate(zip(tables, pilots, strict=True))
    )
    scanner = Scanner(tables[0].names, encoding)
    for k, frame in enumerate((first, second)):
        scanner.add(frame.take(slice(0, pilots[k])), k)
    return _learnt(scanner, (first, second), pilots, (lengths[0], lengths[1]), None)


def _by_pass(tables: tuple[Frames, Frames], encoding: Encoding, seed: int, progress: Progress) -> Learnt:
    scanner, draws = Scanner(tables[0].names, encoding), [Drawn(SHOWN, seed + k) for k in (0, 1)]
    known = sum(table.n_rows or 0 for table in tables)
    done = 0
    for k, table in enumerate(tables):
        for frame in table:
            kept = scanner.add(frame.select(scanner.rules), k)
            draws[k].add(kept)
            done += len(frame)
            progress("first pass: scale and categories", done, max(done, known))
    scanner.check_rows([table.source for table in tables])
    lengths = int(scanner.seen.rows[0]), int(scanner.seen.rows[1])
    for table, rows in zip(tables, lengths, strict=True):
        if not rows:
            raise ValueError(f"{table.source} has no rows")
    drawn = draws[0].frame, draws[1].frame
    pilots = [min(many, len(frame)) for many, frame in zip(pilot_rows(lengths, PILOT), drawn, strict=True)]
    return _learnt(scanner, drawn, pilots, lengths, scanner.seen)


def _learnt(
    scanner: Scanner,
    drawn: tuple[Frame, Frame],
    pilots: Sequence[int],
    rows: tuple[int, int],
    seen: TablesSeen | None,
) -> Learnt:
    codings = scanner.seen.codings(scanner.encoding, scanner.rules)
    return learnt_of(codings, drawn, pilots, rows, seen, scanner.missing())


def learnt_of(
    codings: Sequence[Coding],
    drawn: tuple[Frame, Frame],
    pilots: Sequence[int],
    rows: tuple[int, int],
    seen: TablesSeen | None,
    missing: MissingCells,
) -> Learnt:
    """Return what is known, columns that are constant apart."""
    return Learnt(
        codings=tuple(coding for coding in codings if coding.varies),
        constant=tuple(coding.name for coding in codings if not coding.varies),
        drawn=drawn,
        pilots=(pilots[0], pilots[1]),
        rows=rows,
        seen=seen,
        missing=missing,
    )
