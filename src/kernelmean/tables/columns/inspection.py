"""A look at all cells of tables before any is used: columns that would become nonsense without a word are refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import final

import numpy as np

from ...core.option_names import written
from ...core.table import Frame
from .identifiers import DaysSeen, IntegersSeen, judge
from .kinds import Named
from .texts import Finding, TextCells, check


@final
class Inspection:
    """Looks at the rows of tables, in any number of parts, in memory that does not grow with them.

    Parameters
    ----------
    frame : Frame
        The columns.
    tables : int
        How many tables there are.
    named : Named
        The columns whose kind the user named, which pass.
    keep : str or iterable of str
        Columns of numbers that are used although they look like identifiers.
    most : int
        The number of categories beyond which a column is refused anyway.

    Raises
    ------
    ValueError
        When a column that is named does not exist, or is named in ``keep`` and beside it.
    """

    def __init__(self, frame: Frame, tables: int, named: Named, keep: str | Iterable[str], most: int) -> None:
        kept = (keep,) if isinstance(keep, str) else tuple(keep)
        frame.select([*kept, *named.ordinal, *named.categorical])
        for name in kept:
            if named.find(name) is not None:
                raise ValueError(_named_twice(name, "ordinal" if name in named.ordinal else "categorical"))
        self._tables, self._most, self._named = tables, most, frame.named
        self._open = tuple(name for name in frame.names if named.find(name) is None)
        self._numbers = frozenset(self._open) - {*kept}
        self._texts: dict[str, TextCells] = {}
        self._declared: dict[str, bool] = {}
        self._integers: dict[str, list[IntegersSeen]] = {}
        self._days: dict[str, DaysSeen] = {}
        self._sources: dict[str, None] = {}

    def add(self, frame: Frame, table: int) -> None:
        """Look at some rows of a table."""
        self._sources.setdefault(frame.source)
        for name in self._open:
            cells, declared = frame[name], frame.declared.get(name)
            if cells.dtype == object and (declared is None or declared.kind == "categorical"):
                self._declared[name] = declared is not None
                self._texts.setdefault(name, TextCells(name, self._most + 1)).add(frame, table)
            elif cells.dtype == np.float64 and declared is None and name in self._numbers:
                seen = self._integers.setdefault(name, [IntegersSeen() for _ in range(self._tables)])
                seen[table].add(cells)
                self._days.setdefault(name, DaysSeen()).add(cells)

    def check(self) -> tuple[str, ...]:
        """Return notes, or raise one line for all columns that are no use as they are.

        Raises
        ------
        TypeError
            When text holds numbers or dates that were not read as such.
        ValueError
            When a column holds identifiers or free text.
        """
        judged = [(name, self._judge(name)) for name in self._open]
        check(finding for _, (finding, _) in judged if finding is not None)
        return tuple(note for _, (_, note) in judged if note is not None)

    def check_text(self) -> None:
        """Raise where text that was seen so far holds numbers or dates, as :meth:`check` does."""
        check(found for texts in self._texts.values() if not self._declared[texts.name] and (found := texts.unread()))

    def candidates(self) -> tuple[str, ...]:
        """Return the columns that rows so far do not keep from being identifiers."""
        return tuple(
            name
            for name, seen in self._integers.items()
            if any(table.rows for table in seen) and all(table.distinct for table in map(_settled, seen))
        )

    def _judge(self, name: str) -> tuple[Finding | None, str | None]:
        texts = self._texts.get(name)
        if texts is not None and texts.cells:
            if self._declared[name]:  # a type that says categories is the user's word for their being ones
                return texts.unlike(), None
            return texts.finding(), texts.remark()
        finding, note = judge(name, self._integers.get(name, ()), named=self._named)
        if name in self._days:
            finding = self._days[name].finding(name) or finding
        if finding is not None:
            finding = replace(finding, what=f"{' and '.join(self._sources)}: {finding.what}")
        return finding, note


def _settled(seen: IntegersSeen) -> IntegersSeen:
    seen.kept()
    return seen


def _named_twice(name: str, kind: str) -> str:
    keep = written("keep=", "--keep")
    return f"column {name!r} stands in keep and in {kind}, which never looks like an identifier; leave it out of {keep}"
