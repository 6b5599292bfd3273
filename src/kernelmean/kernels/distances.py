"""Squared distances of blocks: one matrix product where that is accurate, differences where it is not."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from .._array import Array, centered
from .base import Blocks

# A product loses about eps |x|² of |x - y|²; the caller exponentiates, so this is a relative error of the kernel.
_PRODUCT_LOSS = 1e-13


def squared_distance_blocks(X: Array, Y: Array) -> Blocks:
    """Prepare |x_i - y_j|² for slices of ``X`` (n, d) and ``Y`` (m, d), in the units that the caller scaled to.

    Centers first, so that an offset of the data costs nothing. Uses |x|² + |y|² - 2 x·y as a single product of
    inner size d + 2 unless rounding would exceed 1e-13 in absolute terms; then it sums squared differences.
    """
    X, Y = centered(X, Y)
    norm_X, norm_Y = (np.einsum("ij,ij->i", Z, Z) for Z in (X, Y))
    largest = max(norm_X.max(initial=0.0), norm_Y.max(initial=0.0))
    if X.shape[1] < 3 or np.finfo(np.float64).eps * largest > _PRODUCT_LOSS:
        return lambda i, j: cdist(X[i], Y[j], "sqeuclidean")
    left = np.column_stack([-2.0 * X, norm_X, np.ones(len(X))])
    right = np.column_stack([Y, np.ones(len(Y)), norm_Y])

    def block(i: slice, j: slice) -> Array:
        squared = left[i] @ right[j].T
        return np.maximum(squared, 0.0, out=squared)

    return block
