"""Sums over groups of rows and over rotations of stripes, for arrays of any library."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from scipy.sparse import csr_array

from .array import Array, IntArray, array_api, is_foreign, like, namespace


def group_sums(values: Any, starts: IntArray) -> Any:
    """Return the sums of columns (k, n) from one start to the next, shape (k, groups)."""
    if not is_foreign(values):
        return np.add.reduceat(values, starts, axis=1)
    n = values.shape[1]
    numbers = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n)))
    return values @ like(numbers[:, None] == np.arange(len(starts)), values)


@array_api
def sums_at(places: Any, table: Array, starts: IntArray) -> Any:
    """Return the sums of rows of a table, given by their numbers, from one start to the next, shape (groups, k)."""
    return group_sums(namespace(places).take(like(table, places, "float64"), places, axis=0).T, starts).T


@sums_at.numpy
def _(places: IntArray, table: Array, starts: IntArray) -> Array:
    each = csr_array((np.ones(len(places)), places, np.append(starts, len(places))), (len(starts), len(table)))
    return np.asarray(each @ table)


def stripe_transforms(values: Any, length: int) -> Any:
    """Return the Fourier transforms of real rows (k, n), cut into stripes of a length.

    Shape (length / 2 + 1, n / length, k): for every frequency, the stripes stacked.
    """
    shape = values.shape[0], values.shape[1] // length, length
    if not is_foreign(values):
        return np.ascontiguousarray(scipy.fft.rfft(values.reshape(shape), axis=2).transpose(2, 1, 0))
    xp = namespace(values)
    return xp.permute_dims(xp.fft.rfft(xp.reshape(values, shape), axis=-1), (2, 1, 0))


def conjugate_products(left: Any, right: Any) -> Any:
    """Return A*B of stacks of matrices, A* the conjugate transpose of A."""
    if not is_foreign(left):
        return np.matmul(left.conj().transpose(0, 2, 1), right)
    xp = namespace(left)
    return xp.permute_dims(xp.conj(left), (0, 2, 1)) @ right
