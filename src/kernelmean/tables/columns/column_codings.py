"""How a column becomes coordinates, so that every column has the same weight."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from ...core.array import Array, IntArray
from ...core.cells import missing_cells, shared
from ...core.frozen import sealed
from ...core.table import Frame, Table
from ...core.words import count, leave_out
from ..limits import MOST_COUNTED
from .kinds import ColumnType, as_labels, as_numbers
from .texts import identifies

IS_MISSING = " is missing"
"""How the name of a coordinate ends that is positive where a cell is blank, and 0 elsewhere."""
_NOT_FITTED = "which the tables that were fitted did not; fit on all tables: TableEncoder().fit_tables(A, B)"


@dataclass(frozen=True)
class Coding(ABC):
    """The map from the cells of a column to its coordinates, found from all rows of all tables."""

    name: str
    type: ColumnType

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates."""

    @property
    @abstractmethod
    def varies(self) -> bool:
        """Whether some rows have different coordinates."""

    @abstractmethod
    def coordinates(self, frame: Frame) -> Array:
        """Return the coordinates of the rows, shape (n, k)."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """How much of the column one unit of a coordinate represents."""

    @property
    def variance_of_missing(self) -> float:
        """The variance of the noise in the first coordinate of a missing cell."""
        return 0.0

    @final
    def variances(self, frame: Frame) -> Array:
        """Return the variances of the noise of the coordinates, shape (n, k); 0 where a cell is known."""
        out = np.zeros((len(frame), len(self.names)))
        if self.variance_of_missing:
            out[missing_cells(frame[self.name]), 0] = self.variance_of_missing
        return out


def coordinates_of(codings: Sequence[Coding], frame: Frame) -> Array:
    """Return the coordinates of several columns side by side, shape (n, D)."""
    return side_by_side(codings, [coding.coordinates(frame) for coding in codings], len(frame))


def named(codings: Iterable[Coding], samples: Sequence[Array]) -> list[Any]:
    """Return coordinates with their names, or as they are where two of them are called the same."""
    labels = tuple(label for coding in codings for label in coding.names)
    return [Table(sealed(own), labels) for own in samples] if len({*labels}) == len(labels) else [*samples]


def variances_of(codings: Sequence[Coding], frame: Frame) -> Array:
    """Return the variances of the noise of :func:`coordinates_of`, shape (n, D)."""
    return side_by_side(codings, [coding.variances(frame) for coding in codings], len(frame))


def side_by_side(codings: Sequence[Coding], blocks: Sequence[Array], n: int) -> Array:
    """Return the blocks of all columns as one array, after checking their shapes against the names of coordinates."""
    for coding, block in zip(codings, blocks, strict=True):
        if block.shape != (n, len(coding.names)):
            raise AssertionError(f"{coding.name!r} has the coordinates {coding.names}, not a block of {block.shape}")
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((n, 0))


@final
@dataclass(frozen=True)
class Spread:
    """The moments from which a coding of numbers is made."""

    origin: int
    """For times, the number of nanoseconds that was subtracted."""
    center: float
    deviation: float
    """The mean and the standard deviation, 0 for a constant."""
    absent: float
    """The share of missing cells."""


@final
@dataclass(frozen=True)
class Numbers(Coding):
    r"""Numbers, levels or times on one coordinate, in standard deviations; missing ones have the mean."""

    origin: int
    """For times, the number of nanoseconds to subtract before float64 would round."""
    center: float
    deviation: float
    """The mean and the standard deviation of the cells that are not missing."""
    unit: float
    """The divisor of the numbers."""
    indicator: float
    r"""The second coordinate of a missing cell, 0 if there is none. With a share q of missing cells it is
    :math:`s/\sqrt{1-q}`, where s is the deviation in the unit: the two coordinates then have the variance s² of a
    column without missing cells."""
    noisy: bool
    """Whether a missing cell has noise with the variance of the column."""
    complete: bool
    """Whether no cell was missing."""

    @classmethod
    def of_moments(cls, name: str, column: ColumnType, found: Spread, rule: str, scale: bool) -> Numbers:
        """Return the coding for the moments of a column."""
        deviation, absent, indicator = found.deviation, found.absent, 0.0
        unit = deviation if scale and deviation > 0.0 else 1.0
        if rule == "category" and 0.0 < absent < 1.0:
            alone = 1.0 / np.sqrt(absent * (1.0 - absent))  # for a column in which all cells but missing ones are equal
            indicator = float(deviation / unit / np.sqrt(1.0 - absent) if deviation else alone)
        noisy, complete = rule == "noise", absent == 0.0
        return cls(name, column, found.origin, found.center, deviation, unit, indicator, noisy, complete)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column, and of its indicator of missing cells."""
        return (self.name, self.name + IS_MISSING) if self.indicator else (self.name,)

    @property
    def varies(self) -> bool:
        """Whether there are two values, or one value and missing cells."""
        return self.deviation > 0.0 or self.indicator > 0.0

    @property
    def scale(self) -> float:
        """The unit."""
        return self.unit

    def numbers(self, frame: Frame) -> Array:
        """Return the cells in the units of the column, NaN where missing; times in seconds after ``origin``."""
        return as_numbers(frame, self.name, self.type, self.origin)

    def coordinates(self, frame: Frame) -> Array:
        """Return the numbers in the unit and, if missing cells are a category, the indicator."""
        values = self.numbers(frame)
        absent = np.isnan(values)
        if self.complete and not self.noisy and absent.any():
            raise ValueError(f"{frame.source}: column {self.name!r} has missing cells, {_NOT_FITTED}")
        filled = np.where(absent, self.center, values) / self.unit
        if self.indicator:
            return np.column_stack([filled, self.indicator * absent])
        return np.asarray(filled[:, None])

    @property
    def variance_of_missing(self) -> float:
        """The variance of the column."""
        return (self.deviation / self.unit) ** 2 if self.noisy else 0.0


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

    @classmethod
    def of_counts(
        cls,
        name: str,
        column: ColumnType,
        tables: Sequence[Mapping[str | None, int]],
        rule: str,
        most: int,
        *,
        whole: bool = True,
    ) -> Categories:
        """Return the coding for the counts of every category in every table, and of missing cells under None.

        The ``most`` most frequent categories of all tables together are kept. This does not depend on which row is in
        which table, so tests stay exact.
        """
        counts: Counter[str | None] = Counter()
        for own in tables:
            counts.update(own)
        absent = counts.pop(None, 0)
        order = sorted((each for each in counts if each is not None), key=lambda each: (-counts[each], each))
        _check_number(name, [{each: own[each] for each in own if each is not None} for own in tables], most, whole)
        kept, pooled = tuple(sorted(order[:most])), tuple(sorted(order[most:]))
        rows, blank = sum(counts[each] for each in pooled), absent if rule == "category" else 0
        shares = np.array([*(counts[each] for each in kept), *filter(None, [rows, blank])], dtype=np.float64)
        shares /= max(shares.sum(), 1.0)
        differ = 1.0 - float(np.square(shares).sum())
        weight = 1.0 / np.sqrt(differ) if len(shares) > 1 else 1.0
        return cls(name, column, kept, bool(blank), float(weight), pooled, rows)

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
            raise ValueError(f"{frame.source}: column {self.name!r} {what}, {_NOT_FITTED}")
        return np.fromiter((known[each] for each in labels), dtype=np.intp, count=len(labels))

    def coordinates(self, frame: Frame) -> Array:
        """Return one coordinate for every category, or a single one for two categories."""
        codes = self.codes(frame)
        if self.size < 3:
            return np.asarray(np.sqrt(2.0) * self.weight * codes[:, None])
        out = np.zeros((len(codes), self.size))
        out[np.arange(len(codes)), codes] = self.weight
        return out


