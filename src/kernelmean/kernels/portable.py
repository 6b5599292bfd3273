"""Distances of blocks for arrays of any library: what SciPy and writing in place do for NumPy's arrays.

Nothing in here waits for a device: what a tile needs to know beforehand is copied to the host once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._array import as_float64, like, namespace, overwritten, precision, squared_norms, to_numpy
from .base import Blocks

_HOPELESS = 1e12  # |x|² from which products may overflow
_REACH = {"float64": 450.0, "float32": 2.0}  # |x|² up to which a product of that type is exact to its last digits


@dataclass(frozen=True)
class Products:
    r"""Squared distances as one matrix product, :math:`±(|x|^2 + |y|^2 - 2 x^⊤y)`, in a given type."""

    X: Any
    Y: Any
    sign: float
    dtype: str

    @cached_property
    def _factors(self) -> tuple[Any, Any]:
        """The factors (n, d + 2) and (m, d + 2)."""
        xp = namespace(self.X)
        X, Y = (xp.astype(Z, getattr(xp, self.dtype), copy=False) for Z in (self.X, self.Y))
        norms = [xp.astype(squared_norms(as_float64(Z)), X.dtype, copy=False)[:, None] for Z in (X, Y)]
        ones = [like(np.ones((Z.shape[0], 1)), Z) for Z in (X, Y)]
        left = xp.concat([-2.0 * self.sign * X, self.sign * norms[0], self.sign * ones[0]], axis=1)
        return left, xp.concat([Y, ones[1], norms[1]], axis=1)

    def __call__(self, i: slice, j: slice) -> Any:
        """Return the tile of two slices, in the type of the tables."""
        left, right = self._factors
        xp = namespace(left)
        return xp.astype(left[i, :] @ right[j, :].T, self.X.dtype, copy=False)


def squared_distance_blocks(X: Any, Y: Any, floor: float = 0.0) -> Blocks:
    """Prepare |x_i - y_j|² for slices of two recentered tables, in their type; see :mod:`kernelmean.kernels.distances`.

    A product in their type, in float64 where that loses digits, and sums of squared differences where both do.
    """
    signed = _signed_blocks(X, Y, floor, 1.0)
    return lambda i, j: overwritten("abs", signed(i, j))


def exponential_blocks(X: Any, Y: Any) -> Blocks:
    """Prepare exp(-|x_i - y_j|²): one product and one pass over the tile."""
    exponents = _signed_blocks(X, Y, 1.0, -1.0)
    return lambda i, j: overwritten("exp", exponents(i, j))


def _signed_blocks(X: Any, Y: Any, floor: float, sign: float) -> Blocks:
    """Prepare ±|x_i - y_j|², by the cheapest way that is accurate on a tile."""
    norms = [to_numpy(squared_norms(as_float64(Z))) for Z in (X, Y)]
    own = precision(X)
    products = {dtype: Products(X, Y, sign, dtype) for dtype in {own, "float64"}}

    def block(i: slice, j: slice) -> Any:
        farthest = [norm[part].max(initial=0.0) for norm, part in zip(norms, (i, j), strict=True)]
        # where one point is near the origin and the other is not, their distance is as large as what is lost with
        reach = max(farthest) if max(farthest) > _HOPELESS else min(farthest)
        dtype = next((dtype for dtype in (own, "float64") if reach <= _REACH[dtype] * floor), None)
        if dtype is not None:
            return products[dtype](i, j)
        return sign * summed_over_axes(X[i, :], Y[j, :], lambda gap: gap * gap)

    return block


def summed_over_axes(X: Any, Y: Any, term: Callable[[Any], Any]) -> Any:
    """Return Σ_k f(x_ik - y_jk), shape (n, m), one axis after another."""
    total = term(X[:, 0][:, None] - Y[:, 0][None, :])
    for axis in range(1, X.shape[1]):
        total += term(X[:, axis][:, None] - Y[:, axis][None, :])
    return total
