"""The first pass over tables: how columns become coordinates, and some drawn rows, before features are summed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ...core.array import Array, IntArray, Progress
from ...core.table import Frame
from ...inference.units.dealing import MOST_PILOT, Deal, Deals
from ...tables.columns.encoded import Encoded, by_shape, coordinates_of
from ...tables.columns.encoding import Encoding
from ...tables.columns.inspection import Inspection
from ...tables.columns.kinds import Coding
from ...tables.columns.missing import MissingCells
from ...tables.columns.scan import TableScan
from ...tables.drawn import Drawn, Picked
from ...tables.neighbors import MOST_ROWS, Neighbors
from ...tables.source import Source
from ..designs import series_notes

LABEL = "first pass: scale and categories"
_SHOWN = 2000
"""Rows of a table that pictures show."""


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """How columns become coordinates, and what else the first pass found."""

    codings: tuple[Coding, ...]
    """The codings of the columns that vary."""
    constant: tuple[str, ...]
    """The columns that do not vary."""
    drawn: tuple[Frame, ...]
    """Rows of every table in random order."""
    numbers: tuple[IntArray, ...]
    """Their numbers among the rows used, from 0."""
    rows: tuple[int, ...]
    """How many rows of every table are used."""
    scan: TableScan
    """What was seen of the columns of all these rows."""
    missing: MissingCells
    remarks: tuple[str, ...] = ()
    """Remarks on columns that may be meant otherwise."""
    in_series: bool = False
    """Whether rows next to each other are alike."""
    picked: tuple[Frame, ...] = ()
    """The rows of every table that a design fits features to."""

    def deals(self, seed: int) -> Deals:
        """Return how the rows of all tables fall into bins; features are fitted to the drawn rows."""
        return Deals.dealt(self.rows, seed).around(self.numbers)

    def pilot(self, table: int, deal: Deal) -> Frame:
        """Return the rows that features are fitted to."""
        return self.drawn[table].take(slice(0, deal.bins * deal.pilot))

    def shown(self, table: int) -> Frame:
        """Return the rows that pictures show, in the order of the table."""
        frame = self.drawn[table].take(slice(0, _SHOWN))
        return frame.take(np.argsort(frame.row_numbers(), kind="stable"))

    def encoded(self) -> Encoded:
        """Return the rows that pictures show."""
        frames = tuple(map(self.shown, range(len(self.drawn))))
        return Encoded(
            codings=self.codings,
            tables=tuple(map(self.coordinates, frames)),
            variances=None,
            frames=frames,
            constant=self.constant,
            missing=self.missing,
            remarks=(*self.missing.costly(self.rows), *self.remarks),
        )

    def ordered(self, pilot: Sequence[Frame]) -> Learnt:
        """Return the same with columns in the order of their shapes among some rows of every table."""
        blocks = [[coding.coordinates(frame) for frame in pilot] for coding in self.codings]
        return replace(self, codings=tuple(self.codings[k] for k in by_shape(self.codings, blocks)))

    def coordinates(self, frame: Frame) -> Array:
        """Return the coordinates of rows, shape (n, D)."""
        return coordinates_of(self.codings, frame)


def learn(
    tables: tuple[Source, ...],
    encoding: Encoding,
    seed: int,
    progress: Progress,
    pilot: Sequence[IntArray] = (),
    *,
    in_order: bool = True,
) -> Learnt:
    """Learn from a pass over all rows of one table or two.

    ``pilot`` has the ascending numbers of the rows that a design fits features to, among those used of every table.
    Without the order of rows (``in_order``) it does not matter whether neighbours are alike.

    Raises
    ------
    ValueError, TypeError
        As :func:`kernelmean.compare`.
    """
    look = FirstLook(tables[0].names, encoding, seed, (0,) * len(tables), pilot, in_order=in_order)
    known = sum(table.n_rows or 0 for table in tables)
    done = 0
    for k, table in enumerate(tables):
        for frame in table.frames():
            look.add(frame, k)
            done += len(frame)
            progress(LABEL, done, max(done, known))
    learnt = look.learnt([table.source for table in tables])
    return replace(learnt, remarks=(*learnt.remarks, *(note for table in tables for note in table.notes)))


def check_rules(encoding: Encoding) -> None:
    """Raise for a rule for missing cells that needs all rows in memory."""
    missing = encoding.missing
    if "noise" in ([missing] if isinstance(missing, str) else [*missing.values()]):
        raise ValueError(
            "noise in missing cells gives every row a kernel of its own, which needs all rows in memory; write "
            "missing='category' or 'drop', or hold the rows, or a part of them, in memory: "
            "kernelmean.read(..., in_memory=True)"
        )


@final
class FirstLook:
    """What is kept of tables that are looked at batch by batch, in one process or in several.

    Parameters
    ----------
    names : sequence of str
        The columns.
    encoding : Encoding
        How columns become coordinates.
    seed : int
        Draws the rows that are kept.
    first : sequence of int
        The number, from 0, of the first row used of every table, if several processes look at parts of one table.
    pilot, in_order
        As for :func:`learn`.
    """

    def __init__(
        self,
        names: Sequence[str],
        encoding: Encoding,
        seed: int,
        first: Sequence[int] = (0, 0),
        pilot: Sequence[IntArray] = (),
        *,
        in_order: bool = True,
    ) -> None:
        self._encoding = encoding
        self._scan = TableScan(names, encoding, len(first))
        self._draws = [Drawn(MOST_PILOT, seed, start) for start in first]
        self._picks = [Picked(numbers, start) for numbers, start in zip(pilot, first, strict=False)]
        self._inspection: Inspection | None = None
        self._neighbors: Neighbors | None = None
        self._looked = [0 if in_order else MOST_ROWS for _ in first]

    def add(self, frame: Frame, table: int) -> int:
        """Look at rows of a table that follow those so far, and return how many of them are used."""
        chosen = frame.select(self._scan.rules)
        self._look_at_neighbors(chosen, table)
        if self._inspection is None:
            self._inspection = self._encoding.inspection(chosen, len(self._draws))
        self._inspection.add(chosen, table)
        kept = _added(self._scan, self._inspection, chosen, table)
        self._draws[table].add(kept)
        for picks in self._picks[table : table + 1]:
            picks.add(kept)
        return len(kept)

    def _look_at_neighbors(self, rows: Frame, table: int) -> None:
        """See whether rows next to each other are alike, among the first ones of a table."""
        left = MOST_ROWS - self._looked[table]
        if left > 0:
            neighbors = Neighbors.of([rows.take(slice(0, left))])
            self._neighbors = neighbors if self._neighbors is None else self._neighbors + neighbors
            self._looked[table] += len(rows)

    def merge(self, other: FirstLook) -> None:
        """Add what was kept of the rows that follow."""
        if self._inspection is None or other._inspection is None:
            self._inspection = self._inspection or other._inspection
        else:
            self._inspection.merge(other._inspection)
        try:
            self._scan.merge(other._scan)
        except (TypeError, ValueError):
            if self._inspection is not None:
                self._inspection.check_text()
            raise
        if self._neighbors is None or other._neighbors is None:
            self._neighbors = self._neighbors or other._neighbors
        else:
            self._neighbors += other._neighbors
        for draw, more in zip(self._draws, other._draws, strict=True):
            draw.merge(more)
        for own_picks, more_picks in zip(self._picks, other._picks, strict=True):
            own_picks.merge(more_picks)

    def learnt(self, sources: Sequence[str]) -> Learnt:
        """Return the result of all rows; raise as :func:`kernelmean.compare`."""
        scan = self._scan
        scan.check_rows(sources)
        for source, rows in zip(sources, scan.rows, strict=True):
            if not rows:
                raise ValueError(f"{source} has no rows")
        alike = None if self._neighbors is None else self._neighbors.alike()
        remarks = series_notes(alike) + (() if self._inspection is None else self._inspection.check())
        codings = sorted(scan.codings(), key=lambda coding: coding.name)
        return Learnt(
            codings=tuple(coding for coding in codings if coding.varies),
            constant=tuple(coding.name for coding in codings if not coding.varies),
            drawn=tuple(draw.frame for draw in self._draws),
            numbers=tuple(draw.numbers for draw in self._draws),
            rows=tuple(scan.rows.astype(int).tolist()),
            scan=scan,
            missing=scan.missing,
            remarks=remarks,
            in_series=alike is not None,
            picked=tuple(pick.frame for pick in self._picks),
        )


def _added(scan: TableScan, inspection: Inspection, rows: Frame, table: int) -> Frame:
    """Return the rows used; if they do not fit those before, raise first with the option that reads them."""
    try:
        return scan.add(rows, table)
    except (TypeError, ValueError):
        inspection.check_text()
        raise
