r"""Gram matrices of centered features: less the means of strata, or so that products are unbiased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...kernels.distances import Blocks
from ...plan.plan import Plan


@final
@dataclass(frozen=True, eq=False)
class CenteredGram:
    r"""Blocks of a Gram matrix of features less the means of their strata, :math:`\bar K = HKH` of a single one.

    Unbiased, it is the U-centered matrix of Székely & Rizzo (2014), section 2.1, of one stratum: with a zero diagonal
    and rows that sum to 0. Products of two such matrices have the unbiased expectation. One pass over the Gram matrix
    prepares it; the blocks make another one.
    """

    raw: Blocks
    means: Array
    """The inner products of features and means, shape (n, strata)."""
    shift: Array
    """Those between the means, shape (strata, strata)."""
    raw_diagonal: Array
    stratum: IntArray
    unbiased: bool = False

    @classmethod
    def of(cls, raw: Blocks, diagonal: Array, plan: Plan, stratum: IntArray, inside: Array) -> Self:
        """Take the means of a symmetric matrix with this diagonal.

        ``inside`` (n, strata) are what rows count in the means of strata, columns of sum 1.
        """
        n = len(diagonal)
        means = plan.matmul(raw, n, n, inside, symmetric=True)
        return cls(raw, means, inside.T @ means, diagonal, stratum)

    @classmethod
    def unbiased_of(cls, raw: Blocks, diagonal: Array, plan: Plan) -> Self:
        """Return the U-centered matrix."""
        n = len(diagonal)
        sums = plan.matmul(raw, n, n, np.ones(n), symmetric=True) - diagonal
        shift = np.full((1, 1), float(sums.sum()) / ((n - 1) * (n - 2)))
        return cls(raw, sums[:, None] / (n - 2), shift, diagonal, np.zeros(n, dtype=np.intp), unbiased=True)

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.means)

    @property
    def diagonal(self) -> Array:
        """Return the diagonal of the centered matrix, shape (n,)."""
        if self.unbiased:
            return np.zeros(self.n)
        means = self.means[np.arange(self.n), self.stratum]
        return np.asarray(self.raw_diagonal - 2 * means + np.diagonal(self.shift)[self.stratum])

    def __call__(self, i: slice, j: slice) -> Array:
        """Return the tile of two slices."""
        tile = self.raw(i, j) - self._toward(j, i).T - (self._toward(i, j) - self._shift(i, j))
        if self.unbiased:
            tile[np.arange(*i.indices(self.n))[:, None] == np.arange(*j.indices(self.n))] = 0.0
        return tile

    def _toward(self, i: slice, j: slice) -> Array:
        """Return inner products of rows with the means of the strata of others; of one stratum a single column."""
        return self.means[i] if len(self.shift) == 1 else self.means[i][:, self.stratum[j]]

    def _shift(self, i: slice, j: slice) -> Array:
        return self.shift if len(self.shift) == 1 else self.shift[self.stratum[i]][:, self.stratum[j]]


def hadamard(first: Blocks, second: Blocks) -> Blocks:
    """Prepare the entrywise product of two matrices."""
    return lambda i, j: first(i, j) * second(i, j)
