"""How numbers and times are written in text files, as the caller says."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from ...core.cells import column_name, one_form
from ...core.number_marks import DECIMALS, THOUSANDS, NumberMarks
from ...core.times import ORDERS
from ...core.validate import check_integer
from ...core.words import EVERY


@final
@dataclass(frozen=True)
class TextFormat:
    """How numbers and dates are written in text, and the encoding of text files.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal mark.
    thousands : {".", ",", "'", "_", " "}, optional
        The mark between groups of three digits. A blank stands for all kinds of blanks, an apostrophe also for the
        typographic one (’).
    dates : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year in dates such as 01.02.2024 or 1/2/2024, with or without a time of day after
        them. Years have four digits. ISO dates such as 2024-02-01 need no order.
    encoding : str, optional
        The encoding of text files, by its name in Python. By default UTF-8, or UTF-16 after a byte order mark.
    na_values : str, iterable of str, or mapping from str to these
        Texts of missing cells, such as ``("-", ".")``; or those of single columns, ``{"age": "99", "*": ("-", ".")}``,
        with those of all columns under ``"*"``. Empty cells, NA, N/A, n/a, #N/A, ?, NaN, NULL, null and None
        always count as missing in text files. For a number, such as "-9999", all cells with its value are missing.
    skip : int
        The number of lines that stand above the table in text files, above the header of CSV: they are left out.

    Raises
    ------
    TypeError, ValueError
        When a value is not one of these, or two of them contradict each other.

    Notes
    -----
    A text column becomes numbers or times if all its cells except missing ones are well-formed; otherwise it stays
    text.

    Examples
    --------
    >>> TextFormat(decimal=",", thousands=".")
    TextFormat(decimal=',', thousands='.', dates=None, encoding=None, na_values=(), skip=0)
    """

    decimal: str = "."
    thousands: str | None = None
    dates: str | None = None
    encoding: str | None = None
    na_values: Iterable[str] | Mapping[str, str | Iterable[str]] = ()
    skip: int = 0

    def __post_init__(self) -> None:
        """Check every value, and that they go together."""
        _check("decimal", self.decimal, DECIMALS)
        _check("thousands", self.thousands, (None, *THOUSANDS))
        _check("dates", self.dates, (None, *ORDERS))
        if self.decimal == self.thousands:
            other = "," if self.decimal == "." else "."
            raise ValueError(
                f"{self.decimal!r} is the decimal mark and the mark between thousands; name the other one too, such as "
                f"TextFormat(decimal={other!r}, thousands={self.decimal!r})"
            )
        if self.encoding is not None:
            _check_encoding(self.encoding)
        check_integer(self.skip, "skip", 0)
        words = self.na_values
        texts = {column_name(name): _words(one) for name, one in words.items()} if isinstance(words, Mapping) else None
        object.__setattr__(self, "na_values", _words(words) if texts is None else texts)

    @property
    def marks(self) -> NumberMarks:
        """The marks of numbers."""
        return NumberMarks(self.decimal, self.thousands)

    @property
    def numbers(self) -> bool:
        """Whether numbers are written in another format than the usual one of computers."""
        return bool(self.marks.options)

    def absent_in(self, column: str = EVERY) -> tuple[str, ...]:
        """Return the texts that mean a missing cell in a column, or in every column."""
        if not isinstance(self.na_values, Mapping):
            return tuple(self.na_values)
        return tuple(word for name in dict.fromkeys((EVERY, column)) for word in self.na_values.get(name, ()))

    @property
    def columns_with_absent(self) -> tuple[str, ...]:
        """The columns that have texts of missing cells of their own."""
        return tuple(name for name in self.na_values if name != EVERY) if isinstance(self.na_values, Mapping) else ()


def _words(words: str | Iterable[Any]) -> tuple[str, ...]:
    """Return the texts of missing cells, without blanks around them."""
    texts = (words,) if isinstance(words, str) else tuple(words)
    if not all(isinstance(word, str) and word.strip() for word in texts):
        raise TypeError(f"na_values is {words!r}; write texts, such as na_values=('-', '.')")
    return tuple(dict.fromkeys(one_form(word).strip() for word in texts))


def _check(name: str, value: Any, known: tuple[str | None, ...]) -> None:
    if value in known and (value is None or isinstance(value, str)):
        return
    raise ValueError(f"{name} is {value!r}; write one of {', '.join(map(repr, filter(None, known)))}")


def _check_encoding(name: Any) -> None:
    try:
        known = codecs.lookup(name)
    except (LookupError, TypeError, ValueError):
        known = None
    if known is None or not getattr(known, "_is_text_encoding", True):
        raise ValueError(
            f"encoding is {name!r}, which is not a text encoding that Python knows; write "
            "one such as utf-8, latin-1, cp1252 or utf-16"
        )


PLAIN: Final = TextFormat()
"""Numbers as computers write them, ISO dates."""
