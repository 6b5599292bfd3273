"""The marks with which numbers are written: before decimals, and between thousands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

DECIMALS: Final = (".", ",")
THOUSANDS: Final = {".": ".", ",": ",", "'": "'\u2019", "_": "_", " ": " \u00a0\u2007\u2009\u202f"}
"""Marks between thousands, and the characters that each of them stands for."""


@final
@dataclass(frozen=True)
class NumberMarks:
    """The marks with which the numbers of a table are written."""

    decimal: str = "."
    thousands: str | None = None

    @property
    def options(self) -> dict[str, str]:
        """The marks that are not those of computers, by the options that name them."""
        decimal = {"decimal": self.decimal} if self.decimal != "." else {}
        return decimal if self.thousands is None else decimal | {"thousands": self.thousands}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What numbers without a sign look like."""
        groups = "" if self.thousands is None else rf"[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+|"
        mark = re.escape(self.decimal)
        return re.compile(rf"(?:(?:{groups}\d+)(?:{mark}\d+)?|{mark}\d+)(?:[eE][+-]?\d+)?")

    def plain(self, cell: str) -> str:
        """Return a cell in the notation of computers if it is a number with these marks, otherwise as it is."""
        text = one_mark = cell.strip()
        if self.thousands is not None:
            for other in THOUSANDS[self.thousands]:
                one_mark = one_mark.replace(other, self.thousands)
        if not self.options or not self.pattern.fullmatch(one_mark.lstrip("+-")):
            return text
        return one_mark.replace(self.thousands or "", "").replace(self.decimal, ".")


COMPUTERS: Final = NumberMarks()
"""The notation of computers: a decimal point, and nothing between thousands."""
