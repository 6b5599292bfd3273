"""A table that is read batch by batch without the columns of its design, which are held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from ...core.array import BoolArray
from ...core.cells import missing_cells
from ...core.table import Frame
from ...inference import Design
from ...inference.designs.design import weightless
from ...tables.columns import Encoding
from ...tables.columns.missing import rules_for
from ...tables.source import Source, joined
from ..designs import TableDesign


@final
@dataclass(frozen=True, eq=False)
class DesignedTable:
    """The rows that are tested, and their design."""

    table: Source
    """The columns that are tested, of rows with a weight."""
    design: Design
    """Of the rows that are used: those without blank cells where a column leaves such rows out."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Source, used: Sequence[str], design: TableDesign, encoding: Encoding) -> Self:
        """Read the columns of a design, with those whose blank cells leave rows out.

        Raises
        ------
        ValueError
            When a column of the design does not exist, has blank cells, or holds no weights.
        """
        rest = table if list(used) == list(table.names) else table.reordered(used)
        if not design:
            return cls(rest, Design())
        design.check_names(table.names, table.source)
        dropped = [name for name, rule in rules_for(encoding.missing, used).items() if rule == "drop"]
        frame = joined(list(table.reordered([*design.columns, *dropped]).frames()))
        whole = design.held(frame)
        weights = None if whole.weights is None else np.asarray(whole.weights)
        weighted = np.ones(len(frame), dtype=bool) if weights is None else weights > 0.0
        blank = np.zeros(len(frame), dtype=bool)
        for name in dropped:
            blank |= missing_cells(frame[name])
        return cls(_only(rest, weighted), whole.of_rows(weighted & ~blank), weightless(weighted))


def _only(table: Source, kept: BoolArray) -> Source:
    """Return some of the rows of a table."""
    if kept.all():
        return table

    def frames() -> Iterator[Frame]:
        start = 0
        for frame in table.frames():
            here = kept[start : start + len(frame)]
            start += len(frame)
            if here.any():
                yield frame.take(here)

    return replace(table, source=f"{table.source}, rows with a weight", n_rows=int(kept.sum()), _frames=frames)
