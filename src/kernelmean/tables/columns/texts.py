"""Text that is not a category: numbers and dates that were not read, and cells that are nearly all different.

Thresholds. A category that occurs once carries no information: under every permutation it is alone. So text is refused
when its categories have fewer than two rows each on average (more than half of the cells are different) and there are
at least 20 of them; when there are ten cells or more and all are different; and when it is a key of the tables: at
least 20 cells in each, all different there. The 50 states in 200 rows, repeated postcodes, sizes and models pass.

Numbers with text or signs beside them, and dates, are refused when more than half of the cells are different or there
are more than ten different ones. A few ("36 months", "60 months") may be meant as categories, so they only get a note;
numbers with marks only ("1 234") hardly ever are. Two distinct cells are two categories in either reading, with the
same kernel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

from ...core.cell_formats import (
    Form,
    Reading,
    absent_words,
    date_format,
    has_decimal_comma,
    is_number,
    number_format,
    other_marks,
)
from ...core.number_marks import COMPUTERS, NumberMarks
from ...core.table import Frame
from ...core.words import leave_out, printable

NOT_TIMES = "text, not times"
"""What a column of dates that were not read is taken for."""
Place: TypeAlias = tuple[str, int]
"""A table and a row."""
_LEAST_DISTINCT, _LEAST_CELLS = 20, 10
_FEW, _LEAST_WRITTEN = 10, 3
_SHARE, _SHARE_BESIDE = 0.75, 0.9
_SHOWN, _MOST_TOLD = 20, 3
_ZERO = re.compile(r"[+-]?0\d+")
_DIGITS, _MORE_FORMS = re.compile(r"\d+"), 64


@final
@dataclass(frozen=True)
class Finding:
    """What is wrong with a column, in words that follow its name, and how to fix it."""

    column: str
    taken: str
    """What it seems to be, in a word or two."""
    what: str
    where: str = ""
    """The table, or the tables."""
    advice: str = ""
    """How to read or write it, if known."""
    insist: str = "categorical"
    """"categorical" or "keep": the option that takes the column as it is; "" where none does."""
    wrong_type: bool = False
    """Whether its cells are of another type than a category."""
    readings: tuple[Reading, ...] = ()
    """What reads all of its cells, if known: one mapping, or two of which you have to choose."""

    @property
    def reading(self) -> Reading:
        """What reads all of its cells, if that is certain."""
        return self.readings[0] if len(self.readings) == 1 else {}

    @property
    def sentence(self) -> str:
        """The table, the column, and what is wrong."""
        return (
            f"{self.where}: column {self.column!r} {self.what}" if self.where else f"column {self.column!r} {self.what}"
        )

    @property
    def insisting(self) -> str:
        """The option that takes the column as it is."""
        return insist(self.insist, [self.column])


@final
@dataclass
class TextCells:
    """The distinct cells of a text column over all tables, with the first place of each, and the number of cells.

    The first ``most`` distinct cells are kept, and of those that follow the first in each new form: one bad cell among
    many numbers or dates is found. Which these are does not depend on batches.
    """

    name: str
    most: int
    places: dict[str, Place] = field(default_factory=dict)
    full: bool = False
    marks: NumberMarks = COMPUTERS
    """The marks of numbers with which the cells were read."""
    _forms: set[str] = field(default_factory=set)
    """The cells that are kept, with 0 for every number in them."""
    _counts: Counter[int] = field(default_factory=Counter)
    _of_tables: dict[int, set[str]] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        """The number of cells that are not missing."""
        return sum(self._counts.values())

    def add(self, frame: Frame, table: int = 0) -> None:
        """Add the cells of some rows of a table; cells that are neither text nor missing are refused elsewhere."""
        cells = frame[self.name].tolist()
        try:
            counts = Counter(cells)
        except TypeError:  # cells such as lists
            return
        distinct = [cell for cell in counts if isinstance(cell, str)]
        self.marks = frame.marks
        self._counts[table] += len(cells) - counts[None]
        kept = self._of_tables.setdefault(table, set())
        kept.update([cell for cell in distinct if cell not in kept][: max(self.most - len(kept), 0)])
        new = self._worth_keeping(cell for cell in distinct if cell not in self.places)
        rows, walk = frame.row_numbers(), enumerate(cells)
        for cell in new:  # they follow each other as their first rows do, so one walk meets them all
            self.places[cell] = frame.source, int(rows[next(row for row, other in walk if other is cell)])

    def merge(self, other: TextCells) -> None:
        """Add the cells of the rows that follow."""
        self.marks = other.marks
        self._counts += other._counts
        for table, cells in other._of_tables.items():
            kept = self._of_tables.setdefault(table, set())
            kept.update([cell for cell in cells if cell not in kept][: max(self.most - len(kept), 0)])
        new = self._worth_keeping(cell for cell in other.places if cell not in self.places)
        self.places |= {cell: other.places[cell] for cell in new}
        self.full |= other.full

    def _worth_keeping(self, cells: Iterable[str]) -> list[str]:
        """Return which of the distinct cells that follow are to be kept."""
        kept: list[str] = []
        for cell in cells:
            if self.full and len(self._forms) >= self.most + _MORE_FORMS:
                break
            form = _DIGITS.sub("0", cell)
            if not self.full or form not in self._forms:
                kept.append(cell)
                self._forms.add(form)
                self.full = len(self.places) + len(kept) >= self.most
        return kept

    def finding(self) -> Finding | None:
        """Return what is wrong; None if the column may hold categories."""
        return self.unread() or self.unlike()

    def unread(self) -> Finding | None:
        """Return a finding if cells are numbers or dates that were not read as such."""
        form = self._form()
        if form is not None and self._is_certain(form):
            cell, known = next((cell for cell in form.cells if not is_number(cell)), form.cells[0]), set(form.cells)
            other = next((f", but not {self._shown(cell)}" for cell in self.places if cell not in known), "")
            taken = NOT_TIMES if form.is_time else "text, not numbers"
            what = f"holds {form.what} as text ({self._shown(cell)}){other}"
            return self._found(cell, taken, what, form.advice(), () if other else form.readings)
        numbers = self._numbers()
        return self._mixed(numbers) if numbers else None

    def mixed(self) -> Finding | None:
        """Return a finding if some cells are numbers, which more rows cannot change."""
        return self.unread() if self._numbers() else None

    def _numbers(self) -> list[str]:
        return [cell for cell in self.places if is_number(self.marks.plain(cell)) or has_decimal_comma(cell)]

    def unlike(self) -> Finding | None:
        """Return a finding if nearly all cells are different."""
        distinct = len(self.places)
        all_differ = distinct == self.cells >= _LEAST_CELLS
        filled = [table for table, n in self._counts.items() if n]
        if self.full or not (
            all_differ or identifies(distinct, [(len(self._of_tables[k]), self._counts[k]) for k in filled])
        ):
            return None
        cell = next(iter(self.places))
        what = (
            f"holds {distinct:,} different texts in {self.cells:,} cells ({self._shown(cell)}), so it is an identifier "
            "or free text and not a category"
        )
        return Finding(self.name, "free text", what, self._where(cell))

    def remark(self) -> str | None:
        """Return a note on a few numbers or dates that are taken as categories."""
        form = self._form()
        if form is None or self._is_certain(form) or len(form.cells) < _LEAST_WRITTEN:
            return None
        read = f", which {form.short()} reads" if form.readings else ""
        return f"{self.name} holds {form.what} ({form.cells[0]!r}){read}, and was taken as categories"

    def _form(self) -> Form | None:
        """Return the format of the cells if nearly all of them share one."""
        numbers = number_format(self.places)
        needed = _SHARE if numbers is not None and numbers.is_bare else _SHARE_BESIDE
        if numbers is not None and len(numbers.cells) >= needed * len(self.places):
            return numbers
        dates = date_format(self.places)
        return dates if dates is not None and len(dates.cells) >= _SHARE_BESIDE * len(self.places) else None

    def _is_certain(self, form: Form) -> bool:
        """Return whether cells are numbers or dates, not categories: they are many, or some are plain numbers."""
        if self._numbers():
            return len(form.cells) == len(self.places)
        return len(form.cells) >= _LEAST_WRITTEN and (
            len(self.places) > _FEW or 2 * len(self.places) > self.cells or form.is_bare
        )

    def _mixed(self, numbers: list[str]) -> Finding:
        code = next((cell for cell in numbers if _ZERO.fullmatch(cell.strip())), None)
        if code is not None:
            return self._found(code, "codes", f"holds codes with a zero in front ({self._shown(code)})")
        known = set(numbers)
        others = [cell for cell in self.places if cell not in known]
        few = len(numbers) < len(others)  # then they are what to look at
        cell = numbers[0] if few else [*others, *filter(has_decimal_comma, numbers), *numbers][0]
        total = f"{len(self.places)} different cells{self._of}{' that were looked at' if self.full else ''}"
        shown = f", but not {self._shown(cell)}" if others and not few else f" ({self._shown(cell)})"
        what = f"is text in which {len(numbers)} of {total} are numbers{shown}"
        marks = other_marks(self.places, self.marks)
        if marks:
            return self._found(cell, "text, not numbers", f"is text ({self._shown(cell)})", marks)
        words, reading = absent_words(self.places, self.marks)
        every = f" (pandas: df[{self.name!r}].astype(float))" if len(numbers) == len(self.places) else ""
        write = f"write all of them as numbers{every}"
        advice = f"{words}; or {write}" if words else write
        return self._found(cell, "text and numbers", what, advice, (reading,) if reading else ())

    def _found(self, cell: str, taken: str, what: str, advice: str = "", readings: tuple[Reading, ...] = ()) -> Finding:
        """Return the finding for cells that are not categories; too many of them cannot be taken as such either."""
        insist = "" if self.full else Finding.insist
        return Finding(self.name, taken, what, self._where(cell), advice, insist, wrong_type=True, readings=readings)

    @property
    def _of(self) -> str:
        """Return of which tables the cells are, if there are several."""
        return "" if len(self._counts) < 2 else " of both tables" if len(self._counts) == 2 else " of all tables"

    def _where(self, cell: str) -> str:
        return self.places[cell][0]

    def _shown(self, cell: str) -> str:
        text = printable(cell)
        return f"{text[:_SHOWN] + '…' * (len(text) > _SHOWN)!r} in row {self.places[cell][1]}"


def identifies(distinct: int, tables: Sequence[tuple[int, int]]) -> bool:
    """Return whether so many different texts identify rows, given those of every table and its cells.

    They do if fewer than two cells are alike on average, or all of them are different in every table.
    """
    few_rows_each = distinct >= _LEAST_DISTINCT and 2 * distinct > sum(cells for _, cells in tables)
    return few_rows_each or all(texts == cells >= _LEAST_DISTINCT for texts, cells in tables)


def mend(name: str) -> str:
    """Return what to do with a column that is not a category by itself."""
    holds = insist("categorical", [name])
    return f"leave the column out {leave_out([name])}, or say that it holds categories with {holds}"


def insist(option: str, names: Sequence[str]) -> str:
    """Return the option that takes columns as they are."""
    return f"{option}={list(names)!r}"


def refusal(faults: Sequence[Finding]) -> TypeError | ValueError:
    """Return one error for everything that is wrong with columns.

    It is a ``TypeError`` if cells are numbers or dates that were not read as such, a ``ValueError`` for identifiers and
    free text.
    """
    alike: dict[tuple[str, str], list[Finding]] = {}
    for fault in faults:
        alike.setdefault((fault.taken, fault.advice), []).append(fault)
    sentences: list[str] = []
    for first, *others in list(alike.values())[:_MOST_TOLD]:  # one of every kind is told
        sentences.append(first.sentence + (f"; {first.advice}" if first.advice else ""))
        sentences += [f"The same goes for {', '.join(repr(each.column) for each in others)}"] * bool(others)
    if untold := [each.column for kind in list(alike.values())[_MOST_TOLD:] for each in kind]:
        sentences.append(f"Of {', '.join(map(repr, untold))}, describe says what is wrong")
    end = f"leave {'it' if len(faults) == 1 else 'them'} out {leave_out([each.column for each in faults])}"
    joint = (", " if faults[0].advice else "; ") if len(faults) == 1 else ". Or "
    if len(faults) > 1 and not any(each.advice for each in faults):
        joint, end = ". ", f"{end[0].upper()}{end[1:]}"
    named = {each.insist: [one.column for one in faults if one.insist == each.insist] for each in faults if each.insist}
    insisting = " and ".join(insist(option, names) for option, names in named.items())
    text = f"{'. '.join(sentences)}{joint}{end}" + (f", or insist with {insisting}" if insisting else "")
    return (TypeError if any(each.wrong_type for each in faults) else ValueError)(text)
