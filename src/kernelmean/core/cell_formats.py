"""The formats of cells of text: numbers with marks, or dates; and the options that would read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

from .number_marks import DECIMALS, THOUSANDS, NumberMarks
from .times import ORDERS, time_parser, zoned_parser
from .words import read_with

_OTHERS = "decimal", "thousands", "dates"
Reading: TypeAlias = Mapping[str, Any]
"""The options that read the cells of a column: "decimal", "thousands", "dates", and "na_values"."""


@final
@dataclass(frozen=True)
class Form:
    """The format of the cells of a column."""

    what: str
    """In words: "numbers with a decimal comma", "dates"."""
    cells: tuple[str, ...]
    """The distinct cells in this format."""
    readings: tuple[Reading, ...]
    """What reads them: one mapping, two if the cells are ambiguous, none if no option does."""
    mend: str = ""
    """What to write instead if no option reads them."""
    convert: str = ""
    """The function of pandas that converts such a column."""
    is_time: bool = False
    """Whether they are dates or times; otherwise they are numbers."""
    is_bare: bool = False
    """Whether they consist only of digits and marks: such text is almost certainly a number."""

    def advice(self) -> str:
        """Return what to write so that the cells are read."""
        texts = [ways([reading]) for reading in self.readings]
        convert = f"convert it (pandas: {self.convert})" if self.convert else ""
        read = " or text=".join([read_with(texts[0]), *texts[1:]]) if texts else ""
        return ", or ".join(filter(None, (convert, read, self.mend)))

    def short(self) -> str:
        """Return in a few words what reads the cells; nothing if no option does."""
        return " or ".join(ways([reading]) for reading in self.readings)


def ways(readings: Iterable[Reading]) -> str:
    """Return what reads columns, each with its reading."""
    listed = list(readings)
    marks = {name: each[name] for each in listed for name in _OTHERS if name in each}
    absent = list(dict.fromkeys(word for each in listed for word in each.get("na_values", ())))
    fields = [f"{name}={mark!r}" for name, mark in marks.items()]
    if absent:
        fields.append(f"na_values={absent!r}")
    return f"TextFormat({', '.join(fields)})"


def joint_readings(readings: Mapping[str, Reading]) -> dict[str, Reading]:
    """Return those of the readings whose marks do not contradict each other, the first of two that do."""
    marks: dict[str, str] = {}
    kept = {}
    for column, reading in readings.items():
        added = {name: reading[name] for name in _OTHERS if name in reading}
        both = added | marks
        if added.items() <= both.items() and both.get("decimal", ".") != both.get("thousands"):
            kept[column], marks = reading, both
    return kept


# -- numbers: decimal commas, marks between thousands, and what stands beside them -------------------------------------


_BLANKS = re.compile("[\u00a0\u2007\u2008\u2009\u202f]")
_MINUS = "\u2212\u2013\ufe63\uff0d"
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|ZAR|MXN|KRW|RUB|TRY|ILS|SGD|HKD|Rs|kr|Fr"
_CURRENCY = rf"(?P<before>(?:{_CODES})\.?|[^\W\d_]{{0,3}}[$\u00a3\u00a5\u0e3f\u20a0-\u20c0])"
_CORE = r"(?P<core>(?:\d(?:[\d.,'_ ]*\d)?|[.,]\d+)(?:[eE][+-]?\d+)?)"
_UNIT = r"(?P<unit> ?[^\d\s.,()+-](?:[^\d]*[^\d\s])?(?:(?<=[^\W\d_])[23])?)"
_CELL = re.compile(rf"(?P<sign>[+{_MINUS}-]?) ?{_CURRENCY}? ?(?P<second>[+{_MINUS}-]?){_CORE}-?{_UNIT}?")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_NO_UNITS = re.compile("st|nd|rd|th", re.IGNORECASE)
_LONGEST_UNIT, _MOST_WORDS, _MOST_UNITS = 12, 2, 3
_COMMA = re.compile(r"[+-]?\d+,\d+")


@final
@dataclass(frozen=True)
class _Number:
    """The parts of a cell: its digits and marks, its unit, and whether anything stands beside digits and marks."""

    cell: str
    core: str
    unit: str
    beside: bool


def is_number(cell: Any) -> bool:
    """Return whether a cell, or its text, is a number that float64 represents exactly."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return False
    return "_" not in cell if isinstance(cell, str) else number == cell


