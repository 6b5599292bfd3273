"""The Gaussian kernel, with one bandwidth or one per axis, and its general quadratic form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..core.array import Array, array_api, full, like, namespace, precision
from ..core.validate import as_value
from . import portable
from .axes import check_axes, check_bandwidth
from .base import Blocks, Kernel, Stationary
from .distances import recentered, squared_distance_blocks

_NEAR = 8.0  # exp(2 x · y) then is at most e^16, and its relative error 16 eps


@dataclass(frozen=True)
class Gaussian(Stationary):
    r"""The Gaussian kernel :math:`k(x, y) = \exp(-\tfrac12 \sum_j (x_j - y_j)^2 / θ_j^2)`.

    Parameters
    ----------
    bandwidth : float, array of shape (d,), or str
        θ, in the units of X: one for all axes, or one per axis. scikit-learn's ``gamma`` is
        ``1 / (2 θ²)``. A rule such as
        "median", see :func:`kernelmean.median_bandwidth`, finds it in the rows that a test, an estimator or
        :func:`kernelmean.embed` gets.

    Raises
    ------
    ValueError
        When a bandwidth is not positive and finite.

    Notes
    -----
    O(n m d) time as one matrix product, O(n m) memory. Xia et al. (2021), eq. (rbf_kernel).

    Examples
    --------
    >>> import numpy as np
    >>> Gaussian(1.0)(np.array([[0.0]]), np.array([[1.0]]))
    array([[0.60653066]])
    """

    bandwidth: Any

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return values for the table of support and for the tests."""
        return cls(1.0), cls((1.0, 2.0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", check_bandwidth(self.bandwidth))

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        return self.blocks(X, Y)(slice(None), slice(None))

    def diag(self, X: Array) -> Array:
        """Return ones, shape (n,)."""
        return full(X, 1.0)

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare the Gram matrix of slices: one matrix product and one exponential a block."""
        scale, dtype = np.sqrt(2.0) * check_axes(self.bandwidth, X.shape[1]), precision(X)
        X, Y = recentered(X, Y)
        scale = like(scale, X)
        return exponential_blocks(X / scale, Y / scale, dtype)


@dataclass(frozen=True)
class QuadraticGaussian(Stationary):
    r"""The Gaussian kernel of a full metric, :math:`\exp(-\tfrac12 (x-y)^⊤ C^{-1} (x-y))`.

    Parameters
    ----------
    covariance : array of shape (d, d)
        C, symmetric positive definite, in squared units of X.
    """

    covariance: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", as_value(self.covariance))

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        return self.blocks(X, Y)(slice(None), slice(None))

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Whiten both sides once by a Cholesky factor, then prepare as for one bandwidth."""
        factor = np.sqrt(2.0) * cholesky(np.asarray(self.covariance), lower=True)
        dtype = precision(X)
        X, Y = recentered(X, Y)
        return exponential_blocks(_whitened(X, factor), _whitened(Y, factor), dtype)


@array_api
def _whitened(X: Array, factor: Array) -> Array:
    """Return the rows L⁻¹x of the lower triangle L."""
    white: Array = namespace(X).linalg.solve(like(factor, X), X.T).T
    return white


@_whitened.numpy
def _(X: Array, factor: Array) -> Array:
    return np.asarray(solve_triangular(factor, X.T, lower=True).T)


@final
@dataclass(frozen=True, eq=False)
class ExponentialBlocks:
    """The block function factor · exp(-|x_i - y_j|²), which big sums know how to speed up.

    Attributes
    ----------
    X, Y : array of shape (n, d) and (m, d)
        In the units of the kernel: divided by √2 θ.
    tiles : callable
        The block function without the factor.
    dtype : {"float64", "float32"}
        The type in which tiles are computed and returned.
    factor : float
    """

    X: Array
    Y: Array
    tiles: Blocks
    dtype: str = "float64"
    factor: float = 1.0

    def __call__(self, i: slice, j: slice) -> Array:
        """Return the tile of rows ``i`` of X and rows ``j`` of Y."""
        gram = self.tiles(i, j)
        if self.factor != 1.0:
            gram *= self.factor
        return gram

    def unit(self, dtype: str) -> ExponentialBlocks:
        """Return the same without the factor, computed in ``dtype``."""
        return replace(self, factor=1.0) if dtype == self.dtype else exponential_blocks(self.X, self.Y, dtype)

    def separated(self) -> tuple[Array, Blocks, Array] | None:
        """Return a (n,), E and b (m,) with entries a_i E_ij b_j, E_ij = exp(2 x_i · y_j): less work for sums.

        None where a point is so far from the origin, compared with the bandwidth, that E would lose digits.
        """
        return None if self.dtype != "float64" else _separated(self.X, self.Y, self.factor)


@array_api
def _separated(X: Array, Y: Array, factor: float) -> tuple[Array, Blocks, Array] | None:  # noqa: ARG001
    """Return the factors of ``ExponentialBlocks.separated``; they gain nothing on a device."""
    return None


@_separated.numpy
def _(X: Array, Y: Array, factor: float) -> tuple[Array, Blocks, Array] | None:
    norms = [np.einsum("ij,ij->i", Z, Z) for Z in (X, Y)]
    if max(norm.max(initial=0.0) for norm in norms) > _NEAR:
        return None

    def middle(i: slice, j: slice) -> Array:
        inner = twice[i] @ Y[j].T
        return np.exp(inner, out=inner)

    twice = 2.0 * X
    return factor * np.exp(-norms[0]), middle, np.exp(-norms[1])


@array_api
def exponential_blocks(X: Array, Y: Array, dtype: str = "float64") -> ExponentialBlocks:
    """Prepare exp(-|x - y|²) for slices of two tables of float64."""
    return ExponentialBlocks(X, Y, portable.exponential_blocks(X, Y, dtype), dtype)


@exponential_blocks.numpy
def _(X: Array, Y: Array, dtype: str = "float64") -> ExponentialBlocks:
    distances = squared_distance_blocks(X, Y, floor=1.0, dtype=dtype)

    def tile(i: slice, j: slice) -> Array:
        gram = distances(i, j)
        np.negative(gram, out=gram)
        return np.exp(gram, out=gram)

    return ExponentialBlocks(X, Y, tile, dtype)


def scaled_blocks(factor: float, blocks: Blocks) -> Blocks:
    """Prepare ``factor`` times a block function; a Gaussian one stays one that big sums know how to speed up."""
    if isinstance(blocks, ExponentialBlocks):
        return replace(blocks, factor=factor * blocks.factor)
    return lambda i, j: factor * blocks(i, j)
