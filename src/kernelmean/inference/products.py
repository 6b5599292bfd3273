"""Sums of the products of the entries of any two centered Gram matrices over the same rows, of all pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np

from ..core.array import Array, slices
from .low_rank import Factor
from .low_rank_problem import centered, diagonals
from .problem import KernelSide
from .tiling import upper_tiles
from .units.forms import paying_factors

_ENTRIES = 2**22
"""Of the tiles of all matrices that are held at a time."""


def centered_products(side: KernelSide) -> tuple[Array, Array]:
    """Return Σ_ij K̄_ij L̄_ij of every two matrices, (k, k), and all diagonals, (k, n).

    O(n r²) time and O(n r) memory for factors of r rows together if their ranks are low, otherwise O(n² k²) time.
    """
    factors = paying_factors(side)
    return _of_tiles(side) if factors is None else _of_factors(centered(factors))


def unbiased_hsic(side: KernelSide) -> Array:
    """Return the unbiased HSIC of every two kernels, shape (k, k), as :class:`~.statistics.HSIC` defines it."""
    n, (products, diagonal) = side.n, centered_products(side)
    traces = diagonal.sum(axis=1)
    products -= n / (n - 2) * (diagonal @ diagonal.T)
    products += np.outer(traces, traces) / ((n - 1) * (n - 2))
    return np.asarray(products / (n * (n - 3)))


def _of_factors(factors: Sequence[Factor]) -> tuple[Array, Array]:
    """Add up the squares of the products of the rows of any two factors."""
    rows = np.concatenate([factor.rows for factor in factors])
    number = np.repeat(np.arange(len(factors)), [factor.rank for factor in factors])
    weights = [np.ones(factor.rank) if factor.weights is None else factor.weights for factor in factors]
    products, every = np.empty((len(factors), len(factors))), np.concatenate(weights)
    for row, factor, own in zip(products, factors, weights, strict=True):
        row[:] = np.bincount(number, every * (own @ np.square(factor.rows @ rows.T)), len(factors))
    return products, diagonals(factors)


def _of_tiles(side: KernelSide) -> tuple[Array, Array]:
    """Add up tiles of one half, minus a constant each, and center the sums."""
    n, tiles, shifts = side.n, side.tiles(), np.array(side.shifts)[:, None, None]
    products, rows = np.zeros((side.count, side.count)), np.zeros((side.count, n))
    for i, j in upper_tiles(slices(n, max(1, isqrt(_ENTRIES // side.count)))):
        grams = np.stack(tiles(i, j)) - shifts
        rows[:, i] += grams.sum(axis=2)
        if i != j:
            rows[:, j] += grams.sum(axis=1)
        flat = grams.reshape(side.count, -1)
        products += (1.0 if i == j else 2.0) * (flat @ flat.T)
    totals = rows.sum(axis=1)
    products += np.outer(totals, totals) / n**2 - 2 / n * (rows @ rows.T)
    return products, side.diagonal(rows)
