"""One cell of text as a number or a time, None where it is not well-formed."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from .text_format import TextFormat

Parse: TypeAlias = Callable[[str], Any]
"""Returns the value of a cell, or None."""
_SHAPES = {" ": " \u00a0\u2007\u2009\u202f", "'": "'\u2019"}
"""Marks between thousands that are set in several ways."""
_LARGEST_EXACT = 2**53
_SECOND = r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_TIME = rf"(?:(?:T|,? +)(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}}){_SECOND}(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
_PARTS: Final = {"d": r"(?P<day>\d{1,2})", "m": r"(?P<month>\d{1,2})", "y": r"(?P<year>\d{4})"}
_ISO = re.compile(rf"{_PARTS['y']}-{_PARTS['m']}-{_PARTS['d']}{_TIME}", re.ASCII)
_OFFSET = r"(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})"
_ZONE = re.compile(rf"(?P<time>.*:\d{{2}}(?:[.,]\d+)?) ?(?:Z|UTC|{_OFFSET})", re.ASCII)


def number_parser(text: TextFormat) -> Parse:
    """Return what reads numbers with the marks of a format.

    Between marks stand three digits. A zero in front is that of a code, and whole numbers beyond 2⁵³ are as well: their
    cells are no numbers.
    """
    pattern = _number_pattern(text)

    def parse(cell: str) -> float | None:
        found = pattern.fullmatch(cell)
        if found is None:
            return None
        whole = re.sub("[^0-9]", "", found["whole"] or "0")
        fraction = found["fraction"] or found["only"] or ""
        if not fraction and not found["exponent"] and int(whole) > _LARGEST_EXACT:
            return None
        return float(f"{found['sign']}{whole}.{fraction or 0}{found['exponent'] or ''}")

    return parse


def _number_pattern(text: TextFormat) -> re.Pattern[str]:
    point, whole = re.escape(text.decimal), "0|[1-9][0-9]{0,300}"
    if text.thousands is not None:
        mark = f"[{re.escape(_SHAPES.get(text.thousands, text.thousands))}]"
        whole = f"[1-9][0-9]{{0,2}}(?P<mark>{mark})[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*|{whole}"
    body = f"(?:(?P<whole>{whole})(?:{point}(?P<fraction>[0-9]+))?|{point}(?P<only>[0-9]+))"
    return re.compile(f"(?P<sign>[+-]?){body}(?P<exponent>[eE][+-]?[0-9]+)?")


def unit_parser(unit: str, number: Parse) -> Parse:
    """Return what reads numbers that a unit stands before, behind their sign too, or behind."""

    def parse(cell: str) -> Any:
        sign = cell[:1] if cell[:1] in ("+", "-") else ""
        if cell[len(sign) :].startswith(unit):
            rest = cell[len(sign) + len(unit) :].lstrip()
            return None if sign and rest[:1] in ("+", "-") else _digits_first(sign + rest, number)
        return _digits_first(cell[: -len(unit)].rstrip(), number) if cell.endswith(unit) else None

    return parse


def _digits_first(cell: str, number: Parse) -> Any:
    """Read a number that begins and ends with a digit: ".5" behind "Rs" is "Rs." and 5."""
    return number(cell) if cell.lstrip("+-")[:1].isdecimal() and cell[-1:].isdecimal() else None


def date_parser(order: str | None) -> Parse:
    """Return what reads dates without a time of the day, those of ISO and of an order."""
    return _time_parser(order, with_time=False)


def time_parser(order: str | None) -> Parse:
    """Return what reads dates with a time of the day or not, those of ISO and of an order."""
    return _time_parser(order, with_time=True)


def zoned_parser(order: str | None) -> Parse:
    """Return what reads dates with a time of the day and a zone, as times in UTC without it."""
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


def _time_parser(order: str | None, *, with_time: bool) -> Parse:
    patterns = [_ISO]
    if order is not None:
        first, second, third = (_PARTS[part] for part in order)
        patterns.append(re.compile(rf"{first}(?P<mark>[-/]|\. ?){second}(?P=mark){third}{_TIME}", re.ASCII))

    def parse(cell: str) -> datetime | None:
        found = next((match for pattern in patterns if (match := pattern.fullmatch(cell)) is not None), None)
        return None if found is None or (found["hour"] is not None and not with_time) else _instant(found)

    return parse


def _instant(found: re.Match[str]) -> datetime | None:
    """Return the time, None for one that no calendar has."""
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


__all__ = ["Parse", "date_parser", "number_parser", "time_parser", "unit_parser", "zoned_parser"]
