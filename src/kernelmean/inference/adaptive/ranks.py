"""Ranks of values among those of some rows, found without a search, and their normal scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from scipy.special import ndtri

from ...core.array import Array, IntArray, array_api, as_type, column_of, like, namespace
from ...core.cached import cached_property

_CELLS, _STEPS = 8, 2
"""Cells for every knot, and how many knots of one cell are passed before a search takes over."""
_MOST_CROWDED = 0.25
"""The share of the knots that may be in cells with more knots; beyond it a search is faster."""
_MANY_KNOTS, _TAIL = 256, 0.02
"""From this many knots on there are cells; this share of the knots on either side lies beyond them."""


@final
@dataclass(frozen=True)
class Ranks:
    """Where values stand among those of some rows, column by column.

    The distinct values of a column are knots. The place of a value is 2 i + 1 if it is knot i, and 2 i if it is just
    below knot i.
    """

    n: int
    """The number of rows among which others are ranked."""
    knots: tuple[Array, ...]
    levels: tuple[Array, ...]
    """The rank of every place: the mean rank of ties; between two knots the middle of their ranks."""

    @classmethod
    def of(cls, points: Array) -> Self:
        """Return the knots of some rows, shape (n, d)."""
        counted = [np.unique(column, return_counts=True) for column in points.T]
        return cls(len(points), tuple(knots for knots, _ in counted), tuple(_levels(counts) for _, counts in counted))

    @cached_property
    def scores(self) -> tuple[Array, ...]:
        """The normal score of every place."""
        return tuple(normal_scores(levels, self.n) for levels in self.levels)

    def places(self, points: Array) -> list[IntArray]:
        """Return the place of every value, column by column."""
        return [_places(column_of(points, j), ladder) for j, ladder in enumerate(self._ladders)]

    @cached_property
    def _ladders(self) -> tuple[Ladder, ...]:
        return tuple(Ladder(knots) for knots in self.knots)


@final
class Ladder:
    """Ascending knots, and cells of equal width that show roughly where a value is: few values need a search."""

    def __init__(self, knots: Array) -> None:
        self.knots = knots
        self.padded = np.append(knots, np.nan)
        self._most = _CELLS * len(knots) - 1
        tail = int(_TAIL * len(knots))
        self._low, high = knots[tail], knots[len(knots) - 1 - tail]
        with np.errstate(over="ignore", divide="ignore"):
            self._per_cell = self._most / (high - self._low)
        self._first: IntArray | None = None
        if len(knots) >= _MANY_KNOTS and 0.0 < self._per_cell < np.inf:
            counts = np.bincount(self._cells(knots), minlength=self._most + 1)
            if counts[counts > _STEPS].sum() <= _MOST_CROWDED * len(knots):
                small = np.uint16 if len(knots) < np.iinfo(np.uint16).max else np.int64
                self._first = (np.cumsum(counts) - counts).astype(small)

    def _cells(self, values: Array) -> IntArray:
        """Return the cell of every value, which rises with the values."""
        with np.errstate(over="ignore"):
            cells = (values - self._low) * self._per_cell
        return np.clip(cells, 0.0, self._most, out=cells).astype(np.intp)

    def index(self, values: Array) -> IntArray:
        """Return how many knots are below every value."""
        if self._first is None:
            return np.searchsorted(self.knots, values)
        below = self._first[self._cells(values)]
        for _ in range(_STEPS):
            below += self.padded[below] < values
        beyond = np.flatnonzero(self.padded[below] < values)
        below[beyond] = np.searchsorted(self.knots, values[beyond])
        return below.astype(np.intp)


def _levels(counts: IntArray) -> Array:
    """Return the ranks of places from the counts of the knots, none beyond the first and the last rank."""
    ends = np.append(0.0, np.cumsum(counts))
    levels = np.empty(2 * len(counts) + 1)
    levels[0::2] = np.clip(ends + 0.5, 1.0, ends[-1])
    levels[1::2] = ends[1:] - (counts - 1.0) / 2
    return levels


@array_api
def _places(values: Any, ladder: Ladder) -> Any:
    """Return the place of every value among the knots."""
    xp, knots = namespace(values), like(ladder.knots, values)
    index = xp.searchsorted(knots, values)
    same = xp.take(knots, xp.clip(index, 0, knots.shape[0] - 1), axis=0) == values
    return 2 * index + as_type(same, "int64")


@_places.numpy
def _(values: Array, ladder: Ladder) -> IntArray:
    index = ladder.index(values)
    return 2 * index + (ladder.padded[index] == values)


def normal_scores(ranks: Array, n: int) -> Array:
    """Return Φ⁻¹((rank - ½) / n)."""
    return np.asarray(ndtri((ranks - 0.5) / n))


def ranks(column: Array) -> Array:
    """Return ranks as ``scipy.stats.rankdata`` does, in half the time."""
    order = np.argsort(column)
    ascending = column[order]
    ends = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]) + 1.0, len(column))
    counts = np.diff(ends, prepend=0.0)
    ranked = np.empty(len(column))
    ranked[order] = np.repeat(ends - (counts - 1.0) / 2, counts.astype(np.intp))
    return ranked
