"""What is seen of a column while its tables are read: its kind, its missing cells, and what the kind sees of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ...core.array import Array
from ...core.cells import missing_cells
from ...core.table import Frame
from .encoding import Encoding
from .kinds import Coding, ColumnKind, NumberKind, Seen, Wanted
from .summaries import ColumnSummary


@final
@dataclass(eq=False)
class ColumnSeen:
    """A column of some tables: its kind (None before the first cell), its missing cells (tables,), its values."""

    name: str
    kind: ColumnKind | None
    absent: Array
    values: Seen | None

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
        wanted = Wanted(rule, absent, rows, encoding.scale, encoding.max_categories, whole)
        return self._known().coding(self.name, wanted)

    def summary(self, coding: Coding) -> ColumnSummary:
        """Return what the column is like in every table."""
        return self._known().summary(coding, self.absent)

    def _known(self) -> Seen:
        """Return what was seen, also of a column without any cell."""
        return self.values or self.type.seen(len(self.absent))
