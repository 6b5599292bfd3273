"""Words of messages and reports: numbers, nouns and lists, options as the caller writes them, and advice."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

EVERY = "*"
"""What stands for all columns where an option names single ones."""
ABSENT = "(missing)"
"""What stands for a cell without a value."""
_LISTED = 8
_UNITS = (3600, "hour"), (60, "minute")


class Notice(str):
    """The label of a progress step that deserves its own line, such as how long the work will take."""

    __slots__ = ()


class Advice(str):
    """Words that name options as Python has them; a command spells them, also in a table or a JSON file."""

    __slots__ = ()


class Unwrapped(str):
    """A text that stays on one line, however long: it holds a command, which you can then copy."""

    __slots__ = ()


def roughly(seconds: float) -> str:
    """Return "25 seconds", "3 minutes", "2 hours"."""
    unit, noun = next(((unit, noun) for unit, noun in _UNITS if seconds >= 2 * unit), (1, "second"))
    return count(round(seconds / unit), noun)


def count(n: int, noun: str) -> str:
    """Return "1 row", "2 rows", "12,000 rows", "2 batches"."""
    many = "es" if noun.endswith(("ch", "s", "x")) else "s"
    return f"{n:,} {noun}{'' if n == 1 else many}"


def passed(n: int, noun: str) -> str:
    """Return "1 pair was passed", "2 pairs were passed"."""
    return f"{count(n, noun)} {'was' if n == 1 else 'were'} passed"


def listed(names: Iterable[Any], most: int = _LISTED) -> str:
    """Return names separated by commas; long lists are cut, and the text says so."""
    all_names = [str(name) for name in names]
    rest = len(all_names) - most
    return ", ".join(all_names[:most]) + (f" and {rest} more" if rest > 0 else "")


def printable(text: str) -> str:
    """Return a text as one line, with a point for each unprintable character, such as those that control a terminal."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "." for letter in text)


def cut(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, ending with … if some are left out."""
    return text if len(text) <= most else text[: most - 1] + "…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for the known name nearest to a wrong one, or nothing."""
    folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1) or [
        each for each in folded if name and each.startswith(name.casefold())
    ]
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""


# -- options that were passed ------------------------------------------------------------------------------------------


def is_passed(value: Any, default: Any) -> bool:
    """Return whether an option has a value other than its default or None."""
    if value is None or value is default:
        return False
    if type(value) is not type(default):
        return True
    return not bool(np.all(value == default))


def refuse(reason: str, **options: tuple[Any, Any]) -> None:
    """Raise when an option without effect was passed; each option comes with its default.

    Examples
    --------
    >>> refuse("kernel=Gaussian(1.0) has a bandwidth", bandwidth=("median", "median"))
    >>> refuse("kernel=Gaussian(1.0) has a bandwidth", bandwidth=(2.0, "median"))
    Traceback (most recent call last):
    ...
    ValueError: kernel=Gaussian(1.0) has a bandwidth; leave bandwidth= out
    """
    names = [name for name, values in options.items() if is_passed(*values)]
    if names:
        raise ValueError(f"{reason}; leave {' and '.join(f'{name}=' for name in names)} out")


# -- advice in errors about columns ------------------------------------------------------------------------------------


def leave_out(names: Sequence[str], reader: str = "") -> str:
    """Return how to leave columns out, by an option of a ``reader``.

    Examples
    --------
    >>> leave_out(["id"])
    "with kernelmean.read(..., drop=['id'])"
    """
    return f"with {reader or 'kernelmean.read'}(..., drop={list(names)!r})"


def read_with(text: str) -> str:
    """Return how to read a file with a text format."""
    return f"read it with kernelmean.tables.read_frame(path, text={text})"


def skipping(lines: int | None = None) -> str:
    """Return what leaves out the lines above a header; N of them where their number is not known."""
    return read_with(f"TextFormat(skip={lines or 'N'})")


def drop_rows(reader: str) -> str:
    """Return how to leave rows with blank cells out of a table of numbers."""
    option = f"with {reader}(..., missing='drop') " if reader else ""
    return f"drop such rows {option}or fill them first"


