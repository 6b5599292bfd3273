"""What must be known before features are added up: how the columns of tables become coordinates, and a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ...core.array import Array, IntArray, Progress
from ...core.table import Frame
from ...inference.bins.dealing import MOST_PILOT, Deal, deal
from ...inference.digest import RowDigest
from ...tables.columns.column_codings import Coding, coordinates_of
from ...tables.columns.encoding import Encoding
from ...tables.columns.inspection import Inspection
from ...tables.columns.missing import MissingCells, rules_for
from ...tables.readers import Widened
from ...tables.source import Source
from .column_summaries import TablesSeen
from .scan import Drawn, Scanner

_SHOWN = 2000
"""Rows of a table that pictures show."""


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """How columns become coordinates, and what was found on the way."""

    codings: tuple[Coding, ...]
    """Of the columns that vary, by name."""
    constant: tuple[str, ...]
    """The others."""
    drawn: tuple[Frame, ...]
    """Rows of every table in random order."""
    numbers: tuple[IntArray, ...]
    """Their numbers among those that are used, from 0."""
    rows: tuple[int, ...]
    """The rows of every table that are used."""
    seen: TablesSeen
    """What all of them are like."""
    missing: MissingCells
    remarks: tuple[str, ...] = ()
    """On columns that may be meant otherwise."""
    whole: tuple[str, str] | None = None
    """The digests of all rows, where they were asked for."""

    def deals(self, seed: int) -> tuple[Deal, Deal]:
        """Return how the rows of both tables fall into bins, features being fitted to rows that were drawn."""
        n, m = self.rows
        first, second = (own.around(drawn) for own, drawn in zip(deal(n, m, seed), self.numbers, strict=True))
        return first, second

    def pilot(self, table: int, own: Deal) -> Frame:
        """Return the rows that features are fitted to."""
        return self.drawn[table].take(slice(0, own.bins * own.pilot))

    def shown(self, table: int) -> Frame:
        """Return the rows that pictures show, in the order of the table."""
        frame = self.drawn[table].take(slice(0, _SHOWN))
        return frame.take(np.argsort(frame.row_numbers(), kind="stable"))

    def coordinates(self, frame: Frame) -> Array:
        """Return the coordinates of rows, shape (n, D)."""
        return coordinates_of(self.codings, frame)


def learn(
    tables: tuple[Source, ...], encoding: Encoding, seed: int, progress: Progress, digested: bool = False
) -> Learnt:
    """Learn from a pass over all rows of one table or two; with ``digested`` it finds the digests of two as well.

    Raises
    ------
    ValueError, TypeError
        As :func:`kernelmean.compare`.
    """
    while True:
        try:
            return _by_pass(tables, encoding, seed, progress, digested)
        except Widened:
            continue
        except (TypeError, ValueError):  # tables may disagree only as far as they were read
            if not _widened(tables):
                raise


def _widened(tables: Sequence[Source]) -> bool:
    """Read tables to their ends, and return whether a column is of another type than it was so far."""
    before = [dict(table.types) for table in tables]
    for table in tables:
        while True:
            try:
                for _ in table.frames():
                    pass
                break
            except Widened:
                continue
    return before != [table.types for table in tables]


def _by_pass(tables: tuple[Source, ...], encoding: Encoding, seed: int, progress: Progress, digested: bool) -> Learnt:
    scanner, draws = Scanner(tables[0].names, encoding), [Drawn(MOST_PILOT, seed) for _ in tables]
    inspection: Inspection | None = None
    digests = RowDigest(), RowDigest()
    known = sum(table.n_rows or 0 for table in tables)
    done = 0
    for k, table in enumerate(tables):
        for frame in table.frames():
            chosen = frame.select(scanner.rules)
            inspection = encoding.inspection(chosen, len(tables)) if inspection is None else inspection
            inspection.add(chosen, k)
            if digested:
                digests[k].add(frame)
            kept = _added(scanner, inspection, chosen, k)
            draws[k].add(kept)
            done += len(frame)
            progress("first pass: scale and categories", done, max(done, known))
    scanner.check_rows([table.source for table in tables])
    for table, rows in zip(tables, scanner.seen.rows, strict=False):
        if not rows:
            raise ValueError(f"{table.source} has no rows")
    remarks = () if inspection is None else inspection.check()
    drawn, numbers = tuple(draw.frame for draw in draws), tuple(draw.numbers for draw in draws)
    missing = scanner.missing(len(tables))
    found = replace(learnt_of(scanner.seen, encoding, drawn, numbers, missing), remarks=remarks)
    return replace(found, whole=(digests[0].text, digests[1].text)) if digested else found


def _added(scanner: Scanner, inspection: Inspection, rows: Frame, table: int) -> Frame:
    """Return the rows that are used; where they do not fit those before, say first which option would read them."""
    try:
        return scanner.add(rows, table)
    except (TypeError, ValueError):
        inspection.check_text()
        raise


def learnt_of(
    seen: TablesSeen,
    encoding: Encoding,
    drawn: tuple[Frame, ...],
    numbers: tuple[IntArray, ...],
    missing: MissingCells,
) -> Learnt:
    """Return what is known, columns that are constant apart."""
    codings = seen.codings(encoding, rules_for(encoding.missing, [column.name for column in seen.columns]))
    return Learnt(
        codings=tuple(coding for coding in codings if coding.varies),
        constant=tuple(coding.name for coding in codings if not coding.varies),
        drawn=drawn,
        numbers=numbers,
        rows=tuple(seen.rows[: len(drawn)].astype(int).tolist()),
        seen=seen,
        missing=missing,
    )
