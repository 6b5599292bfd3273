"""Categories: texts, or whatever the caller says is one; truth values are two of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, final

import numpy as np
import numpy.typing as npt

from ....core.array import Array, IntArray
from ....core.cell_formats import has_decimal_comma, is_number
from ....core.cells import Cells, loses_digits, shared
from ....core.table import Frame
from ....core.words import ABSENT, count, leave_out
from ...limits import MOST_COUNTED
from ..labels import as_labels, cell_counts, label_counts
from ..summaries import CategoryShares, ColumnSummary
from ..texts import TextCells, identifies, mend, refusal
from .base import IS_MISSING, NOT_FITTED, CellsSeen, Coding, ColumnKind, Wanted

_FEW_LEVELS = 20


@dataclass(frozen=True)
class CategoryKind(ColumnKind):
    """Categories without an order; texts that no other kind takes are such."""

    kind, taken, inspected = "categorical", "category", "texts"
    by_shares, averaged, on_axis = True, False, False

    def check(self, frame: Frame, name: str) -> None:
        """Raise unless a column of objects holds text, and not numbers as text; its type may say that it does."""
        if name not in frame.declared:
            _check_text(frame, name)

    def seen(self, tables: int) -> CategoriesSeen:
        """Return the counts of no rows."""
        return CategoriesSeen(self, tuple(Counter() for _ in range(tables)))

    def summary(self, counts: Sequence[Counter[str]], shares: tuple[CategoryShares, ...]) -> ColumnSummary:
        """Return what a column is like in tables in which its categories occur so often; they have no mean."""
        return ColumnSummary((math.nan,) * len(counts), shares)

    def reasons(self, name: str, distinct: int, *, whole: bool, declared: bool) -> tuple[str, list[str]]:
        """Suggest an order of a few categories."""
        del whole
        few = 2 < distinct <= _FEW_LEVELS
        levels = [f"ordinal={{{name!r}: ['lowest', '…', 'highest']}} if they are ordered"] * few
        return self.sign if declared else f"text with {count(distinct, 'different value')}", levels


@final
class TooManyCategoriesError(ValueError):
    """Columns with too many categories; ``found`` says how many each has."""

    def __init__(self, found: Mapping[str, str], most: int) -> None:
        self.found, self.most = dict(found), most
        those = "; ".join(f"column {name!r} has {each}" for name, each in self.found.items())
        super().__init__(
            f"{those}, the limit is {most:,}: an identifier or free text? Leave it out {leave_out(list(self.found))}, "
            "or group rare categories first"
        )


@final
@dataclass(frozen=True)
class Categories(Coding):
    r"""One coordinate c for every category, :math:`c = 1 / \sqrt{1 - \sum_k p_k^2}` with the shares p of all rows.

    Different categories are :math:`\sqrt 2 c` apart. The mean squared distance of two independent rows is 2, the same
    as for standardised numbers. Two categories take one coordinate, 0 or √2 c, with the same distance.
    """

    categories: tuple[str, ...]
    """In alphabetical order."""
    missing: bool
    """Whether missing cells are one more category."""
    weight: float
    """c."""
    pooled: tuple[str, ...] = ()
    """Rare categories that are one category together, in alphabetical order."""
    pooled_rows: int = 0
    """How many rows of the fit have one of them."""

    @property
    def scale(self) -> float:
        """The share that one unit of a coordinate represents."""
        return 1.0 / (self.weight if self.size > 2 else np.sqrt(2.0) * self.weight)

    @property
    def size(self) -> int:
        """The number of categories, including that of missing cells."""
        return len(self.named) + self.missing

    @property
    def others(self) -> str:
        """What those are called that are one category together."""
        return f"({count(len(self.pooled), 'other')})"

    @property
    def named(self) -> tuple[str, ...]:
        """The categories, in the order of their coordinates; the last one holds all others if there are too many."""
        return (*self.categories, self.others) if self.pooled else self.categories

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the categories; of two, only the second."""
        all_names = [f"{self.name}={each}" for each in self.named]
        all_names += [self.name + IS_MISSING] * self.missing
        return tuple(all_names[1:] if len(all_names) == 2 else all_names or [self.name])

    @property
    def varies(self) -> bool:
        """Whether there are two categories."""
        return self.size > 1

    def codes(self, frame: Frame) -> IntArray:
        """Return the index of each row's category, shape (n,); missing cells have the last one."""
        labels = as_labels(frame, self.name)
        known: dict[str | None, int] = {each: code for code, each in enumerate(self.categories)}
        known |= dict.fromkeys(self.pooled, len(self.categories))
        known |= {None: len(self.named)} if self.missing else {}
        unseen = [each for each in dict.fromkeys(labels.tolist()) if each not in known]
        if unseen:
            what = "has missing cells" if unseen[0] is None else f"holds {unseen[0]!r}"
            raise ValueError(f"{frame.source}: column {self.name!r} {what}, {NOT_FITTED}")
        return np.fromiter((known[each] for each in labels), dtype=np.intp, count=len(labels))

    def coordinates(self, frame: Frame) -> Array:
        """Return one coordinate for every category, or a single one for two categories."""
        codes = self.codes(frame)
        if self.size < 3:
            return np.asarray(np.sqrt(2.0) * self.weight * codes[:, None])
        out = np.zeros((len(codes), self.size))
        out[np.arange(len(codes)), codes] = self.weight
        return out

    def unseen(self, frame: Frame) -> npt.NDArray[np.bool_]:
        """Categories are new, and missing cells if none was missing."""
        known = {*self.categories, *self.pooled, *([None] if self.missing else [])}
        return np.array([label not in known for label in as_labels(frame, self.name)], dtype=bool)

    @property
    def category_weight(self) -> float | None:
        """The weight c."""
        return self.weight

    def labels(self, frame: Frame) -> Cells:
        """Return the names of the categories, rare ones under their common name."""
        labels, pooled = as_labels(frame, self.name), frozenset(self.pooled)
        return shared(labels.tolist(), lambda each: self.others if each in pooled else each) if pooled else labels

    def shares(self, counts: Sequence[Mapping[Any, float]]) -> tuple[CategoryShares, ...]:
        """Return the share of every category in the cells that are known, and of missing cells in all rows, last."""
        blank = [float(table.get(None, 0)) for table in counts]
        every = [float(sum(table.values())) for table in counts]
        known = [rows - gone for rows, gone in zip(every, blank, strict=True)]
        named = [(each, (each,)) for each in self.categories] + [(self.others, self.pooled)] * bool(self.pooled)
        sums = [(name, [float(sum(table.get(each, 0) for each in those)) for table in counts]) for name, those in named]
        shares = [CategoryShares(name, _divided(parts, known)) for name, parts in sums]
        return (*shares, *[CategoryShares(ABSENT, _divided(blank, every))] * self.missing)

    def note(self, where: str) -> str | None:
        """Say that rare categories are one category together."""
        if not self.pooled:
            return None
        kept, others = len(self.categories), len(self.pooled)
        return (
            f"{self.name}: {kept + others:,} categories{where}; the {kept:,} most frequent are kept, and the "
            f"other {others:,}, in {count(self.pooled_rows, 'row')}, are one category; "
            f"max_categories= keeps more or fewer"
        )


