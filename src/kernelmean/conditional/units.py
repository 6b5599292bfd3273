"""What weights are of: rows, or of many rows cells of those whose outcomes are near each other, known by their sums.

The weights of rows in a ridge regression are linear in the features of the rows, so that of the sum of the weights of
all rows of a cell nothing is needed but the sum of their features.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.spatial import cKDTree

from ..core.array import Array, IntArray
from ..core.frozen import Frozen
from .ridge import Ridges
from .rows import Targets

_MOST = 2000


@final
@dataclass(frozen=True, eq=False)
class Units(Frozen):
    """Outcomes, or means of those of a cell."""

    points: Array
    """Shape (units, q)."""
    sizes: Array
    """How many rows they hold, shape (units,)."""
    of_rows: IntArray
    """The units of the rows that are kept."""

    @classmethod
    def single(cls, values: Array) -> Units:
        """Return rows as units of their own."""
        return cls(values, np.ones(len(values)), np.arange(len(values)))

    @property
    def shares(self) -> Array:
        """Of all rows, shape (units,)."""
        return np.asarray(self.sizes / self.sizes.sum())

    def targets(self, values: Array, sources: Array) -> Targets:
        """Return values of the rows that are kept as targets of regressions on sources, a row for every unit."""
        return Targets(values, sources[self.of_rows], self.shares @ sources, int(self.sizes.sum()))


@final
class Cells:
    """The cells of the first 2000 different ones of some outcomes, and what is added up of the outcomes in them."""

    def __init__(self, values: Array) -> None:
        first = np.sort(np.unique(values, axis=0, return_index=True)[1])[:_MOST]
        self._centers = values[first]
        deviations = self._centers.std(axis=0)
        self._scale = np.where(deviations > 0.0, deviations, 1.0)
        self._tree = cKDTree(self._centers / self._scale)
        self._of_rows = self.nearest(values)
        self.sizes, self._gaps = np.zeros(len(first)), np.zeros(self._centers.shape)

    def nearest(self, values: Array) -> IntArray:
        """Return the cell of every outcome: that of the nearest centre, in units of deviations."""
        return np.asarray(self._tree.query(values / self._scale)[1])

    def add(self, values: Array) -> csr_array:
        """Add outcomes; return which of them fall into which cell, shape (cells, n)."""
        cells, numbers = self.nearest(values), np.arange(len(values))
        members = csr_array((np.ones(len(values)), (cells, numbers)), (len(self.sizes), len(values)))
        self.sizes += members.sum(axis=1)
        self._gaps += members @ (values - self._centers[cells])
        return members

    def units(self) -> Units:
        """Return the units."""
        points = self._centers + self._gaps / np.maximum(self.sizes, 1.0)[:, None]
        return Units(points, self.sizes, self._of_rows)


def in_cells(
    ridges: Ridges, kept: Sequence[Array], blocks: Iterable[tuple[Array, Sequence[Array]]]
) -> list[tuple[Units, Ridges]]:
    """Deal rows to cells of one kind of outcomes or more; return the units and the regressions with their sums.

    ``kept`` has the outcomes of every kind that make the cells, ``blocks`` scaled rows with all of their outcomes.
    """
    cells = [Cells(values) for values in kept]
    sizes = [len(each.sizes) for each in cells]
    sums = [np.zeros((sum(sizes), len(ridge.center))) for ridge in ridges]
    for rows, outcomes in blocks:
        members = vstack([each.add(values) for each, values in zip(cells, outcomes, strict=False)])
        for number, ridge in enumerate(ridges):
            sums[number] += members @ ridge.features(rows)
    split = zip(*(np.split(total, np.cumsum(sizes)[:-1]) for total in sums), strict=True)
    return [
        (each.units(), tuple(ridge.in_units(total, each.sizes) for ridge, total in zip(ridges, totals, strict=True)))
        for each, totals in zip(cells, split, strict=True)
    ]
