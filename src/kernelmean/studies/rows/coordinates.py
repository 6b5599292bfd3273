"""The coordinates of all rows that a study uses, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from ...core.array import Array, slices
from ...core.table import Frame
from ...tables.columns.encoded import coordinates_of
from ...tables.columns.kinds import Coding, ColumnKind
from ...tables.columns.missing import Missing, sifted
from ...tables.source import Source
from .first_look import Learnt

LABEL = "sums of features"
_BATCH_NUMBERS = 2**22


@dataclass(frozen=True)
class CoordinateBatch:
    """Coordinates of the used rows of a batch, and the number of rows of its table that were read up to its end."""

    rows: Array
    read: int
    frame: Frame
    """The same rows as they are in the table."""


def coordinate_batches(frames: Source, learnt: Learnt) -> Iterator[CoordinateBatch]:
    """Yield the coordinates of all used rows."""
    used = UsedRows.of(learnt)
    for frame in frames.frames():
        for rows in used.parts(frame):
            left = used.left(rows)
            yield CoordinateBatch(coordinates_of(used.codings, left), int(rows.row_numbers()[-1]), left)


@final
@dataclass(frozen=True, eq=False)
class UsedRows:
    """How rows become coordinates: those with missing cells are left out where the rule of a column says so."""

    codings: tuple[Coding, ...]
    types: dict[str, ColumnKind]
    missing: Missing

    @classmethod
    def of(cls, learnt: Learnt) -> Self:
        """Return what a first pass found."""
        return cls(learnt.codings, learnt.scan.types, learnt.missing.rule)

    def parts(self, frame: Frame) -> Iterator[Frame]:
        """Yield the rows in parts whose coordinates fit in memory."""
        many = max(1, sum(len(coding.names) for coding in self.codings))
        return (frame.take(part) for part in slices(len(frame), max(1, _BATCH_NUMBERS // many)))

    def left(self, rows: Frame) -> Frame:
        """Return the rows used."""
        return sifted(rows, self.types, self.missing)[0]
