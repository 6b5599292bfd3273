"""Which rows of two tables a design lets take part, found from its columns alone, before any other is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

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
from ..row_keys import with_keys


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
        Rows of a table have different numbers.
        """
        taken = design.taken(frames)
        present, absent = taken.taking_part(tuple(frames))
        complete = tuple(frame.take(~_blank(frame, dropped)) for frame in present)
        for frame, whole in zip(present, complete, strict=True):
            if len(frame) and not len(whole):
                raise all_incomplete(frame.source, max(dropped, key=lambda name: missing_cells(frame[name]).sum()))
        used, alone = taken.taking_part(complete)
        looked, kept = [], []
        for of_table in zip(frames, present, complete, used, strict=True):
            every, here, known, left = (rows.row_numbers() for rows in of_table)
            kept.append(np.isin(every, left))
            looked.append(kept[-1] | (np.isin(every, here) & ~np.isin(every, known)))
        return cls(taken, tuple(looked), tuple(kept), taken.of(used), (*absent, *alone))

    @classmethod
    def of_pairs(
        cls,
        frames: Sequence[Frame],
        design: TableDesign,
        dropped: Sequence[str],
        encoding: Encoding,
        inputs: tuple[Any, Any],
    ) -> Self:
        """Return the complete pairs, from the columns that may name rows and those whose blank cells leave rows out.

        The indexes of the ``inputs`` name the rows where no column does.
        """
        measured = (*encoding.named.ordinal, *encoding.named.categorical, *encoding.keep)
        kept, notes = design.complete_pairs(frames, dropped, measured, inputs)
        return cls(design.taken(frames), (kept, kept), (kept, kept), Design(paired=True), notes)

    @classmethod
    def of_frames(
        cls, frames: Sequence[Frame], design: TableDesign, encoding: Encoding, inputs: tuple[Any, Any]
    ) -> Self:
        """Return what the columns of a design say, or the complete pairs, of two tables in memory."""
        _, dropped = columns_of(frames[0].names, frames[0].source, design, encoding)
        if design.paired:
            return cls.of_pairs(frames, design, dropped, encoding, inputs)
        return cls.of(frames, design, dropped)

    @classmethod
    def of_sources(
        cls, tables: Sequence[Source], design: TableDesign, encoding: Encoding, inputs: tuple[Any, Any] = (None, None)
    ) -> Self:
        """Read the columns of a design; of pairs those that may name rows, and those whose blank cells leave rows out.

        ``inputs`` are the tables of pairs as they were passed.
        """
        needed, dropped = columns_of(tables[0].names, tables[0].source, design, encoding)
        if not design.paired:
            return cls.of([_held(table, list(table.reordered(needed).frames())) for table in tables], design, dropped)
        always = (tables[0].names[0], *dropped)  # without any column the number of rows would not be known
        held = [_held(table, with_keys(table.frames(), always)) for table in tables]
        return cls.of_pairs(held, design, dropped, encoding, inputs)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many rows of every table are used."""
        return tuple(int(mask.sum()) for mask in self.used)


def columns_of(
    names: Sequence[str], source: str, design: TableDesign, encoding: Encoding
) -> tuple[list[str], list[str]]:
    """Return the columns that decide which rows are used, and those of them whose blank cells leave rows out."""
    design.check_names(names, source)
    rest = design.beside(names, source)
    dropped = [name for name, rule in rules_for(encoding.missing, rest).items() if rule == "drop"]
    return [*design.columns, *dropped], dropped


def _held(table: Source, frames: Sequence[Frame]) -> Frame:
    if not frames:
        raise ValueError(f"{table.source} has no rows")
    return replace(joined(frames), source=table.source)


def _blank(frame: Frame, names: Sequence[str]) -> BoolArray:
    blank = np.zeros(len(frame), dtype=bool)
    for name in names:
        blank |= missing_cells(frame[name])
    return blank
