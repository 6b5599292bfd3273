"""How numbers and times are written in text files: the options of the caller, and the parsers of such cells."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias, final

from ...core.array import LARGEST_EXACT
from ...core.cells import column_name, one_form
from ...core.validate import check_integer
from ...core.words import EVERY, written

DECIMALS, THOUSANDS = (".", ","), (".", ",", "'", "_", " ")
ORDERS = ("dmy", "mdy", "ymd")


@final
@dataclass(frozen=True)
class TextFormat:
    """How numbers and dates are written in text, and the encoding of text files.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal mark.
    thousands : {".", ",", "'", "_", " "}, optional
        The mark between groups of three digits. A blank stands for all kinds of blanks, an apostrophe also for the
        typographic one (’).
    dates : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year in dates such as 01.02.2024 or 1/2/2024, with or without a time of day after
        them. Years have four digits. ISO dates such as 2024-02-01 need no order.
    units : mapping from str to str
        The text before or after the numbers of a column, such as ``{"price": "$", "weight": "kg"}``. Numbers without
        any are taken to be in this unit, and a note counts them.
    encoding : str, optional
        The encoding of text files, by its name in Python. By default UTF-8, or UTF-16 after a byte order mark.
    na_values : str, iterable of str, or mapping from str to these
        Texts of missing cells, such as ``("-", ".")``; or those of single columns, ``{"age": "99", "*": ("-", ".")}``,
        with those of all columns under ``"*"``. Empty cells, NA, N/A, n/a, #N/A, ?, NaN, NULL, null and None
        always count as missing in text files. For a number, such as "-9999", all cells with its value are missing.
    skip : int
        The number of lines that stand above the table in text files, above the header of CSV: they are left out.

    Raises
    ------
    TypeError, ValueError
        When a value is not one of these, two of them contradict each other, or a unit could be part of a number.

    Notes
    -----
    A text column becomes numbers or times if all its cells except missing ones are well-formed; otherwise it stays
    text. A column in ``units`` must become numbers: any other cell, also one with another unit, raises an error.

    Examples
    --------
    >>> TextFormat(decimal=",", thousands=".")
    TextFormat(decimal=',', thousands='.', dates=None, units={}, encoding=None, na_values=(), skip=0)
    """

    decimal: str = "."
    thousands: str | None = None
    dates: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    na_values: Iterable[str] | Mapping[str, str | Iterable[str]] = ()
    skip: int = 0

    def __post_init__(self) -> None:
        """Check every value, and that they go together."""
        _check("decimal", self.decimal, DECIMALS)
        _check("thousands", self.thousands, (None, *THOUSANDS))
        _check("dates", self.dates, (None, *ORDERS))
        if self.decimal == self.thousands:
            other = "," if self.decimal == "." else "."
            python = f"decimal={other!r}, thousands={self.decimal!r}"
            raise ValueError(
                f"{self.decimal!r} is the decimal mark and the mark between thousands; name the other one too, such as "
                f"{written(python, f'--decimal {other} --thousands {self.decimal}')}"
            )
        object.__setattr__(self, "units", self._checked_units())
        if self.encoding is not None:
            _check_encoding(self.encoding)
        check_integer(self.skip, "skip", 0)
        words = self.na_values
        found = {column_name(name): _words(own) for name, own in words.items()} if isinstance(words, Mapping) else None
        object.__setattr__(self, "na_values", _words(words) if found is None else found)

    @property
    def numbers(self) -> bool:
        """Whether numbers are written in another format than the usual one of computers."""
        return self.decimal != "." or self.thousands is not None

    def absent_in(self, column: str = EVERY) -> tuple[str, ...]:
        """Return the texts that mean a missing cell in a column, or in every column."""
        if not isinstance(self.na_values, Mapping):
            return tuple(self.na_values)
        return tuple(word for name in dict.fromkeys((EVERY, column)) for word in self.na_values.get(name, ()))

    @property
    def columns_with_absent(self) -> tuple[str, ...]:
        """The columns that have texts of missing cells of their own."""
        return tuple(name for name in self.na_values if name != EVERY) if isinstance(self.na_values, Mapping) else ()

    @property
    def reads(self) -> bool:
        """Whether text that has no unit may become numbers or times."""
        return self.numbers or self.dates is not None

    def _checked_units(self) -> dict[str, str]:
        """Return the units without blanks around them, or raise when one could be a part of a number."""
        if not isinstance(self.units, Mapping):
            raise TypeError(f"units is {self.units!r}; write a dict such as {{'price': '$'}}")
        found = {column_name(name): one_form(str(unit)).strip() for name, unit in self.units.items()}
        marks = f"+-eE.,{self.decimal}{self.thousands or ''}"
        for name, unit in found.items():
            if all(letter.isdecimal() or letter.isspace() or letter in marks for letter in unit):
                example = written("units={'price': '$'}", "--units price=$")
                raise ValueError(
                    f"the unit of column {name!r} is {unit!r}, which could be part of a number; write what stands "
                    f"beside its numbers, such as {example}"
                )
        return found


def _words(words: str | Iterable[str]) -> tuple[str, ...]:
    """Return the texts of missing cells, without blanks around them."""
    found = (words,) if isinstance(words, str) else tuple(words)
    if not all(isinstance(word, str) and word.strip() for word in found):
        example = written("na_values=('-', '.')", '--na-values "-,."')
        raise TypeError(f"{written('na_values', '--na-values')} is {words!r}; write texts, such as {example}")
    return tuple(dict.fromkeys(one_form(word).strip() for word in found))


def _check(name: str, value: Any, known: tuple[str | None, ...]) -> None:
    if value in known and (value is None or isinstance(value, str)):
        return
    shown = " ".join("space" if one == " " else one for one in known if one is not None)
    choices = written(", ".join(map(repr, known)), shown)
    raise ValueError(f"{written(name, f'--{name}')} is {value!r}; write one of {choices}")


def _check_encoding(name: Any) -> None:
    try:
        known = codecs.lookup(name)
    except (LookupError, TypeError, ValueError):
        known = None
    if known is None or not getattr(known, "_is_text_encoding", True):
        raise ValueError(
            f"{written('encoding', '--encoding')} is {name!r}, which is not a text encoding that Python knows; write "
            "one such as utf-8, latin-1, cp1252 or utf-16"
        )


PLAIN: Final = TextFormat()
"""Numbers as computers write them, ISO dates, no units."""


Parse: TypeAlias = Callable[[str], Any]
"""Returns the value of a cell, or None."""
_SHAPES = {" ": " \u00a0\u2007\u2009\u202f", "'": "'\u2019"}
"""Marks between thousands that have several characters."""
_SECOND = r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_TIME = rf"(?:(?:T|,? +)(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}}){_SECOND}(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
_PARTS: Final = {"d": r"(?P<day>\d{1,2})", "m": r"(?P<month>\d{1,2})", "y": r"(?P<year>\d{4})"}
_ISO = re.compile(rf"{_PARTS['y']}-{_PARTS['m']}-{_PARTS['d']}{_TIME}", re.ASCII)
_OFFSET = r"(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})"
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_ZONE = re.compile(rf"(?P<time>.*:\d{{2}}(?:[.,]\d+)?) ?(?:Z|UTC|{_OFFSET})", re.ASCII)


def number_parser(text: TextFormat, *, large: bool = False) -> Parse:
    """Return a parser of numbers with the marks of a format.

    Between marks there are three digits. Cells with a leading zero are codes and not numbers. Nor are whole numbers
    beyond 2⁵³, which float64 would round; with ``large`` they are integers of Python.
    """
    point, digits = re.escape(text.decimal), "0|[1-9][0-9]{0,300}"
    if text.thousands is not None:
        mark = f"[{re.escape(_SHAPES.get(text.thousands, text.thousands))}]"
        digits = f"[1-9][0-9]{{0,2}}(?P<mark>{mark})[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*|{digits}"
    body = f"(?:(?P<whole>{digits})(?:{point}(?P<fraction>[0-9]*))?|{point}(?P<only>[0-9]+))"
    pattern = re.compile(f"(?P<sign>[+-]?){body}(?P<exponent>[eE][+-]?[0-9]+)?")

    def parse(cell: str) -> float | int | None:
        found = pattern.fullmatch(cell)
        if found is None:
            return float(cell) if _INFINITE.fullmatch(cell) else None
        whole = re.sub("[^0-9]", "", found["whole"] or "0")
        fraction = found["fraction"] or found["only"] or ""
        if not fraction and not found["exponent"] and int(whole) > LARGEST_EXACT:
            return int(f"{found['sign']}{whole}") if large else None
        return float(f"{found['sign']}{whole}.{fraction or 0}{found['exponent'] or ''}")

    return parse


def unit_parser(unit: str, number: Parse) -> Parse:
    """Return a parser of numbers with a unit before them (also between sign and digits), after them, or without it."""

    def parse(cell: str) -> Any:
        sign = cell[:1] if cell[:1] in ("+", "-") else ""
        if cell[len(sign) :].startswith(unit):
            rest = cell[len(sign) + len(unit) :].lstrip()
            return None if sign and rest[:1] in ("+", "-") else _digits_first(sign + rest, number)
        return _digits_first(cell[: -len(unit)].rstrip(), number) if cell.endswith(unit) else number(cell)

    return parse


def _digits_first(cell: str, number: Parse) -> Any:
    """Read a number that begins and ends with a digit: ".5" after "Rs" may be "Rs." and 5."""
    return number(cell) if cell.lstrip("+-")[:1].isdecimal() and cell[-1:].isdecimal() else None


def zoned_parser(order: str | None) -> Parse:
    """Return a parser of dates with a time of day and a zone; it returns times in UTC, without a zone."""
    local = time_parser(order)

    def parse(cell: str) -> datetime | None:
        found = _ZONE.fullmatch(cell)
        time = None if found is None else local(found["time"])
        if found is None or time is None:
            return None
        offset = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
        try:
            return time + offset if found["sign"] == "-" else time - offset
        except OverflowError:
            return None

    return parse


def time_parser(order: str | None, *, with_time: bool = True) -> Parse:
    """Return a parser of ISO dates and of dates in an order, with or without a time of day unless that is refused."""
    patterns = [_ISO]
    if order is not None:
        first, second, third = (_PARTS[part] for part in order)
        patterns.append(re.compile(rf"{first}(?P<mark>[-/]|\. ?){second}(?P=mark){third}{_TIME}", re.ASCII))

    def parse(cell: str) -> datetime | None:
        found = next((match for pattern in patterns if (match := pattern.fullmatch(cell)) is not None), None)
        return None if found is None or (found["hour"] is not None and not with_time) else _instant(found)

    return parse


def _instant(found: re.Match[str]) -> datetime | None:
    """Return the time, None if it does not exist in the calendar."""
    hour, half = int(found["hour"] or 0), (found["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    micro = int((found["fraction"] or "")[:6].ljust(6, "0"))
    year, month, day = (int(found[part]) for part in ("year", "month", "day"))
    try:
        return datetime(year, month, day, hour, int(found["minute"] or 0), int(found["second"] or 0), micro)
    except ValueError:
        return None
