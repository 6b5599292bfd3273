r"""How strongly variables depend on each other within strata, of all pairs at once, whatever rows count.

With shares p of rows, of sum 1, and Gram matrices K̄ and L̄ less the weighted means of their strata,
:math:`V = \sum_{ij} p_i p_j \bar K_{ij} \bar L_{ij}` is the squared length of the covariance within strata, which tests
look at. Chance adds to it what a stratum s adds alone. Of φ and ψ that are independent within strata this is on average

.. math:: α_s \sum_{i ∈ s} p_i^2 \bar K_{ii} \bar L_{ii} + β_s P_s^2 τ_s τ'_s, \qquad
    P_s = \sum_{i ∈ s} p_i, \quad τ_s = \sum_{i ∈ s} p_i \bar K_{ii} / P_s,

for any α, with one β for it. Of n equal weights α = n/(n - 2) and β = -1/((n - 1)(n - 2)) make V less this
(n - 3)/n times the unbiased HSIC. Of three rows or fewer nothing is left of what a stratum adds alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Self, final

import numpy as np

from ..core.array import Array, IntArray, slices
from ..core.cached import cached_property
from .low_rank import Factor
from .problem import KernelSide
from .tiling import upper_tiles
from .units.forms import paying_factors
from .units.layout import Layout

_ENTRIES = 2**22
"""Of the rows of all matrices that are held at a time."""
_AT_ONCE = 64
_LEAST, NOTHING = 3.0 - 1e-9, 1e-8
"""The rows of equal weight by which a stratum shows more than its traces, and what is rounding beside k(x, x)."""


@final
@dataclass(frozen=True, eq=False)
class Within:
    """Rows whose strata are consecutive, and what they count."""

    weights: Array
    """Of mean 1, shape (n,)."""
    starts: IntArray
    """The first row of every stratum, shape (strata,)."""

    @classmethod
    def of(cls, layout: Layout) -> Self:
        """Take the strata and the weights of rows in the order of a layout."""
        return cls(layout.weights, np.flatnonzero(np.diff(layout.stratum, prepend=-1)))

    @classmethod
    def all(cls, n: int) -> Self:
        """Return one stratum of n rows that count alike."""
        return cls(np.ones(n), np.zeros(1, dtype=np.intp))

    @property
    def sizes(self) -> IntArray:
        """The rows of every stratum."""
        return np.diff(np.append(self.starts, len(self.weights)))

    @cached_property
    def stratum(self) -> IntArray:
        """Whole numbers from 0, shape (n,)."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)

    @cached_property
    def shares(self) -> Array:
        """The weights over their sum, shape (n,)."""
        return np.asarray(self.weights / len(self.weights))

    @cached_property
    def inside(self) -> Array:
        """The matrix (n, strata) of the shares in strata, every column of sum 1: products with it are means."""
        inside = np.zeros((len(self.weights), len(self.starts)))
        inside[np.arange(len(inside)), self.stratum] = self.weights
        return np.asarray(inside / inside.sum(axis=0))

    def sums(self, values: Array) -> Array:
        """Return the sums of values (..., n) over the rows of strata, (..., strata)."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))

    def spread(self, values: Array) -> Array:
        """Return values of strata (..., strata) for every row, (..., n)."""
        return np.repeat(values, self.sizes, axis=-1)

    def centered(self, values: Array) -> Array:
        """Return values (..., n) less their means over strata."""
        return np.asarray(values - self.spread(self.means(values)))

    @cached_property
    def masses(self) -> Array:
        """The shares of the strata, P."""
        return self.sums(self.shares)

    @cached_property
    def second(self) -> Array:
        """The sums over strata of squared shares in them: one over the rows of equal weight that these are worth."""
        return self.sums(np.square(self.shares / self.spread(self.masses)))

    def means(self, values: Array) -> Array:
        """Return the means of values (..., n) over strata, (..., strata)."""
        return np.asarray(self.sums(values * self.shares) / self.masses)

    def chance(self) -> tuple[Array, Array, Array]:
        """Return α of every stratum, β P² that goes with it, and β P² for α = 0."""
        shares = self.shares / self.spread(self.masses)
        second, third = self.second, self.sums(shares**3)
        lengths = 1.0 - 2.0 * shares + self.spread(second)
        worth, left = 1.0 / second, np.square(1.0 - second)
        moved = np.divide(self.masses**2, left, out=np.zeros_like(left), where=second < 1.0)
        products = second + second**2 - 2.0 * third
        alpha = np.divide(worth, worth - 2.0, out=np.zeros_like(worth), where=worth >= _LEAST)
        beta = moved * (products - alpha * self.sums(np.square(shares * lengths)))
        return alpha, beta, moved * products


def alignments(side: KernelSide, within: Within) -> Array:
    """Return V of every two kernels less what chance adds, over the mean of both with themselves, shape (k, k).

    At most 1, and 0 where a kernel varies too little.
    """
    products, diagonal = centered_products(side, within)
    alpha, beta, _ = within.chance()
    traces, weighted = within.means(diagonal), within.shares * diagonal
    excess = products - (within.spread(alpha) * weighted) @ weighted.T - (beta * traces) @ traces.T
    nothing = NOTHING * np.abs(side.raw_diagonal()).mean(axis=1)
    scales = np.sqrt(np.where(np.diag(excess) > nothing**2, np.diag(excess), 0.0))
    scale = np.outer(scales, scales)
    return np.minimum(np.divide(excess, scale, out=np.zeros_like(excess), where=scale > 0.0), 1.0)


def centered_products(side: KernelSide, within: Within) -> tuple[Array, Array]:
    """Return V of every two matrices, (k, k), and the diagonals of all, (k, n).

    O(n r²) time and O(n r) memory for factors of r rows together if their ranks are low, otherwise O(n² k²) time.
    """
    factors = paying_factors(side)
    if factors is not None:
        return _of_factors(factors, within)
    return _of_tiles(side, within.shares) if len(within.starts) == 1 else _of_strips(side, within)


def _of_factors(factors: Sequence[Factor], within: Within) -> tuple[Array, Array]:
    """Add up the squares of the products of the rows of any two factors."""
    rows = np.concatenate([factor.rows for factor in factors])
    for some in slices(len(rows), _AT_ONCE):  # in place, as all together may take a gigabyte
        rows[some] = within.centered(rows[some])
    first = np.cumsum([0, *(factor.rank for factor in factors)])[:-1]
    every = np.concatenate([np.ones(factor.rank) if factor.weights is None else factor.weights for factor in factors])
    parts = list(zip(np.split(rows, first[1:]), np.split(every, first[1:]), strict=True))
    sums = [every * (weights @ np.square((part * within.shares) @ rows.T)) for part, weights in parts]
    return np.add.reduceat(sums, first, axis=1), np.stack([weights @ np.square(part) for part, weights in parts])


def _of_tiles(side: KernelSide, shares: Array) -> tuple[Array, Array]:
    """Add up tiles of one half, minus a constant each, and center the sums in the only stratum."""
    n, tiles, shifts = side.n, side.tiles(), np.array(side.shifts)[:, None, None]
    products, means = np.zeros((side.count, side.count)), np.zeros((side.count, n))
    for i, j in upper_tiles(slices(n, max(1, isqrt(_ENTRIES // side.count)))):
        grams = np.stack(tiles(i, j)) - shifts
        means[:, i] += grams @ shares[j]
        if i != j:
            means[:, j] += shares[i] @ grams
        products += (1.0 if i == j else 2.0) * _products(grams, shares[i], shares[j])
    totals = means @ shares
    products += np.outer(totals, totals) - 2.0 * (means * shares) @ means.T
    return products, side.gram_diagonal() - 2.0 * means + totals[:, None]


def _of_strips(side: KernelSide, within: Within) -> tuple[Array, Array]:
    """Add up rows of all matrices, centered along them, and take off the means of rows of a stratum at its end."""
    n, tiles, shifts, shares = side.n, side.tiles(), np.array(side.shifts)[:, None, None], within.shares
    stratum, mass = within.stratum, within.masses
    products, diagonal, begun = np.zeros((side.count, side.count)), np.empty((side.count, n)), np.zeros(())
    for some in slices(n, max(1, _ENTRIES // (side.count * n))):
        rows = within.centered(np.stack(tiles(some, slice(0, n))) - shifts)
        diagonal[:, some] = np.diagonal(rows[:, :, some], axis1=1, axis2=2)
        products += _products(rows, shares[some], shares)
        first = np.flatnonzero(np.diff(stratum[some], prepend=-1))
        sums = np.add.reduceat(rows * shares[some, None], first, axis=1)
        sums[:, 0] += begun
        stays = int(some.stop < n and stratum[some.stop] == stratum[some.stop - 1])
        ended, begun = stratum[some][first][: len(first) - stays], sums[:, -1] * stays
        means = sums[:, : len(ended)] / mass[ended, None]
        products -= _products(means, mass[ended], shares)
        places = np.flatnonzero(np.isin(stratum, ended))
        diagonal[:, places] -= means[:, stratum[places] - ended[:1], places]
    return products, diagonal


def _products(matrices: Array, left: Array, right: Array) -> Array:
    """Return the weighted sums of the products of the entries of any two matrices."""
    flat = (matrices * np.sqrt(left)[:, None] * np.sqrt(right)).reshape(len(matrices), -1)
    return flat @ flat.T
