"""Which kind a column is, on which all tables must agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

from ...core.cell_formats import is_number
from ...core.cells import column_name, is_blank, label, missing_cells
from ...core.table import Frame
from .kinds import KINDS, CategoryKind, ColumnKind, LevelKind, NumberKind
from .labels import cell_counts
from .texts import mend


@final
@dataclass(frozen=True)
class Named:
    """The columns whose kind the user named: ordinal ones with their levels, and those that hold categories."""

    ordinal: Mapping[str, tuple[str, ...]]
    categorical: tuple[str, ...]

    @classmethod
    def of(cls, ordinal: Mapping[str, Iterable[Any]] | None, categorical: str | Iterable[str]) -> Named:
        """Check what the user passed."""
        if not isinstance(ordinal or {}, Mapping):
            raise TypeError(f"ordinal is {ordinal!r}; write a dict such as {{'size': ['low', 'mid', 'high']}}")
        levels = {column_name(name): _check_levels(name, order) for name, order in (ordinal or {}).items()}
        names = tuple(map(column_name, (categorical,) if isinstance(categorical, str) else categorical))
        both = [name for name in names if name in levels]
        if both:
            raise ValueError(f"column {both[0]!r} is named both in ordinal and in categorical; name it once")
        return cls(levels, names)

    def find(self, name: str) -> ColumnKind | None:
        """Return the type that the user gave a column."""
        if name in self.ordinal:
            return LevelKind(self.ordinal[name])
        return CategoryKind() if name in self.categorical else None


def _check_levels(name: str, order: Iterable[Any]) -> tuple[str, ...]:
    levels = () if isinstance(order, str) else tuple(str(label(level)) for level in order)
    if len(levels) < 2 or len(set(levels)) < len(levels):
        raise ValueError(
            f"the levels of column {name!r} are {order!r}; at least two different ones are needed, lowest first, such "
            "as ordinal={'size': ['low', 'mid', 'high']}"
        )
    return levels


def check_codes(frames: Sequence[Frame], name: str) -> None:
    """Raise when codes have different names in two tables: numbers and texts such as 01, truth values, times."""
    _check_alike(frames, name)
    numbers = next((frame for frame in frames if frame[name].dtype == np.float64), None)
    if numbers is None:
        return
    for frame in frames:
        row = odd_number(frame, name)
        if row is not None:
            raise ValueError(
                f"column {name!r} holds numbers in {numbers.source} and the text {frame[name][row]!r} in "
                f"{frame.source}, which as a number would be written otherwise; write the column as text in both"
            )


def odd_number(frame: Frame, name: str) -> int | None:
    """Return the first row whose text is a number written otherwise than the number is, such as 01; None without."""
    if frame[name].dtype != object:
        return None
    odd = {cell for cell in cell_counts(frame, name) if isinstance(cell, str) and is_number(cell)}
    odd = {cell for cell in odd if label(float(cell)) != cell}
    return next((row for row, cell in enumerate(frame[name]) if cell in odd), None) if odd else None


def _check_alike(frames: Sequence[Frame], name: str) -> None:
    """Raise where truth values meet numbers, or times anything else: True is not called 1, nor a time as its text."""
    known = [(frame, kind) for frame in frames if (kind := _named_by(frame, name)) is not None]
    for (first, one), (second, two) in combinations(known, 2):
        if one != two and ("times" in (one, two) or "texts" not in (one, two)):
            raise ValueError(
                f"column {name!r} holds {one} in {first.source} and {two} in {second.source}, whose categories have "
                f"different names; convert one of them, such as {name} of {first.source} to {two}"
            )


def _named_by(frame: Frame, name: str) -> str | None:
    """Return in words what the names of categories are made of; None without any cell."""
    cells, declared = frame[name], frame.declared.get(name)
    if is_blank(cells):
        return None
    if cells.dtype == np.float64:
        return "numbers" if declared is None or declared.kind != "boolean" else "truth values"
    return "times" if cells.dtype.kind in "mM" else "texts"


def agreed_kind(frames: Sequence[Frame], name: str) -> ColumnKind:
    """Return the type of one column, on which all tables must agree; without any cell it is numeric."""
    known = [(frame, kind) for frame in frames if (kind := _own_kind(frame, name)) is not None]
    if not known:
        return NumberKind()
    first, expected = known[0]
    for frame, kind in known[1:]:
        if kind != expected:
            raise ValueError(
                f"column {name!r} is {expected} in {first.source} ({_example(first, name)}) and {kind} in "
                f"{frame.source} ({_example(frame, name)}); write both in the same way, {mend(name)}"
            )
    return expected


def check_types(frame: Frame, types: Mapping[str, ColumnKind], named: Named) -> None:
    """Raise when a column of a table has another type than in the tables of the fit."""
    for name, expected in types.items():
        kind = None if named.find(name) else _own_kind(frame, name)
        if kind not in (None, expected):
            raise ValueError(
                f"column {name!r} is {expected} in the table that was fitted, and {kind} in {frame.source} "
                f"({_example(frame, name)}); write both in the same way"
            )


def _example(frame: Frame, name: str) -> str:
    row = int(np.argmin(missing_cells(frame[name])))
    declared = frame.declared.get(name)
    is_boolean = declared is not None and declared.kind == "boolean"
    cell = bool(frame[name][row]) if is_boolean else frame[name][row]
    text = str(label(cell)).replace("\n", " ")
    return f"{text[:20]!r} in row {frame.row_numbers()[row]}"


def recognised(frame: Frame, name: str) -> ColumnKind | None:
    """Return the kind of a column in one table, None when all its cells are missing."""
    cells, declared = frame[name], frame.declared.get(name)
    if is_blank(cells):
        return None
    kinds = [kind for each in KINDS.values() if (kind := each.recognised(cells, declared)) is not None]
    if len(kinds) > 1:
        names = " and ".join(map(str, kinds))
        raise ValueError(f"{frame.source}: column {name!r} is {names}; let one of these kinds recognise such cells")
    return kinds[0] if kinds else CategoryKind()


def _own_kind(frame: Frame, name: str) -> ColumnKind | None:
    """Return the same after a look at all cells."""
    kind = recognised(frame, name)
    if kind is not None:
        kind.check(frame, name)
    return kind
