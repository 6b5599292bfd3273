"""Columns that are not measurements: what is kept of their cells while reading, and the messages about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from scipy.special import gammaln

from ...core.array import Array
from ...core.table import Frame
from ...core.words import listed
from .agreement import Named, recognised
from .texts import Finding, TextCells, refusal

MOST_KEPT = 2**20
"""The number of first cells of a table that are compared with each other, so that memory is bounded."""
_PAIR = 2
_CHANCE = math.log(1e-6)
_DENSE = 0.5
_FIRST_YEAR, _LAST_YEAR, _LEAST_DAYS = 1850, 2149, 5


@final
@dataclass
class IntegersSeen:
    """What distinguishes identifiers from measurements in the cells of one table; NaN is a missing cell."""

    rows: int = 0
    """The cells that are not missing."""
    low: float = math.inf
    high: float = -math.inf
    """The extremes."""
    distinct: bool = True
    """Whether all cells are integers, and the first ``MOST_KEPT`` of them all different."""
    _known: Array = field(default_factory=lambda: np.empty(0))
    _pending: list[Array] = field(default_factory=list)
    _waiting: int = 0

    def add(self, cells: Array) -> None:
        """Look at more cells."""
        if not self.distinct:
            return
        values = cells[~np.isnan(cells)]
        if not len(values):
            return
        if np.isinf(values).any() or (values != np.rint(values)).any():
            self._forget()
            return
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        room = MOST_KEPT - len(self._known) - self._waiting
        self.rows += len(values)
        if room > 0:
            self._pending.append(values[:room])
            self._waiting += len(self._pending[-1])
            if self._waiting >= len(self._known):  # sizes double, so merging costs n log n in all
                self._merge()

    def merge(self, other: IntegersSeen) -> None:
        """Add the summary of the rows that follow; a cell that is repeated among those counts once."""
        if not (self.distinct and other.distinct):
            self._forget()
            return
        cells = other._in_order()
        if not len(cells):
            return
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.rows += other.rows
        known = self._in_order()
        self._pending = [cells[: MOST_KEPT - len(known)]]
        self._waiting = len(self._pending[0])
        self._merge()

    def kept(self) -> Array:
        """Return the distinct cells that are kept, ascending."""
        return np.sort(self._in_order())

    def _in_order(self) -> Array:
        """Return the cells that are kept in the order of the rows."""
        self._merge()
        return self._known

    def _merge(self) -> None:
        if self._waiting:
            both = np.concatenate([self._known, *self._pending])
            self._pending, self._waiting = [], 0
            if len(np.unique(both)) < len(both):
                self._forget()
            else:
                self._known = both

    def _forget(self) -> None:
        self.distinct, self._known, self._pending, self._waiting = False, np.empty(0), [], 0

    @property
    def width(self) -> float:
        """How many integers there are from the lowest to the highest."""
        return self.high - self.low + 1.0


def judge(name: str, tables: Sequence[IntegersSeen], *, named: bool = True) -> tuple[Finding | None, str | None]:
    """Return why a column of numbers is refused, or a note on it, or neither.

    A column is taken as row numbers when all its cells are different integers that fill at least half of their range,
    in a table or in all together, and when rows drawn independently from any distribution on that range would all
    differ with a probability below one in a million: 17 integers without a gap, or 45 on twice the range. (This is most
    probable under the uniform distribution.) Columns without names only get a note.
    """
    filled = [table for table in tables if table.rows]
    if not filled or not all(len(table.kept()) and table.distinct for table in filled):
        return None, None
    numbers_rows = any(dense and chance <= _CHANCE for dense, chance in _views(filled))
    if not numbers_rows:
        return None, None
    ranges = list(dict.fromkeys(f"{table.low:.0f} to {table.high:.0f}" for table in filled))
    rows = " and ".join(f"{table.rows:,}" for table in filled)
    if len(filled) > _PAIR:
        ranges = [f"{min(table.low for table in filled):.0f} to {max(table.high for table in filled):.0f}"]
        rows = f"{sum(table.rows for table in filled):,}"
    each = "" if len(filled) == 1 else " in each table"
    what = f"its {rows} cells are integers from {' and '.join(ranges)}, all different{each}"
    if named:
        return Finding(name, "identifier", f"looks like an identifier: {what}", insist="keep"), None
    return None, f"{name} may be an identifier: {what}"


def _views(tables: Sequence[IntegersSeen]) -> list[tuple[bool, float]]:
    """Return for each table, all side by side, and all as one: whether it is dense, and the chance of no repeat."""
    views = [(table.rows, table.width) for table in tables]
    chances = [(rows >= _DENSE * width, _log_chance(rows, width)) for rows, width in views]
    together = sum(rows for rows, _ in views) >= _DENSE * sum(width for _, width in views)
    chances.append((together, sum(chance for _, chance in chances)))
    pooled = np.concatenate([table.kept() for table in tables])
    if len(tables) > 1 and len(np.unique(pooled)) == len(pooled):
        rows = sum(table.rows for table in tables)
        width = max(table.high for table in tables) - min(table.low for table in tables) + 1.0
        chances.append((rows >= _DENSE * width, _log_chance(rows, width)))
    return chances


def _log_chance(rows: int, width: float) -> float:
    """Return the log probability that ``rows`` independent uniform draws from ``width`` integers all differ."""
    n = min(float(rows), float(MOST_KEPT), width)
    if n < 1e-3 * width:
        return -0.5 * n * (n - 1.0) / width
    return float(gammaln(width + 1.0) - gammaln(width - n + 1.0) - n * math.log(width))


@final
@dataclass
class DaysSeen:
    """Whether all cells of a column are dates without marks; NaN is a missing cell."""

    rows: int = 0
    """The cells that are not missing."""
    example: float = np.nan
    """The first of them."""
    days: bool = True
    """Whether all are dates: measurements of eight digits would soon have a month beyond 12 or a day beyond 31."""

    def add(self, cells: Array) -> None:
        """Look at more cells."""
        values = cells[~np.isnan(cells)]
        if not self.days or not len(values):
            return
        self.example = self.example if self.rows else float(values[0])
        self.rows += len(values)
        self.days = bool(values.min() >= 1e4 * _FIRST_YEAR and values.max() < 1e4 * (_LAST_YEAR + 1))
        if self.days:  # seldom, so what follows is seldom needed
            months, days = values // 100 % 100, values % 100
            inside = (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31) & (values == np.rint(values))
            self.days = bool(inside.all())

    def merge(self, other: DaysSeen) -> None:
        """Take in what the rows that follow left behind."""
        self.example = self.example if self.rows else other.example
        self.rows, self.days = self.rows + other.rows, self.days and other.days

    def finding(self, name: str) -> Finding | None:
        """Return why the column is refused."""
        if not self.days or self.rows < _LEAST_DAYS:
            return None
        day = f"{self.example:.0f}"
        mend = f"write them as {day[:4]}-{day[4:6]}-{day[6:]}"
        what = f"holds dates as numbers ({day})"
        return Finding(name, "numbers, not times", what, advice=mend, insist="keep", wrong_type=True)


@final
class Inspection:
    """Inspects the rows of tables, in any number of parts and in bounded memory.

    Parameters
    ----------
    frame : Frame
        The columns.
    tables : int
        How many tables there are.
    named : Named
        The columns whose kind the user named; they pass.
    kept : sequence of str
        Columns of numbers to use although they look like identifiers.
    most : int
        How many different texts of a column are looked at.

    Raises
    ------
    ValueError
        When a named column does not exist, or is named both in ``keep`` and elsewhere.
    """

    def __init__(self, frame: Frame, tables: int, named: Named, kept: Sequence[str], most: int) -> None:
        frame.select([*kept, *named.ordinal, *named.categorical])
        for name in kept:
            if named.find(name) is not None:
                kind = "ordinal" if name in named.ordinal else "categorical"
                raise ValueError(
                    f"column {name!r} is named in keep and in {kind}, which never looks like an identifier; leave it "
                    "out of keep="
                )
        self._tables, self._most, self._named = tables, most, frame.named
        self._open = tuple(name for name in frame.names if named.find(name) is None)
        self._numbers = frozenset(self._open) - {*kept}
        self._texts: dict[str, TextCells] = {}
        self._declared: dict[str, bool] = {}
        self._integers: dict[str, list[IntegersSeen]] = {}
        self._days: dict[str, DaysSeen] = {}
        self._sources: dict[str, None] = {}

    def add(self, frame: Frame, table: int) -> None:
        """Inspect some rows of a table."""
        self._sources.setdefault(frame.source)
        for name in self._open:
            kind = recognised(frame, name)
            inspected = "" if kind is None else kind.inspected
            if inspected == "texts":
                self._declared[name] = name in frame.declared
                self._texts.setdefault(name, TextCells(name, self._most + 1)).add(frame, table)
            elif inspected == "numbers" and name in self._numbers:
                integers = self._integers.setdefault(name, [IntegersSeen() for _ in range(self._tables)])
                integers[table].add(frame[name])
                self._days.setdefault(name, DaysSeen()).add(frame[name])

    def merge(self, other: Inspection) -> None:
        """Add the inspection of the rows that follow, with the same columns."""
        self._sources |= other._sources
        self._declared |= other._declared
        for name, texts in other._texts.items():
            self._texts.setdefault(name, TextCells(name, texts.most)).merge(texts)
        for name, tables in other._integers.items():
            integers = self._integers.setdefault(name, [IntegersSeen() for _ in tables])
            for table, more in zip(integers, tables, strict=True):
                table.merge(more)
        for name, days in other._days.items():
            self._days.setdefault(name, DaysSeen()).merge(days)

    def check(self) -> tuple[str, ...]:
        """Return notes, or raise one error for all columns that are unusable as they are.

        Raises
        ------
        TypeError
            When text holds numbers or dates that were not read as such.
        ValueError
            When a column holds identifiers or free text.
        """
        findings: list[Finding] = []
        notes: list[str] = []
        for finding, note in self.judged().values():
            findings += [] if finding is None else [finding]
            notes += [] if note is None else [note]
        if findings:
            raise refusal(findings)
        return tuple(notes)

    def judged(self) -> dict[str, tuple[Finding | None, str | None]]:
        """Return for every column whose kind was not named what is wrong with it, or a note on it, or neither."""
        return {name: self._judge(name) for name in self._open}

    def check_text(self) -> None:
        """Raise when text read so far holds numbers or dates, as :meth:`check` does."""
        texts = [each for each in self._texts.values() if not self._declared[each.name]]
        findings = [finding for each in texts if (finding := each.unread())]
        if findings:
            raise refusal(findings)

    def _judge(self, name: str) -> tuple[Finding | None, str | None]:
        texts = self._texts.get(name)
        if texts is not None and texts.cells:
            if self._declared[name]:  # the user declared categories by the type
                return texts.unlike(), None
            return self._of_one_table(texts.finding()), texts.remark()
        finding, note = judge(name, self._integers.get(name, ()), named=self._named)
        if name in self._days:
            finding = self._days[name].finding(name) or finding
        if finding is not None:
            where = " and ".join(self._sources) if len(self._sources) <= _PAIR else listed(self._sources, 1)
            finding = replace(finding, where=where)
        return finding, note

    def _of_one_table(self, finding: Finding | None) -> Finding | None:
        """Return a finding, with other advice where one table alone has a decimal mark: an option would read both."""
        if finding is None or "decimal" not in finding.reading:
            return finding
        if not any(table.rows or not table.distinct for table in self._integers.get(finding.column, ())):
            return finding
        one = f"the other table has another decimal mark; write {finding.where} with that one first"
        return replace(finding, advice=f"{one} (pandas: read_csv(..., decimal=...), then to_csv)")
