"""A scan of batches of two tables: check that types agree, leave out rows with blank cells, and summarize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from ...core.cells import missing_cells
from ...core.table import Frame
from ...core.words import all_incomplete
from ...tables.columns.encoding import Encoding
from ...tables.columns.kinds import ColumnType, agreed_type, check_codes
from ...tables.columns.missing import MissingCells, MissingColumn, rules_for, sifted
from .column_summaries import TablesSeen


@final
class Scanner:
    """Summarizes two tables; every batch goes through :meth:`add`.

    Parameters
    ----------
    names : sequence of str
        The columns.
    encoding : Encoding
        How columns become coordinates; its rule for missing cells is applied here.
    seen : TablesSeen, optional
        The summaries to continue.
    """

    def __init__(self, names: Sequence[str], encoding: Encoding, seen: TablesSeen | None = None) -> None:
        self.encoding = encoding
        self.seen = TablesSeen.start(names) if seen is None else seen
        self.rules = rules_for(encoding.missing, list(names))
        self._named = encoding.named
        self._first: dict[str, Frame] = {}
        self._dropped = {name: np.zeros(2) for name, rule in self.rules.items() if rule == "drop"}

    def add(self, frame: Frame, table: int) -> Frame:
        """Add a batch, and return the rows of it that are used, maybe none, with their numbers in the table."""
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

    def merge(self, other: Scanner) -> None:
        """Add the summaries of the rows that follow.

        Raises
        ------
        ValueError
            When a column is of another type there, or there are too many categories in all.
        """
        for name, frame in other._first.items():
            self._agree(frame, name)
        self.seen = self.seen + other.seen
        for name, cells in other._dropped.items():
            self._dropped[name] = self._dropped[name] + cells
        for column in self.seen.columns:
            column.check_categories(self.encoding)

    def _agree(self, frame: Frame, name: str) -> None:
        """Raise if the type of a column differs from before."""
        known = missing_cells(frame[name])
        if known.all():
            return
        frames = [self._first[name], frame] if name in self._first else [frame]
        if self._named.find(name) is None:
            agreed_type(frames, name)
        else:
            check_codes(frames, name)
        self._first.setdefault(name, frame.take([int(np.argmin(known))]))

    def _type(self, frame: Frame, name: str) -> ColumnType | None:
        return None if missing_cells(frame[name]).all() else self._named.find(name) or agreed_type([frame], name)

    def check_rows(self, sources: Sequence[str]) -> None:
        """Raise if all rows of a table were left out."""
        for table, source in enumerate(sources):
            if not self.seen.rows[table] and self.seen.left_out[table]:
                raise all_incomplete(source, max(self._dropped, key=lambda name: float(self._dropped[name][table])))

    def missing(self, tables: int = 2) -> MissingCells:
        """Return the counts of missing cells in so many tables."""
        absent = {column.name: column.absent for column in self.seen.columns} | self._dropped
        columns = tuple(
            MissingColumn(name, rule, tuple(absent[name][:tables].astype(int).tolist()))
            for name, rule in self.rules.items()
            if absent[name].any()
        )
        return MissingCells(self.encoding.missing, columns, tuple(self.seen.left_out[:tables].astype(int).tolist()))
