"""Which rows of two tables a design lets take part, found from its columns alone, before any other is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import BoolArray
from ...core.cells import missing_cells
from ...core.table import Frame
from ...core.words import all_incomplete
from ...inference import Design
from ...tables.columns import Encoding
from ...tables.columns.missing import rules_for
from ...tables.source import Source, joined
from ..designs import TableDesign, Taken
from .mean_gaps import Places


@final
@dataclass(frozen=True, eq=False)
class DesignedRows:
    """The rows of two tables that a comparison with a design looks at, and their design."""

    taken: Taken
    looked: tuple[BoolArray, ...]
    """Which rows of every table are looked at: those used, and those that a blank cell leaves out."""
    used: tuple[BoolArray, ...]
    """Which of them are used."""
    design: Design
    """Of the rows used."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, frames: Sequence[Frame], design: TableDesign, dropped: Sequence[str]) -> Self:
        """Return what the columns of a design say, of all rows of both tables.

        ``dropped`` are other columns of the frames, whose blank cells leave rows out, and then maybe partners of these.
        """
        taken = design.taken(frames)
        present, absent = taken.taking_part(tuple(frames))
        complete = tuple(frame.take(~_blank(frame, dropped)) for frame in present)
        for frame, left in zip(present, complete, strict=True):
            if not len(left):
                raise all_incomplete(frame.source, max(dropped, key=lambda name: missing_cells(frame[name]).sum()))
        used, alone = taken.taking_part(complete)
        looked = [
            _marked(len(frame), here, known, left)
            for frame, here, known, left in zip(frames, present, complete, used, strict=True)
        ]
        masks = tuple(_marked(len(frame), left) for frame, left in zip(frames, used, strict=True))
        return cls(taken, tuple(looked), masks, taken.of(used), (*absent, *alone))

    @classmethod
    def of_sources(cls, tables: Sequence[Source], design: TableDesign, encoding: Encoding) -> Self:
        """Read the columns of a design."""
        wanted, dropped = columns_of(tables[0].names, tables[0].source, design, encoding)
        return cls.of([joined(list(table.reordered(wanted).frames())) for table in tables], design, dropped)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many rows of every table are used."""
        return tuple(int(own.sum()) for own in self.used)

    @property
    def places(self) -> Places:
        """Where the rows used belong."""
        return Places.of(self.design, self.sizes)


def columns_of(
    names: Sequence[str], source: str, design: TableDesign, encoding: Encoding
) -> tuple[list[str], list[str]]:
    """Return the columns that decide which rows are used, and those of them whose blank cells leave rows out."""
    design.check_names(names, source)
    rest = design.beside(names, source)
    dropped = [name for name, rule in rules_for(encoding.missing, rest).items() if rule == "drop"]
    return [*design.columns, *dropped], dropped


def _marked(many: int, rows: Frame, complete: Frame | None = None, left: Frame | None = None) -> BoolArray:
    """Return which of the rows of a table are some rows, of the complete ones only those that are left."""
    mask = np.zeros(many, dtype=bool)
    mask[rows.row_numbers() - 1] = True
    if complete is not None and left is not None:
        mask[complete.row_numbers() - 1] = False
        mask[left.row_numbers() - 1] = True
    return mask


def _blank(frame: Frame, names: Sequence[str]) -> BoolArray:
    found = np.zeros(len(frame), dtype=bool)
    for name in names:
        found |= missing_cells(frame[name])
    return found
