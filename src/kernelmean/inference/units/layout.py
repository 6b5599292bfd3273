"""Rows in the order of their units: which rows move as a whole, and which units may change places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray
from .dealing import MOST_BINS, bin_counts, bin_size

_LEAST = 64
"""A cell has its share of all bins, but at least so many: fewer would leave many of its units over."""


_MUCH = 0.05
"""The share of a sample that is not left over if another sample has as much."""


class DesignError(ValueError):
    """These rows cannot be tested with their design."""


@final
@dataclass(frozen=True)
class Layout:
    """Rows in an order in which strata, cells and units are consecutive, and their weights.

    A unit is a row, a cluster of rows, or a bin of either; a cell holds the units that may change places.
    """

    order: IntArray
    """Positions of the rows among those that were passed, shape (n,)."""
    weights: Array
    """In the new order, with mean 1, shape (n,)."""
    stratum: IntArray
    """Whole numbers from 0, ascending, shape (n,)."""
    sizes: IntArray
    """Rows of every unit, shape (units,)."""
    cells: IntArray
    """Whole numbers from 0, ascending, shape (units,)."""
    labels: IntArray
    """Of the samples, shape (units,). Within a cell ascending; 0 throughout where there are no samples."""
    binned: bool = False
    """Whether units are bins."""

    @classmethod
    def of(
        cls,
        labels: IntArray,
        weights: Array,
        strata: IntArray | None = None,
        clusters: IntArray | None = None,
        *,
        equal_sizes: bool = False,
    ) -> Self:
        """Sort rows by stratum, size of the cluster if only clusters of equal size change places, label and cluster.

        All columns have shape (n,).
        """
        within = np.zeros_like(labels) if strata is None else strata
        cluster = np.arange(len(labels)) if clusters is None else clusters
        sizes = np.bincount(cluster)
        alike = sizes if equal_sizes else np.zeros_like(sizes)
        order = np.lexsort((cluster, labels, alike[cluster], within))
        first = order[np.flatnonzero(np.diff(cluster[order], prepend=-1))]
        _, cells = np.unique(np.stack([within[first], alike[cluster[first]]], axis=1), axis=0, return_inverse=True)
        _, stratum = np.unique(within[order], return_inverse=True)
        used = weights[order] / weights.max()  # no sum overflows
        return cls(order, used / used.mean(), stratum, sizes[cluster[first]], cells.ravel(), labels[first])

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.order)

    @property
    def starts(self) -> IntArray:
        """Return the first row of every unit."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @property
    def still(self) -> int:
        """Return how many units have no other to change places with."""
        many = int(self.labels.max()) + 1
        samples = np.bincount(np.unique(self.cells * many + self.labels) // many)
        units = np.bincount(self.cells)
        return int(units[(units if many == 1 else samples) < 2].sum())

    def in_bins(self, rng: np.random.Generator) -> Layout:
        """Return the same rows with about 1024 bins of units as units, or 64 a cell, if there are more units.

        A bin holds equally many units of one cell and one sample as every other bin of the cell; units are dealt to
        them at random. What is left over stays together and moves no more. So permutations of the bins are a group of
        permutations of the units, and a test by them is exact: Domingo-Enrich, Dwivedi & Mackey (2025), section 3.
        """
        units = len(self.cells)
        if units <= MOST_BINS:
            return self
        ends = np.cumsum(np.bincount(self.cells))
        dealt = _Dealt()
        for start, stop in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            most = min(MOST_BINS, max(_LEAST, MOST_BINS * (stop - start) // units))
            dealt.deal(start, self.labels[start:stop], most, rng)
        return dealt.layout(self)


class _Dealt:
    """Units dealt to bins, cell after cell."""

    def __init__(self) -> None:
        self.units: list[IntArray] = []
        """The units of every bin, or of what is left over."""
        self.cells: list[int] = []
        self.labels: list[int] = []
        self._cell = 0

    def deal(self, start: int, labels: IntArray, most: int, rng: np.random.Generator) -> None:
        """Deal the units of a cell, numbered from ``start``, with ascending labels, to at most about ``most`` bins."""
        known, counts = np.unique(labels, return_counts=True)
        ends = start + np.cumsum(counts)
        shuffled = [stop - count + rng.permutation(count) for stop, count in zip(ends, counts, strict=True)]
        self._deal(dict(zip(known.tolist(), shuffled, strict=True)), most)

    def _deal(self, units: dict[int, IntArray], most: int) -> None:
        """Deal the units of every label to bins of one size.

        Of more than two samples the smallest decides the size; what the others have left over is dealt to larger bins.
        """
        counts = np.array(list(map(len, units.values())))
        size = bin_size(counts, most)
        bins = bin_counts(counts, size, most) if len(units) > 1 else np.zeros_like(counts)
        rest = {}
        for (label, members), many in zip(units.items(), bins.tolist(), strict=True):
            self._add(list(members[: many * size].reshape(many, size)), [self._cell] * many, label)
            rest[label] = members[many * size :]
        self._cell += 1
        again = {label: left for label, left in rest.items() if len(left) > _MUCH * len(units[label])}
        if len(units) > 2 and len(again) > 1 and bins.any():
            self._deal(again, most)
            rest = {label: left for label, left in rest.items() if label not in again}
        for label, left in rest.items():
            self._add([left] if len(left) else [], [self._cell], label)
            self._cell += 1

    def _add(self, bins: Sequence[IntArray], cells: list[int], label: int) -> None:
        self.units += bins
        self.cells += cells[: len(bins)]
        self.labels += [label] * len(bins)

    def layout(self, of: Layout) -> Layout:
        """Return the layout of these bins."""
        units = np.concatenate(self.units)
        sizes = of.sizes[units]
        rows = np.repeat(of.starts[units] - np.cumsum(sizes) + sizes, sizes) + np.arange(of.n)
        ends = np.cumsum([len(bin_) for bin_ in self.units])
        _, cells = np.unique(self.cells, return_inverse=True)
        return Layout(
            of.order[rows],
            of.weights[rows],
            of.stratum[rows],
            np.add.reduceat(sizes, ends - [len(bin_) for bin_ in self.units]),
            cells,
            np.array(self.labels),
            binned=True,
        )
