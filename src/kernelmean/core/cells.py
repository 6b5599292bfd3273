"""One column of a data frame as a NumPy array, and what its type says beyond its cells."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, final

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt

from .array import LARGEST_EXACT, Array

Cells: TypeAlias = npt.NDArray[Any]
"""float64 (NaN where missing), datetime64 in UTC or timedelta64 (NaT), or objects (None)."""
_FINE = ("s", "ms", "us", "ns")
_TRUTH: frozenset[type[Any]] = frozenset([bool, np.bool_])


@final
@dataclass(frozen=True)
class Declared:
    """What the type of a column says beyond its cells."""

    kind: Literal["boolean", "categorical", "ordinal", "zoned"]
    """"zoned": times with a time zone."""
    levels: tuple[str, ...] = ()
    """The categories of an ordered type, lowest first."""


def read_cells(column: nw.Series[Any]) -> tuple[Cells, Declared | None]:
    """Return a column as an array; numbers become float64, categories and text become objects that equal cells share.

    A column in which all cells are missing is float64 NaN, whatever its type.
    """
    if column.is_null().all():
        return np.full(len(column), np.nan), None
    if _fits_float64(column):
        numbers = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return numbers, Declared("boolean") if column.dtype == nw.Boolean else None
    if isinstance(column.dtype, nw.Datetime) and getattr(column.dtype, "time_zone", None) is not None:
        in_utc = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return np.asarray(in_utc.to_numpy()), Declared("zoned")
    if isinstance(column.dtype, nw.Datetime | nw.Duration) or column.dtype == nw.Date:
        return np.asarray(column.to_numpy()), None
    if column.dtype in (nw.Categorical, nw.Enum):
        levels = _levels(column)
        return shared(column.to_list(), label), Declared("ordinal" if levels else "categorical", levels)
    return _objects(column.to_list())


def missing_cells(cells: Cells) -> npt.NDArray[np.bool_]:
    """Return the mask of the missing cells of a column, shape (n,)."""
    if cells.dtype == object:
        return np.array([cell is None for cell in cells], dtype=bool)
    return np.isnan(cells)


def is_blank(cells: Cells) -> bool:
    """Return whether all cells of a column are missing; one that is not ends the search."""
    return all(cell is None for cell in cells) if cells.dtype == object else bool(np.isnan(cells).all())


def is_missing(cell: Any) -> bool:
    """Return whether a cell of any type is None, NaN, NA or NaT."""
    return cell is None or str(cell) in ("nan", "<NA>", "NaT")


def plain_numbers(cells: Iterable[Any]) -> Array | None:
    """Return Python objects as float64 if all are numbers or all truth values, NaN where missing; None for others.

    Examples
    --------
    >>> plain_numbers([1, None, np.int64(2)])
    array([ 1., nan,  2.])
    """
    listed = list(cells)
    types = {type(cell) for cell in listed if not is_missing(cell)}
    are_numbers = not types & _TRUTH and all(issubclass(cls, Real | Decimal) for cls in types)
    return _floats(listed) if are_numbers or types <= _TRUTH else None


def loses_digits(cell: object) -> bool:
    """Return whether a number is too large for float64 to tell it from the next integer."""
    if isinstance(cell, Decimal):
        return cell.is_finite() and abs(cell) > LARGEST_EXACT
    return isinstance(cell, Integral) and abs(int(cell)) > LARGEST_EXACT


def is_float(text: str) -> bool:
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def label(cell: Any) -> str | None:
    """Return the text of a category: 1 for 1.0, a date for a time at midnight, None for a missing cell.

    Examples
    --------
    >>> label(np.datetime64("2024-12-31T00:00:00.000000")), label(np.datetime64("2024-12-31T10:20:00.000"))
    ('2024-12-31', '2024-12-31T10:20:00')
    """
    if is_missing(cell):
        return None
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return _in_words(cell)
    if isinstance(cell, float):
        return f"{cell + 0.0:.0f}" if math.isfinite(cell) and cell.is_integer() else str(cell)
    return one_form(str(cell))


def one_form(text: str) -> str:
    r"""Return a text in Unicode's form NFC and with line ends as on Unix: texts that look the same are the same.

    Examples
    --------
    >>> one_form("Zoe\u0308\r\n") == "Zo\u00eb\n"
    True
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return unicodedata.normalize("NFC", text)


