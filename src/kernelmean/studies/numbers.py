"""The input of studies of numbers: the varying columns of a table, with notes on the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

from ..core.table import Table, as_table, named_frame, numbered_frame
from ..core.words import count, listed
from ..tables.columns import Encoding
from ..tables.read import hold


@final
@dataclass(frozen=True)
class Needs:
    """What a study needs from a table, and how its errors say so."""

    study: str
    """The name of the study, which sets its limit of rows."""
    rows: int
    why: str
    """What so many rows are needed for; comes after their number."""
    constant: str
    """What is wrong if every column is constant."""

    def numbers(self, X: Any, keep: str | Iterable[str]) -> tuple[Table, tuple[str, ...]]:
        """Return the columns that vary, and notes; ``keep`` names identifiers to use all the same."""
        held, name = hold(X), "the table"
        frame = named_frame(held, name)
        table = as_table(held, name) if frame is None else frame.to_table()
        remarks = Encoding(keep=keep).inspect([numbered_frame(table.values, name) if frame is None else frame])
        if len(table) < self.rows:
            raise ValueError(f"the table has {count(len(table), 'row')}; at least {self.rows} are needed{self.why}")
        kept, constant = table.constant()
        if not len(kept):
            raise ValueError(f"every column is constant; {self.constant}")
        left_out = (f"constant, so left out: {listed(constant)}",) if constant else ()
        return table.columns(kept), (*(() if held is X else held.notes), *remarks, *left_out)