def _check_number(name: str, tables: Sequence[Mapping[str, int]], most: int, whole: bool) -> None:
    """Raise when there are too many categories to count, or many of which most identify rows of ``whole`` tables."""
    distinct = len({each for own in tables for each in own})
    sizes = [(len(own), sum(own.values())) for own in tables if own]
    rows = sum(cells for _, cells in sizes)
    limit = max(most, MOST_COUNTED)
    if distinct > limit or (whole and distinct > most and identifies(distinct, sizes)):
        found = f"{distinct:,} different categories in {count(rows, 'row')}"
        raise TooManyCategoriesError({name: found}, limit if distinct > limit else most)


def labels_in(coding: Coding, frame: Frame) -> npt.NDArray[Any]:
    """Return the names of the categories of rows, rare ones under their common name, None where missing; shape (n,)."""
    labels = as_labels(frame, coding.name)
    if not isinstance(coding, Categories) or not coding.pooled:
        return labels
    pooled = frozenset(coding.pooled)
    return shared(labels.tolist(), lambda each: coding.others if each in pooled else each)


def pooled_categories(codings: Iterable[Coding], where: str = "") -> Iterator[str]:
    """Yield notes on columns in which rare categories are one category together."""
    for coding in codings:
        if isinstance(coding, Categories) and coding.pooled:
            kept, others = len(coding.categories), len(coding.pooled)
            yield (
                f"{coding.name}: {kept + others:,} categories{where}; the {kept:,} most frequent are kept, and the "
                f"other {others:,}, in {count(coding.pooled_rows, 'row')}, are one category; "
                f"max_categories= keeps more or fewer"
            )