def all_incomplete(source: str, emptiest: str, reader: str = "") -> ValueError:
    """Return the error for a table in which every row has a blank cell, so that none is left."""
    return ValueError(
        f"{source}: every row has a blank cell, most of them in column {emptiest!r}; leave that column out "
        f"{leave_out([emptiest], reader)}"
    )


# -- numbers for readers -----------------------------------------------------------------------------------------------


_ALL_DIGITS, _LEAST, _MARKED = 1e15, 1e-4, 9999.5
"""A number below the first has all digits before the point, as in float64; shares below the second are not told apart;
from the third on, numbers have marks of thousands: with four digits they have none, so that years read as years."""


def signed(value: float, form: str = "z.4g") -> str:
    """Return a number with a true minus sign; a large one is rounded, and has its thousands apart from 10,000 on.

    Examples
    --------
    >>> signed(-0.5), signed(0.125, "+.2f"), signed(-0.001, "z.2f"), signed(2015.3), signed(-9876543.2)
    ('−0.5', '+0.12', '0.00', '2015', '−9,876,543')
    """
    flags, _, digits = form.partition(".")
    if digits.endswith("g") and abs(value) < _ALL_DIGITS and "e+" in f"{value:.{digits}}":
        digits = "0f"
    marks = "," if abs(value) >= _MARKED else ""
    return f"{value:{flags}{marks}.{digits}}".replace("-", "−")


def of_cell(value: float) -> str:
    """Return a number as a cell has it: with six digits, or all of a whole number, and without marks of thousands.

    Examples
    --------
    >>> of_cell(2024.0), of_cell(-1234567.0), of_cell(0.123456789)
    ('2024', '−1234567', '0.123457')
    """
    whole = value % 1.0 == 0.0 and abs(value) < _ALL_DIGITS
    return f"{value:{'z.0f' if whole else '.6g'}}".replace("-", "−")


def strength(value: float) -> str:
    """Return a strength, a number of at most 1, in hundredths; below one hundredth with two digits, down to 0.0001.

    An unbiased estimate may be below 0; it is shown as 0, where its interval begins. One that is not known is a dash.

    Examples
    --------
    >>> strength(0.4567), strength(0.00312), strength(0.00002), strength(-0.00098), strength(math.nan)
    ('0.46', '0.0031', '<0.0001', '0.00', '–')
    """
    if math.isnan(value):
        return "–"
    if 0.0 < value < 0.01:
        return f"{value:.2g}" if value >= _LEAST else f"<{_LEAST:g}"
    return f"{max(value, 0.0):.2f}"


def span(interval: tuple[float, float] | None) -> str:
    """Return the ends of an interval, written as strengths; nothing where it is not known.

    Examples
    --------
    >>> span((0.1, 0.256)), span((0.0, 0.0014)), span(None)
    ('0.10–0.26', '0.00–0.0014', '')
    """
    return "" if interval is None else "–".join(map(strength, interval))


def rounded(value: float) -> str:
    """Return a number with three digits and a true minus sign."""
    return signed(value, ".3g")


def percent(share: float, places: int | None = None) -> str:
    """Return a share in percent: with two digits, down to 0.01 %, or with as many places as are asked for.

    Examples
    --------
    >>> percent(0.0123), percent(0.5), percent(0.0), percent(1.0), percent(0.00002), percent(0.4126, 1)
    ('1.2 %', '50 %', '0 %', '100 %', '<0.01 %', '41.3 %')
    """
    value = 100.0 * share
    if places is None and 0.0 < share < _LEAST:
        return f"<{100.0 * _LEAST:g} %"
    few = places is None and value < 10.0 and value != 0.0
    return f"{value:.2g} %" if few else f"{value:.{places or 0}f} %"


def number_range(values: Any) -> str:
    """Return one number, or the range of several."""
    array = np.asarray(values)
    low, high = array.min(), array.max()
    whole = array.dtype.kind in "iu"  # counts have all their digits
    if low == high:
        return f"{low:,}" if whole else signed(low)
    return f"{low:,} to {high:,}" if whole else f"{rounded(low)} to {rounded(high)}"
