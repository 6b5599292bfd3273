"""Squared distances of blocks: one matrix product, mended by differences where a product would lose digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from ..core.array import Array, array_api, as_float64, centered
from ..core.validate import check_same_columns
from . import array_api_distances
from .blocks import Blocks

_LOSS = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 2.5e-7}
_FEW_COLUMNS = 5  # up to here differences are as quick as a product that is searched and mended
_HOPELESS = 1e12  # from here on a product knows nothing of the smaller distances, or overflows


@array_api
def squared_distance_blocks(X: Array, Y: Array, *, floor: float = 0.0, dtype: npt.DTypeLike = np.float64) -> Blocks:
    r"""Prepare |x_i - y_j|² for slices of ``X`` (n, d) and ``Y`` (m, d), in the units that the caller scaled to.

    The error is a small multiple of 1e-13 (in float32: 2.5e-7) times max(``floor``, |x - y|²), wherever the data
    lie: small distances are as good as large ones down to ``floor``, which is 1 for a caller that exponentiates.

    Notes
    -----
    |x|² + |y|² - 2 x·y is one product of inner size d + 2 of the centered tables. It loses eps (|x|² + |y|²), so
    pairs that are closer than that allows (near duplicates far from the center) are computed again by
    differences; a tile with many of them by differences altogether. Arrays of other libraries take
    :mod:`kernelmean.kernels.array_api_distances`.
    """
    return array_api_distances.squared_distance_blocks(*recentered(X, Y), floor, np.dtype(dtype).name)


@squared_distance_blocks.numpy
def _(X: Array, Y: Array, *, floor: float = 0.0, dtype: npt.DTypeLike = np.float64) -> Blocks:
    dtype = np.dtype(dtype)
    left, right, far_X, far_Y = _factors(*recentered(X, Y), floor, dtype)

    def differences(i: slice, j: slice) -> Array:
        with np.errstate(over="ignore"):
            return cdist(X[i], Y[j], "sqeuclidean").astype(dtype, copy=False)

    def block(i: slice, j: slice) -> Array:
        rows, columns = np.flatnonzero(far_X[i]), np.flatnonzero(far_Y[j])
        many = X.shape[1] <= _FEW_COLUMNS and 8 * rows.size * columns.size > far_X[i].size * far_Y[j].size
        if many or max(far_X[i].max(initial=0.0), far_Y[j].max(initial=0.0)) > _HOPELESS:
            return differences(i, j)
        squared = left[i] @ right[j].T
        np.abs(squared, out=squared)
        if rows.size and columns.size:
            close = np.flatnonzero(squared[rows] < far_X[i][rows, None] + far_Y[j])
            if 8 * close.size > squared.size:
                return differences(i, j)
            row, column = rows[close // squared.shape[1]], close % squared.shape[1]
            gap = X[i][row] - Y[j][column]
            squared[row, column] = np.einsum("ij,ij->i", gap, gap)
        return squared

    return block


def recentered(X: Array, Y: Array) -> tuple[Array, Array]:
    """Shift both tables, of as many columns, to where most rows of X are."""
    check_same_columns(X, Y)
    first, second = centered(as_float64(X), as_float64(Y))
    return first, second


def _factors(X: Array, Y: Array, floor: float, dtype: np.dtype[Any]) -> tuple[Array, Array, Array, Array]:
    """Return the factors of the product, and per row the squared distance below which the product is too coarse."""
    with np.errstate(over="ignore"):  # an infinite norm stands for a tile of differences
        X, Y = (Z.astype(dtype, copy=False).astype(np.float64, copy=False) for Z in (X, Y))
        norm_X, norm_Y = (np.einsum("ij,ij->i", Z, Z) for Z in (X, Y))
        left = np.column_stack([-2.0 * X, norm_X, np.ones(len(X))]).astype(dtype)
        right = np.column_stack([Y, np.ones(len(Y)), norm_Y]).astype(dtype)
    limit = _LOSS[dtype] / np.finfo(dtype).eps
    far_X, far_Y = (np.where(norm > limit * floor, norm / limit, 0.0) for norm in (norm_X, norm_Y))
    return left, right, far_X, far_Y
