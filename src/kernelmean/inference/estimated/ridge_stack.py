r"""Flexible shrinkage for many Gram matrices at once: F-KMSE weights :math:`β = (K+λI)^{-1}K1_n` of a whole batch.

λ minimizes the exact leave-one-out score of every matrix on its own: a grid finds the basin, the root of the derivative
(by a complex step, so without differences) the minimum to some ten digits, as ties between permutations need.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...core.roots import rising_roots
from ...estimators.loocv.spectral import AnyArray, mean_excess
from ...estimators.regularization import UNDERFLOW, relative_grids, strength_of_equal_entries

_PER_DECADE = 3
_STEP = 1e-20  # of λ, into the complex plane
_SAME = 1e-13  # relative difference of scores that is rounding
_CACHED = 2**13  # numbers in an array: larger ones are fetched from the system, and cleared, every time
GRID_ARRAYS = 20  # of the size of a matrix times the grid that one score takes


@final
@dataclass(frozen=True)
class RidgeStack:
    """Gram matrices K = c I + V diag(ε) Vᵀ of one size, decomposed."""

    constant: Array
    """c, the mean of the diagonal, shape (b,)."""
    diagonal: Array
    """K_ii - c, shape (b, n)."""
    values: Array
    vectors: Array
    """ε and V, shape (b, n) and (b, n, n)."""
    mean_off: Array
    """Shape (b,). The mean off the diagonal; nan where all entries there are below 1e-150, whose squares vanish."""

    @classmethod
    def of(cls, grams: Array) -> RidgeStack:
        """Decompose a stack of shape (b, n, n), which is overwritten, in O(b n³)."""
        n = grams.shape[-1]
        entries = grams.reshape(len(grams), -1)[:, :: n + 1]  # a view of the diagonals
        own = entries.copy()
        constant = own.mean(axis=1)
        entries[:] = 0.0
        mean_off = grams.sum(axis=(1, 2)) / (n * (n - 1.0))
        mean_off[np.abs(grams).max(axis=(1, 2)) < UNDERFLOW] = np.nan
        entries[:] = own - constant[:, None]
        values, vectors = np.linalg.eigh(grams)
        return cls(constant, own - constant[:, None], np.maximum(values, -constant[:, None]), vectors, mean_off)

    @cached_property
    def _squared(self) -> Array:
        return np.square(self.vectors)

    def excess(self, strengths: AnyArray) -> AnyArray:
        """Return the leave-one-out scores less the mean of the diagonal at positive λ, (b, m) to (b, m)."""
        own = self.diagonal if self.diagonal.any() else None
        pieces = slices(len(strengths), max(1, _CACHED // (self.vectors.shape[-1] * strengths.shape[1])))
        return np.concatenate([self._excess(strengths, own, piece) for piece in pieces])

    def _excess(self, strengths: AnyArray, own: Array | None, piece: slice) -> AnyArray:
        stack = self.values[piece], self.vectors[piece], self._squared[piece], self.constant[piece]
        return mean_excess(*stack, strengths[piece], own if own is None else own[piece])

    def slopes(self, logs: Array) -> Array:
        """Return the derivatives of the scores in log λ, (b, m) to (b, m)."""
        return np.asarray(np.imag(self.excess(np.exp(logs) * (1 + 1j * _STEP))) / _STEP)

    def best(self) -> Array:
        """Return λ of the smallest score, shape (b,); infinite where no λ beats the estimate 0.

        Where the first λ of the grid is as good to rounding, it is that one: without it the λ of a flat score would
        depend on the order of the rows.
        """
        grid = self._grid()
        scores = np.real(self.excess(grid))
        lowest = scores.argmin(axis=1)
        least = scores.min(axis=1)
        lowest[scores[:, 0] <= least + _SAME * np.abs(least)] = 0
        strengths = np.where(lowest > 0, self._refined(grid, lowest), grid[:, 0])
        return np.where((least < 0) & ~np.isnan(self.mean_off), strengths, np.inf)

    def _grid(self) -> Array:
        """Return λ in ascending order, (b, m): a wide grid, and a fine one around the optimum for equal entries."""
        wide, narrow = relative_grids(self.vectors.shape[-1], _PER_DECADE)
        unit = np.where(self.constant > 0, self.constant, 1.0)
        mean_off = self.mean_off / unit
        with np.errstate(invalid="ignore"):
            usable = (mean_off > UNDERFLOW) & (mean_off < 1 - 1e-12)
        around = strength_of_equal_entries(np.where(usable, mean_off, 0.5), self.vectors.shape[-1])
        parts = np.broadcast_to(wide, (len(unit), len(wide))), around[:, None] * narrow
        return np.sort(np.concatenate(parts, axis=1), axis=1) * unit[:, None]

    def _refined(self, grid: Array, lowest: IntArray) -> Array:
        """Return λ, (b,), at the root of the slope next to the best points of the grid, or these without one."""
        rows, last = np.arange(len(grid)), grid.shape[1] - 1
        best = grid[rows, lowest]
        near = np.log(grid[rows[:, None], np.clip(lowest[:, None] + [-1, 0, 1], 0, last)])
        slopes = self.slopes(near)
        falls = (slopes[:, 1] < 0).astype(np.intp)
        low, high = (near[rows, falls + side] for side in (0, 1))
        ends = slopes[rows, falls], slopes[rows, falls + 1]
        logs = rising_roots(lambda logs: self.slopes(logs[:, None])[:, 0], low, high, ends)
        return np.where((low < logs) & (logs < high), np.exp(logs), best)

    def weights(self, strengths: Array) -> Array:
        """Return β, (b, n), for one λ a matrix; 0 where it is infinite."""
        gamma = self.constant[:, None] + self.values
        with np.errstate(invalid="ignore"):
            factors = np.where(np.isfinite(strengths)[:, None], gamma / (gamma + strengths[:, None]), 0.0)
        return np.asarray((self.vectors @ (factors * self.vectors.mean(axis=1))[:, :, None])[:, :, 0])


def ridge_weights(grams: Array, strength: float | None) -> Array:
    """Return β of every matrix in a stack, (b, n, n) to (b, n), overwriting the stack.

    ``strength`` is λ, or None to choose it for every matrix by leaving one out.

    Examples
    --------
    >>> ridge_weights(np.array([[[1.0, 0.5], [0.5, 1.0]]]), 0.5)
    array([[0.375, 0.375]])
    """
    if strength is None:
        stack = RidgeStack.of(grams)
        return stack.weights(stack.best())
    if strength == np.inf:
        return np.zeros(grams.shape[:2])
    right = grams.mean(axis=2)[:, :, None]
    grams.reshape(len(grams), -1)[:, :: grams.shape[-1] + 1] += strength
    return np.asarray(np.linalg.solve(grams, right)[:, :, 0])


def stack_bytes(n: int, strength: float | None) -> float:
    """Return the memory that one matrix of a stack takes while its weights are found."""
    grid = sum(map(len, relative_grids(n, _PER_DECADE))) if strength is None else 0
    return 8.0 * n * (4 * n + GRID_ARRAYS * grid)
