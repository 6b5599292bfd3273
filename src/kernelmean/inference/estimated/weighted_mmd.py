r"""MMD² of weighted kernel means whose weights are found again for both samples of every permutation.

:math:`b_X^⊤ K_{XX} b_X + b_Y^⊤ K_{YY} b_Y - 2 b_X^⊤ K_{XY} b_Y`, where the weights of a sample are a symmetric function
of its own rows. What is fitted once is a function of the pooled rows; everything else is fitted under every
permutation, so the observed arrangement is treated like all others.

Flexible shrinkage (F-KMSE) finds the weights :math:`β = (K+λI)^{-1}K1_n` of a whole batch of Gram matrices at once.
λ minimizes the exact leave-one-out score of each matrix: a grid finds the basin, and the root of the derivative (by a
complex step, without differences) gives the minimum to about ten digits, as ties between permutations need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...core.cached import cached_property
from ...core.roots import rising_roots
from ...estimators.filters import Filter, Ridge
from ...estimators.loocv.spectral import AnyArray, mean_excess
from ...estimators.regularization import UNDERFLOW, relative_grids, strength_of_equal_entries
from ..statistics import StatisticForm

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
        diagonal = entries.copy()
        constant = diagonal.mean(axis=1)
        entries[:] = 0.0
        mean_off = grams.sum(axis=(1, 2)) / (n * (n - 1.0))
        mean_off[np.abs(grams).max(axis=(1, 2)) < UNDERFLOW] = np.nan
        entries[:] = diagonal - constant[:, None]
        values, vectors = np.linalg.eigh(grams)
        return cls(constant, diagonal - constant[:, None], np.maximum(values, -constant[:, None]), vectors, mean_off)

    @cached_property
    def _squared(self) -> Array:
        return np.square(self.vectors)

    def excess(self, strengths: AnyArray) -> AnyArray:
        """Return the leave-one-out scores minus the mean of the diagonal at positive λ, (b, m) to (b, m)."""
        diagonal = self.diagonal if self.diagonal.any() else None
        pieces = slices(len(strengths), max(1, _CACHED // (self.vectors.shape[-1] * strengths.shape[1])))
        return np.concatenate([self._excess(strengths, diagonal, piece) for piece in pieces])

    def _excess(self, strengths: AnyArray, diagonal: Array | None, piece: slice) -> AnyArray:
        stack = self.values[piece], self.vectors[piece], self._squared[piece], self.constant[piece]
        return mean_excess(*stack, strengths[piece], diagonal if diagonal is None else diagonal[piece])

    def slopes(self, logs: Array) -> Array:
        """Return the derivatives of the scores in log λ, (b, m) to (b, m)."""
        return np.asarray(np.imag(self.excess(np.exp(logs) * (1 + 1j * _STEP))) / _STEP)

    def best(self) -> Array:
        """Return λ of the smallest score, shape (b,); infinite where no λ beats the estimate 0.

        If the first λ of the grid is equally good up to rounding, it is chosen: otherwise the λ of a flat score would
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
        """Return β, (b, n), for one λ per matrix; 0 where λ is infinite."""
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


_STACK_BYTES = 2**24

GramWeights = Callable[[Array], Array]
"""From a stack of Gram matrices (b, n, n), which it may overwrite, to weights (b, n)."""


@final
@dataclass(frozen=True)
class FilterWeights:
    """The weights of a spectral filter, for a strength that is given, or chosen in every sample (ridge only)."""

    filter: Filter
    strength: float | None

    def __call__(self, grams: Array) -> Array:
        """Return β = g_λ(K) K 1_n of every matrix, in O(n³) each."""
        if isinstance(self.filter, Ridge):
            return ridge_weights(grams, self.strength)
        assert self.strength is not None, "only the ridge chooses its strength for a stack of matrices"
        if self.strength == np.inf:
            return np.zeros(grams.shape[:2])
        return np.stack([self.filter.weights(gram, self.strength) for gram in grams])

    @property
    def solves(self) -> bool:
        """Whether one linear system per sample gives the weights, rather than an eigendecomposition."""
        return isinstance(self.filter, Ridge) and self.strength is not None

    def batch(self, n: int) -> int:
        """Return how many samples of n rows fit the cache."""
        return int(np.clip(_STACK_BYTES / self.bytes(n), 1, 256))

    def bytes(self, n: int) -> float:
        """Return the memory of one sample of n rows while its weights are found."""
        grid = sum(map(len, relative_grids(n, _PER_DECADE))) if self.strength is None else 0
        return 8.0 * n * (4 * n + GRID_ARRAYS * grid)


@final
@dataclass(frozen=True)
class WeightedMMD:
    """The statistic of weights that are functions of the Gram matrix of a sample."""

    gram: Array
    """The Gram matrix of the pooled rows, the first sample first, shape (N, N)."""
    n_first: int
    weights: GramWeights
    kind: StatisticForm
    """"u" leaves out the diagonal of K_XX and K_YY and multiplies the rest by n/(n-1)."""

    def __call__(self, batch: IntArray) -> Array:
        """Return the statistics of permutations (b, N), shape (1, b)."""
        placed = [self._placed(index) for index in split(batch, self.n_first)]
        products = [weights @ self.gram for weights in placed]
        norms = [self._norm(index, placed[index], products[index]) for index in (0, 1)]
        return (norms[0] + norms[1] - 2 * _row_sums(products[0], placed[1]))[None]

    def _placed(self, index: IntArray) -> Array:
        """Return the weights of the rows ``index`` (b, n), at their places among all rows."""
        weights = self.weights(self.gram[index[:, :, None], index[:, None, :]])
        placed = np.zeros((len(index), len(self.gram)))
        np.put_along_axis(placed, index, weights, axis=1)
        return placed

    def _norm(self, sample: int, placed: Array, products: Array) -> Array:
        norm = _row_sums(products, placed)
        if self.kind == "v":
            return norm
        n = self.n_first if sample == 0 else len(self.gram) - self.n_first
        return (norm - placed**2 @ np.diagonal(self.gram)) * (n / (n - 1))


def split(batch: IntArray, n_first: int) -> tuple[IntArray, IntArray]:
    """Return the rows of each sample under permutations (b, N), in ascending order, (b, n) and (b, m)."""
    first = batch < n_first
    return tuple(np.nonzero(side)[1].reshape(len(batch), -1) for side in (first, ~first))  # type: ignore[return-value]


def _row_sums(left: Array, right: Array) -> Array:
    return np.asarray(np.einsum("bi,bi->b", left, right))
