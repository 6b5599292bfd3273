"""How numbers and dates are written in text."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

from ...core.option_names import written

DECIMALS, THOUSANDS = (".", ","), (".", ",", "'", "_", " ")
ORDERS = ("dmy", "mdy", "ymd")


@final
@dataclass(frozen=True)
class TextFormat:
    """How numbers and dates are written in text, and how the letters of a text file are.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal mark.
    thousands : {".", ",", "'", "_", " "}, optional
        The mark between groups of three digits. A blank stands for all blanks that are set there, an apostrophe for
        the raised comma as well.
    dates : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year in dates such as 01.02.2024 or 1/2/2024, with the time of the day behind it
        or not. Years have four digits. ISO dates such as 2024-02-01 need no order.
    units : mapping from str to str
        What stands before or behind every number of a column, such as ``{"price": "$", "weight": "kg"}``.
    encoding : str, optional
        Of text files, a name that Python knows. By default UTF-8, or UTF-16 behind a byte order mark.
    na_values : str or iterable of str
        What stands in cells that are missing, beside nothing, NA, N/A, n/a, #N/A, ?, NaN, NULL, null and None, which
        are missing in text files anyway: ``("-", ".")``, say. Of a number, such as "-9999", all cells of that value.

    Raises
    ------
    TypeError, ValueError
        When a value is none of these, when two of them contradict each other, or when a unit could be taken for a
        part of the number.

    Notes
    -----
    A column of text becomes one of numbers or of times when all its cells but the missing ones are well-formed;
    otherwise it stays text. A column in ``units`` must become numbers: a cell that is none is an error.

    Examples
    --------
    >>> TextFormat(decimal=",", thousands=".")
    TextFormat(decimal=',', thousands='.', dates=None, units={}, encoding=None, na_values=())
    """

    decimal: str = "."
    thousands: str | None = None
    dates: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    na_values: Iterable[str] = ()

    def __post_init__(self) -> None:
        """Check every value, and that they go together."""
        _check("decimal", self.decimal, DECIMALS)
        _check("thousands", self.thousands, (None, *THOUSANDS))
        _check("dates", self.dates, (None, *ORDERS))
        if self.decimal == self.thousands:
            raise ValueError(self._both_marks())
        object.__setattr__(self, "units", self._checked_units())
        if self.encoding is not None:
            _check_encoding(self.encoding)
        object.__setattr__(self, "na_values", self._checked_words())

    @property
    def numbers(self) -> bool:
        """Whether numbers are written otherwise than a computer writes them."""
        return self.decimal != "." or self.thousands is not None

    @property
    def reads(self) -> bool:
        """Whether text that has no unit may become numbers or times."""
        return self.numbers or self.dates is not None

    def _both_marks(self) -> str:
        other = "," if self.decimal == "." else "."
        python = f"decimal={other!r}, thousands={self.decimal!r}"
        return (
            f"{self.decimal!r} is the decimal mark and the mark between thousands; name the other one too, such as "
            f"{written(python, f'--decimal {other} --thousands {self.decimal}')}"
        )

    def _checked_units(self) -> dict[str, str]:
        """Return the units without blanks around them, or raise when one could be a part of a number."""
        if not isinstance(self.units, Mapping):
            raise TypeError(f"units is {self.units!r}; write a dict such as {{'price': '$'}}")
        found = {str(name).strip(): str(unit).strip() for name, unit in self.units.items()}
        marks = f"+-eE.,{self.decimal}{self.thousands or ''}"
        for name, unit in found.items():
            if all(letter.isdecimal() or letter.isspace() or letter in marks for letter in unit):
                example = written("units={'price': '$'}", "--units price=$")
                raise ValueError(
                    f"the unit of column {name!r} is {unit!r}, which could be part of a number; write what stands "
                    f"beside its numbers, such as {example}"
                )
        return found

    def _checked_words(self) -> tuple[str, ...]:
        """Return what stands in missing cells, without blanks around it."""
        words = self.na_values
        found = (words,) if isinstance(words, str) else tuple(words)
        if not all(isinstance(word, str) and word.strip() for word in found):
            example = written("na_values=('-', '.')", '--na-values "-,."')
            raise TypeError(f"{written('na_values', '--na-values')} is {words!r}; write texts, such as {example}")
        return tuple(dict.fromkeys(word.strip() for word in found))


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
            f"{written('encoding', '--encoding')} is {name!r}, which is no encoding of text that Python knows; write "
            "one such as utf-8, latin-1, cp1252 or utf-16"
        )


PLAIN: Final = TextFormat()
"""Numbers as computers write them, ISO dates, no units."""
