"""The columns of a table that are tested, and the design of its rows, whose columns are held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from ...core.array import BoolArray, IntArray
from ...core.cells import missing_cells
from ...core.table import Frame
from ...inference import Design
from ...inference.designs.design import codes, weightless
from ...tables.columns import Encoding
from ...tables.columns.missing import rules_for
from ...tables.source import Source, joined
from .request import DependenceOptions, Groups


@final
@dataclass(frozen=True, eq=False)
class DesignedTable:
    """What is tested: two groups of columns of some rows, and their design."""

    table: Source
    """The columns that are tested, of rows with a weight."""
    groups: Groups
    encoding: Encoding
    """Of these columns."""
    design: Design
    """Of the rows that are used: those without blank cells where a column leaves such rows out."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Source, asked: DependenceOptions) -> Self:
        """Read the columns of a design, with those whose blank cells leave rows out.

        Raises
        ------
        ValueError
            When a column is unknown or in both groups, or a column of the design has blank cells or holds no weights.
        """
        design = asked.design
        design.check_names(table.names, table.source)
        groups = asked.groups(table.names)
        used = [name for name in table.names if name in {*groups[0], *groups[1]}]
        encoding = asked.encoding.restricted(Frame({name: np.empty(0) for name in table.names}, table.source), used)
        rest = table if used == list(table.names) else table.reordered(used)
        if not design:
            return cls(rest, groups, encoding, Design())
        dropped = [name for name, rule in rules_for(encoding.missing, used).items() if rule == "drop"]
        frame = joined(list(table.reordered([*design.columns, *dropped]).frames()))
        whole = design.held(frame)
        weighted = np.ones(len(frame), dtype=bool) if whole.weights is None else np.asarray(whole.weights) > 0.0
        blank = np.zeros(len(frame), dtype=bool)
        for name in dropped:
            blank |= missing_cells(frame[name])
        return cls(_only(rest, weighted), groups, encoding, whole.of_rows(weighted & ~blank), weightless(weighted))

    @property
    def clusters(self) -> tuple[IntArray, ...] | None:
        """The numbers of the clusters of the rows; None without clusters."""
        return None if self.design.clusters is None else (codes(self.design.clusters, "clusters")[0],)


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

    source = f"{table.source}, rows with a weight"
    return replace(
        table, source=source, n_rows=int(kept.sum()), _frames=frames, _whole=lambda: table.whole().take(kept)
    )
