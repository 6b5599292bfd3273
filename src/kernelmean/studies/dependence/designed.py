"""The columns of a table that are tested, and the design of its rows, whose columns are held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import IntArray
from ...core.labels import codes
from ...core.table import Frame
from ...inference import Design
from ...tables.columns import Encoding
from ...tables.source import Source
from ..rows.designed_rows import DesignedRows
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
        design.beside(table.names, table.source)
        groups = asked.groups(table.names)
        used = [name for name in table.names if name in {*groups[0], *groups[1]}]
        encoding = asked.encoding.restricted(Frame({name: np.empty(0) for name in table.names}, table.source), used)
        rest = table if used == list(table.names) else table.reordered(used)
        if not design:
            return cls(rest, groups, encoding, Design())
        rows = DesignedRows.of_sources((table.reordered([*used, *design.columns]),), design, encoding)
        return cls(rest.only(rows.looked[0]), groups, encoding, rows.design, rows.notes)

    @property
    def clusters(self) -> tuple[IntArray, ...] | None:
        """The numbers of the clusters of the rows; None without clusters."""
        return None if self.design.clusters is None else (codes(self.design.clusters, "clusters")[0],)
