"""Listed permutations of few units with many rows: the products of every unit with every other are added up once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray
from ...plan.plan import DEFAULT, Plan
from ..low_rank_problem import weighted_norms
from ..permutations import Permutations
from ..units.layout import Layout
from .stripes import BlockPair, Featured

_BATCH = 64


def moving(layout: Layout) -> list[IntArray]:
    """Return the units of every cell that has several."""
    return [np.flatnonzero(layout.cells == cell) for cell in np.flatnonzero(np.bincount(layout.cells) > 1)]


def meeting_units(layout: Layout) -> list[IntArray]:
    """Return the rows that meet each other: those at one place of all units of a cell, and at the end rows alone."""
    meeting = [layout.starts[units] + np.arange(layout.sizes[units[0]])[:, None] for units in moving(layout)]
    alone = np.ones(layout.n, dtype=bool)
    for rows in meeting:
        alone[rows] = False
    return [*meeting, np.flatnonzero(alone)[:, None]]


@final
@dataclass(eq=False)
class UnitProducts:
    """Σ_o x_r(u, o) y_q(v, o) over the rows o of any two units u and v of a cell, for every pair of blocks.

    The columns of X have mean 0.
    """

    x: Featured
    y: Featured
    pairs: Sequence[BlockPair]
    layout: Layout
    cells: list[IntArray] = field(init=False)
    products: list[list[Array]] = field(init=False)
    """For every one of these cells and every pair of blocks, shape (U, U, r, q); at the end of units that stay."""

    def __post_init__(self) -> None:
        self.cells = moving(self.layout)
        sizes = [*map(len, self.cells), 1]
        self.products = [[np.zeros((many, many, *pair.shape)) for pair in self.pairs] for many in sizes]

    def add_group(self, number: int, rows: Any, plan: Plan = DEFAULT) -> None:
        """Add rows that meet, see :func:`meeting_units`, those of one place after those of another."""
        del plan
        left, right = ([values for _, values in side.at(rows)] for side in (self.x, self.y))
        for pair, sums in zip(self.pairs, self.products[number], strict=True):
            r, q = pair.shape
            one = left[pair.left][:r].reshape(r, -1, len(sums))
            other = right[pair.right][:q].reshape(q, -1, len(sums))
            np.add(sums, np.tensordot(one, other, axes=(1, 1)).transpose(1, 3, 0, 2), out=sums)

    def values(self, units: Permutations, numbers: Sequence[int] | None = None) -> Array:
        """Return Σ_rq v_r w_q (Σ_i x_ri y_qπ(i) / n)² of all pairs of kernels, or of some pairs of blocks, (k, P)."""
        numbers = range(len(self.pairs)) if numbers is None else numbers
        values = np.zeros((1 + max(int(self.pairs[number].numbers.max()) for number in numbers), units.count))
        start = 0
        for batch in units.batches(_BATCH):
            some = slice(start, start + len(batch))
            for number in numbers:
                pair = self.pairs[number]
                sums = np.stack([self._sums(number, order) for order in batch], axis=-1) / self.layout.n
                values[pair.numbers, some] += weighted_norms(pair.weights, sums, slice(None))
            start = some.stop
        return values

    def _sums(self, number: int, order: IntArray) -> Array:
        total = self.products[-1][number][0, 0].copy()
        for units, products in zip(self.cells, self.products, strict=False):
            total += products[number][np.arange(len(units)), order[units] - units[0]].sum(axis=0)
        return total
