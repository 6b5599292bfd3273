"""Numbers that are written for people: decimal commas, marks between thousands, units, signs that stand elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

from .form import Form

_BLANKS = re.compile("[\u00a0\u2007\u2008\u2009\u202f]")
_MINUS = re.compile("[\u2212\u2013\ufe63\uff0d]")
_THOUSANDS = (" ", ",", ".", "'", "_")
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|ZAR|MXN|KRW|RUB|TRY|ILS|SGD|HKD|Rs|kr|Fr"
_CURRENCY = rf"(?P<before>(?:{_CODES})\.?|[^\W\d_]{{0,3}}(?P<symbol>[^\w\s.,'()+-]))"
_CORE = r"(?P<core>(?:\d(?:[\d.,'_ ]*\d)?|[.,]\d+)(?:[eE][+-]?\d+)?)"
_UNIT = r"(?P<unit> ?[^\d\s.,()+-](?:[^\d]*[^\d\s])?(?:(?<=[^\W\d_])[23])?)"
_CELL = re.compile(rf"(?P<sign>[+-]?) ?{_CURRENCY}? ?(?P<second>[+-]?){_CORE}(?P<after>-?){_UNIT}?")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_NO_UNITS = re.compile("st|nd|rd|th", re.IGNORECASE)
_LONGEST_UNIT, _MOST_WORDS, _MOST_UNITS = 12, 2, 3
_COMMA = re.compile(r"[+-]?\d+,\d+")


@final
@dataclass(frozen=True)
class _Number:
    """A cell taken apart: its digits and marks, the unit, and how a negative number shows."""

    cell: str
    core: str
    unit: str
    signs: frozenset[str]


def is_number(cell: Any) -> bool:
    """Whether a cell, or its text, is a number that float64 holds exactly."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return False
    return "_" not in cell if isinstance(cell, str) else number == cell


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is nothing but digits around one comma: 1,5 and 1,000."""
    return _COMMA.fullmatch(cell.strip()) is not None


def number_format(cells: Iterable[str]) -> Form | None:
    """Return how numbers among different cells are written, None where none of them needs an option to be read.

    Cells that float64 reads as they are count as written so where others are not. Where some cells have a unit and
    others none, or there are many units, they are more likely codes (4x, 10x, 3D).
    """
    parts = [part for cell in cells if (part := _taken_apart(cell)) is not None]
    units = {part.unit for part in parts}
    if all(is_number(part.cell) for part in parts) or len(units) > (1 if "" in units else _MOST_UNITS):
        return None
    signs = frozenset().union(*(part.signs for part in parts))
    marks = _marks([part.core for part in parts])
    found = tuple(part.cell for part in parts)
    what = _words(units, signs, marks)
    if marks and not signs and len(units) == 1:
        unit = {"unit": next(iter(units))} if units != {""} else {}
        return Form(what, found, tuple({**unit, **each} for each in marks))
    return Form(what, found, (), _mend(units, signs))


def is_bare(form: Form) -> bool:
    """Whether cells are nothing but digits and marks: text that is hardly anything else than a number."""
    parts = map(_taken_apart, form.cells)
    return all(part is not None and not part.unit and not part.signs for part in parts)


def _taken_apart(cell: str) -> _Number | None:
    """Return the parts of a number with marks or a unit, None for what is no number."""
    plain, signs = _BLANKS.sub(" ", cell).strip().replace("\u2019", "'"), set()
    if _MINUS.search(plain):
        plain = _MINUS.sub("-", plain)
        signs.add("minus")
    if plain.startswith("(") and plain.endswith(")"):
        plain = plain[1:-1].strip()
        signs.add("parentheses")
    found = _CELL.fullmatch(plain)
    if found is None or (found["sign"] and found["second"]):
        return None
    if found["after"]:
        signs.add("behind")
    before, behind = found["before"] or "", (found["unit"] or "").strip()
    is_money = found["symbol"] is None or unicodedata.category(found["symbol"]) == "Sc"  # a currency sign, or a code
    is_number = bool(_marks([found["core"]])) or _INDIAN.fullmatch(found["core"]) is not None
    if (before and behind) or not (is_money and _is_unit(found["core"], behind)) or not is_number:
        return None
    return _Number(cell, found["core"], before or behind, frozenset(signs))


def _is_unit(core: str, unit: str) -> bool:
    """Whether what stands behind the digits may be a unit: short, no ordinal (2nd), no decade (1990s), no bracket."""
    if len(unit) > _LONGEST_UNIT or len(unit.split()) > _MOST_WORDS or _NO_UNITS.fullmatch(unit):
        return False
    decade = unit == "s" and core.endswith("0") and len(core) in (2, 4)
    return not decade and not set(unit) & set(':;=<>"[]{}|\\@#&?!~')


def _marks(cores: list[str]) -> tuple[Mapping[str, str], ...]:
    """Return the decimal mark and that of thousands that read all of some numbers; two where both ways do."""
    used = [mark for mark in _THOUSANDS if any(mark in core for core in cores)]
    found = []
    for point in (".", ","):
        ways = (None, *(mark for mark in used if mark != point))
        fits = [way for way in ways if all(_pattern(point, way).fullmatch(core) for core in cores)]
        found += [_reading(point, fits[0])] if fits else []
    return tuple(found if "," in used else found[:1])


def _reading(point: str, thousands: str | None) -> dict[str, str]:
    return ({"decimal": point} if point != "." else {}) | ({"thousands": thousands} if thousands else {})


def _pattern(point: str, thousands: str | None) -> re.Pattern[str]:
    groups = "" if thousands is None else rf"[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|"
    mark = re.escape(point)
    return re.compile(rf"(?:(?:{groups}\d+)(?:{mark}\d+)?|{mark}\d+)(?:[eE][+-]?\d+)?")


def _words(units: set[str], signs: frozenset[str], marks: tuple[Mapping[str, str], ...]) -> str:
    """Return what the numbers have beside digits."""
    known = sorted(units - {""})
    parts = [f"the unit {known[0]!r}"] if len(known) == 1 else ["different units"] if known else []
    options = {name: value for reading in marks for name, value in reading.items()}
    if len(marks) == 2:
        parts.append("commas that stand before decimals or between thousands")
    else:
        parts += ["a decimal comma"] * ("decimal" in options) + ["marks between thousands"] * ("thousands" in options)
        parts += [] if marks else ["marks in more than one way"]
    named = {
        "parentheses": "parentheses for a minus",
        "behind": "the minus behind them",
        "minus": "another minus than -",
    }
    parts += [named[sign] for sign in sorted(signs)]
    return "numbers with " + (" and ".join(parts) if len(parts) < 3 else ", ".join(parts))


def _mend(units: set[str], signs: frozenset[str]) -> str:
    if signs:
        return "write negative numbers with a - in front, such as -1234.5"
    if len(units) > 1:
        return "write all of them as plain numbers in one unit, such as 1234.5"
    return "write all of them in one way, such as 1234.5"
