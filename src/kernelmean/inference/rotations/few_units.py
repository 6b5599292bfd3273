"""Listed permutations of few units with many rows: the products of every unit with every other are added up once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from ...core.array import Array, IntArray, slices
from ..low_rank_problem import weighted_norms
from ..permutations import Permutations
from ..units.layout import Layout
from .stripes import BlockPair, Featured

_AT_ONCE = 2**14
"""Rows whose columns are held at a time."""
_BATCH = 64


@final
@dataclass(eq=False)
class UnitProducts:
    """Σ_o x_r(u, o) y_q(v, o) over the rows o of any two units u and v of a cell, for every pair of blocks.

    The columns of X have mean 0; the features take numbers of rows.
    """

    x: Featured
    y: Featured
    pairs: Sequence[BlockPair]
    layout: Layout
    products: list[list[Array]] = field(init=False)
    """For every pair of blocks and every cell whose units can move, shape (U, U, r, q)."""
    fixed: list[Array] = field(init=False)
    """Of the units alone in their cells, shape (r, q)."""

    def __post_init__(self) -> None:
        cells, layout = self.layout.cells, self.layout
        many = np.bincount(cells)[cells] > 1
        self.fixed = [np.zeros(pair.shape) for pair in self.pairs]
        alone = np.flatnonzero(~np.repeat(many, layout.sizes))
        for part in slices(len(alone), _AT_ONCE):
            for number, sums in self._of(alone[part][None]):
                self.fixed[number] += sums[0, 0]
        self.cells = [np.flatnonzero(cells == cell) for cell in np.unique(cells[many])]
        self.products = [[_zeros(len(units), pair) for units in self.cells] for pair in self.pairs]
        for place, units in enumerate(self.cells):
            for offsets in slices(int(layout.sizes[units[0]]), max(1, _AT_ONCE // len(units))):
                rows = layout.starts[units][:, None] + np.arange(offsets.start, offsets.stop)
                for number, sums in self._of(rows):
                    self.products[number][place] += sums

    def _of(self, rows: IntArray) -> list[tuple[int, Array]]:
        """Return the products of rows (U, o) of some units for every pair of blocks, shape (U, U, r, q)."""
        left, right = ([values for _, values in side.at(rows.ravel())] for side in (self.x, self.y))
        found = []
        for number, pair in enumerate(self.pairs):
            r, q = pair.shape
            one = left[pair.left][:r].reshape(r, *rows.shape)
            other = right[pair.right][:q].reshape(q, *rows.shape)
            found.append((number, np.tensordot(one, other, axes=(2, 2)).transpose(1, 3, 0, 2)))
        return found

    def values(self, units: Permutations) -> Array:
        """Return Σ_rq v_r w_q (Σ_i x_ri y_qπ(i) / n)² of all pairs of kernels, shape (k, P)."""
        count = 1 + max(int(pair.numbers.max()) for pair in self.pairs)
        values = np.zeros((count, units.count))
        start = 0
        for batch in units.batches(_BATCH):
            some = slice(start, start + len(batch))
            for number, pair in enumerate(self.pairs):
                sums = np.stack([self._sums(number, order) for order in batch], axis=-1) / self.layout.n
                values[pair.numbers, some] += weighted_norms(pair.weights, sums, slice(None))
            start = some.stop
        return values

    def _sums(self, number: int, order: IntArray) -> Array:
        found = self.fixed[number].copy()
        for units, products in zip(self.cells, self.products[number], strict=True):
            found += products[np.arange(len(units)), order[units] - units[0]].sum(axis=0)
        return found


def _zeros(units: int, pair: BlockPair) -> Array:
    return np.zeros((units, units, *pair.shape))
