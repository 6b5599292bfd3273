"""Rows of a table as coordinates, found from a few rows: new kinds of cells become a coordinate, not an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...core.array import Array
from ...core.cells import Cells, missing_cells
from ...core.table import Frame, to_frame
from ...core.words import all_incomplete, count
from ...tables.columns.agreement import Named, check_types, recognised
from ...tables.columns.encoded import notes_on
from ...tables.columns.encoding import Encoding
from ...tables.columns.kinds import Coding
from ...tables.columns.matching import match_columns
from ...tables.columns.missing import sifted
from ...tables.columns.scan import TableScan
from ...tables.columns.texts import NOT_TIMES, Finding, identifies, refusal

_MARK = np.sqrt(2.0)
_RULES = ("error", "drop", "category")


@final
@dataclass(frozen=True, eq=False)
class RowCoder:
    """Turns rows into coordinates: one block for each column, and one mark for what is new in it.

    The mark of a row is √2 for a category, a missing cell, or (in a column that was constant) a value that the fitted
    rows did not hold, and 0 otherwise: such a cell is far from all others. Numbers beyond a million standard
    deviations count as that far.
    """

    codings: tuple[Coding, ...]
    template: Frame
    """One row that holds nothing new."""
    encoding: Encoding
    """The rules."""

    @classmethod
    def fit(cls, frame: Frame, encoding: Encoding) -> RowCoder:
        """Find kinds, scales and categories from some rows.

        Raises
        ------
        ValueError
            As :class:`kernelmean.TableEncoder`.
        """
        codings = TableScan.of([frame], encoding)[0].codings(whole=False)
        typical = {coding.name: _typical(coding, frame) for coding in codings}
        return cls(codings, replace(frame, cells=typical, rows=None), encoding)

    def notes(self, rows: int) -> tuple[str, ...]:
        """Return notes on what the codings of so many rows of a reference leave out."""
        where = f" in the {rows:,} rows of the reference to which columns are fitted"
        return notes_on(self.codings, where)

    def frame(self, rows: Any, name: str) -> Frame:
        """Return rows as a frame with the columns that were fitted, or say what is wrong with them."""
        frame, _ = match_columns(self.template, to_frame(rows, name))
        types = {coding.name: coding.type for coding in self.codings}
        check_types(frame, types, Named.of(self.encoding.ordinal, self.encoding.categorical))
        used, blank = sifted(frame, types, self.encoding.missing)
        if not len(used) and len(frame):
            raise all_incomplete(frame.source, max(blank, key=lambda name: blank[name]))
        return used

    def __call__(self, frame: Frame) -> Array:
        """Return the coordinates of the rows of a frame that :meth:`frame` made, shape (n, D)."""
        blocks, marks = [], []
        for coding in self.codings:
            new = coding.unseen(frame)
            cells, template = frame[coding.name].copy(), self.template[coding.name]
            if cells.dtype.kind != template.dtype.kind:  # all are missing, which fits any type
                cells = np.full(len(cells), None, template.dtype)
            cells[new] = template[0]
            known = Frame({coding.name: cells}, frame.source, rows=frame.rows, declared=frame.declared)
            with np.errstate(over="ignore"):  # what is infinite is bounded as well
                blocks.append(coding.bounded(coding.coordinates(known)))
            marks.append(_MARK * new)
        return np.column_stack([*blocks, *marks])


def _typical(coding: Coding, frame: Frame) -> Cells:
    """Return the first cell of a column that is not missing, or the first one, shape (1,)."""
    cells = frame[coding.name]
    first = int(np.argmin(missing_cells(cells)))
    return cells[first : first + 1]


def checked_reference(frame: Frame, encoding: Encoding) -> Frame:
    """Return a reference without the rows that its rule for missing cells leaves out.

    Raises
    ------
    ValueError, TypeError
        In one line for all columns that are no use: identifiers, free text, dates, and blank cells without a rule.
    """
    inspection = encoding.inspection(frame, 1)
    inspection.add(frame, 0)
    judged = {name: finding for name, (finding, _) in inspection.judged().items() if finding is not None}
    dates = [name for name, finding in judged.items() if finding.taken == NOT_TIMES]
    kinds = {name: kind for name in frame.names if (kind := recognised(frame, name)) and not encoding.named.find(name)}
    dates += [name for name, kind in kinds.items() if kind.dated]
    what = "holds dates, which differ in every later table"
    for name in (name for name, kind in kinds.items() if kind.inspected == "texts"):
        texts = {cell for cell in frame[name] if isinstance(cell, str)}
        cells = len(frame) - int(missing_cells(frame[name]).sum())
        too_many = len(texts) > encoding.max_categories and identifies(len(texts), [(len(texts), cells)])
        if too_many:
            many = (
                f"has {len(texts):,} different texts in {count(len(frame), 'row')}, so it is an identifier or free text"
            )
            judged.setdefault(name, Finding(name, "free text", many, frame.source, insist=""))
    findings = [*(judged | {name: Finding(name, "dates", what, frame.source, insist="") for name in dates}).values()]
    if not findings:
        return _fitting(frame, encoding)
    error = refusal(findings)
    others = [name for name in frame.names if name not in {one.column for one in findings}]
    try:
        _fitting(frame.select(others), encoding.restricted(frame, others))
    except ValueError as another:
        raise type(error)(f"{error}. Also, {another}") from None
    raise error


def _fitting(frame: Frame, encoding: Encoding) -> Frame:
    """Return the rows that are used, or raise if the columns cannot be encoded."""
    scan, (used,) = TableScan.of([frame], encoding)
    scan.codings()
    return used


def check_rules(missing: str | Mapping[str, str]) -> None:
    """Raise if missing cells are to be noise, for which bets have no exact kernel, or a rule is unknown."""
    for rule in [missing] if isinstance(missing, str) else missing.values():
        if rule not in _RULES:
            what = "not for a monitor" if rule == "noise" else "no rule"
            raise ValueError(f"missing={rule!r} is {what}; write missing='error', 'drop' or 'category'")
