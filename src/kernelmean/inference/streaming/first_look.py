"""What must be known before features are added up: how the columns of two tables become coordinates, and a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from ...core.array import Array, Progress
from ...core.option_names import written
from ...core.table import Frame
from ...core.words import listed
from ...tables.columns.column_codings import Coding, coordinates_of
from ...tables.columns.encoding import Encoding
from ...tables.columns.inspection import Inspection
from ...tables.columns.missing import MissingCells
from ...tables.readers import Widened
from ...tables.source import Source
from ..digest import RowDigest
from .column_summaries import TablesSeen
from .pilot import pilot_rows
from .scan import Drawn, Scanner, drawn_groups

PILOT, SHOWN, PILOT_GROUPS = 1000, 2000, 8
"""Rows of a table that scale and bandwidth are chosen by, on average; that pictures show; row groups they come from."""


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """How columns become coordinates, and what was found on the way."""

    codings: tuple[Coding, ...]
    """Of the columns that vary, by name."""
    constant: tuple[str, ...]
    """The others."""
    drawn: tuple[Frame, Frame]
    """Rows of either table in random order."""
    pilots: tuple[int, int]
    """How many of these the bandwidth is chosen by."""
    rows: tuple[int, int]
    """The rows of either table that are used."""
    seen: TablesSeen | None
    """Of all rows, where they were looked at; None where the pilot was all."""
    missing: MissingCells
    remarks: tuple[str, ...] = ()
    """On columns that may be meant otherwise."""
    whole: tuple[str, str] | None = None
    """The digests of all rows, where they were looked at and asked for."""

    @property
    def passes(self) -> int:
        """How often the tables are read from end to end."""
        return 1 if self.seen is None else 2

    def pilot(self, table: int) -> Frame:
        """Return the rows that the bandwidth is chosen by."""
        return self.drawn[table].take(slice(0, self.pilots[table]))

    def coordinates(self, frame: Frame) -> Array:
        """Return the coordinates of rows, shape (n, D)."""
        return coordinates_of(self.codings, frame)


def learn(
    tables: tuple[Source, Source],
    encoding: Encoding,
    passes: int | None,
    seed: int,
    progress: Progress,
    digested: bool = False,
) -> Learnt:
    """Learn from a pilot where columns are numbers without missing cells, else by a first pass over all rows.

    With ``digested`` a first pass finds the digests of all rows as well.

    Raises
    ------
    ValueError, TypeError
        As :func:`kernelmean.compare`, and when one pass is asked for where it is not possible.
    """
    if passes not in (None, 1, 2):
        raise ValueError(f"passes is {passes!r}; write 1, 2, or None")
    why = _why_two(tables, encoding)
    if not why and passes != 2:
        found, maybe_identifiers = _by_pilot(tables, encoding, seed)
        if not (found.constant or maybe_identifiers):
            return found
        why = (
            f"all rows of {listed(found.constant)} that were drawn are equal"
            if found.constant
            else f"{listed(maybe_identifiers)} may be an identifier, which all rows tell"
        )
    if passes == 1:
        once, twice = (written(f"passes={k}", f"--passes {k}") for k in (1, 2))
        raise ValueError(f"one pass ({once}) is not possible: {why}; leave it out, or write {twice}")
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


def _why_two(tables: Sequence[Source], encoding: Encoding) -> str:
    """Say why a pilot does not do, or nothing."""
    if encoding.missing != "error":
        return "missing cells must be counted first"
    if encoding.ordinal or encoding.categorical or not all(table.plain for table in tables):
        return "it needs Parquet files in which all columns are numbers"
    return ""


def _by_pilot(tables: tuple[Source, Source], encoding: Encoding, seed: int) -> tuple[Learnt, tuple[str, ...]]:
    """Return what a pilot shows, and the columns of integers all different in it."""
    lengths = [sum(group.rows for group in table.row_groups) for table in tables]
    pilots = pilot_rows(lengths, PILOT)
    first, second = (
        drawn_groups(table, max(SHOWN, many), PILOT_GROUPS, seed + k)
        for k, (table, many) in enumerate(zip(tables, pilots, strict=True))
    )
    scanner, inspection = Scanner(tables[0].names, encoding), encoding.inspection(first, 2)
    for k, frame in enumerate((first, second)):
        scanner.add(frame.take(slice(0, pilots[k])), k)
        inspection.add(frame, k)
    found = _learnt(scanner, (first, second), pilots, (lengths[0], lengths[1]), None)
    return found, inspection.candidates()


def _by_pass(
    tables: tuple[Source, Source], encoding: Encoding, seed: int, progress: Progress, digested: bool
) -> Learnt:
    scanner, draws = Scanner(tables[0].names, encoding), [Drawn(SHOWN, seed + k) for k in (0, 1)]
    inspection: Inspection | None = None
    digests = RowDigest(), RowDigest()
    known = sum(table.n_rows or 0 for table in tables)
    done = 0
    for k, table in enumerate(tables):
        for frame in table.frames():
            chosen = frame.select(scanner.rules)
            inspection = encoding.inspection(chosen, 2) if inspection is None else inspection
            inspection.add(chosen, k)
            if digested:
                digests[k].add(frame)
            kept = _added(scanner, inspection, chosen, k)
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
    remarks = () if inspection is None else inspection.check()
    found = replace(_learnt(scanner, drawn, pilots, lengths, scanner.seen), remarks=remarks)
    return replace(found, whole=(digests[0].text, digests[1].text)) if digested else found


def _added(scanner: Scanner, inspection: Inspection, rows: Frame, table: int) -> Frame:
    """Return the rows that are used; where they do not fit those before, say first which option would read them."""
    try:
        return scanner.add(rows, table)
    except (TypeError, ValueError):
        inspection.check_text()
        raise


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
