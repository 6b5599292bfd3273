"""Features from landmarks: the projection onto a few kernel functions, by Nyström or randomly pivoted Cholesky."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import lapack, solve_triangular

from ...core.array import Array, IntArray, RngLike, as_rng
from ...core.cached import cached_property
from ...core.frozen import Frozen, sealed
from ...core.validate import check_finite, check_integer, check_points
from ...expected.expectations import check_noise, expected_blocks, expected_diag
from ...kernels.base import Kernel, check_kernel
from ...noise.base import Noise
from ...noise.dirac import Dirac
from .base import FeatureMap

_DEPENDENT = 1e-10  # of the largest k(x, x): a landmark that others explain up to this is dropped
ROUNDING = 1e-12  # of k(x, x), added to every residual so that bounds hold despite rounding


@final
@dataclass(frozen=True, eq=False, repr=False)
class Landmarks(Frozen, FeatureMap):
    r"""The features :math:`φ(x) = L^{-1} k(S, x)`, LLᵀ = k(S, S): coordinates of the projection onto span k(S, ·).

    Attributes
    ----------
    kernel : Kernel
    points : array of shape (r, d)
        S, the landmarks.
    triangle : array of shape (r, r)
        L, lower triangular.
    method : str
        How the landmarks were chosen.
    """

    kernel: Kernel
    points: Array
    triangle: Array
    method: str

    def __post_init__(self) -> None:
        """Check values that may come from a file."""
        super().__post_init__()
        check_kernel(self.kernel)
        rank = len(self.points)
        if self.points.ndim != 2 or not rank or self.triangle.shape != (rank, rank):
            raise ValueError(f"landmarks {self.points.shape} and a triangle {self.triangle.shape} do not go together")
        check_finite(self.points, "landmarks")
        check_finite(self.triangle, "the triangle")
        if not (self.triangle.diagonal() > 0).all():
            raise ValueError("the triangle of the landmarks has no positive diagonal; write features.nystrom")

    @property
    def dim(self) -> int:
        """The number of columns of the rows."""
        return int(self.points.shape[1])

    @property
    def size(self) -> int:
        """The number of landmarks."""
        return len(self.points)

    @property
    def summary(self) -> str:
        """The features in words."""
        return f"{self.size} landmarks ({self.method})"

    def check_noise(self, noise: Noise) -> None:
        """Raise unless the noise is shared by all points and has a closed form with the kernel."""
        if noise.per_point is not None:
            raise ValueError(
                f"{noise!r} has one distribution per point; embed the points of each distribution separately"
            )
        check_noise(noise, self.size, self.dim)
        expected_blocks(self.kernel, self.points[:1], noise, self.points[:1], noise)

    def fill(self, X: Array, noise: Noise, out: Array) -> None:
        """Write the features of few rows to ``out``, shape (n, r)."""
        columns = expected_blocks(self.kernel, self.points, Dirac(), X, noise)(slice(None), slice(None))
        out[:] = solve_triangular(self.triangle, columns, lower=True, check_finite=False).T

    def residuals(self, X: Array, tile: Array, noise: Noise) -> Array:
        """Return |E k(x̃_i, ·)|² - |φ_i|², plus a margin for rounding, shape (n,)."""
        squared = self.kernel.diag(X) if isinstance(noise, Dirac) else expected_diag(self.kernel, X, noise, noise)
        return np.maximum(squared - self.squared_norms(tile, noise), 0.0) + ROUNDING * np.abs(squared)

    @cached_property
    def origin(self) -> Array:  # type: ignore[override]
        """The mean of the landmarks, shape (d,)."""
        return np.asarray(sealed(self.points.mean(axis=0)))

    def gap(self, X: Array, w: Array, total: Array, noise: Noise) -> float:
        """Return the distance of Σ w E k(x̃, ·) from its projection, plus a margin for rounding: all pairs of a tile."""
        gram = expected_blocks(self.kernel, X, noise, X, noise)(slice(None), slice(None))
        squared = float(w @ gram @ w)
        return math.sqrt(max(squared - float(total @ total), 0.0) + ROUNDING * abs(squared))

    def weights(self, vector: Array) -> Array:
        """Return the weights α for which Σ_a α_a k(s_a, ·) has given coordinates, shape (r,), or (n, r) for many."""
        return np.asarray(solve_triangular(self.triangle, vector.T, lower=True, trans="T", check_finite=False).T)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Landmarks):
            return NotImplemented
        same = self.kernel == other.kernel and np.array_equal(self.points, other.points)
        return bool(same and np.array_equal(self.triangle, other.triangle))

    def __hash__(self) -> int:
        return hash((self.kernel, self.points.tobytes()))

    def __repr__(self) -> str:
        return f"Landmarks({self.kernel!r}, {self.summary}, d={self.dim})"


def nystrom(kernel: Kernel, X: Any, rank: int = 256, *, rng: RngLike = 0) -> Landmarks:
    """Return features from landmarks drawn uniformly among rows: the Nyström method.

    Parameters
    ----------
    kernel : Kernel
        Any kernel.
    X : array of shape (n, d)
        Rows to draw from: a sample of the data.
    rank : int
        The largest number of landmarks; those that others explain to 1e-10 are dropped.
    rng : int or Generator
        The seed.

    Raises
    ------
    ValueError
        When the rank is not positive, or the kernel is 0 at all rows.

    Notes
    -----
    O(r³ + r² d) time for the landmarks, O(n r (r + d)) for the features of n rows. Williams & Seeger (2001).

    Examples
    --------
    >>> from kernelmean.kernels import Gaussian
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> phi = nystrom(Gaussian(1.0), X, rank=20)(X)
    >>> bool(np.allclose(phi @ phi.T, Gaussian(1.0)(X, X), atol=1e-8))
    True
    """
    X = _checked(kernel, X, rank)
    drawn = as_rng(rng).choice(len(X), min(rank, len(X)), replace=False, shuffle=False)
    return _landmarks(kernel, X[drawn], "Nyström, uniform")


def random_cholesky(kernel: Kernel, X: Any, rank: int = 256, *, rng: RngLike = 0) -> Landmarks:
    """Return features from landmarks drawn one by one, in proportion to the remaining part of k(x, x).

    Randomly pivoted Cholesky, Chen, Epperly, Tropp & Webber (2025), algorithm 1: O(n r (r + d)) time and O(n r)
    memory for a sample of n rows, so pass at most about 10,000 rows. Parameters and errors are those of
    :func:`nystrom`. It needs fewer landmarks than uniform draws if the data have clusters of different sizes.

    Examples
    --------
    >>> from kernelmean.kernels import Laplacian
    >>> random_cholesky(Laplacian(1.0), np.arange(9.0)[:, None], rank=4)
    Landmarks(Laplacian(bandwidth=1.0), 4 landmarks (randomly pivoted Cholesky), d=1)
    """
    X = _checked(kernel, X, rank)
    return _landmarks(kernel, X[_random_pivots(kernel, X, rank, as_rng(rng))], "randomly pivoted Cholesky")


def pivoted_triangle(matrix: Array, tolerance: float) -> tuple[Array, IntArray]:
    """Return L and row numbers p with LLᵀ = matrix[p][:, p], greedy until no diagonal is above ``tolerance``.

    The matrix is overwritten; entries above the diagonal of L are not zero.
    """
    triangle, order, rank, _ = lapack.dpstrf(matrix.T, tol=tolerance, lower=1, overwrite_a=1)
    return triangle[:rank, :rank], order[:rank] - 1


def _checked(kernel: Kernel, X: Any, rank: int) -> Array:
    check_kernel(kernel)
    check_integer(rank, "rank", 1)
    return check_points(X)


def _landmarks(kernel: Kernel, points: Array, method: str) -> Landmarks:
    gram = kernel(points, points)
    largest = float(gram.diagonal().max())
    if not largest > 0:
        raise ValueError(f"{kernel!r} is 0 at all rows, so there is nothing to project on")
    triangle, order = pivoted_triangle(gram, _DEPENDENT * largest)
    return Landmarks(kernel, points[order], np.tril(triangle), method)


def _random_pivots(kernel: Kernel, X: Array, rank: int, rng: np.random.Generator) -> IntArray:
    left = kernel.diag(X).astype(np.float64)
    enough = _DEPENDENT * left.sum()
    factor, pivots = np.empty((min(rank, len(X)), len(X))), []
    for k in range(len(factor)):
        total = left.sum()
        if total <= enough:
            break
        pivot = int(rng.choice(len(X), p=left / total))
        row = kernel(X[pivot : pivot + 1], X)[0] - factor[:k, pivot] @ factor[:k]
        factor[k] = row / np.sqrt(row[pivot])
        left = np.maximum(left - factor[k] ** 2, 0.0)
        left[pivot] = 0.0
        pivots.append(pivot)
    return np.array(pivots or [0], dtype=np.intp)
