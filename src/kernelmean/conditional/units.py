"""What weights are of: rows, or of many rows cells of those whose outcomes are near each other, known by their sums.

The weight of a row in a ridge regression is linear in its features. So the sum of the weights of all rows of a cell
needs no more than the sum of their features, which is added up row by row and takes the memory of a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from ..core.array import Array, IntArray
from ..core.frozen import Frozen
from .ridge import Ridges
from .rows import Targets

_MOST = 2000


@final
@dataclass(frozen=True, eq=False)
class OutcomeUnits(Frozen):
    """Outcomes, or means of those of a cell."""

    points: Array
    """Shape (units, q)."""
    sizes: Array
    """How many rows they hold, shape (units,)."""
    of_rows: IntArray
    """The units of the rows that are kept."""
    rows: Array | None = None
    """The outcomes of these rows, shape (rows, q), where rows are not units themselves."""

    @classmethod
    def single(cls, values: Array) -> OutcomeUnits:
        """Return rows as units of their own."""
        return cls(values, np.ones(len(values)), np.arange(len(values)))

    @property
    def shares(self) -> Array:
        """Of all rows, shape (units,)."""
        return np.asarray(self.sizes / self.sizes.sum())

    def drawn(self, units: IntArray, rng: np.random.Generator) -> Array:
        """Return outcomes of some units, shape (*units, q): of rows that are kept, the first if there is no other."""
        if self.rows is None:
            return np.asarray(self.points[units])
        order, kept = np.argsort(self.of_rows, kind="stable"), np.bincount(self.of_rows)
        others = np.maximum(kept - 1, 1)[units]
        places = np.cumsum(kept)[units] - 1 - (rng.random(units.shape) * others).astype(np.intp)
        return np.asarray(self.rows[order[places]])

    def targets(self, values: Array, sources: Array) -> Targets:
        """Return values of the rows that are kept as targets of regressions on sources, a row for every unit."""
        return Targets(values, sources[self.of_rows], self.shares @ sources, int(self.sizes.sum()))


@final
class OutcomeCells:
    """Cells about the first 2000 different ones of some outcomes: every row is dealt to the nearest, in deviations."""

    def __init__(self, values: Array, ridges: Ridges) -> None:
        first = np.sort(np.unique(values, axis=0, return_index=True)[1])[:_MOST]
        self._centers, deviations = values[first], values.std(axis=0)
        self._scale = np.where(deviations > 0.0, deviations, 1.0)
        self._tree = cKDTree(self._centers / self._scale)
        self._of_rows, self._rows, self._ridges = self._nearest(values), values, ridges
        self._sizes, self._gaps = np.zeros((len(first), 1)), np.zeros_like(self._centers)
        self.sums = [np.zeros((len(first), len(ridge.center))) for ridge in ridges]

    def _nearest(self, values: Array) -> IntArray:
        return np.asarray(self._tree.query(values / self._scale)[1])

    def add(self, values: Array) -> csr_array:
        """Add the outcomes of some rows; return which of these are in which cell, shape (cells, rows)."""
        cells, numbers = self._nearest(values), np.arange(len(values))
        members = csr_array((np.ones(len(values)), (cells, numbers)), (len(self._centers), len(values)))
        self._sizes = self._sizes + members @ np.ones((len(values), 1))
        self._gaps = self._gaps + members @ (values - self._centers[cells])
        return members

    def units(self) -> tuple[OutcomeUnits, Ridges]:
        """Return the cells as units, and the regressions with their sums."""
        sums = zip(self._ridges, self.sums, strict=True)
        ridges = tuple(replace(ridge, units=(total - self._sizes * ridge.center) @ ridge.axes) for ridge, total in sums)
        points = self._centers + self._gaps / np.maximum(self._sizes, 1.0)
        return OutcomeUnits(points, self._sizes[:, 0], self._of_rows, self._rows), ridges


def in_cells(
    ridges: Ridges, kept: Sequence[Array], blocks: Iterable[tuple[Array, Sequence[Array]]]
) -> list[tuple[OutcomeUnits, Ridges]]:
    """Deal rows to cells by outcomes of one kind or more; return the units and regressions of every kind.

    ``kept`` has the outcomes that make the cells, ``blocks`` all scaled rows with all of their outcomes.
    """
    cells = [OutcomeCells(values, ridges) for values in kept]
    for rows, outcomes in blocks:
        members = [each.add(values) for each, values in zip(cells, outcomes, strict=True)]
        for number, ridge in enumerate(ridges):
            features = ridge.features(rows)
            for each, membership in zip(cells, members, strict=True):
                each.sums[number] += membership @ features
    return [each.units() for each in cells]
