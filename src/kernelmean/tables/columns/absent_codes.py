"""Numbers such as -999 that may stand for a blank cell: apart from all others, and repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ...core.array import Array
from ...core.table import Frame
from ...core.words import comma_separated, percent, worded, written
from .column_codings import Coding, Numbers, spellings

_SMALL = (-9.0, -1.0, 9.0)
_LARGE = tuple(sign * (10.0**digits - 1.0) for digits in range(2, 6) for sign in (-1.0, 1.0))
"""±99, ±999, ±9999, ±99999"""
_LEAST = 4
"""The fewest different cells among which one stands apart."""


def likely_code(cells: Array) -> str:
    """Return the code in a column of numbers where it is likely: one of nines, farther off than the others reach.

    Examples
    --------
    >>> likely_code(np.array([20.5, 31.0, -999.0, 27.0, -999.0])), likely_code(np.array([1.0, 2.0, 3.0, 99.0]))
    ('-999', '')
    """
    return _code(cells, _LARGE, lambda value, rest: max(rest[0] - value, value - rest[-1]) > rest[-1] - rest[0])


def possible_code(cells: Array) -> str:
    """Return a code that a description of whole numbers should ask about; likely ones too.

    A negative one may lie next to others, none of which is negative; others are at least two of the largest steps away.
    """
    found = likely_code(cells)
    if found or (cells != np.rint(cells)).any():
        return found
    codes = (*_SMALL, -99.0, 99.0, 999.0)

    def apart(value: float, rest: Array) -> bool:
        if rest[-1] < 0 or (value < 0 and rest[0] < 0):
            return False
        return value < 0 or bool(value - rest[-1] >= 2 * np.diff(rest).max())

    return _code(cells, codes, apart)


def on_cells(frames: Sequence[Frame], codings: Iterable[Coding]) -> Iterator[str]:
    """Yield notes on cells that may be meant otherwise: codes for blank cells, categories that are spelled alike."""
    for coding in codings:
        if isinstance(coding, Numbers) and coding.type.kind == "numeric":
            cells = np.concatenate([frame[coding.name] for frame in frames])
            code = likely_code(cells[np.isfinite(cells)])
            if code:
                yield _told(coding.name, code, float(np.mean(cells == float(code))))
    yield from spellings(codings)


def read_as_blank(name: str, code: str) -> str:
    """Return the option that reads a code as a blank cell."""
    python = f"TextFormat(na_values={{{name!r}: {code!r}}})"
    return written(python, worded("--na-values", comma_separated([f"{name}={code}"])))


def _code(cells: Array, codes: Sequence[float], apart: Callable[[float, Array], bool]) -> str:
    """Return the smallest or largest cell, if it is one of some codes, repeated, and apart from the others."""
    if not len(cells) or {float(cells.min()), float(cells.max())}.isdisjoint(codes):
        return ""
    known, counts = np.unique(cells, return_counts=True)
    for place, rest in ((0, known[1:]), (-1, known[:-1])) if len(known) >= _LEAST else ():
        value = float(known[place])
        if value in codes and counts[place] > 1 and apart(value, rest):
            return f"{value:.0f}"
    return ""


def _told(name: str, code: str, share: float) -> str:
    option = read_as_blank(name, code)
    return (
        f"{name}: {code} stands apart from its other values, in {percent(share)} of the cells; if it means that there "
        f"is no answer, {written(f'write NaN there, or read the file with {option}', f'add {option}')}"
    )
