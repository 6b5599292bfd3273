"""Columns of numbers that a few cells, or the decimal mark of other columns, keep from being read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..option_names import written
from ..remedies import worded
from .numbers import is_number

_POINT = re.compile(r"[+-]?\d*\.\d+")
_MOST_WORDS, _LONGEST = 3, 20


def other_marks(cells: Iterable[str], decimal: str) -> str:
    """Return what to do with numbers that have decimal points where commas were announced; nothing for others."""
    texts = [cell.strip() for cell in cells]
    if decimal == "." or not all(map(is_number, texts)) or not any(map(_POINT.fullmatch, texts)):
        return ""
    option = written(f"decimal={decimal!r}", f"--decimal {decimal}")
    return (
        f"its numbers have a decimal point, and {option} reads commas; write one decimal mark in all columns, or leave "
        f"{option} out where none has a comma"
    )


def absent_words(cells: Iterable[str]) -> str:
    """Return the option that takes a few texts among numbers for missing cells; nothing where it is no matter of few.

    Such a text has no digit: 4x is no missing number.
    """
    texts = [cell.strip() for cell in cells]
    others = [text for text in dict.fromkeys(texts) if not is_number(text)]
    words = [text for text in others if 0 < len(text) <= _LONGEST and not re.search(r"[\d,\"]", text)]
    if not 0 < len(others) <= min(_MOST_WORDS, (len(texts) - 1) // 2) or words != others:
        return ""
    python = f"text=TextFormat(na_values={others!r})"
    shown = " and ".join(map(repr, others))
    means = "means that a cell is missing" if len(others) == 1 else "mean that cells are missing"
    option = written(f"{python} of kernelmean.tables.read_frame", worded("--na-values", ",".join(others)))
    return f"where {shown} {means}, say so with {option}"
