"""What studies of numbers take: the columns of a table that vary, with notes on what happened to the others."""

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
    """What a study needs of a table, and how errors say so."""

    study: str
    """The name of the study, on which limits of rows depend."""
    rows: int
    why: str
    """What so many rows are needed for; follows their number."""
    constant: str
    """What is wrong where every column is constant."""

    def numbers(self, X: Any, keep: str | Iterable[str]) -> tuple[Table, tuple[str, ...]]:
        """Return the columns that vary, ``keep`` being identifiers that are used all the same, and what to note."""
        given, name = hold(X, self.study), "the table"
        frame = named_frame(given, name)
        table = as_table(given, name) if frame is None else frame.to_table()
        seen = numbered_frame(table.values, name) if frame is None else frame
        remarks = Encoding(keep=keep).inspect([seen])
        if len(table) < self.rows:
            raise ValueError(f"the table has {count(len(table), 'row')}; at least {self.rows} are needed{self.why}")
        kept, constant = table.constant()
        if not len(kept):
            raise ValueError(f"every column is constant; {self.constant}")
        left_out = (f"constant, so left out: {listed(constant)}",) if constant else ()
        return table.columns(kept), (*(() if given is X else given.notes), *remarks, *left_out)
