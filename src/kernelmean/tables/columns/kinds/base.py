"""What every kind of column answers; a kind is one file: its :class:`ColumnKind`, what is seen of it, its coding.

A subclass of :class:`ColumnKind` that has a ``kind`` is known everywhere once its file is imported in ``__init__.py``:
columns are recognised, read in batches, encoded, compared, described, drawn and saved by the methods here. What looks
at coordinates in rooms above asks :attr:`Coding.category_weight`: tests of single columns, screens, strata.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
import numpy.typing as npt

from ....core.array import Array
from ....core.cells import Cells, Declared, missing_cells
from ....core.table import Frame
from ....core.words import signed
from ..labels import as_labels
from ..summaries import CategoryShares, ColumnSummary

KINDS: dict[str, type[ColumnKind]] = {}
"""Every kind by its name."""
IS_MISSING = " is missing"
"""How the name of a coordinate ends that is positive where a cell is blank, and 0 elsewhere."""
_FEWEST_DIGITS, _MOST_DIGITS = 4, 8
NOT_FITTED = "which the tables that were fitted did not; fit on all tables: TableEncoder().fit_tables(A, B)"


@dataclass(frozen=True)
class ColumnKind(ABC):
    """The kind of a column, the same in all tables."""

    kind: ClassVar[str]  # its name, such as "numeric"
    taken: ClassVar[str]  # what ``describe`` says that such a column is taken for
    sign: ClassVar[str] = "its type says so"  # and why
    inspected: ClassVar[str] = ""  # "numbers" or "texts" that may be identifiers, dates, free text
    by_shares: ClassVar[bool] = False  # whether it is shown by the shares of its values, not by a mean
    averaged: ClassVar[bool] = True  # whether the mean of its numbers describes it
    plain: ClassVar[bool] = False  # whether cells are numbers that plots and standard deviations take as they are
    measured: ClassVar[str] = ""  # the unit of its numbers, if it is not that of the cells
    dated: ClassVar[bool] = False  # whether tables of different times differ in it, whatever else does
    on_axis: ClassVar[bool] = True  # whether pictures show cells as places on an axis, not one by one
    noisy: ClassVar[bool] = False  # whether a missing cell can be a noisy number, by ``missing="noise"``
    footnote: ClassVar[str] = ""  # what a reader of its means has to know

    levels: tuple[str, ...] = ()
    """The levels that cells may have, lowest first, where they have names."""

    def __init_subclass__(cls) -> None:
        """Register a kind under its name."""
        if "kind" in cls.__dict__ and KINDS.setdefault(cls.kind, cls) is not cls:
            raise ValueError(f"{cls.__name__} is called {cls.kind!r}, as {KINDS[cls.kind].__name__} is; rename one")

    def __str__(self) -> str:
        return self.kind

    @classmethod
    def recognised(cls, cells: Cells, declared: Declared | None) -> Self | None:
        """Return the kind if it is that of a column with some cell; here if the type of the column declares it."""
        del cells
        return cls(declared.levels) if declared is not None and declared.kind == cls.kind else None

    def check(self, frame: Frame, name: str) -> None:
        """Raise when some cells of a column are of another kind."""
        del frame, name

    @abstractmethod
    def seen(self, tables: int) -> CellsSeen:
        """Return what is seen of a column in so many tables before the first cell."""

    def numbers(self, frame: Frame, name: str, origin: int = 0) -> Array:
        """Return the cells as numbers, shape (n,), NaN where missing; times in seconds after ``origin``."""
        del origin
        raise TypeError(f"{frame.source}: column {name!r} is {self}, which has no numbers")

    # -- in words and pictures -----------------------------------------------------------------------------------------

    def reasons(self, name: str, distinct: int, *, whole: bool, declared: bool) -> tuple[str, list[str]]:
        """Return why a column of so many different cells is of the kind, and the options that take it for another."""
        del name, distinct, whole, declared
        return self.sign, []

    @classmethod
    def written(cls, means: tuple[float, ...]) -> tuple[str, ...]:
        """Return the means of tables in words, with so many digits that one sees by how much they differ.

        Examples
        --------
        >>> ColumnKind.written((1013.25, 1013.27)), ColumnKind.written((33.19467, 44.78123, math.nan))
        (('1013.25', '1013.27'), ('33.19', '44.78', 'none'))
        """
        digits = _digits([mean for mean in means if math.isfinite(mean)])
        return tuple(cls.mean_in_words(mean, digits) if math.isfinite(mean) else "none" for mean in means)

    @classmethod
    def mean_in_words(cls, mean: float, digits: int) -> str:
        """Return a mean in the units of its column, with so many digits."""
        return signed(mean, f"z.{digits}g")

    @classmethod
    def unit(cls, gap: float) -> tuple[str, float]:
        """Return the unit in which to write a difference of means, and what to divide it by."""
        del gap
        return "", 1.0

    def axis(self, coding: Any, frames: Sequence[Frame]) -> tuple[str, float]:
        """Return the label of the axis of a column in pictures, and what to divide :meth:`Coding.numbers` by."""
        del frames
        return coding.name, 1.0


@final
@dataclass(frozen=True)
class Wanted:
    """What decides on a coding beside the cells that are known."""

    rule: str  # what is done with missing cells
    absent: float  # how many there are
    rows: float  # of so many
    scale: bool  # whether numbers are divided by their standard deviation
    most: int  # how many categories are kept
    whole: bool = True  # whether all rows were seen


class CellsSeen(ABC):
    """What is seen of the known cells of a column in every table."""

    @abstractmethod
    def add(self, frame: Frame, name: str, known: npt.NDArray[np.bool_], table: int) -> None:
        """Add some rows of a table; some cells are known."""

    @abstractmethod
    def __add__(self, other: Any) -> CellsSeen:
        """Return what is seen of the rows of both."""

    @abstractmethod
    def coding(self, name: str, wanted: Wanted) -> Coding:
        """Return how the column becomes coordinates."""

    @abstractmethod
    def summary(self, coding: Any, absent: Array) -> ColumnSummary:
        """Return what the column is like in every table, given its missing cells there."""

    def check(self, name: str, most: int) -> None:
        """Raise as soon as there is too much to remember, if the caller keeps at most so many categories."""
        del name, most


@dataclass(frozen=True)
class Coding(ABC):
    """The map from the cells of a column to its coordinates, found from all rows of all tables."""

    name: str
    type: ColumnKind

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

    @abstractmethod
    def unseen(self, frame: Frame) -> npt.NDArray[np.bool_]:
        """Return which cells the rows that were fitted did not hold, so that :meth:`coordinates` may refuse them."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """How much of the column one unit of a coordinate represents, of the first one where they have distances."""

    @property
    def category_weight(self) -> float | None:
        """The c of coordinates c [x = y], which say only which cells are equal; None where they have distances."""
        return None

    @property
    def standard(self) -> tuple[float, float, float]:
        """What to subtract from :meth:`numbers` and divide them by, and what to add for the units of the column."""
        return 0.0, 1.0, 0.0

    def numbers(self, frame: Frame) -> Array:
        """Return the cells as numbers, shape (n,), NaN where missing."""
        return self.type.numbers(frame, self.name)

    def labels(self, frame: Frame) -> Cells:
        """Return the cells as the names of categories, None where missing, shape (n,)."""
        return as_labels(frame, self.name)

    def shares(self, counts: Sequence[Mapping[Any, float]]) -> tuple[CategoryShares, ...]:
        """Return the shares of categories from their counts in every table; None is a missing cell."""
        del counts
        return ()

    def bounded(self, block: Array) -> Array:
        """Return coordinates (n, k) that are not so far away that kernels lose them."""
        return block

    def note(self, where: str) -> str | None:
        """Return what a reader should know about how the column is encoded."""
        del where
        return None

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


def _digits(means: list[float]) -> int:
    """Return how many digits show differences of means to a tenth: four or more, eight at most."""
    reach, apart = max(map(abs, means), default=0.0), max(means, default=0.0) - min(means, default=0.0)
    if not 0.0 < apart < math.inf:
        return _FEWEST_DIGITS
    return min(max(math.floor(math.log10(reach)) - math.floor(math.log10(apart)) + 2, _FEWEST_DIGITS), _MOST_DIGITS)
