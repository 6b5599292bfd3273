"""Text columns become numbers or times if all of their cells are, in memory or batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, final

import numpy as np

from ...core.cell_formats import absent_words, is_number, number_format, other_marks
from ...core.cells import Cells, Declared, missing_cells, shared
from ...core.table import Frame
from ...core.words import count, did_you_mean, listed, printable
from ..files import MISSING_TEXTS
from .text_format import Parse, TextFormat, number_parser, time_parser, unit_parser, zoned_parser

NUMBERS, INTEGERS, DATES = "numbers", "integers beyond 2^53", "dates"
TIMES, ZONED, TEXT = "times", "times with a zone", "text"
"""The types as which a text column may be read; text is the last one and fits every cell."""
KINDS: Final = (NUMBERS, INTEGERS, DATES, TIMES, ZONED, TEXT)
_TYPES: Final = {NUMBERS: "float64", DATES: "datetime64[D]", TIMES: "datetime64[s]", ZONED: "datetime64[s]"}
_MISSING = frozenset([*MISSING_TEXTS, "<NA>", "NaT"])


class Widened(Exception):  # noqa: N818 (no failure: read once more)
    """A cell did not fit the type of its column, which is now wider: read the file again from its start."""


@final
class TextColumns:
    """Reads the text columns of one table, frame after frame.

    Parameters
    ----------
    text : TextFormat
        The format of the text.
    kinds : dict from str to str
        The types as which columns were read so far. It is updated, so that another pass begins with these.
    iso : bool
        Whether to read ISO dates by default, as in files that have no type for times.
    untyped : bool
        Whether all cells of the file are text, as in CSV files. Then blanks around cells are removed, missing cells are
        also recognized between blanks, and numbers and ISO dates that the blanks hid are read.
    strict : bool
        Whether cells that are not numbers raise an error.
    """

    def __init__(
        self,
        text: TextFormat,
        kinds: dict[str, str] | None = None,
        *,
        iso: bool = False,
        untyped: bool = False,
        strict: bool = False,
    ) -> None:
        self._text, self._strict, self._untyped = text, strict, untyped
        self._kinds: dict[str, str] = {} if kinds is None else kinds
        self._parsers: dict[str, Parse] = {}
        if strict or untyped or text.numbers:
            self._parsers |= {NUMBERS: number_parser(text), INTEGERS: number_parser(text, large=True)}
        if iso or untyped or text.dates is not None:
            self._parsers |= {DATES: time_parser(text.dates, with_time=False), TIMES: time_parser(text.dates)}
            self._parsers[ZONED] = zoned_parser(text.dates)
        self._begun = False
        self._unmarked: list[str] = []

    @property
    def readings(self) -> tuple[str, ...]:
        """The types as which a text column may be read, in the order in which they are tried."""
        return (*self._parsers, TEXT)

    def read(self, frame: Frame) -> Frame:
        """Return a frame whose text columns are numbers and times where possible.

        Raises
        ------
        ValueError
            When a cell of a column with a unit is not a number, or has another unit.
        Widened
            When a column was read as another type in the frames before.
        """
        kept = {name: self._without(frame, name) for name in frame.names} if self._text.na_values else frame.cells
        frame = replace(frame, cells=kept, decimal=self._text.decimal)
        if not self._parsers and not self._text.units:
            return frame
        self._unmarked = []
        cells = {name: self._column(frame, name) for name in frame.names}
        self._begun = True
        read = [name for name in frame.names if cells[name] is not frame[name]]
        zoned = {name: Declared("zoned") for name in read if self._kinds.get(name) == ZONED}
        notes = (*frame.notes, *self._unmarked)
        return replace(frame, cells=cells, declared={**frame.declared, **zoned}, notes=notes)

    def _without(self, frame: Frame, name: str) -> Cells:
        """Return a column with None for the cells whose text means that they are missing."""
        cells, absent = frame[name], self._text.absent_in(name)
        codes = [float(word) for word in absent if is_number(word)]
        if cells.dtype == object:
            found = shared(cells, lambda cell: None if isinstance(cell, str) and cell.strip() in absent else cell)
            return found if self._untyped or any(cell is not None for cell in found) else np.full(len(found), np.nan)
        if cells.dtype == np.float64 and name not in frame.declared and codes:
            return np.where(np.isin(cells, codes), np.nan, cells)
        return cells

    def _bare(self, cell: str | None) -> str | None:
        """Return a cell without blanks around it, None if it is missing."""
        return None if cell is None or cell.strip() in _MISSING else cell.strip()

    def _column(self, frame: Frame, name: str) -> Cells:
        unit = self._text.units.get(name)
        if unit is not None:
            return self._in_unit(frame, name, unit)
        if not _is_text(frame, name):
            return frame[name]
        if self._strict:
            return self._needed(frame, name, self._parsers[NUMBERS], "a number")
        return self._settled(frame[name], name)

    def _in_unit(self, frame: Frame, name: str, unit: str) -> Cells:
        """Return the numbers of a column with a unit; cells without any unit are taken to be in it, and counted."""
        cells, number = frame[name], number_parser(self._text)
        if _is_text(frame, name):
            found = self._needed(frame, name, unit_parser(unit, number), f"a number with the unit {unit!r}")
            bare = [self._bare(cell) for cell in cells]
            alone = sum(cell is not None and number(cell) is not None for cell in bare)
        else:
            found, bare = cells, cells[~missing_cells(cells)].tolist()
            alone = len(bare)
            if alone and (cells.dtype != np.float64 or name in frame.declared):
                raise ValueError(
                    f"{frame.source}: column {name!r} holds no numbers but {_held(frame, name)}, so no cell has the "
                    f"unit {unit!r}; leave it out of the units"
                )
        if alone:
            known = sum(cell is not None for cell in bare)
            told = f"{alone:,} of {count(known, 'cell')} of {name} without a unit, taken to be in {unit!r}"
            self._unmarked.append(f"{frame.source}: {told}")
        return found

    def _settled(self, cells: Cells, name: str) -> Cells:
        """Return the cells as the first type that fits all of them, beginning with the current one."""
        before = self._kinds.get(name, "")
        start = self.readings.index(before) if before in self.readings else 0
        for kind in self.readings[start:-1]:
            values, bad = self._parsed(cells, self._parsers[kind])
            if bad is None:
                self._settle(name, kind)
                return _converted(cells, values, kind)
        self._settle(name, TEXT)
        return shared(cells, self._bare) if self._untyped else cells

    def _settle(self, name: str, kind: str) -> None:
        before = self._kinds.get(name)
        self._kinds[name] = kind
        if self._begun and before in self.readings and before != kind:
            raise Widened

    def _needed(self, frame: Frame, name: str, parse: Parse, what: str) -> Cells:
        """Return numbers, or raise when a cell is not one."""
        values, bad = self._parsed(frame[name], parse)
        if bad is None:
            return _converted(frame[name], values, NUMBERS)
        row = frame.row_numbers()[next(k for k, cell in enumerate(frame[name]) if cell == bad)]
        is_large = number_parser(self._text, large=True)(bad.strip()) is not None
        problem = "is an integer beyond 2^53, which float64 would round" if is_large else f"is not {what}"
        raise ValueError(
            f"{frame.source}: row {row}, column {name!r} holds {printable(bad)[:20]!r}, which {problem}"
            f"{self._advice(frame[name], name)}"
        )

    def _parsed(self, cells: Cells, parse: Parse) -> tuple[dict[str | None, Any], str | None]:
        """Return the values of all distinct cells, None where missing, and the first cell without a value."""
        values: dict[str | None, Any] = {None: None}
        for cell in dict.fromkeys(cells):
            bare = self._bare(cell)
            values[cell] = None if bare is None else parse(bare)
            if values[cell] is None and bare is not None:
                return values, cell
        return values, None

    def _advice(self, cells: Cells, name: str) -> str:
        """Return what would read a column, if that differs from the options passed for it."""
        known_cells = [cell for cell in dict.fromkeys(cells) if cell is not None and self._bare(cell) is not None]
        if advice := other_marks(known_cells, self._text.decimal) or absent_words(known_cells)[0]:
            return f"; {advice}"
        form = number_format(known_cells)
        told = {"decimal": self._text.decimal, "thousands": self._text.thousands, "unit": self._text.units.get(name)}
        known = form is None or not form.readings or any(dict(each).items() <= told.items() for each in form.readings)
        return "" if form is None or known else f"; {form.advice(name)}"


def check_units(text: TextFormat, names: Iterable[str], source: str) -> None:
    """Raise when a column with a unit, or with texts of missing cells of its own, does not exist."""
    known = list(names)
    for option, named in (("units", text.units), ("na_values", text.columns_with_absent)):
        for name in named:
            if name not in known:
                raise ValueError(
                    f"{source} has no column {name!r}{did_you_mean(name, known)}, which {option} names; its columns "
                    f"are {listed(known)}"
                )


def _is_text(frame: Frame, name: str) -> bool:
    cells = frame[name]
    return cells.dtype == object and name not in frame.declared and set(map(type, cells)) <= {str, type(None)}


def _held(frame: Frame, name: str) -> str:
    if name in frame.declared:
        return f"{frame.declared[name].kind} cells"
    return {"f": "numbers", "M": "times", "m": "spans"}.get(frame[name].dtype.kind, "objects")


def _converted(cells: Cells, values: Mapping[Any, Any], kind: str) -> Cells:
    if kind == INTEGERS:
        return shared(cells, values.__getitem__)
    fine = kind in (TIMES, ZONED) and any(value is not None and value.microsecond for value in values.values())
    return np.array([values[cell] for cell in cells], dtype="datetime64[us]" if fine else _TYPES[kind])
