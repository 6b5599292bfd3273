"""What separates the cells of a CSV file, and whether its first line is a header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, final

from ...core.option_names import written
from ...core.words import count, printable
from ..files import SEPARATORS, empty
from .text_file import TextFile
from .text_format import TextFormat

_LINES, _LONGEST = 50, 40
_SEPARATOR: Final = re.compile(r'"?sep=(?P<separator>[,;|\t])"?[;,|\t]*(?:\r\n|\r|\n|$)', re.IGNORECASE)
_NUMBER: Final = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' ]*%?")
_UNIT = r"[^\d,;|\t\"]{0,4}"
_VALUE: Final = re.compile(
    rf"{_UNIT}{_NUMBER.pattern}{_UNIT}|\d{{1,4}}([-./])\d{{1,2}}\1\d{{1,4}}|true|false", re.IGNORECASE
)
"""What a cell holds that is no text: a number, with a unit or not, a date or a truth value."""

_DIRECTIVE: Final = re.compile("sep=.?", re.IGNORECASE)  # for a spreadsheet


@final
@dataclass(frozen=True)
class Header:
    """The first line of a CSV file."""

    names: tuple[str, ...]
    """The cells of the line, without blanks around them."""
    separator: str
    """Between cells."""
    above: int = 0
    """The lines above, which do not belong to the table: "sep=;", by which Excel is told the separator."""

    @property
    def one_column(self) -> bool:
        """Whether there is one column, in which a blank line is a blank cell."""
        return len(self.names) == 1


def read_header(file: TextFile, text: TextFormat) -> Header:
    """Find the separator of a file by its header and its first lines, with an eye on quotes.

    Raises
    ------
    ValueError
        When the file holds blanks only, or the lines below have another number of cells than the first one, as below a
        title or a comment.
    """
    if not file.head.strip():
        raise ValueError(empty(file.name))
    told = _SEPARATOR.match(file.head)
    if told is not None:
        below = replace(file, head=file.head[told.end() :])
        names = _Cut.of(below, told["separator"]).lines[:1] if below.head.strip() else []
        return Header(tuple(name.strip() for name in (names or [[]])[0]), told["separator"], above=1)
    best = max((_Cut.of(file, separator) for separator in SEPARATORS), key=lambda cut: cut.score)
    if best.width == 1:  # nothing separates the names, and a comma in a number does not separate cells
        best = _Cut.of(file, ";" if "," in (text.decimal, text.thousands) else ",")
    best.check_title(file)
    return Header(tuple(name.strip() for name in best.lines[0]), best.separator)


@dataclass(frozen=True)
class _Cut:
    """The first lines of a file, cut at one separator."""

    separator: str
    lines: list[list[str]]

    @classmethod
    def of(cls, file: TextFile, separator: str) -> _Cut:
        text = io.StringIO(file.head.lstrip(), newline=None)
        found = islice(csv.reader(text, delimiter=separator), _LINES)
        lines = [cells for cells in found if len(cells) > 1 or "".join(cells).strip()]
        complete = file.whole or len(lines) == _LINES
        return cls(separator, lines if complete or len(lines) < 2 else lines[:-1])

    @property
    def width(self) -> int:
        """How many cells the header has."""
        return len(self.lines[0])

    @property
    def alike(self) -> int:
        """How many lines below have as many cells as the header."""
        return sum(len(cells) == self.width for cells in self.lines[1:])

    @property
    def usual(self) -> tuple[int, int]:
        """The number of cells that most lines below have, and how many lines do."""
        return Counter(len(cells) for cells in self.lines[1:] or [[]]).most_common(1)[0]

    @property
    def score(self) -> tuple[bool, float, float, bool, int]:
        """How much speaks for the separator: lines like the header, cells that are no text, no comma, many cells.

        Commas stand in names and in numbers, the others hardly ever.
        """
        below = self.lines[1:]
        cells = [cell for line in below for cell in line if cell.strip()]
        values = sum(_is(_VALUE, cell) for cell in cells)
        alike, known = self.alike / max(len(below), 1), values / max(len(cells), 1)
        return self.width > 1, alike, known, self.separator != ",", self.width

    def check_title(self, file: TextFile) -> None:
        """Raise when the lines below the first one agree in another number of cells, or the first one is a comment."""
        first = file.head.lstrip().splitlines()[0]
        shown = printable(first if len(first) <= 40 else first[:40] + "…")
        mend = "remove the lines above the header, so that the first line names the columns"
        below = self.lines[1:3]
        is_comment = first.startswith("#") and len(below) == 2 and _names(below[0]) and not _names(below[1])
        if is_comment or _DIRECTIVE.fullmatch(first.strip()):
            raise ValueError(f"{file.name}: the first line ({shown!r}) is a comment above the header; {mend}")
        others = SEPARATORS if self.separator == "," else [one for one in SEPARATORS if one != ","]
        cuts = [_Cut.of(file, separator) for separator in others] if self.width == 1 else [self]
        usual = max(cuts, key=lambda one: one.usual[1] if one.usual[0] > 1 else 0)
        width, lines = usual.usual
        if lines > 1 and width not in (1, self.width) and not (self.width > 1 and self.alike):
            comma = ""
            if self.width == 1 and usual.separator == ",":
                comma = f"; where 1,5 is one number, write {written(f'decimal={chr(44)!r}', '--decimal ,')}"
            raise ValueError(
                f"{file.name}: the first line ({shown!r}) has {count(self.width, 'cell')} and the lines below have "
                f"{width}; every line needs as many cells as the header, so name all columns, or {mend}{comma}"
            )


def _names(cells: list[str]) -> bool:
    return all(cell.strip() and not _is(_NUMBER, cell) for cell in cells)


def _is(pattern: re.Pattern[str], cell: str) -> bool:
    """Whether a cell is of a pattern; a longer one is none, and would take long to tell."""
    bare = cell.strip()
    return len(bare) <= _LONGEST and pattern.fullmatch(bare) is not None