def has_decimal_comma(cell: str) -> bool:
    """Return whether a cell consists only of digits around one comma: 1,5 and 1,000."""
    return _COMMA.fullmatch(cell.strip()) is not None


def number_format(cells: Iterable[str]) -> Form | None:
    """Return the format of numbers among distinct cells, None if none of them needs an option to be read.

    Cells that float64 reads as they are count as this format if others need an option. If only some cells have a unit,
    or there are many units, they are more likely codes (4x, 10x, 3D).
    """
    parts = [part for cell in cells if (part := _taken_apart(cell)) is not None]
    units = {part.unit for part in parts}
    if all(is_number(part.cell) for part in parts) or len(units) > (1 if "" in units else _MOST_UNITS):
        return None
    numbers = tuple(part.cell for part in parts)
    if any(part.beside for part in parts):
        mend = "write plain numbers, such as -1234.5"
        return Form("numbers with signs or text beside them", numbers, (), mend)
    marks = _marks([part.core for part in parts])
    if not marks:
        mend = "write all of them in one way, such as 1234.5"
        return Form("numbers with marks in more than one way", numbers, (), mend, is_bare=True)
    what = "commas that stand before decimals or between thousands"
    if len(marks) == 1:
        options = {"decimal": "a decimal comma", "thousands": "marks between thousands"}
        what = " and ".join(word for option, word in options.items() if option in marks[0])
    return Form(f"numbers with {what}", numbers, marks, is_bare=True)


def _taken_apart(cell: str) -> _Number | None:
    """Return the parts of a number, None if the cell is not a number."""
    plain = bare = _BLANKS.sub(" ", cell).strip().replace("\u2019", "'")
    if plain.startswith("(") and plain.endswith(")"):
        plain = plain[1:-1].strip()
    match = _CELL.fullmatch(plain)
    if match is None or (match["sign"] and match["second"]):
        return None
    core, before, behind = match["core"], match["before"] or "", (match["unit"] or "").strip()
    if (before and behind) or not _is_unit(core, behind) or not (_marks([core]) or _INDIAN.fullmatch(core)):
        return None
    return _Number(cell, core, before or behind, bare.lstrip("+-") != core)


def _is_unit(core: str, unit: str) -> bool:
    """Return whether the text after the digits may be a unit: short, no ordinal (2nd), decade (1990s) or bracket."""
    if len(unit) > _LONGEST_UNIT or len(unit.split()) > _MOST_WORDS or _NO_UNITS.fullmatch(unit):
        return False
    decade = unit == "s" and core.endswith("0") and len(core) in (2, 4)
    return not decade and not set(unit) & set(':;=<>"[]{}|\\@#&?!~')


def _marks(cores: list[str]) -> tuple[Mapping[str, str], ...]:
    """Return the decimal mark and the mark of thousands that read all of some numbers; two pairs if both ways do."""
    used = [mark for mark in THOUSANDS if any(mark in core for core in cores)]
    pairs = []
    for point in DECIMALS:
        ways = [NumberMarks(point, mark) for mark in (None, *used) if mark != point]
        fits = [way for way in ways if all(map(way.pattern.fullmatch, cores))]
        pairs += [way.options for way in fits[:1]]
    return tuple(pairs if "," in used else pairs[:1])


_POINT, _ABSENT = re.compile(r"[+-]?\d*\.\d+"), re.compile(r"[^\d,\"]+|[<>≤≥] ?\d[\d.,]*")
_MOST_ABSENT, _LONGEST = 3, 20


def other_marks(cells: Iterable[str], marks: NumberMarks) -> str:
    """Return what to do with numbers that have decimal points although commas were specified; nothing for others."""
    decimal = marks.decimal
    texts = [cell.strip() for cell in cells]
    if decimal == "." or not all(map(is_number, texts)) or not any(map(_POINT.fullmatch, texts)):
        return ""
    return (
        f"its numbers have a decimal point, and decimal={decimal!r} reads commas; write one decimal mark in all "
        f"columns, or leave decimal={decimal!r} out where none has a comma"
    )


