"""Many pairs with strata, clusters or weights: features fitted to a pilot, and sums over all rows in linear time.

The pilot is made of whole stripes, or of rows of all clusters of a cell that correspond: permutations map it onto
itself, so that what is fitted to it stays the same. Rows come in batches, as often as they are needed: for the pilot,
for the means of the features over strata, and for the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...core.cached import cached_property
from ...plan.plan import DEFAULT, Plan, serial_blas
from ..adaptive.coordinates import block_pairs
from ..designs.independence import NAME, PairDesign
from ..null import Null
from ..permutations import Permutations, within_cells
from ..problem import KernelPair
from ..resampling import Resampling
from ..rotations.few_units import UnitProducts, meeting_units, moving
from ..rotations.meeting import together, windows_of
from ..rotations.stripes import BlockPair, StripeSums, turns_of
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

    @property
    def arrangements(self) -> Any:
        """What sums take: the turns of wheels, or permutations of units."""
        return self.permutations.turns if isinstance(self.permutations, Wheels) else self.permutations

    def again(self, n_resamples: int, rng: np.random.Generator) -> Self:
        """Return the same rows with other permutations of the same units, at most as many as were drawn first."""
        if isinstance(self.permutations, Wheels):
            turns = turns_of(n_resamples, self.permutations.lengths, rng)
            return replace(self, permutations=replace(self.permutations, turns=turns))
        return replace(self, permutations=within_cells(self.design.layout.cells, n_resamples, rng))

    @property
    def numbers(self) -> int:
        """How many numbers are held for the product of two columns."""
        if isinstance(self.permutations, Wheels):
            return sum(self.permutations.lengths)
        return sum(len(units) ** 2 for units in moving(self.design.layout))

    def empty(self, x: Placed, y: Placed, pairs: Sequence[BlockPair]) -> StripeSums | UnitProducts:
        """Return sums over no rows, with x centered in strata and weighted."""
        if isinstance(self.permutations, Wheels):
            return StripeSums(x.centered(self), y, pairs, self.permutations.lengths)
        return UnitProducts(x.centered(self), y, pairs, self.design.layout)

    def filled(self, *every: StripeSums | UnitProducts) -> Iterator[int]:
        """Add all rows to some sums, and yield how many were added."""
        wheels, added = self.permutations, 0
        groups = wheels.groups if isinstance(wheels, Wheels) else meeting_units(self.design.layout)
        for number, rows in together([self.design.rows[group] for group in groups], self.windows()):
            for sums in every:
                sums.add_group(number, rows, self.plan)
            added += len(rows)
            yield added

    def null(self, x: Placed, y: Placed, kernels: Sequence[KernelPair]) -> Null:
        """Return HSIC of pairs of kernels on columns that are fitted to the pilot."""
        with serial_blas:
            sums = self.empty(x, y, block_pairs(x.columns, y.columns, kernels))
            for _ in self.filled(sums):
                pass
            return self.null_of(sums, x, y, kernels)

    def null_of(self, sums: StripeSums | UnitProducts, x: Placed, y: Placed, kernels: Sequence[KernelPair]) -> Null:
        """Return HSIC from sums over all rows."""
        values = sums.values(self.arrangements)
        sizes = [placed.mean_squares([pair[i] for pair in kernels], self.pilot) for i, placed in enumerate((x, y))]
        return Null(values, ties(values, sizes[0] * sizes[1]), NAME, self.permutations.scheme)

    def windows(self) -> Iterator[Array]:
        """Yield all rows with two more columns, their stratum and their weight, which is 0 for those without part."""
        beside, start = self._strata_and_weights(), 0
        for rows in self._windows(self.batches()):
            yield np.column_stack([rows, beside[start : start + len(rows)]])
            start += len(rows)

    def variances(self, centered: Placed) -> Array:
        """Return the mean squares of columns within strata over the pilot, shape (columns,)."""
        rows = np.column_stack([self.pilot, self._strata_and_weights()[self.fitted_to]])
        values = np.concatenate([values for _, values in centered.at(rows)])
        return np.asarray(np.square(values) @ (1.0 / rows[:, -1]) / rows[:, -1].sum())

    def _strata_and_weights(self) -> Array:
        """Return the stratum and the weight of all rows, shape (n, 2)."""
        columns = np.zeros((self.n, 2))
        columns[self.design.rows] = np.column_stack([self.design.layout.stratum, self.design.layout.weights])
        return columns

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


@final
class Placed:
    """The columns of rows, fitted to some of their coordinates: as they are, or centered in strata and weighted.

    Behind the coordinates stand the stratum and the weight of a row, if columns are centered.
    """

    def __init__(self, columns: Any, place: slice | IntArray, means: Array | None = None) -> None:
        self.columns, self._place, self._means = columns, place, means
        self.size, self.blocks = columns.size, columns.blocks

    def centered(self, pairs: ManyPairs) -> Placed:
        """Return the columns minus their weighted means over strata, times the weights."""
        layout = pairs.design.layout
        sums = np.zeros((self.size, int(layout.stratum[-1]) + 1))
        for window in pairs.windows():
            for part in slices(len(window), _POINTS):
                rows = window[part][np.argsort(window[part, -2], kind="stable")]
                stratum = rows[:, -2].astype(np.intp)
                starts = np.flatnonzero(np.diff(stratum, prepend=-1))
                for block, values in self.at(rows):
                    sums[block.place, stratum[starts]] += np.add.reduceat(values * rows[:, -1], starts, axis=1)
        means = np.asarray(sums / np.bincount(layout.stratum, layout.weights))
        return Placed(self.columns, self._place, means)

    def mean_squares(self, kernels: Sequence[Any], pilot: Array) -> Array:
        """Return the means of k(x, x) over the rows of a pilot, shape (k,)."""
        table = np.empty((len(pilot), self.size))
        for block, values in self.at(pilot):
            table[:, block.place] = values.T
        table -= table.mean(axis=0)
        return np.array([float(np.mean(kernel.diag(table))) if kernel.columns else 0.0 for kernel in kernels])

    def at(self, rows: Array) -> Iterator[tuple[Block, Array]]:
        """Yield the columns, block by block."""
        for block, values in self.columns.at(rows[:, self._place]):
            if self._means is None:
                yield block, values
            else:
                yield block, (values - self._means[block.place][:, rows[:, -2].astype(np.intp)]) * rows[:, -1]


def placed_pair(columns: Sequence[Any], widths: tuple[int, int]) -> tuple[Placed, Placed]:
    """Return the columns of two variables that stand side by side, with so many coordinates."""
    first, both = widths[0], sum(widths)
    return Placed(columns[0], slice(0, first)), Placed(columns[1], slice(first, both))
