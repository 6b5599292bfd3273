"""Low-rank factors of Gram matrices that are never formed.

By pivoted Cholesky, with the residual checked on every row. For kernels that are weighted sums of products of a few
columns, these columns are the factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg.blas import dtrsm

from ..core.array import Array, IntArray, like, namespace, slices, take_columns
from ..embedding.features.landmarks import pivoted_triangle
from ..kernels import Kernel


@final
@dataclass(frozen=True)
class Coordinates(Kernel):
    r"""The kernel :math:`k(x, y) = Σ_j w_j x_{c_j} y_{c_j}` over some columns c of a table.

    Parameters
    ----------
    columns : tuple of int
        The columns c.
    weights : tuple of float
        One weight w_j ≥ 0 per column.

    Examples
    --------
    >>> float(Coordinates((0, 2), (1.0, 0.5))(np.array([[1.0, 9.0, 2.0]]), np.array([[3.0, 9.0, 4.0]]))[0, 0])
    7.0
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def place(self) -> slice | list[int]:
        """Return the columns, as a slice if they are neighbors."""
        columns = list(self.columns)
        if columns and columns == list(range(columns[0], columns[0] + len(columns))):
            return slice(columns[0], columns[0] + len(columns))
        return columns

    def over(self, columns: tuple[int, ...]) -> Coordinates:
        """Return the same kernel over more columns, all of them neighbors, with weights 0 for those that are new."""
        before = self.columns[0] - columns[0]
        behind = len(columns) - len(self.columns) - before
        return Coordinates(columns, (0.0,) * before + self.weights + (0.0,) * behind)

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        gram: Array = self._weighted(X) @ take_columns(Y, self.columns).T
        return gram

    def diag(self, X: Array) -> Array:
        """Return Σ_j w_j x_j², shape (n,)."""
        squares = self._weighted(X) * take_columns(X, self.columns)
        diagonal: Array = namespace(squares).sum(squares, axis=1)
        return diagonal

    def _weighted(self, X: Array) -> Array:
        chosen = take_columns(X, self.columns)
        weighted: Array = chosen * like(np.array(self.weights), chosen)
        return weighted


