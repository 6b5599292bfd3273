"""Distances of blocks for arrays of any library: what SciPy and writing in place do for NumPy's arrays.

Tables are float64, and tiles float64 or float32. Nothing in here waits for a device: what has to be known of a tile
beforehand is copied to the host once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.array import as_type, like, namespace, overwritten, squared_norms, to_numpy
from .blocks import Blocks

_HOPELESS = 1e12  # |x|² from which products may overflow
_REACH = {"float64": 450.0, "float32": 2.0}  # |x|² up to which a product of that type is exact to its last digits


@dataclass(frozen=True)
class Products:
    r"""Squared distances as one matrix product of a given type, :math:`±(|x|^2 + |y|^2 - 2 x^⊤y)`."""

    X: Any
    Y: Any
    sign: float
    dtype: str

    @cached_property
    def _factors(self) -> tuple[Any, Any]:
        """The factors (n, d + 2) and (m, d + 2)."""
        X, Y = (as_type(Z, self.dtype) for Z in (self.X, self.Y))
        norm_X, norm_Y = (as_type(squared_norms(Z), self.dtype)[:, None] for Z in (X, Y))
        one_X, one_Y = (like(np.ones((Z.shape[0], 1)), Z) for Z in (X, Y))
        concat = namespace(X).concat
        left = concat([-2.0 * self.sign * X, self.sign * norm_X, self.sign * one_X], axis=1)
        return left, concat([Y, one_Y, norm_Y], axis=1)

    def __call__(self, i: slice, j: slice) -> Any:
        """Return the tile of two slices."""
        left, right = self._factors
        return left[i, :] @ right[j, :].T


def squared_distance_blocks(X: Any, Y: Any, floor: float, dtype: str) -> Blocks:
    """Prepare |x_i - y_j|² for slices of two recentered tables; see :mod:`kernelmean.kernels.distances`.

    A product in the type of the result, in float64 where that loses digits, and sums of squared differences where both
    do.
    """
    signed = _signed_blocks(X, Y, floor, 1.0, dtype)
    return lambda i, j: overwritten("abs", signed(i, j))


def exponential_blocks(X: Any, Y: Any, dtype: str) -> Blocks:
    """Prepare exp(-|x_i - y_j|²): one product and one pass over the tile."""
    exponents = _signed_blocks(X, Y, 1.0, -1.0, dtype)
    return lambda i, j: overwritten("exp", exponents(i, j))


def _signed_blocks(X: Any, Y: Any, floor: float, sign: float, dtype: str) -> Blocks:
    """Prepare ±|x_i - y_j|², by the cheapest way that is accurate on a tile."""
    norms = [to_numpy(squared_norms(Z)) for Z in (X, Y)]
    products = {name: Products(X, Y, sign, name) for name in (dtype, "float64")}

    def block(i: slice, j: slice) -> Any:
        farthest = [norm[part].max(initial=0.0) for norm, part in zip(norms, (i, j), strict=True)]
        # where one point is near the origin and the other is not, their distance is as large as what is lost with
        reach = max(farthest) if max(farthest) > _HOPELESS else min(farthest)
        product = next((products[name] for name in products if reach <= _REACH[name] * floor), None)
        if product is not None:
            return as_type(product(i, j), dtype)
        return as_type(sign * summed_over_axes(X[i, :], Y[j, :], lambda gap: gap * gap), dtype)

    return block


def summed_over_axes(X: Any, Y: Any, term: Callable[[Any], Any]) -> Any:
    """Return Σ_k f(x_ik - y_jk), shape (n, m), one axis after another."""
    total = term(X[:, 0][:, None] - Y[:, 0][None, :])
    for axis in range(1, X.shape[1]):
        total += term(X[:, axis][:, None] - Y[:, axis][None, :])
    return total
