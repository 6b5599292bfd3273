"""Several variables: the rows of all but the first change places, and dHSIC is evaluated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...kernels import Kernel
from ...plan.plan import serial_blas
from ..null import Null
from ..permutations import within_cells
from ..problem import KernelSide
from ..resampling import Resampling, Resources
from ..rotations.gathered import DENSE_LIMIT
from ..statistics import StatisticForm, ties
from ..tiling import in_order, upper_tiles
from ..units.forms import TILE, tiled_forms

_BATCH, _STRIP = 64, 64
_SMALL = 2**21


@final
@dataclass(frozen=True)
class ManyVariables:
    """A number of variables; the rows of all but the first are permuted independently of each other."""

    many: int

    plain_only: ClassVar[str | None] = "several variables"
    notes: ClassVar[tuple[str, ...]] = ()

    @property
    def methods(self) -> tuple[str, str]:
        """Return the test in words."""
        what = f"test of joint independence of {self.many} variables, dHSIC"
        return f"Permutation {what}", f"Adaptive permutation {what}"

    def null(
        self,
        tables: tuple[Array, ...],
        kernels: Sequence[tuple[Kernel, ...]],
        statistic: StatisticForm,
        how: Resampling,
    ) -> Null:
        """Return dHSIC of every tuple of kernels."""
        if statistic != "v":
            raise ValueError(f"statistic is {statistic!r}; dHSIC is a V-statistic: pass 'v'")
        n, many, resources = len(tables[0]), self.many, how.resources
        cells = np.repeat(np.arange(many - 1), n)  # one per variable that is permuted
        listed = within_cells(cells, how.n_resamples, how.rng, scheme=how.scheme)
        with serial_blas:
            joints = [_Joint(tables, each, resources) for each in kernels]
            orders = (batch.reshape(-1, many - 1, n) % n for batch in listed.batches(_BATCH))
            values = np.concatenate([np.stack([joint(batch) for joint in joints]) for batch in orders], axis=1)
        slack = ties(values, np.array([joint.magnitude for joint in joints]))
        return Null(values, slack, "dHSIC (V-statistic)", listed.scheme)


@final
class _Joint:
    """dHSIC as a function of one permutation for every variable but the first."""

    def __init__(self, tables: Sequence[Array], kernels: Sequence[Kernel], resources: Resources) -> None:
        sides = [KernelSide(points, (kernel,), shifted=False) for points, kernel in zip(tables, kernels, strict=True)]
        self.sides, self.n_jobs, self.n = sides, resources.n_jobs, sides[0].n
        ones = np.full((self.n, 1), 1 / self.n)
        self.means = [tiled_forms(side, resources).times(ones)[0, :, 0] for side in sides]
        everything = slice(0, self.n)
        dense = self.n <= DENSE_LIMIT
        self.grams = [side.tiles()(everything, everything)[0] for side in sides] if dense else None

    @property
    def magnitude(self) -> float:
        """Return the magnitude for rounding errors."""
        return math.prod(float(np.abs(side.gram_diagonal()).mean()) for side in self.sides)

    def __call__(self, permutations: IntArray) -> Array:
        """Return dHSIC, shape (b,), of permutations (b, variables - 1, n)."""
        identity = np.broadcast_to(np.arange(self.n), (len(permutations), 1, self.n))
        orders = np.concatenate([identity, permutations], axis=1)
        means = reduce(np.multiply, [mean[orders[:, v]] for v, mean in enumerate(self.means)])
        products = math.prod(float(mean.mean()) for mean in self.means)
        return np.asarray(self._pairs(orders) / self.n**2 + products - 2 * means.mean(axis=1))

    def _pairs(self, orders: IntArray) -> Array:
        """Return Σ_ij Π_l K^l of the permuted rows, shape (b,)."""
        if self.grams is not None:
            return self._gathered(orders, self.grams)
        tiles = upper_tiles(slices(self.n, TILE))
        return sum(in_order(lambda tile: self._tile(orders, *tile), tiles, self.n_jobs), np.zeros(len(orders)))

    def _gathered(self, orders: IntArray, grams: list[Array]) -> Array:
        """Return the sums from matrices in memory: small ones all at once, large ones by strips of rows."""
        if len(orders) * self.n**2 <= _SMALL:
            chosen = (gram[orders[:, v, :, None], orders[:, v, None, :]] for v, gram in enumerate(grams))
            return np.asarray(reduce(np.multiply, chosen).sum(axis=(1, 2)))

        def one(order: IntArray) -> float:
            total = 0.0
            for rows in slices(self.n, _STRIP):
                rest = slice(rows.start, None)  # matrices are symmetric: pairs of this strip and of later rows suffice
                others = [gram[perm[rows]].take(perm[rest], 1) for gram, perm in zip(grams[1:], order[1:], strict=True)]
                first = reduce(np.multiply, others[:-1], grams[0][rows, rest])
                block = slice(0, rows.stop - rows.start)
                total += 2 * float(np.vdot(first, others[-1])) - float(np.vdot(first[:, block], others[-1][:, block]))
            return total

        return np.array(list(in_order(one, orders, self.n_jobs)))

    def _tile(self, orders: IntArray, i: slice, j: slice) -> Array:
        """Return the sums over one tile, whose kernels are evaluated again."""
        side, weight = self.sides[0], 1.0 if i == j else 2.0
        first = side.kernels[0](side.points[i], side.points[j])
        sums = []
        for order in orders:
            others = [
                other.kernels[0](other.points[rows[i]], other.points[rows[j]])
                for other, rows in zip(self.sides[1:], order[1:], strict=True)
            ]
            sums.append(weight * float(np.vdot(reduce(np.multiply, others[:-1], first), others[-1])))
        return np.array(sums)
