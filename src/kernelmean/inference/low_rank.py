"""Pivoted Cholesky factors of a Gram matrix that is never formed, with the residual checked on every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import lapack
from scipy.linalg.blas import dtrsm

from .._array import Array, IntArray, slices
from ..kernels import Kernel

RESIDUAL = 1e-10
_PROBE = 256
_SAMPLE = 1000
_WORST = 250
_ROUNDS = 12
_COLUMNS = 16384


@final
@dataclass(frozen=True)
class Factor:
    """A matrix A of shape (r, n) with AᵀA = K up to a residual.

    Attributes
    ----------
    rows : array of shape (r, n)
        One row per pivot.
    residual : float
        tr(K - AᵀA) / tr K, over all n rows; at most ``RESIDUAL``.
    """

    rows: Array
    residual: float

    @property
    def rank(self) -> int:
        """Return the number of pivots."""
        return len(self.rows)


def pivoted_cholesky(kernel: Kernel, points: Array, *, max_rank: int, residual: float = RESIDUAL) -> Factor | None:
    r"""Return A with :math:`\mathrm{tr}(K - A^⊤A) ≤ 10^{-10} \mathrm{tr}K`, or None when that needs more pivots.

    Greedy pivots on a subsample of 1000 rows, all columns at once by one triangular solve, then the residual diagonal
    of **all** rows; while it is too large, more pivots are taken from the worst rows. O(n r² + n r d) time, O(n r)
    memory.

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (n, d)
    max_rank : int
        Give up beyond so many pivots.
    residual : float
        The bound on the relative trace of what is left out.

    Examples
    --------
    >>> from kernelmean.kernels import Gaussian
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> A = pivoted_cholesky(Gaussian(1.0), X, max_rank=20).rows
    >>> bool(np.allclose(A.T @ A, Gaussian(1.0)(X, X), atol=1e-8))
    True
    """
    if len(points) > _PROBE and _is_hopeless(kernel, points, max_rank):
        return None
    diagonal = kernel.diag(points)
    target = residual * float(diagonal.sum())
    rank, left = 0, diagonal
    factor: Array = np.empty((0, len(points)))
    candidates = _spread(len(points), _SAMPLE)
    for _ in range(_ROUNDS):
        pivots, triangle = _pivots(kernel, points, factor[:rank], candidates, 0.1 * target / len(points))
        if rank + len(pivots) > max_rank:
            return None
        factor = _with_room(factor, rank, len(pivots))
        added = _extend(kernel, points, factor, rank, pivots, triangle)
        rank, left = rank + len(pivots), np.maximum(left - np.einsum("rn,rn->n", added, added), 0.0)
        if left.sum() <= target:
            return Factor(factor[:rank], float(left.sum() / diagonal.sum()))
        candidates = np.argsort(left)[-_WORST:]
    return None


def _is_hopeless(kernel: Kernel, points: Array, max_rank: int) -> bool:
    """Say whether 256 of the points tell that the rank is too high: already so, or nearly that of any such points."""
    few = points[_spread(len(points), _PROBE)]
    tolerance = RESIDUAL * float(kernel.diag(few).mean())
    rank = len(_pivots(kernel, few, np.empty((0, _PROBE)), np.arange(_PROBE), tolerance)[0])
    return rank > max_rank or (len(points) > 2 * _SAMPLE and 4 * rank > 3 * _PROBE)


def _with_room(factor: Array, rank: int, added: int) -> Array:
    """Return a factor with room for more rows; a page of it is only taken once it is written."""
    if rank + added <= len(factor):
        return factor
    wider = np.empty((2 * (rank + added), factor.shape[1]))
    wider[:rank] = factor[:rank]
    return wider


def _spread(n: int, size: int) -> IntArray:
    """Return ``size`` row numbers out of n, scattered, the same ones every time."""
    return np.arange(n) if n <= size else np.random.default_rng(n).choice(n, size, replace=False)


def _pivots(
    kernel: Kernel, points: Array, factor: Array, candidates: IntArray, tolerance: float
) -> tuple[IntArray, Array]:
    """Return greedy pivots among the candidates, and the triangle of what ``factor`` leaves out between them."""
    left_out = kernel(points[candidates], points[candidates])
    left_out -= factor[:, candidates].T @ factor[:, candidates]
    triangle, order, rank, _ = lapack.dpstrf(left_out.T, tol=tolerance, lower=1, overwrite_a=1)
    return candidates[order[:rank] - 1], triangle[:rank, :rank]


def _extend(kernel: Kernel, points: Array, factor: Array, rank: int, pivots: IntArray, triangle: Array) -> Array:
    """Write the rows of new pivots behind the first ``rank`` rows of ``factor``, and return them."""
    added = factor[rank : rank + len(pivots)]
    known = factor[:rank, pivots].T
    for part in slices(len(points), _COLUMNS):
        columns = kernel(points[pivots], points[part])
        if rank:
            columns -= known @ factor[:rank, part]
        added[:, part] = dtrsm(1.0, triangle, columns.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    return added
