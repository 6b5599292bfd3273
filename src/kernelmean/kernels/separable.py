"""Kernels that are products over the axes of a function of the difference on each."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from operator import imul

import numpy as np

from ..core.array import Array, array_api, as_float64, as_type, full, joined, overwritten, precision, slices
from ..core.validate import check_same_columns
from .base import Blockwise, Stationary
from .blocks import Blocks

AxisProfile = Callable[[Array], Array]
_STRIPS = 4  # of a tile on a device
_CHUNK = 2**15  # numbers at a time: what an axis needs besides the result stays in the cache


class Separable(Blockwise, Stationary):
    r"""A kernel :math:`k(x, y) = \prod_j f_j(|x_j - y_j|)` with one function per axis, its *profile*.

    Noise that is independent between the axes smooths each profile on its own.
    """

    @abstractmethod
    def profiles(self, dim: int) -> Sequence[AxisProfile]:
        """Return the ``dim`` profiles, functions of arrays of differences ≥ 0 to new arrays of the same shape."""

    def diag(self, X: Array) -> Array:
        """Return the constant Π_j f_j(0), shape (n,)."""
        return full(X, math.prod(float(profile(np.zeros(1))[0]) for profile in self.profiles(X.shape[1])))

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare the profiles, and multiply them axis by axis, in O(n m d) time and O(n m) memory."""
        check_same_columns(X, Y)
        profiles, dtype = self.profiles(X.shape[1]), precision(X)
        X, Y = as_float64(X), as_float64(Y)
        return lambda i, j: as_type(_product_over_axes(X[i, :], Y[j, :], profiles), dtype)


@array_api
def _product_over_axes(X: Array, Y: Array, profiles: Sequence[AxisProfile]) -> Array:
    """Return Π_j f_j(|x_j - y_j|), shape (n, m), a few strips of rows at a time: profiles hold several copies."""

    def strip(rows: slice) -> Array:
        gaps = (X[rows, :][:, axis][:, None] - Y[:, axis][None, :] for axis in range(X.shape[1]))
        return reduce(imul, (profile(overwritten("abs", gap)) for profile, gap in zip(profiles, gaps, strict=True)))

    gram: Array = joined([strip(rows) for rows in slices(X.shape[0], -(-X.shape[0] // _STRIPS))])
    return gram


@_product_over_axes.numpy
def _(X: Array, Y: Array, profiles: Sequence[AxisProfile]) -> Array:
    gram = np.ones((len(X), len(Y)))
    for rows in slices(len(X), max(1, _CHUNK // max(1, len(Y)))):
        for axis, profile in enumerate(profiles):
            gap = X[rows, axis, None] - Y[:, axis]
            gram[rows] *= profile(np.abs(gap, out=gap))
    return gram
