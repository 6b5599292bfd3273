"""What the columns of tables hold: numbers, truth values, categories, ordered levels, times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from numbers import Real
from typing import Any, Literal, TypeAlias, final

import numpy as np

from ...core.array import Array
from ...core.cell_formats import has_decimal_comma, is_number
from ...core.cells import Cells, column_name, is_blank, label, loses_digits, missing_cells, shared
from ...core.table import Frame
from ...core.words import leave_out, listed
from .texts import TextCells, mend, refusal

Kind: TypeAlias = Literal["numeric", "boolean", "categorical", "ordinal", "datetime", "duration"]
_NANOSECONDS = 1e9
_FIRST, _LAST = np.datetime64("1678-01-01", "s"), np.datetime64("2262-01-01", "s")
_LONGEST = 290 * 365 * 86400


@final
@dataclass(frozen=True)
class ColumnType:
    """The kind of a column, the same in all tables."""

    kind: Kind
    """"numeric", "boolean", "categorical", "ordinal", "datetime" or "duration"."""
    levels: tuple[str, ...] = ()
    """The levels of an ordinal column, lowest first."""
    zoned: bool = False
    """Whether times have a zone."""

    def __str__(self) -> str:
        levels = f" ({' < '.join(self.levels)})" if self.levels else ""
        return self.kind + levels + (" with a time zone" if self.zoned else "")


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
        levels = {column_name(name): _check_levels(name, given) for name, given in (ordinal or {}).items()}
        names = tuple(map(column_name, (categorical,) if isinstance(categorical, str) else categorical))
        both = [name for name in names if name in levels]
        if both:
            raise ValueError(f"column {both[0]!r} is named both in ordinal and in categorical; name it once")
        return cls(levels, names)

    def find(self, name: str) -> ColumnType | None:
        """Return the type that the user gave a column."""
        if name in self.ordinal:
            return ColumnType("ordinal", self.ordinal[name])
        return ColumnType("categorical") if name in self.categorical else None


def _check_levels(name: str, given: Iterable[Any]) -> tuple[str, ...]:
    levels = () if isinstance(given, str) else tuple(str(label(level)) for level in given)
    if len(levels) < 2 or len(set(levels)) < len(levels):
        raise ValueError(
            f"the levels of column {name!r} are {given!r}; at least two different ones are needed, lowest first, such "
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
    odd = {cell for cell in _counts(frame, name) if isinstance(cell, str) and is_number(cell)}
    odd = {cell for cell in odd if label(float(cell)) != cell}
    return next((row for row, cell in enumerate(frame[name]) if cell in odd), None) if odd else None


def _check_alike(frames: Sequence[Frame], name: str) -> None:
    """Raise where truth values meet numbers, or times anything else: True is not called 1, nor a time as its text."""
    known = [(frame, own) for frame in frames if (own := _named_by(frame, name)) is not None]
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


def agreed_type(frames: Sequence[Frame], name: str) -> ColumnType:
    """Return the type of one column, on which all tables must agree; without any cell it is numeric."""
    found = [(frame, own) for frame in frames if (own := _own_type(frame, name)) is not None]
    if not found:
        return ColumnType("numeric")
    first, expected = found[0]
    for frame, own in found[1:]:
        if own != expected:
            raise ValueError(
                f"column {name!r} is {expected} in {first.source} ({_example(first, name)}) and {own} in "
                f"{frame.source} ({_example(frame, name)}); write both in the same way, {mend(name)}"
            )
    return expected


def check_types(frame: Frame, types: Mapping[str, ColumnType], named: Named) -> None:
    """Raise when a column of a table has another type than in the tables of the fit."""
    for name, expected in types.items():
        own = None if named.find(name) else _own_type(frame, name)
        if own not in (None, expected):
            raise ValueError(
                f"column {name!r} is {expected} in the table that was fitted, and {own} in {frame.source} "
                f"({_example(frame, name)}); write both in the same way"
            )


def _example(frame: Frame, name: str) -> str:
    row = int(np.argmin(missing_cells(frame[name])))
    declared = frame.declared.get(name)
    is_boolean = declared is not None and declared.kind == "boolean"
    cell = bool(frame[name][row]) if is_boolean else frame[name][row]
    text = str(label(cell)).replace("\n", " ")
    return f"{text[:20]!r} in row {frame.row_numbers()[row]}"


def _own_type(frame: Frame, name: str) -> ColumnType | None:
    """Return the type of a column in one table, None when all its cells are missing."""
    cells, declared = frame[name], frame.declared.get(name)
    if is_blank(cells):
        return None
    if cells.dtype.kind == "M":
        return ColumnType("datetime", zoned=declared is not None)
    if cells.dtype.kind == "m":
        return ColumnType("duration")
    if declared is not None:
        assert declared.kind != "zoned", "only times have zones"
        return ColumnType(declared.kind, declared.levels)
    if cells.dtype == np.float64:
        return ColumnType("numeric")
    _check_text(frame, name)
    return ColumnType("categorical")


def _check_text(frame: Frame, name: str) -> None:
    """Raise unless a column of objects holds text, and not numbers as text."""
    distinct = [cell for cell in _counts(frame, name) if cell is not None]
    other = next((cell for cell in distinct if not isinstance(cell, str)), None)
    if other is not None:
        words = [cell for cell in distinct if isinstance(cell, str) and not is_number(cell)]
        if words and all(isinstance(cell, str | Real | Decimal) for cell in distinct):
            row = frame.row_numbers()[frame[name].tolist().index(words[0])]
            raise TypeError(
                f"{frame.source}: column {name!r} holds numbers and text ({words[0][:20]!r} in row {row}); write all "
                f"of them as numbers (pandas: to_numeric(..., errors='coerce') makes text a missing cell), {mend(name)}"
            )
        large = next((cell for cell in distinct if loses_digits(cell)), None)
        if large is not None:
            what = f"integers beyond 2^53, such as {large}, which float64 cannot hold exactly; subtract a constant"
        else:
            types = " and ".join({type(cell).__name__: None for cell in frame[name] if cell is not None})
            what = f"values of type {types}, neither numbers nor texts nor times; convert it to one of these"
            if " and " in types:
                what = f"values of the types {types}; convert it to numbers, texts or times"
        raise TypeError(f"{frame.source}: column {name!r} holds {what}, {mend(name)}")
    if any(map(is_number, distinct)) or any(map(has_decimal_comma, distinct)):
        texts = TextCells(name, len(distinct) + 1)
        texts.add(frame)
        found = texts.mixed()
        if found:
            raise refusal([found])


def _counts(frame: Frame, name: str) -> Counter[Any]:
    """Return how often each cell of a column of objects occurs, in the order of their first rows."""
    cells = frame[name].tolist()
    try:
        return Counter(cells)
    except TypeError:
        raise TypeError(
            f"{frame.source}: column {name!r} holds values of type "
            f"{type(next(cell for cell in cells if cell is not None)).__name__}, which are neither numbers nor "
            f"categories nor times; leave it out {leave_out([name])}"
        ) from None


def label_counts(frame: Frame, name: str) -> Counter[str | None]:
    """Return how often each text of :func:`as_labels` occurs."""
    if frame[name].dtype != object:
        return Counter(as_labels(frame, name).tolist())
    found: Counter[str | None] = Counter()
    for cell, n in _counts(frame, name).items():
        found[label(cell)] += n
    return found


def as_labels(frame: Frame, name: str) -> Cells:
    """Return the cells of a column as the texts of categories, None where missing."""
    cells, declared = frame[name], frame.declared.get(name)
    if declared is not None and declared.kind == "boolean":
        return shared(cells.tolist(), lambda cell: None if np.isnan(cell) else str(bool(cell)))
    if cells.dtype.kind in "mM":
        return shared(cells, label)
    if cells.dtype != object:
        return shared(_finite(frame, name).tolist(), label)
    named = {cell: label(cell) for cell in _counts(frame, name)}
    return shared(cells.tolist(), named.__getitem__)


def as_numbers(frame: Frame, name: str, column: ColumnType, origin: int = 0) -> Array:
    """Return the cells of a column as float64, NaN where missing: levels from 0, times in seconds after ``origin``."""
    if column.kind in ("datetime", "duration"):
        stamps = nanoseconds(frame, name)
        return np.where(missing_cells(frame[name]), np.nan, (stamps - origin) / _NANOSECONDS)
    if column.kind != "ordinal":
        return _finite(frame, name)
    labels = as_labels(frame, name)
    order: dict[str | None, float] = {level: float(rank) for rank, level in enumerate(column.levels)}
    order[None] = np.nan
    unknown = [cell for cell in dict.fromkeys(labels) if cell not in order]
    if unknown:
        row = frame.row_numbers()[int(np.flatnonzero(labels == unknown[0])[0])]
        raise ValueError(
            f"{frame.source}: row {row}, column {name!r} holds {unknown[0]!r}, which is not one of its levels "
            f"{listed(column.levels)}; name all levels, lowest first, or correct the cell"
        )
    return np.array([order[cell] for cell in labels], dtype=np.float64)


def nanoseconds(frame: Frame, name: str) -> Any:
    """Return times as whole nanoseconds since 1970 (UTC), or durations as whole nanoseconds; 0 where missing."""
    cells = frame[name]
    if cells.dtype == np.float64:  # only missing cells
        return np.zeros(len(cells), dtype=np.int64)
    filled = np.where(np.isnat(cells), np.zeros(1, dtype=cells.dtype), cells)
    seconds = filled.astype(f"{'datetime64' if cells.dtype.kind == 'M' else 'timedelta64'}[s]")
    inside = (seconds >= _FIRST) & (seconds < _LAST) if cells.dtype.kind == "M" else abs(seconds.astype(int)) < _LONGEST
    if not inside.all():
        row = int(np.argmin(inside))
        raise ValueError(
            f"{frame.source}: row {frame.row_numbers()[row]}, column {name!r} holds {cells[row]}; times from 1678 to "
            "2261 and spans of at most 290 years are needed, so write it as a number, such as the year"
        )
    return filled.astype(f"{seconds.dtype.str[1]}8[ns]").astype(np.int64)


def _finite(frame: Frame, name: str) -> Array:
    cells = frame[name]
    infinite = np.isinf(cells)
    if infinite.any():
        raise ValueError(
            f"{frame.source}: row {frame.row_numbers()[int(np.argmax(infinite))]}, column {name!r} is infinite; "
            "replace or remove it first"
        )
    return np.asarray(cells, dtype=np.float64)