@final
@dataclass(frozen=True, eq=False)
class CategoriesSeen(CellsSeen):
    """How often every category occurs in every table."""

    kind: CategoryKind
    counts: tuple[Counter[str], ...]

    def add(self, frame: Frame, name: str, known: npt.NDArray[np.bool_], table: int) -> None:
        """Add the categories of some rows; missing cells are counted elsewhere."""
        del known
        counts = label_counts(frame, name)
        self.counts[table].update({each: n for each, n in counts.items() if each is not None})

    def __add__(self, other: CategoriesSeen) -> CategoriesSeen:
        """Return the counts of the rows of both."""
        counts = tuple(one + two for one, two in zip(self.counts, other.counts, strict=True))
        return CategoriesSeen(self.kind, counts)

    def check(self, name: str, most: int) -> None:
        """Raise if there are too many categories to count."""
        most = max(most, MOST_COUNTED)
        if sum(map(len, self.counts)) > most and len(set().union(*self.counts)) > most:
            _check_number(name, self.counts, most, whole=True)

    def coding(self, name: str, wanted: Wanted) -> Categories:
        """Return the coding of the column.

        The most frequent categories of all tables together are kept, as many as are wanted. This does not depend on
        which row is in which table, so tests stay exact.
        """
        counts, most = Counter[str](), wanted.most
        for table in self.counts:
            counts.update(table)
        order = sorted(counts, key=lambda each: (-counts[each], each))
        _check_number(name, self.counts, most, wanted.whole)
        kept, pooled = tuple(sorted(order[:most])), tuple(sorted(order[most:]))
        rows, blank = sum(counts[each] for each in pooled), int(wanted.absent) if wanted.rule == "category" else 0
        shares = np.array([*(counts[each] for each in kept), *filter(None, [rows, blank])], dtype=np.float64)
        shares /= max(shares.sum(), 1.0)
        differ = 1.0 - float(np.square(shares).sum())
        weight = 1.0 / np.sqrt(differ) if len(shares) > 1 else 1.0
        return Categories(name, self.kind, kept, bool(blank), float(weight), pooled, rows)

    def summary(self, coding: Any, absent: Array) -> ColumnSummary:
        """Return the shares of the categories, and what else their counts say."""
        shares = coding.shares([{**table, None: gone} for table, gone in zip(self.counts, absent, strict=True)])
        return self.kind.summary(self.counts, shares)


