"""Dates and times as people write them: days or months first, names of months, years of two digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial
from typing import Literal, TypeAlias

from .form import Form

Order: TypeAlias = Literal["dmy", "mdy", "ymd"]
_CLOCK = r"(?:T|,? +)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_DIGITS = re.compile(rf"(\d{{1,4}})([-/]|\. ?)(\d{{1,2}})\2(\d{{4}}|\d{{1,2}})(?:{_CLOCK})?")
_ISO = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}(?:{_CLOCK})?")
_ZONE = re.compile(r"(?:Z|UTC|[+-]\d{2}:?\d{2})$")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|fév|fev|avr|juin|juil|août|ago|ene|abr|dic"
_NAME = rf"(?:{_MONTHS})[^\W\d_]{{0,7}}"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:\d{4}|\d{2})"
_NAMED = re.compile(
    rf"(?:[^\W\d_]{{2,10}},? )?(?:{_DAY}[. -]{{1,2}}(?:de |of )?{_NAME}[.,]?[ -](?:de )?{_YEAR}"
    rf"|{_NAME}\.? {_DAY},? {_YEAR}|{_YEAR}[ -]{_NAME}[ -]{_DAY})(?:{_CLOCK})?",
    re.IGNORECASE,
)
_TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?")
_PLAIN = "write them as 2024-12-31"


def date_format(cells: Iterable[str]) -> Form | None:
    """Return how dates or times among different cells are written, None where there are none."""
    texts = {cell: cell.strip() for cell in cells}
    for find in (_digits, _names, _times):
        found = [cell for cell, text in texts.items() if find(text)]
        if 2 * len(found) > len(texts):
            if len(found) == len(texts) and _is_iso([texts[cell] for cell in found]):
                return Form("dates", tuple(found), ({"dates": "ymd"},), "", "to_datetime")
            return _FORMS[find](cells=tuple(found))
    return None


def _is_iso(texts: Sequence[str]) -> bool:
    """Whether all dates are of ISO, with a zone that readers know in all of them or in none."""
    return (
        all(map(_ISO.fullmatch, texts))
        and len({bool(_ZONE.search(text)) for text in texts}) == 1
        and (not any(text.endswith("GMT") for text in texts))
    )


def _digits(text: str) -> bool:
    return bool(_orders(text))


def _names(text: str) -> bool:
    return _NAMED.fullmatch(text) is not None


def _times(text: str) -> bool:
    return _TIME.fullmatch(text) is not None


def _orders(text: str) -> tuple[Order, ...]:
    """Return the orders of day, month and year in which a text is a date that a calendar has."""
    found = _DIGITS.fullmatch(text)
    if found is None:
        return ()
    first, second, third = found[1], found[3], found[4]
    if len(first) == 4:
        return ("ymd",) if len(third) <= 2 and _exists(first, second, third) else ()
    if len(first) > 2:
        return ()
    ways: tuple[tuple[Order, tuple[str, str, str]], ...] = (
        ("dmy", (third, second, first)),
        ("mdy", (third, first, second)),
        ("ymd", (first, second, third)),
    )
    two_digits = len(third) == 2 and len(first) == 2
    if len(third) != 4 and not (len(third) == 2 and len(second) <= 2):
        return ()
    return tuple(order for order, way in ways if (order != "ymd" or two_digits) and _exists(*way))


def _exists(year: str, month: str, day: str) -> bool:
    try:
        date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))
    except ValueError:
        return False
    return True


def _of_digits(cells: tuple[str, ...]) -> Form:
    texts = [text for cell in cells if not _ISO.fullmatch(text := cell.strip())]
    if not texts:
        return Form("dates", cells, (), "save the column as dates", "to_datetime")
    years = [max(len(part) for part in re.findall(r"\d+", text)[:3]) for text in texts]
    if min(years) < 4:
        return Form("dates with years of two digits", cells, (), f"{_PLAIN}, years with four digits", "to_datetime")
    orders = _common([_orders(text) for text in texts])
    if not orders:
        return Form("dates written in more than one order", cells, (), _PLAIN)
    convert = {"dmy": "to_datetime with dayfirst=True", "mdy": "to_datetime", "ymd": "to_datetime"}[orders[0]]
    open_ = "to_datetime, with dayfirst=True where days stand first"
    what = "dates" if len(orders) == 1 else "dates that begin with the day or the month"
    cells = tuple(sorted(cells, key=lambda cell: bool(_ISO.fullmatch(cell.strip()))))  # ISO dates need no option
    return Form(what, cells, tuple({"dates": order} for order in orders), "", convert if len(orders) == 1 else open_)


def _common(orders: Sequence[tuple[Order, ...]]) -> tuple[Order, ...]:
    return tuple(order for order in orders[0] if all(order in each for each in orders))


_FORMS: dict[Callable[[str], bool], Callable[..., Form]] = {
    _digits: _of_digits,
    _names: partial(Form, "dates with names of months", readings=(), mend=_PLAIN, convert="to_datetime"),
    _times: partial(
        Form, "times of the day", readings=(), mend="write them as 10:30:00", convert="to_timedelta of hh:mm:ss"
    ),
}
