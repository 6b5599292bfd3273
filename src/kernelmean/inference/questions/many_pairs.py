"""Many pairs with strata, clusters or weights: features fitted to a pilot, and sums over all rows in linear time.

The pilot is made of whole stripes, or of rows of all clusters of a cell that correspond: permutations map it onto
itself, so that what is fitted to it stays the same. Rows come in batches, as often as they are needed: for the pilot,
for the means of the features over strata, and for the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...core.cached import cached_property
from ...plan.plan import DEFAULT, Plan, serial_blas
from ..adaptive.coordinates import Columns, block_pairs
from ..designs.independence import NAME, PairDesign
from ..null import Null
from ..permutations import Permutations
from ..problem import KernelPair
from ..resampling_options import Resampling
from ..rotations.few_units import UnitProducts
from ..rotations.meeting import together, windows_of
from ..rotations.stripes import BlockPair, Featured, StripeSums
from ..rotations.wheels import Wheels
from ..statistics import ties
from ..units.dealing import PILOT
from ..units.kernel_sums import Block
from ..units.layout import Layout

_POINTS = 4096
"""Rows whose columns are added up together."""


@final
@dataclass(frozen=True, eq=False)
class ManyPairs:
    """Rows that come in batches, and their permutations within a design."""

    design: PairDesign
    n: int
    """The number of all rows, with those that take no part."""
    batches: Callable[[], Iterable[Array]]
    """Starts to read all rows, shape (b, d): the columns of both variables."""
    permutations: Permutations
    fitted_to: IntArray
    """The ascending numbers of the rows that features are fitted to."""
    plan: Plan = DEFAULT

    @classmethod
    def of(
        cls, design: PairDesign, n: int, batches: Callable[[], Iterable[Array]], how: Resampling, plan: Plan = DEFAULT
    ) -> Self:
        """Draw permutations, then a pilot that they map onto itself."""
        permutations = design.permutations(how)
        if isinstance(permutations, Wheels):
            places = permutations.pilot(how.rng)
        else:
            places = _corresponding(design.layout, how.rng)
        return cls(design, n, batches, permutations, np.sort(design.rows[places]), plan)

    @cached_property
    def pilot(self) -> Array:
        """The rows that features are fitted to."""
        return np.concatenate([rows for _, rows in together([self.fitted_to[:, None]], self._windows(self.batches()))])

    def sums(self, x: Featured, y: Featured, pairs: Sequence[BlockPair]) -> StripeSums | UnitProducts:
        """Return sums over all rows; x and y take rows with their strata and weights, see :class:`Weighted`."""
        sums: StripeSums | UnitProducts
        wheels, layout = self.permutations, self.design.layout
        if isinstance(wheels, Wheels):
            sums, groups = StripeSums(x, y, pairs, wheels.lengths), wheels.groups
        else:
            sums = UnitProducts(x, y, pairs, layout)
            groups = sums.groups
        for number, rows in together([self.design.rows[group] for group in groups], self.windows()):
            sums.add_group(number, rows, self.plan)
        return sums

    def null(self, columns: Sequence[Columns], split: int, kernels: Sequence[KernelPair]) -> Null:
        """Return HSIC of pairs of kernels on features of the first ``split`` columns and of the others."""
        places = slice(0, split), slice(split, self.pilot.shape[1])
        with serial_blas:
            x, y = (Weighted(own, place) for own, place in zip(columns, places, strict=True))
            sums = self.sums(x.centered(self), y, block_pairs(columns[0], columns[1], kernels))
            values = sums.values(self.permutations)
        magnitude = np.prod(
            [
                _mean_squares([pair[side] for pair in kernels], columns[side], self.pilot[:, place])
                for side, place in enumerate(places)
            ],
            axis=0,
        )
        return Null(values, ties(values, magnitude), NAME, self.permutations.scheme)

    def windows(self) -> Iterator[Array]:
        """Yield all rows with two more columns, their stratum and their weight, which is 0 for those without part."""
        stratum, weights = np.zeros(self.n), np.zeros(self.n)
        stratum[self.design.rows] = self.design.layout.stratum
        weights[self.design.rows] = self.design.layout.weights
        start = 0
        for rows in self._windows(self.batches()):
            some = slice(start, start + len(rows))
            yield np.column_stack([rows, stratum[some], weights[some]])
            start = some.stop

    def _windows(self, batches: Iterable[Array]) -> Iterator[Array]:
        return windows_of(batches, self.n)


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


def _mean_squares(kernels: Sequence[Any], columns: Columns, pilot: Array) -> Array:
    """Return the means of k(x, x) over the rows, shape (k,)."""
    table = np.empty((len(pilot), columns.size))
    for block, values in columns.at(pilot):
        table[:, block.place] = values.T
    table -= table.mean(axis=0)
    return np.array([float(np.mean(kernel.diag(table))) if kernel.columns else 0.0 for kernel in kernels])


@final
class Weighted:
    """The columns of rows that stand before their stratum and their weight, as they are, or centered and weighted."""

    def __init__(self, columns: Featured, place: slice, means: Array | None = None) -> None:
        self._columns, self._place, self._means = columns, place, means
        self.size, self.blocks = columns.size, columns.blocks

    def centered(self, pairs: ManyPairs) -> Weighted:
        """Return the columns minus their weighted means over strata, times the weights."""
        layout = pairs.design.layout
        sums = np.zeros((self.size, int(layout.stratum[-1]) + 1))
        for window in pairs.windows():
            for part in slices(len(window), _POINTS):
                rows = window[part][np.argsort(window[part, -2], kind="stable")]
                stratum = rows[:, -2].astype(np.intp)
                starts = np.flatnonzero(np.diff(stratum, prepend=-1))
                for block, values in self._columns.at(rows[:, self._place]):
                    sums[block.place, stratum[starts]] += np.add.reduceat(values * rows[:, -1], starts, axis=1)
        means = np.asarray(sums / np.bincount(layout.stratum, layout.weights))
        return Weighted(self._columns, self._place, means)

    def at(self, rows: Array) -> Iterator[tuple[Block, Array]]:
        """Yield the columns, block by block."""
        for block, values in self._columns.at(rows[:, self._place]):
            if self._means is None:
                yield block, values
            else:
                yield block, (values - self._means[block.place][:, rows[:, -2].astype(np.intp)]) * rows[:, -1]