def widened(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Return the kernels so that they share factors: neighboring columns grow to all those of a wider kernel.

    Examples
    --------
    >>> widened([Coordinates((1, 2), (1.0, 2.0)), Coordinates((0, 1, 2), (1.0, 1.0, 1.0))])[0]
    Coordinates(columns=(0, 1, 2), weights=(0.0, 1.0, 2.0))
    """
    ranges = {each.columns for each in kernels if isinstance(each, Coordinates) and isinstance(each.place, slice)}
    widest: dict[tuple[int, ...], tuple[int, ...]] = {}
    for columns in sorted(ranges, key=len, reverse=True):
        wider = (each for each in widest.values() if each[0] <= columns[0] and columns[-1] <= each[-1])
        widest[columns] = next(wider, columns)
    return [
        kernel.over(widest[kernel.columns]) if isinstance(kernel, Coordinates) and kernel.columns in widest else kernel
        for kernel in kernels
    ]


RESIDUAL = 1e-10
_OF_CENTERED = 1e-8
_PROBE = 256
_SAMPLE = 1000
_WORST = 128
_ROUNDS = 12
_COLUMNS = 16384

Pivots = tuple[IntArray, Array]
"""Rows, and the triangle of the Cholesky factor between them."""


@final
@dataclass(frozen=True)
class Factor:
    """A matrix A of shape (r, n) and weights w with Aᵀ diag(w) A = K up to a residual."""

    rows: Array
    """One row per pivot, shape (r, n). Factors that share their rows share the work on them."""
    residual: float
    """tr(K - Aᵀ diag(w) A) / tr K, over all n rows; at most ``RESIDUAL``."""
    weights: Array | None = None
    """Shape (r,), all 1 by default."""

    @property
    def rank(self) -> int:
        """Return the number of pivots."""
        return len(self.rows)

    def times(self, entries: Array) -> Array:
        """Return the entries of a vector (r,), or of several (r, c), times the weights."""
        return entries if self.weights is None else (self.weights * entries.T).T

    @property
    def holds_differences(self) -> bool:
        """Whether what is left out is small beside the centered matrix, too.

        Far from 0 a linear kernel is nearly constant: its differences are a small share of its trace.
        """
        trace = centered = 0.0
        for row in self.rows:
            trace += float(row @ row)
            apart = row - row.mean()
            centered += float(apart @ apart)
        return self.residual * trace <= _OF_CENTERED * centered

    @property
    def diagonal(self) -> Array:
        """Return the diagonal of Aᵀ diag(w) A, shape (n,)."""
        if self.weights is None:
            return np.asarray(np.einsum("rn,rn->n", self.rows, self.rows))
        return np.asarray(np.einsum("r,rn,rn->n", self.weights, self.rows, self.rows))


def by_rows(factors: Sequence[Factor]) -> list[list[int]]:
    """Return the numbers of the factors that share their rows."""
    groups: dict[int, list[int]] = {}
    for number, factor in enumerate(factors):
        groups.setdefault(id(factor.rows), []).append(number)
    return list(groups.values())


def pivoted_cholesky(kernel: Kernel, points: Array, *, max_rank: int, residual: float = RESIDUAL) -> Factor | None:
    r"""Return A with :math:`\mathrm{tr}(K - A^⊤A) ≤ 10^{-10} \mathrm{tr}K`, or None when that needs more pivots.

    Pivots are greedy on a subsample of 256 rows (1000 if these are not plenty); one triangular solve gives all columns
    at once. Then the residual diagonal of **all** rows is checked; while it is too large, more pivots are taken from
    the worst rows. O(n r² + n r d) time, O(n r) memory.

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (n, d)
    max_rank : int
        Give up beyond this many pivots.
    residual : float
        The bound on the relative trace of the residual.

    Examples
    --------
    >>> from kernelmean.kernels import Gaussian
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> A = pivoted_cholesky(Gaussian(1.0), X, max_rank=20).rows
    >>> bool(np.allclose(A.T @ A, Gaussian(1.0)(X, X), atol=1e-8))
    True
    """
    diagonal = kernel.diag(points)
    target = residual * float(diagonal.sum())
    tolerance = 0.1 * target / len(points)
    rank, left = 0, diagonal
    factor: Array = np.empty((0, len(points)))
    batch = _first_pivots(kernel, points, max_rank, tolerance)
    for _ in range(_ROUNDS):
        if batch is None or rank + len(batch[0]) > max_rank:
            return None
        pivots, triangle = batch
        factor = _with_room(factor, rank, len(pivots))
        added = _extend(kernel, points, factor, rank, pivots, triangle)
        rank, left = rank + len(pivots), np.maximum(left - np.einsum("rn,rn->n", added, added), 0.0)
        if left.sum() <= target:
            return Factor(factor[:rank], float(left.sum() / diagonal.sum()) if target > 0.0 else 0.0)
        worst = np.argsort(left)[-max(_WORST, rank) :]
        batch = _pivots(kernel, points, factor[:rank], worst, tolerance)
    return None


def _first_pivots(kernel: Kernel, points: Array, max_rank: int, tolerance: float) -> Pivots | None:
    """Return greedy pivots among 256 of the points, or among 1,000 if more than half of the 256 are needed.

    None if the 256 show that the rank is too high: already so, or nearly full on these points.
    """
    nothing = np.empty((0, len(points)))
    probe = _pivots(kernel, points, nothing, _spread(len(points), _PROBE), tolerance)
    rank = len(probe[0])
    if rank > max_rank or (len(points) > 2 * _SAMPLE and 4 * rank > 3 * _PROBE):
        return None
    if 2 * rank <= _PROBE or len(points) <= _PROBE:
        return probe
    return _pivots(kernel, points, nothing, _spread(len(points), _SAMPLE), tolerance)


def _with_room(factor: Array, rank: int, added: int) -> Array:
    """Return a factor with room for more rows; memory is only taken once it is written."""
    if rank + added <= len(factor):
        return factor
    wider = np.empty((2 * (rank + added), factor.shape[1]))
    wider[:rank] = factor[:rank]
    return wider


def _spread(n: int, size: int) -> IntArray:
    """Return ``size`` scattered row numbers out of n, the same every time."""
    return np.arange(n) if n <= size else np.random.default_rng(n).choice(n, size, replace=False)


def _pivots(kernel: Kernel, points: Array, factor: Array, candidates: IntArray, tolerance: float) -> Pivots:
    """Return greedy pivots among the candidates, and the triangle of what ``factor`` leaves out between them."""
    left_out = kernel(points[candidates], points[candidates])
    left_out -= factor[:, candidates].T @ factor[:, candidates]
    triangle, order = pivoted_triangle(left_out, tolerance)
    return candidates[order], triangle


def _extend(kernel: Kernel, points: Array, factor: Array, rank: int, pivots: IntArray, triangle: Array) -> Array:
    """Write the rows of new pivots after the first ``rank`` rows of ``factor``, and return them."""
    added = factor[rank : rank + len(pivots)]
    known = factor[:rank, pivots].T
    for part in slices(len(points), _COLUMNS):
        columns = kernel(points[pivots], points[part])
        if rank:
            columns -= known @ factor[:rank, part]
        added[:, part] = dtrsm(1.0, triangle, columns.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    return added