def _divided(parts: Sequence[float], wholes: Sequence[float]) -> tuple[float, ...]:
    """Return shares, 0 of nothing."""
    return tuple(part / (whole or 1.0) for part, whole in zip(parts, wholes, strict=True))


def _check_number(name: str, tables: Sequence[Mapping[str, int]], most: int, whole: bool) -> None:
    """Raise when there are too many categories to count, or many of which most identify rows of ``whole`` tables."""
    distinct = len({each for table in tables for each in table})
    sizes = [(len(table), sum(table.values())) for table in tables if table]
    rows = sum(cells for _, cells in sizes)
    limit = max(most, MOST_COUNTED)
    if distinct > limit or (whole and distinct > most and identifies(distinct, sizes)):
        number = f"{distinct:,} different categories in {count(rows, 'row')}"
        raise TooManyCategoriesError({name: number}, limit if distinct > limit else most)


def _check_text(frame: Frame, name: str) -> None:
    """Raise unless a column of objects holds text, and not numbers as text."""
    distinct = [cell for cell in cell_counts(frame, name) if cell is not None]
    other = next((cell for cell in distinct if not isinstance(cell, str)), None)
    if other is not None:
        words = [cell for cell in distinct if isinstance(cell, str) and not is_number(cell)]
        if words and all(isinstance(cell, str | Real | Decimal) for cell in distinct):
            row = frame.row_numbers()[frame[name].tolist().index(words[0])]
            raise TypeError(
                f"{frame.source}: column {name!r} holds numbers and text ({words[0][:20]!r} in row {row}); write all "
                f"of them as numbers (pandas: to_numeric(..., errors='coerce') makes text a missing cell), {mend(name)}"
            )
        large = next((cell for cell in distinct if loses_digits(cell)), None)
        if large is not None:
            what = f"integers beyond 2^53, such as {large}, which float64 cannot hold exactly; subtract a constant"
        else:
            types = " and ".join({type(cell).__name__: None for cell in frame[name] if cell is not None})
            what = f"values of type {types}, neither numbers nor texts nor times; convert it to one of these"
            if " and " in types:
                what = f"values of the types {types}; convert it to numbers, texts or times"
        raise TypeError(f"{frame.source}: column {name!r} holds {what}, {mend(name)}")
    if any(map(is_number, distinct)) or any(map(has_decimal_comma, distinct)):
        texts = TextCells(name, len(distinct) + 1)
        texts.add(frame)
        finding = texts.mixed()
        if finding:
            raise refusal([finding])
