"""The Gaussian kernel, with one bandwidth or one per axis, and its general quadratic form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..core.array import Array, array_api, full, like, namespace, precision
from ..core.validate import as_value
from .bandwidth import check_axes
from .base import Blockwise, Kernel, Stationary, WithBandwidth, as_rows
from .distances import Blocks, exponential_blocks, recentered


@dataclass(frozen=True)
class Gaussian(WithBandwidth, Blockwise):
    r"""The Gaussian kernel :math:`k(x, y) = \exp(-\tfrac12 \sum_j (x_j - y_j)^2 / θ_j^2)`.

    Parameters
    ----------
    bandwidth : float, array of shape (d,), or str
        θ, in the units of X: one for all axes, one per axis, or a rule as in :func:`kernelmean.median_bandwidth`.
        scikit-learn's ``gamma`` is ``1 / (2 θ²)``.

    Raises
    ------
    ValueError
        When a bandwidth is not positive and finite.

    Notes
    -----
    O(n m d) time by one matrix product, O(n m) memory. Xia et al. (2021), eq. (3).

    Examples
    --------
    >>> import numpy as np
    >>> Gaussian(1.0)(np.array([[0.0]]), np.array([[1.0]]))
    array([[0.60653066]])
    """

    bandwidth: Any

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return cls(1.0), cls((1.0, 2.0))

    def diag(self, X: Array) -> Array:
        """Return ones, shape (n,)."""
        return full(as_rows(X), 1.0)

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare the Gram matrix of slices: one matrix product and one exponential per block."""
        scale, dtype = np.sqrt(2.0) * check_axes(self.bandwidth, X.shape[1]), precision(X)
        X, Y = recentered(X, Y)
        scale = like(scale, X)
        return exponential_blocks(X / scale, Y / scale, dtype)


@dataclass(frozen=True)
class QuadraticGaussian(Blockwise, Stationary):
    r"""The Gaussian kernel of a full metric, :math:`\exp(-\tfrac12 (x-y)^⊤ C^{-1} (x-y))`."""

    covariance: Any
    """C, symmetric positive definite, in squared units of X, shape (d, d)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", as_value(self.covariance))

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Whiten both sides once with a Cholesky factor, then prepare as for one bandwidth."""
        factor = np.sqrt(2.0) * cholesky(np.asarray(self.covariance), lower=True)
        dtype = precision(X)
        X, Y = recentered(X, Y)
        return exponential_blocks(_whitened(X, factor), _whitened(Y, factor), dtype)


@array_api
def _whitened(X: Array, factor: Array) -> Array:
    """Return the rows L⁻¹x for the lower triangle L."""
    white: Array = namespace(X).linalg.solve(like(factor, X), X.T).T
    return white


@_whitened.numpy
def _(X: Array, factor: Array) -> Array:
    return np.asarray(solve_triangular(factor, X.T, lower=True).T)