def column_name(name: Any) -> str:
    """Return the name of a column in one form and without blanks around it."""
    return one_form(str(name)).strip()


def _in_words(cell: np.datetime64 | np.timedelta64) -> str:
    """Return the text of a time or a span, which does not depend on the unit in which it is held."""
    if np.datetime_data(cell.dtype)[0] in _FINE:
        kind = "M8" if isinstance(cell, np.datetime64) else "m8"
        cell = next(converted for unit in _FINE if (converted := cell.astype(f"{kind}[{unit}]")) == cell)
    return str(cell).removesuffix("T00:00:00")


def time_label(named: Any) -> str:
    """Return the :func:`label` of a time that you name: a text in ISO 8601, or an object for a date or a time.

    Times with a zone are converted to UTC, as those in a column are. Anything else is returned as a text.

    Examples
    --------
    >>> time_label("2024-12-31 00:00:00"), time_label(date(2024, 12, 31)), time_label("never")
    ('2024-12-31', '2024-12-31', 'never')
    """
    try:
        moment = datetime.fromisoformat(named) if isinstance(named, str) else named
    except ValueError:
        return str(named)
    if hasattr(moment, "to_datetime64"):  # of pandas, with nanoseconds
        moment = moment.to_datetime64()
    elif isinstance(moment, datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return str(label(np.datetime64(moment) if isinstance(moment, date) else moment))


def shared(cells: Iterable[Any], convert: Any) -> Cells:
    """Return converted cells as objects; equal cells are converted once and share one object."""
    listed = list(cells)
    known = {cell: convert(cell) for cell in dict.fromkeys(listed)}
    out = np.empty(len(listed), dtype=object)
    out[:] = [known[cell] for cell in listed]
    return out


def _levels(column: nw.Series[Any]) -> tuple[str, ...]:
    """Return the categories of an ordered type, lowest first; none for categories without order."""
    native = column.to_native()
    types = (getattr(native, "dtype", None), getattr(native, "type", None))  # of pandas and of pyarrow
    if column.dtype == nw.Enum or any(getattr(each, "ordered", False) for each in types):
        return tuple(dict.fromkeys(str(label(level)) for level in column.cat.get_categories().to_list()))
    return ()


def _objects(cells: list[Any]) -> tuple[Cells, Declared | None]:
    """Return cells of any Python type: text, or values of one type that a library stores as objects."""
    types = {type(cell) for cell in cells if not is_missing(cell)} if _mixed(cells) else {str}
    if types <= _TRUTH:
        return _floats(cells), Declared("boolean")
    if types == {date}:
        return np.array([None if is_missing(cell) else cell for cell in cells], dtype="datetime64[D]"), None
    if types == {time}:
        since = [None if is_missing(cell) else datetime.combine(date.min, cell) - datetime.min for cell in cells]
        return np.array(since, dtype="timedelta64[us]"), None
    if types == {str}:
        return shared(cells, lambda cell: None if is_missing(cell) else one_form(cell)), None
    numbers = plain_numbers(cells)
    if numbers is not None and not any(map(loses_digits, cells)):
        return numbers, None
    out = np.empty(len(cells), dtype=object)
    out[:] = [None if is_missing(cell) else cell for cell in cells]
    return out, None


def _floats(cells: Iterable[Any]) -> Array:
    return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells], dtype=np.float64)


def _mixed(cells: list[Any]) -> bool:
    """Return whether a cell is neither text nor missing, with one quick look at every cell."""
    kinds = set(map(type, cells))
    return not kinds <= {str, type(None)} and any(
        not isinstance(cell, str) and not is_missing(cell) for cell in cells if cell is not None
    )


def _fits_float64(column: nw.Series[Any]) -> bool:
    """Return whether float64 can distinguish the numbers of a column; decimals are rounded to 16 digits."""
    if column.dtype.is_integer() or column.dtype.is_decimal():
        extremes = [extreme for extreme in (column.min(), column.max()) if not is_missing(extreme)]
        return all(abs(int(extreme)) <= LARGEST_EXACT for extreme in extremes)
    return column.dtype.is_numeric() or column.dtype == nw.Boolean