def absent_words(cells: Iterable[str], marks: NumberMarks) -> tuple[str, Reading]:
    """Return what to do with a few texts among numbers, and the options that read them as missing cells, or nothing.

    Numbers may have the ``marks`` with which the table was read. Such a text has no digit, as 4x is not a missing
    number, or is a limit of detection such as <1.0.
    """
    texts = [marks.plain(cell) for cell in cells]
    commas = [text for text in texts if has_decimal_comma(text)]
    form = number_format(commas) if commas and not any(map(_POINT.fullmatch, texts)) else None
    reading = form.readings[0] if form is not None and len(form.readings) == 1 else marks.options
    others = [text for text in dict.fromkeys(texts) if not (is_number(text) or (form is not None and text in commas))]
    words = [text for text in others if len(text) <= _LONGEST and _ABSENT.fullmatch(text)]
    if not 0 < len(others) == len(words) <= min(_MOST_ABSENT, (len(texts) - 1) // 2):
        return "", {}
    reading = {**reading, "na_values": others}
    means = "means that a cell is missing" if len(others) == 1 else "mean that cells are missing"
    return f"where {' and '.join(map(repr, others))} {means}, {read_with(ways([reading]))}", reading


# -- dates and times: days or months first, years with two digits ------------------------------------------------------


_SHORT = re.compile(r"^(\d{1,2}(?:[-/]|\. ?)\d{1,2}(?:[-/]|\. ?))(\d{2})(?!\d)")
_TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?")
_PLAIN = "write them as 2024-12-31"


def date_format(cells: Iterable[str]) -> Form | None:
    """Return the format of dates or times among distinct cells, None if there are none."""
    texts = {cell: cell.strip() for cell in cells}
    dates = {cell: orders for cell, text in texts.items() if (orders := _orders(text))}
    if 2 * len(dates) > len(texts):
        return replace(_of_dates(dates), is_time=True)
    clocks = tuple(cell for cell, text in texts.items() if _TIME.fullmatch(text))
    mend, convert = "write them as 10:30:00", "to_timedelta of hh:mm:ss"
    return Form("times of the day", clocks, (), mend, convert, is_time=True) if 2 * len(clocks) > len(texts) else None


_Way: TypeAlias = tuple[str, bool]
"""An order of day, month and year, and whether the time has a zone."""


def _orders(text: str) -> tuple[_Way, ...]:
    """Return the ways in which a text is a time."""
    full = _SHORT.sub(r"\g<1>20\2", text)
    parsers = [
        (order, zoned, parse(order)) for order in ORDERS for zoned, parse in enumerate((time_parser, zoned_parser))
    ]
    return tuple((order, bool(zoned)) for order, zoned, parse in parsers if parse(full) is not None)


def _of_dates(dates: Mapping[str, tuple[_Way, ...]]) -> Form:
    """Return the format of cells, given the ways to read each; ISO dates have every order and need no option."""
    cells = tuple(sorted(dates, key=lambda cell: len(dates[cell]) == len(ORDERS)))
    if any(_SHORT.match(cell.strip()) for cell in cells):
        return Form("dates with years of two digits", cells, (), f"{_PLAIN}, years with four digits", "to_datetime")
    orders = [way for way in dates[cells[0]] if all(way in each for each in dates.values())]
    if not orders:
        return Form("dates written in more than one way", cells, (), _PLAIN)
    names = ["ymd"] if len(orders) == len(ORDERS) else [order for order, _ in orders]
    day_first = {"dmy": " with dayfirst=True"}.get(names[0], "")
    what = "dates" if len(names) == 1 else "dates that begin with the day or the month"
    convert = f"to_datetime{day_first if len(names) == 1 else ', with dayfirst=True where days stand first'}"
    return Form(what, cells, tuple({"dates": order} for order in names), "", convert)
