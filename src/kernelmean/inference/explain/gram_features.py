"""Features by their Gram matrix: those of rows, their means over units, and differences of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array
from ...kernels import Kernel
from ...kernels.distances import Blocks
from ...plan.plan import Plan
from ..low_rank import Factor, pivoted_cholesky
from .cells import RowsOfUnits, diagonal_of

Operator = Callable[[Array], Array]
_FACTOR_FROM, _STRIP = 500, 64


@final
@dataclass(frozen=True, eq=False)
class Features:
    """Vectors of the feature space, by the inner products between them."""

    blocks: Blocks
    diagonal: Array
    plan: Plan
    fast: Operator | None = None
    """The product of the Gram matrix and columns, on verified factors of low rank."""

    @classmethod
    def of_rows(cls, kernel: Kernel, points: Array, plan: Plan) -> Self:
        """Return those of rows, on a factor where the rank is below a quarter of them."""
        factor = factor_of(kernel, points)
        fast = None if factor is None else lambda columns: factor.rows.T @ (factor.rows @ columns)
        return cls(kernel.blocks(points, points), kernel.diag(points), plan, fast)

    @property
    def n(self) -> int:
        """Return how many there are."""
        return len(self.diagonal)

    def product(self, columns: Array) -> Array:
        """Return the product of the Gram matrix and columns, shape (n, b)."""
        return self.exact(columns) if self.fast is None else self.fast(columns)

    def exact(self, columns: Array) -> Array:
        """Return the same without a factor, in O(n²) time for a few columns."""
        return self.plan.matmul(self.blocks, self.n, self.n, columns, symmetric=True)

    def of_units(self, units: RowsOfUnits) -> Features:
        """Return the means of these over units of rows."""
        if units.are_rows:
            return self
        fast, diagonal = self.fast, units.diagonal(self.blocks, self.diagonal)
        many = None if fast is None else lambda columns: units.means(fast(units.spread(columns)))
        return Features(units.blocks(self.blocks), diagonal, units.plan(self.plan), many)

    def differences(self) -> Features:
        """Return those of the first half minus those of the second."""
        half, raw, fast = self.n // 2, self.blocks, self.fast

        def tile(i: slice, j: slice) -> Array:
            later = [slice(part.start + half, part.stop + half) for part in (i, j)]
            return np.asarray(raw(i, j) + raw(*later) - raw(i, later[1]) - raw(later[0], j))

        def both(columns: Array) -> Array:
            assert fast is not None, "it is not used then"
            return np.asarray(np.subtract(*np.split(fast(np.concatenate([columns, -columns])), 2)))

        return Features(tile, diagonal_of(tile, half, _STRIP), self.plan, None if fast is None else both)


def factor_of(kernel: Kernel, points: Array) -> Factor | None:
    """Return a verified factor of the Gram matrix of many rows; None if these are few, or its rank is high."""
    n = len(points)
    return pivoted_cholesky(kernel, points, max_rank=min(n // 4, 500)) if n >= _FACTOR_FROM else None
