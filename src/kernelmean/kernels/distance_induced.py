"""The kernel of the energy distance and of the distance covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.spatial.distance import cdist

from ..core.array import Array, array_api, as_float64, squared_norms
from ..core.validate import as_value, check_numbers, check_same_columns
from .base import Blockwise, as_rows
from .distances import Blocks, summed_over_axes


@final
@dataclass(frozen=True)
class DistanceInduced(Blockwise):
    r"""The kernel :math:`k(x, y) = \tfrac12 (|x|^α + |y|^α - |x - y|^α)`, 0 < α < 2.

    Its MMD² is half the energy distance, and its HSIC a quarter of the squared distance covariance. A test with this
    kernel has no bandwidth to choose.

    Parameters
    ----------
    exponent : float
        α; 1 gives the energy distance, smaller values see finer differences.

    Raises
    ------
    ValueError
        When the exponent is not between 0 and 2: above 2, the kernel is not positive semi-definite.

    Notes
    -----
    O(n m d) time, O(n m) memory. Center the data first: the origin changes the kernel and its rounding errors, but no
    difference of embeddings of equal total weight. Sejdinovic et al. (2013), Definition 13.

    Examples
    --------
    >>> import numpy as np
    >>> DistanceInduced()(np.array([[1.0], [-1.0]]), np.array([[2.0]]))
    array([[1.],
           [0.]])
    """

    exponent: float = 1.0

    def __post_init__(self) -> None:
        exponent = check_numbers(self.exponent, "exponent")
        if exponent.ndim or not 0.0 < exponent < 2.0:
            raise ValueError(f"exponent is {self.exponent!r}, a number between 0 and 2 is needed")
        object.__setattr__(self, "exponent", as_value(exponent))

    def diag(self, X: Array) -> Array:
        """Return |x_i|^α, shape (n,)."""
        return _lengths(as_rows(X)) ** self.exponent

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Compute the norms once, and the distances block by block."""
        check_same_columns(X, Y)
        norm_X, norm_Y = self.diag(X), self.diag(Y)
        X, Y = as_float64(X), as_float64(Y)  # because distances cancel with norms

        def block(i: slice, j: slice) -> Array:
            distances = _distances(X[i, :], Y[j, :])
            if self.exponent != 1.0:
                distances **= self.exponent
            values = norm_X[i][:, None] + norm_Y[j][None, :]
            values -= distances
            values *= 0.5
            return values

        return block


@array_api
def _lengths(X: Array) -> Array:
    """Return |x_i|, shape (n,)."""
    lengths: Array = squared_norms(X) ** 0.5
    return lengths


@_lengths.numpy
def _(X: Array) -> Array:
    return np.asarray(np.linalg.norm(X, axis=1))


@array_api
def _distances(X: Array, Y: Array) -> Array:
    """Return |x_i - y_j|, shape (n, m)."""
    distances: Array = summed_over_axes(X, Y, lambda gap: gap * gap) ** 0.5
    return distances


@_distances.numpy
def _(X: Array, Y: Array) -> Array:
    return cdist(X, Y)
