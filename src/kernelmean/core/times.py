"""Cells that are dates or times: the parsers of those that are not written as in ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Final, TypeAlias

ORDERS: Final = ("dmy", "mdy", "ymd")
"""In which day, month and year may stand."""
Parse: TypeAlias = Callable[[str], datetime | None]
"""Returns the time that a cell means, or None."""
_SECOND = r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_TIME = rf"(?:(?:T|,? +)(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}}){_SECOND}(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
_PARTS: Final = {"d": r"(?P<day>\d{1,2})", "m": r"(?P<month>\d{1,2})", "y": r"(?P<year>\d{4})"}
_ISO = re.compile(rf"{_PARTS['y']}-{_PARTS['m']}-{_PARTS['d']}{_TIME}", re.ASCII)
_OFFSET = r"(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})"
_ZONE = re.compile(rf"(?P<time>.*:\d{{2}}(?:[.,]\d+)?) ?(?:Z|UTC|{_OFFSET})", re.ASCII)


@cache
def zoned_parser(order: str | None) -> Parse:
    """Return a parser of dates with a time of day and a zone; it returns times in UTC, without a zone."""
    local = time_parser(order)

    def parse(cell: str) -> datetime | None:
        match = _ZONE.fullmatch(cell)
        time = None if match is None else local(match["time"])
        if match is None or time is None:
            return None
        offset = timedelta(hours=int(match["hours"] or 0), minutes=int(match["minutes"] or 0))
        try:
            return time + offset if match["sign"] == "-" else time - offset
        except OverflowError:
            return None

    return parse


@cache
def time_parser(order: str | None, *, with_time: bool = True) -> Parse:
    """Return a parser of ISO dates and of dates in an order, with or without a time of day unless that is refused."""
    patterns = [_ISO]
    if order is not None:
        first, second, third = (_PARTS[part] for part in order)
        patterns.append(re.compile(rf"{first}(?P<mark>[-/]|\. ?){second}(?P=mark){third}{_TIME}", re.ASCII))

    def parse(cell: str) -> datetime | None:
        match = next(filter(None, (pattern.fullmatch(cell) for pattern in patterns)), None)
        return None if match is None or (match["hour"] is not None and not with_time) else _instant(match)

    return parse


def _instant(match: re.Match[str]) -> datetime | None:
    """Return the time, None if it does not exist in the calendar."""
    hour, half = int(match["hour"] or 0), (match["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    micro = int((match["fraction"] or "")[:6].ljust(6, "0"))
    year, month, day = (int(match[part]) for part in ("year", "month", "day"))
    try:
        return datetime(year, month, day, hour, int(match["minute"] or 0), int(match["second"] or 0), micro)
    except ValueError:
        return None
