"""A look at batches of two tables: their columns agree in type, rows with blank cells are left out, a few are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from ...core.array import IntArray
from ...core.cells import missing_cells
from ...core.table import Frame
from ...core.words import all_incomplete
from ...tables.columns.encoding import Encoding
from ...tables.columns.kinds import ColumnType, agreed_type, check_codes
from ...tables.columns.missing import MissingCells, MissingColumn, rules_for, sifted
from ...tables.shuffle import hashed
from ...tables.source import joined
from .column_summaries import TablesSeen


@final
class Scanner:
    """Adds up what two tables are like; every batch goes through :meth:`add`.

    Parameters
    ----------
    names : sequence of str
        The columns.
    encoding : Encoding
        How columns become coordinates; its rule for missing cells is applied here.
    seen : TablesSeen, optional
        To go on from.
    """

    def __init__(self, names: Sequence[str], encoding: Encoding, seen: TablesSeen | None = None) -> None:
        self.encoding = encoding
        self.seen = TablesSeen.start(names) if seen is None else seen
        self.rules = rules_for(encoding.missing, list(names))
        self._named = encoding.named
        self._first: dict[str, Frame] = {}
        self._dropped = {name: np.zeros(2) for name, rule in self.rules.items() if rule == "drop"}

    def add(self, frame: Frame, table: int) -> Frame:
        """Return the rows of a batch that are used, maybe none, with their numbers in the table."""
        for column in self.seen.columns:
            self._agree(frame, column.name)
            if column.kind is None and (found := self._type(frame, column.name)) is not None:
                column.settle(found)
        types = {column.name: column.type for column in self.seen.columns}
        kept, counts = sifted(frame, types, self.rules)
        for name in self._dropped:
            self._dropped[name][table] += counts.get(name, 0)
        for column in self.seen.columns if len(kept) else ():
            column.add(kept, table)
            column.check_categories(self.encoding)
        self.seen.rows[table] += len(kept)
        self.seen.left_out[table] += len(frame) - len(kept)
        return kept

    def _agree(self, frame: Frame, name: str) -> None:
        """Raise when a column is of another type than it was before."""
        known = missing_cells(frame[name])
        if known.all():
            return
        first = self._first.setdefault(name, frame.take([int(np.argmin(known))]))
        if self._named.find(name) is None:
            agreed_type([first, frame], name)
        else:
            check_codes([first, frame], name)

    def _type(self, frame: Frame, name: str) -> ColumnType | None:
        return None if missing_cells(frame[name]).all() else self._named.find(name) or agreed_type([frame], name)

    def check_rows(self, sources: Sequence[str]) -> None:
        """Raise when all rows of a table were left out."""
        for table, source in enumerate(sources):
            if not self.seen.rows[table] and self.seen.left_out[table]:
                raise all_incomplete(source, max(self._dropped, key=lambda name: float(self._dropped[name][table])))

    def missing(self) -> MissingCells:
        """Return the counts of missing cells."""
        absent = {column.name: column.absent for column in self.seen.columns} | self._dropped
        columns = tuple(
            MissingColumn(name, rule, (int(absent[name][0]), int(absent[name][1])))
            for name, rule in self.rules.items()
            if absent[name].any()
        )
        return MissingCells(self.encoding.missing, columns, (int(self.seen.left_out[0]), int(self.seen.left_out[1])))


@final
class Drawn:
    """Some rows of a table of unknown length, each as probable as any other, in constant memory.

    The rows whose numbers have the smallest hashes: which they are depends on the seed, never on the batches.

    Parameters
    ----------
    rows : int
        How many.
    seed : int

    Attributes
    ----------
    numbers : array of int
        Which rows they are, from 0, in the order of the frame.
    """

    def __init__(self, rows: int, seed: int) -> None:
        self._most = rows
        self._key = np.random.default_rng([seed, 17]).integers(0, 2**64, dtype=np.uint64)
        self._frame: Frame | None = None
        self._added = 0
        self._hashes = np.empty(0, dtype=np.uint64)
        self.numbers: IntArray = np.empty(0, dtype=np.int64)

    def add(self, frame: Frame) -> None:
        """Look at the rows that follow those so far."""
        numbers = np.arange(self._added, self._added + len(frame))
        self._added += len(frame)
        hashes = hashed(numbers.astype(np.uint64) ^ self._key)
        full = len(self._hashes) >= self._most
        candidates = np.flatnonzero(hashes < self._hashes.max()) if full else np.arange(len(hashes))
        if not len(candidates):
            return
        frames = [frame.take(candidates)] if self._frame is None else [self._frame, frame.take(candidates)]
        found = np.concatenate([self._hashes, hashes[candidates]])
        order = np.argsort(found, kind="stable")[: self._most]
        self._frame, self._hashes = joined(frames).take(order), found[order]
        self.numbers = np.concatenate([self.numbers, numbers[candidates]])[order]

    @property
    def frame(self) -> Frame:
        """The rows, in random order."""
        if self._frame is None:
            raise RuntimeError("no rows were added; tables without rows are refused before")
        return self._frame
