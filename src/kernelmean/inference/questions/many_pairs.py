"""Many pairs with strata, clusters or weights: features fitted to a pilot, and sums over all rows in linear time.

The pilot is made of whole stripes, or of rows of all clusters of a cell that correspond: permutations map it onto
itself, so that what is fitted to it stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...plan.plan import Plan, serial_blas
from ..adaptive.coordinates import Columns, block_pairs
from ..adaptive.views import Views, ViewSource
from ..designs.independence import NAME, PairDesign, check_statistic
from ..null import Null
from ..permutations import Permutations
from ..problem import KernelPair
from ..resampling_options import Resampling
from ..rotations.few_units import UnitProducts
from ..rotations.wheels import Wheels
from ..statistics import StatisticForm, ties
from ..units.dealing import PILOT
from ..units.kernel_sums import Block
from ..units.layout import Layout

_POINTS = 4096
"""Rows whose columns are added up together."""


@final
@dataclass(frozen=True, eq=False)
class ManyPairs:
    """Pairs in the order of a layout, and permutations of them."""

    layout: Layout
    tables: tuple[Array, ...]
    permutations: Permutations
    fitted_to: IntArray
    """The ascending numbers of the rows that features are fitted to."""
    plan: Plan

    @classmethod
    def of(cls, design: PairDesign, tables: tuple[Array, ...], statistic: StatisticForm, how: Resampling) -> Self:
        """Draw permutations, then a pilot that they map onto itself."""
        check_statistic(statistic)
        permutations = design.permutations(how)
        if isinstance(permutations, Wheels):
            rows = permutations.pilot(how.rng)
        else:
            rows = _corresponding(design.layout, how.rng)
        return cls(design.layout, tables, permutations, rows, Plan(threads=how.resources.n_jobs))

    @property
    def pilot(self) -> tuple[Array, ...]:
        """The rows that features are fitted to."""
        return tuple(table[self.fitted_to] for table in self.tables)

    def null(self, sources: Sequence[ViewSource], views: Sequence[Views], kernels: Sequence[KernelPair]) -> Null:
        """Return HSIC of pairs of kernels on features of the pilot, which are the views of its rows."""
        columns = [Columns.of(source, view, ()) for source, view in zip(sources, views, strict=True)]
        pairs = block_pairs(columns[0], columns[1], kernels)
        with serial_blas:
            x, y = _Numbered(columns[0], self.tables[0], self.layout), _Numbered(columns[1], self.tables[1])
            if isinstance(self.permutations, Wheels):
                values = self.permutations.values(x, y, pairs, self.plan)
            else:
                values = UnitProducts(x, y, pairs, self.layout).values(self.permutations)
        sizes = [_mean_squares([pair[side] for pair in kernels], view.table) for side, view in enumerate(views)]
        magnitude = sizes[0] * sizes[1]
        return Null(values, ties(values, magnitude), NAME, self.permutations.scheme)


def _corresponding(layout: Layout, rng: np.random.Generator) -> IntArray:
    """Draw rows until they are enough: those at one place of all units of a cell come together."""
    place = np.arange(layout.n) - np.repeat(layout.starts, layout.sizes)
    cell = np.repeat(layout.cells, layout.sizes)
    _, group = np.unique(np.stack([cell, place], axis=1), axis=0, return_inverse=True)
    sizes = np.bincount(group.ravel())
    drawn = rng.permutation(len(sizes))
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[drawn[: 1 + int(np.searchsorted(np.cumsum(sizes[drawn]), PILOT))]] = True
    return np.flatnonzero(chosen[group.ravel()])


def _mean_squares(kernels: Sequence[Any], columns: Array) -> Array:
    """Return the means of k(x, x) over the rows, shape (k,)."""
    centered = columns - columns.mean(axis=0)
    return np.array([float(np.mean(kernel.diag(centered))) if kernel.columns else 0.0 for kernel in kernels])


@final
class _Numbered:
    """The columns of the rows with some numbers; with a layout, centered in its strata and weighted."""

    def __init__(self, columns: Columns, points: Array, layout: Layout | None = None) -> None:
        self._columns, self._points, self._layout = columns, points, layout
        self.size, self.blocks = columns.size, columns.blocks
        self._means = np.zeros((0, 0)) if layout is None else self._over_strata(layout)

    def _over_strata(self, layout: Layout) -> Array:
        """Return the weighted means of the columns over the strata, shape (D, strata)."""
        sums = np.zeros((self.size, int(layout.stratum[-1]) + 1))
        for part in slices(layout.n, _POINTS):
            stratum = layout.stratum[part]
            starts = np.flatnonzero(np.diff(stratum, prepend=-1))
            for block, values in self._columns.at(self._points[part]):
                sums[block.place, stratum[starts]] += np.add.reduceat(values * layout.weights[part], starts, axis=1)
        return np.asarray(sums / np.bincount(layout.stratum, layout.weights))

    def at(self, rows: Any) -> Iterator[tuple[Block, Array]]:
        """Yield the columns, block by block."""
        for block, values in self._columns.at(self._points[rows]):
            if self._layout is None:
                yield block, values
            else:
                means = self._means[block.place][:, self._layout.stratum[rows]]
                yield block, (values - means) * self._layout.weights[rows]
