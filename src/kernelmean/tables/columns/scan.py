"""What columns hold, seen in one pass over the rows of tables, in any number of parts: kinds, cells, codings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array
from ...core.cells import missing_cells
from ...core.table import Frame
from ...core.words import all_incomplete
from .agreement import agreed_kind, check_codes, odd_number
from .encoding import Encoding
from .kinds import CellsSeen, Coding, ColumnKind, NumberKind, TooManyCategoriesError, Wanted
from .missing import MissingCells, MissingColumn, all_sifted, rules_for
from .summaries import ColumnSummary


@final
@dataclass(eq=False)
class ColumnSeen:
    """A column of some tables: its kind (None before the first cell), its missing cells (tables,), its values."""

    name: str
    kind: ColumnKind | None
    absent: Array
    values: CellsSeen | None

    @property
    def type(self) -> ColumnKind:
        """The kind; numeric if no cell says otherwise."""
        return self.kind or NumberKind()

    def add(self, frame: Frame, table: int) -> None:
        """Add the cells of some rows."""
        absent = missing_cells(frame[self.name])
        self.absent[table] += absent.sum()
        if not absent.all():
            self.values = self._known()
            self.values.add(frame, self.name, ~absent, table)

    def __add__(self, other: ColumnSeen) -> ColumnSeen:
        """Return the summary of the rows of both."""
        if self.kind and other.kind and self.kind != other.kind:
            raise ValueError(f"column {self.name!r} is {self.kind} in some rows and {other.kind} in others")
        one, two = self.values, other.values
        values = one + two if one is not None and two is not None else one or two
        return ColumnSeen(self.name, self.kind or other.kind, self.absent + other.absent, values)

    def check(self, encoding: Encoding) -> None:
        """Raise as soon as there are too many categories to count."""
        if self.values is not None:
            self.values.check(self.name, encoding.max_categories)

    def coding(self, rows: float, encoding: Encoding, rule: str, *, whole: bool = True) -> Coding:
        """Return how the column becomes coordinates."""
        absent = float(self.absent.sum())
        context = Wanted(rule, absent, rows, encoding.scale, encoding.max_categories, whole)
        return self._known().coding(self.name, context)

    def summary(self, coding: Coding) -> ColumnSummary:
        """Return what the column is like in every table."""
        return self._known().summary(coding, self.absent)

    def _known(self) -> CellsSeen:
        """Return what was seen, also of a column without any cell."""
        return self.values or self.type.seen(len(self.absent))


@final
class TableScan:
    """What is seen of the columns of tables; every part of a table goes through :meth:`add`.

    Parameters
    ----------
    names : sequence of str
        The columns.
    encoding : Encoding
        How columns become coordinates; its rule for missing cells is applied here.
    tables : int
        How many tables there are.

    Attributes
    ----------
    rows, left_out : array of shape (tables,)
        How many rows are used, and how many were left out.
    """

    def __init__(self, names: Sequence[str], encoding: Encoding, tables: int) -> None:
        self.encoding = encoding
        self._columns = {name: ColumnSeen(name, None, np.zeros(tables), None) for name in names}
        self.rows, self.left_out = np.zeros(tables), np.zeros(tables)
        self.rules = rules_for(encoding.missing, list(names))
        self._blank = {name: np.zeros(tables) for name in names}
        self._named = encoding.named
        self._first: dict[str, list[Frame]] = {}

    @classmethod
    def of(cls, frames: Sequence[Frame], encoding: Encoding) -> tuple[Self, tuple[Frame, ...]]:
        """Return what is seen of whole tables, and the rows of each that are used.

        Raises
        ------
        ValueError
            When types disagree, cells are missing without a rule, or a column that the caller named does not exist.
        TypeError
            When a column holds anything but numbers, categories and times.
        """
        frames[0].select([*encoding.named.ordinal, *encoding.named.categorical])
        scan = cls(frames[0].names, encoding, len(frames))
        for frame in frames:
            scan.agree(frame)
        used = scan._counted(dict(enumerate(frames)))
        scan.check_rows([frame.source for frame in frames])
        return scan, used

    def add(self, frame: Frame, table: int) -> Frame:
        """Add rows of a table, and return those that are used, maybe none, with their numbers in the table."""
        self.agree(frame)
        return self._counted({table: frame})[0]

    def _counted(self, frames: Mapping[int, Frame]) -> tuple[Frame, ...]:
        """Count rows of some tables, by their number, and return those that are used."""
        sifted = all_sifted([*frames.values()], self.types, self.encoding.missing, drops=self.encoding.drops)
        for (table, frame), (used, counts) in zip(frames.items(), sifted, strict=True):
            for name, cells in counts.items():
                self._blank[name][table] += cells
            for column in self.columns if len(used) else ():
                column.add(used, table)
                column.check(self.encoding)
            self.rows[table] += len(used)
            self.left_out[table] += len(frame) - len(used)
        return tuple(used for used, _ in sifted)

    def merge(self, other: TableScan) -> None:
        """Add what was seen of the rows that follow.

        Raises
        ------
        ValueError
            When a column is of another type there, or there are too many categories in all.
        """
        for name, frames in other._first.items():
            for frame in frames:
                self._agree(frame, name)
        self._columns = {name: column + other._columns[name] for name, column in self._columns.items()}
        self.rows, self.left_out = self.rows + other.rows, self.left_out + other.left_out
        for name, cells in other._blank.items():
            self._blank[name] = self._blank[name] + cells
        for column in self.columns:
            column.check(self.encoding)

    def agree(self, frame: Frame) -> None:
        """Settle the types of the columns of some rows; raise if one differs from before."""
        for name in self._columns:
            self._agree(frame, name)

    def _agree(self, frame: Frame, name: str) -> None:
        known = ~missing_cells(frame[name])
        if not known.any():
            return
        before, named = self._first.setdefault(name, []), self._named.find(name)
        if named is None:
            self._columns[name].kind = agreed_kind([*before, frame], name)
        else:
            check_codes([*before, frame], name)
            self._columns[name].kind = named
        places = [] if before else [int(np.argmax(known))]
        odd = None if named is None or len(before) > 1 else odd_number(frame, name)
        before += [frame.select([name]).take([place]) for place in (*places, odd) if place is not None]

    def check_rows(self, sources: Sequence[str]) -> None:
        """Raise if all rows of a table were left out."""
        dropped = [name for name, rule in self.rules.items() if rule == "drop"]
        for table, source in enumerate(sources):
            if not self.rows[table] and self.left_out[table]:
                raise all_incomplete(source, max(dropped, key=lambda name: float(self._blank[name][table])))

    @property
    def columns(self) -> tuple[ColumnSeen, ...]:
        """What was seen of every column, in the order of the tables."""
        return tuple(self._columns.values())

    @property
    def types(self) -> dict[str, ColumnKind]:
        """The types of the columns; of those without any cell numeric."""
        return {name: column.type for name, column in self._columns.items()}

    @property
    def missing(self) -> MissingCells:
        """The missing cells of all rows, also of those that were left out."""
        columns = tuple(
            MissingColumn(name, self.rules[name], _whole(cells)) for name, cells in self._blank.items() if cells.any()
        )
        return MissingCells(self.encoding.missing, columns, _whole(self.left_out))

    def codings(self, *, whole: bool = True) -> tuple[Coding, ...]:
        """Return the coding of every column, in the order of the tables.

        Of ``whole`` tables, columns with many categories are refused if these identify rows; one error names them all.
        """
        wide: dict[str, str] = {}
        codings, limit = [], self.encoding.max_categories
        for column in self.columns:
            try:
                rule = self.rules[column.name]
                codings.append(column.coding(float(self.rows.sum()), self.encoding, rule, whole=whole))
            except TooManyCategoriesError as error:
                wide, limit = wide | error.found, error.most
        if wide:
            raise TooManyCategoriesError(wide, limit)
        return tuple(codings)

    def summaries(self, codings: Sequence[Coding]) -> list[ColumnSummary]:
        """Return what some columns are like in every table."""
        return [self._columns[coding.name].summary(coding) for coding in codings]


def _whole(counts: Array) -> tuple[int, ...]:
    return tuple(counts.astype(int).tolist())
