"""Columns of strings become numbers, truth values or times if all of their cells are, in memory or batch by batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeAlias, final

import numpy as np

from ...core.array import LARGEST_EXACT
from ...core.cell_formats import is_number
from ...core.cells import Cells, Declared, one_form
from ...core.number_marks import THOUSANDS
from ...core.table import Frame
from ...core.times import Parse, time_parser, zoned_parser
from ...core.words import did_you_mean, listed
from ..files import MISSING_TEXTS, import_arrow
from .text_format import TextFormat

NUMBERS, INTEGERS, TRUTH, SPANS = "numbers", "integers beyond 2^53", "truth values", "times of the day"
DATES, TIMES, ZONED, TEXT = "dates", "times", "times with a zone", "text"
"""What a column of strings may hold, in the order in which they are tried; text fits every cell."""
_WIDER: Final = {NUMBERS: (NUMBERS, INTEGERS), DATES: (DATES, TIMES)}
"""What also fits the cells of a kind, where that is more than the kind itself."""
_MISSING: Final = (*MISSING_TEXTS, "<NA>", "NaT")
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_CLOCK: Final = "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$"
_CODE: Final = "^[+-]?0[0-9]+$"
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,300}")
Strings: TypeAlias = Any
"""An array of strings of Arrow, null where a cell is missing."""


@final
class TextColumns:
    """Reads the columns of strings of one table, batch after batch.

    A column holds what fits all cells seen so far. A first pass over a long file settles that, and the second one
    yields the cells.

    Parameters
    ----------
    text : TextFormat
        The format of the text.
    iso : bool
        Whether to read ISO dates by default, as in files that have no type for times.
    untyped : bool
        Whether all cells of the file are text, as in CSV files. Then blanks around cells are removed, and numbers,
        truth values and ISO dates are read.
    """

    def __init__(self, text: TextFormat, *, iso: bool = False, untyped: bool = False) -> None:
        self._text, self._untyped = text, untyped
        times = (DATES, TIMES, ZONED) if iso or untyped or text.dates is not None else ()
        numbers = (NUMBERS, INTEGERS) if untyped or text.numbers else ()
        self._kinds = (*numbers, *((TRUTH, SPANS) if untyped else ()), *times)
        self._held: dict[str, str] = {}
        self.settled = not self._kinds
        """Whether all rows were seen, so that no more cells can change what a column holds."""

    def read(self, frame: Frame) -> Frame:
        """Return the rows of a typed file, whose columns of text are numbers and times where possible."""
        frame = replace(frame, marks=self._text.marks)
        if not self._kinds and not self._text.na_values:
            return frame
        cells, declared = dict(frame.cells), dict(frame.declared)
        for name, column in frame.cells.items():
            if _is_text(frame, name):
                cells[name], declaration = self.cells(name, _strings(frame, name))
                declared |= {} if declaration is None else {name: declaration}
            elif column.dtype == np.float64 and name not in declared:
                cells[name] = self._without_codes(name, column)
        return replace(frame, cells=cells, declared=declared)

    def cells(self, name: str, strings: Strings) -> tuple[Cells, Declared | None]:
        """Return the cells of a column in some rows, and what they declare beyond that."""
        before = self._held.get(name)
        if self._untyped and before in (None, NUMBERS) and (values := numbers(strings, self._text)) is not None:
            values = self._without_codes(name, values)
            if not np.isnan(values).all():
                self._held[name] = NUMBERS
            return values, None
        distinct, index = _distinct(strings)
        bare = self._bare(name, distinct)
        if bare.null_count == len(bare) and before is None:
            return np.full(len(strings), np.nan), None
        held, values = self._fitting(bare, before)
        self._held[name] = held
        if values is None:
            values = self._texts(name, distinct, bare)
        values = self._without_codes(name, values) if held == NUMBERS else values
        return values[index], {TRUTH: Declared("boolean"), ZONED: Declared("zoned")}.get(held)

    def _fitting(self, bare: Strings, before: str | None) -> tuple[str, Cells | None]:
        """Return what fits some cells and those seen before, and the values of these cells; None for text."""
        held = before
        if before != TEXT and bare.null_count < len(bare):
            parsed = ((kind, _PARSERS[kind](bare, self._text)) for kind in self._kinds)
            new, values = next((pair for pair in parsed if pair[1] is not None), (TEXT, None))
            wider = _WIDER.get(new, (new,))
            held = next((kind for kind in _WIDER.get(before or new, (before or new,)) if kind in wider), TEXT)
            if held == new:
                return held, values
        held = held or TEXT
        return held, None if held == TEXT else _PARSERS[held](bare, self._text)

    def _bare(self, name: str, distinct: Strings) -> Strings:
        """Return different cells without blanks around them, null where they mean that a cell is missing."""
        from pyarrow import compute

        absent = (*self._text.absent_in(name), *(_MISSING if self._kinds else ()))
        trimmed = compute.utf8_trim_whitespace(compute.utf8_normalize(distinct, "NFC"))
        missing = compute.is_in(trimmed, import_arrow().array(absent, trimmed.type))
        return compute.if_else(missing, None, trimmed)

    def _texts(self, name: str, distinct: Strings, bare: Strings) -> Cells:
        """Return different cells as text; those of a typed file stay as they are."""
        absent = () if self._untyped else self._text.absent_in(name)
        cells = (bare if self._untyped else distinct).to_pylist()
        out = np.empty(len(cells), dtype=object)
        out[:] = [None if cell is None or cell.strip() in absent else one_form(cell) for cell in cells]
        return out

    def _without_codes(self, name: str, values: Cells) -> Cells:
        """Return numbers, NaN for those that stand for missing cells."""
        codes = [float(word) for word in self._text.absent_in(name) if is_number(word)]
        return np.where(np.isin(values, codes), np.nan, values) if codes else values


def check_absent(text: TextFormat, names: Iterable[str], source: str) -> None:
    """Raise when a column with texts of missing cells of its own does not exist."""
    known = list(names)
    for name in text.columns_with_absent:
        if name not in known:
            raise ValueError(
                f"{source} has no column {name!r}{did_you_mean(name, known)}, which na_values names; its columns are "
                f"{listed(known)}"
            )


def _is_text(frame: Frame, name: str) -> bool:
    cells = frame[name]
    return cells.dtype == object and name not in frame.declared and set(map(type, cells)) <= {str, type(None)}


def _strings(frame: Frame, name: str) -> Strings:
    try:
        return import_arrow().array(frame[name], "large_string")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{frame.source}: column {name!r} holds half of a letter of two parts ({error.object!r}); write it again"
        ) from error


def _distinct(strings: Strings) -> tuple[Strings, Cells]:
    """Return the different cells, the last of them null, and which of them every cell is."""
    arrow = import_arrow()
    coded = strings.dictionary_encode()
    distinct = arrow.concat_arrays([coded.dictionary, arrow.nulls(1, coded.dictionary.type)])
    return distinct, coded.indices.fill_null(len(distinct) - 1).to_numpy()


# -- what all strings of an array mean, None where one of them means nothing of the kind -------------------------------


def numbers(strings: Strings, text: TextFormat, *, large: bool = False) -> Cells | None:
    """Return float64 numbers; None where a cell is no number, or a code such as 01067.

    A whole number beyond 2⁵³, which float64 would round, is no number, or with ``large`` an integer of Python.
    """
    plain = _plain(strings, text)
    values = None if plain is None else _cast(plain, "float64")
    if plain is None or values is None or _has_codes(plain, values) or np.isnan(values).sum() > plain.null_count:
        return None  # Arrow reads any nan(...) as a number
    beyond = [(k, plain[k].as_py()) for k in np.flatnonzero(np.abs(values) >= LARGEST_EXACT).tolist()]
    rounded = {k: int(cell) for k, cell in beyond if _WHOLE.fullmatch(cell) and abs(int(cell)) > LARGEST_EXACT}
    if not large:
        return None if rounded else values
    out = values.astype(object)
    out[np.isnan(values)] = None
    for k, integer in rounded.items():
        out[k] = integer
    return out


def _plain(strings: Strings, text: TextFormat) -> Strings | None:
    """Return numbers in the notation of computers; None where a cell has another form than that of the text."""
    from pyarrow import compute

    if text.thousands is not None:
        point, marks = re.escape(text.decimal), THOUSANDS[text.thousands]
        groups = "|".join(f"[1-9][0-9]{{0,2}}(?:{re.escape(mark)}[0-9]{{3}})+" for mark in marks)
        digits = rf"(?:{groups}|[0-9]*)(?:{point}[0-9]*)?(?:[eE][+-]?[0-9]+)?"
        form = rf"^[+-]?(?:{digits}|(?i:inf(?:inity)?))$"
        if not _all(compute.match_substring_regex(strings, form)):
            return None
        strings = compute.replace_substring_regex(strings, f"[{re.escape(marks)}]", "")
    if text.decimal != ".":
        if _any(compute.match_substring(strings, ".")):
            return None
        strings = compute.replace_substring(strings, text.decimal, ".")
    return strings


def _has_codes(strings: Strings, values: Cells) -> bool:
    from pyarrow import compute

    whole = strings.filter(import_arrow().array(values == np.trunc(values)))
    return bool(len(whole)) and _any(compute.match_substring_regex(whole, _CODE))


def _truth(strings: Strings, _: TextFormat) -> Cells | None:
    from pyarrow import compute

    arrow = import_arrow()
    if not _all(compute.is_in(strings.drop_null(), arrow.array([*_TRUE, *_FALSE], strings.type))):
        return None
    truth = compute.is_in(strings, arrow.array(_TRUE, strings.type)).cast("float64")
    return _numpy(compute.if_else(strings.is_valid(), truth, None))


def _spans(strings: Strings, _: TextFormat) -> Cells | None:
    from pyarrow import compute

    if not _all(compute.match_substring_regex(strings, _CLOCK)):
        return None
    moments = _cast(compute.replace_substring_regex(strings, "^", "1970-01-01 "), import_arrow().timestamp("us"))
    return None if moments is None else moments - np.datetime64(0, "us")


def _times(strings: Strings, kind: Any, parse: Parse, unit: str) -> Cells | None:
    """Return times: Arrow reads those in ISO format, a parser all others."""
    times = _cast(strings, kind)
    if times is not None:
        return times.astype(f"datetime64[{unit}]")
    parsed: list[datetime | None] = []
    for cell in strings.to_pylist():
        parsed.append(None if cell is None else parse(cell))
        if cell is not None and parsed[-1] is None:
            return None
    return np.array(parsed, dtype=f"datetime64[{unit}]")


def _dates(strings: Strings, text: TextFormat) -> Cells | None:
    return _times(strings, "date32", time_parser(text.dates, with_time=False), "D")


def _moments(strings: Strings, text: TextFormat) -> Cells | None:
    return _times(strings, import_arrow().timestamp("us"), time_parser(text.dates), "us")


def _zoned(strings: Strings, text: TextFormat) -> Cells | None:
    return _times(strings, import_arrow().timestamp("us", "UTC"), zoned_parser(text.dates), "us")


def _integers(strings: Strings, text: TextFormat) -> Cells | None:
    return numbers(strings, text, large=True)


_PARSERS: Final[dict[str, Callable[[Strings, TextFormat], Cells | None]]] = {
    NUMBERS: numbers,
    INTEGERS: _integers,
    TRUTH: _truth,
    SPANS: _spans,
    DATES: _dates,
    TIMES: _moments,
    ZONED: _zoned,
}


def _cast(strings: Strings, kind: Any) -> Cells | None:
    """Return strings as another type, None where Arrow cannot read one; the first goes first, as errors are slow."""
    try:
        strings.slice(0, 1).cast(kind)
        return _numpy(strings.cast(kind))
    except import_arrow().ArrowInvalid:
        return None


def _numpy(values: Any) -> Cells:
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _all(mask: Any) -> bool:
    """Return whether something holds for all cells that are not missing."""
    from pyarrow import compute

    return bool(compute.all(mask, min_count=0).as_py())


def _any(mask: Any) -> bool:
    from pyarrow import compute

    return bool(compute.any(mask, min_count=0).as_py())
