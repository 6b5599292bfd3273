"""Squared distances of blocks: one matrix product, mended by differences where a product would lose digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from .._array import Array, centered
from .base import Blocks

_LOSS = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}
_FEW_COLUMNS = 4  # up to here differences are as quick as a product that is searched and mended
_HOPELESS = 1e12  # from here on a product knows nothing of the smaller distances, or overflows


def squared_distance_blocks(X: Array, Y: Array, *, floor: float = 0.0, dtype: npt.DTypeLike = np.float64) -> Blocks:
    r"""Prepare |x_i - y_j|² for slices of ``X`` (n, d) and ``Y`` (m, d), in the units that the caller scaled to.

    The error is a small multiple of 1e-13 (in float32: 1e-6) times max(``floor``, |x - y|²), wherever the data
    lie: small distances are as good as large ones down to ``floor``, which is 1 for a caller that exponentiates.

    Notes
    -----
    |x|² + |y|² - 2 x·y is one product of inner size d + 2 of the centered tables. It loses eps (|x|² + |y|²), so
    pairs that are closer than that allows (near duplicates far from the center) are computed again by
    differences; a tile with many of them, or with few columns, by differences altogether.
    """
    X, Y = centered(X, Y)
    dtype = np.dtype(dtype)
    left, right, far_X, far_Y = _factors(X, Y, floor, dtype)

    def differences(i: slice, j: slice) -> Array:
        return cdist(X[i], Y[j], "sqeuclidean").astype(dtype, copy=False)

    def block(i: slice, j: slice) -> Array:
        reach = min(far_X[i].max(initial=0.0), far_Y[j].max(initial=0.0))
        if reach > 0.0 and (X.shape[1] <= _FEW_COLUMNS or not reach < _HOPELESS):
            return differences(i, j)
        squared = left[i] @ right[j].T
        np.abs(squared, out=squared)
        if reach > 0.0:
            rows, columns = np.nonzero(squared < far_X[i, None] + far_Y[j])
            if 8 * len(rows) > squared.size:
                return differences(i, j)
            gap = X[i][rows] - Y[j][columns]
            squared[rows, columns] = np.einsum("ij,ij->i", gap, gap)
        return squared

    return block


def _factors(X: Array, Y: Array, floor: float, dtype: np.dtype[Any]) -> tuple[Array, Array, Array, Array]:
    """Return the factors of the product, and per row the squared distance below which the product is too coarse."""
    X, Y = (Z.astype(dtype).astype(np.float64) for Z in (X, Y))
    norm_X, norm_Y = (np.einsum("ij,ij->i", Z, Z) for Z in (X, Y))
    limit = _LOSS[dtype] / np.finfo(dtype).eps
    far_X, far_Y = (np.where(norm > limit * floor, norm / limit, 0.0) for norm in (norm_X, norm_Y))
    with np.errstate(over="ignore"):  # an infinite norm is an infinite distance, or a tile of differences
        left = np.column_stack([-2.0 * X, norm_X, np.ones(len(X))]).astype(dtype)
        right = np.column_stack([Y, np.ones(len(Y)), norm_Y]).astype(dtype)
    return left, right, far_X, far_Y
