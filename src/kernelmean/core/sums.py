"""Sums over groups of rows and over rotations of stripes, for arrays of any library."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, final

import numpy as np
import scipy.fft
from scipy.sparse import csr_array

from .array import Array, IntArray, as_float64, is_foreign, like, namespace, slices, to_numpy
from .cached import cached_property

_PIECE = 32
_UNITS_OF_A_RUN = 64
"""The groups of one size that are worth a product of matrices, on average."""
_TRANSFORMED = 32
"""Rows whose transforms are ordered by frequency at a time."""


@final
class RowGroups:
    """Groups of neighboring rows, whose columns are added up.

    Parameters
    ----------
    starts : array of int, shape (groups,)
        The first row of every group.
    rows : array of shape (n, d)
        The rows; what is added up has their library and device.
    weights : array of shape (n,), optional
        Of the rows, 1 by default; for arrays of NumPy only.
    """

    def __init__(self, starts: IntArray, rows: Any, weights: Array | None = None) -> None:
        self.starts, self.n, self.weights = starts, rows.shape[0], weights
        if is_foreign(rows):
            places, groups = _pieces(starts, self.n)
            self._shape, self._places = places.shape, like(places.ravel(), rows, "int64")
            self._member = as_float64(like(groups[:, None] == np.arange(len(starts)), rows, None))

    def sums(self, values: Any) -> Any:
        """Return the sums of columns (k, n) over every group, shape (k, groups)."""
        if is_foreign(values):
            xp = namespace(values)
            padded = xp.concat([values, xp.zeros_like(values[:, :1])], axis=1)
            pieces = xp.reshape(xp.take(padded, self._places, axis=1), (-1, *self._shape))
            return xp.sum(pieces, axis=-1) @ self._member
        values = values if self.weights is None else values * self.weights
        if len(self.starts) == self.n:
            return values
        if _UNITS_OF_A_RUN * len(self._runs) > len(self.starts):
            return np.add.reduceat(values, self.starts, axis=1)
        sums = np.empty(
            (len(values), len(self.starts))
        )  # groups of one size in a run are rows of a matrix, much faster
        for rows, groups, size in self._runs:
            np.matmul(values[:, rows].reshape(len(values), -1, size), np.ones(size), out=sums[:, groups])
        return sums

    @cached_property
    def _runs(self) -> list[tuple[slice, slice, int]]:
        """Neighboring groups of one size: their rows, these groups, and their size."""
        ends = np.append(self.starts, self.n)
        sizes = np.diff(ends)
        edges = np.flatnonzero(np.diff(sizes, prepend=0, append=0)).tolist()
        return [(slice(ends[a], ends[b]), slice(a, b), int(sizes[a])) for a, b in pairwise(edges)]

    def sums_at(self, places: Any, table: Array) -> Array:
        """Return the sums of the rows of a table with the numbers ``places`` over every group, shape (groups, k)."""
        if is_foreign(places):
            rows = namespace(places).take(like(table, places, "float64"), places, axis=0)
            return np.asarray(to_numpy(self.sums(rows.T))).T
        ends = np.append(self.starts, len(places))
        counts = np.ones(len(places)) if self.weights is None else self.weights
        return np.asarray(csr_array((counts, places, ends), (len(self.starts), len(table))) @ table)


def _pieces(starts: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Cut groups of rows into pieces of equal length: their row numbers, n where a piece is not full, and their groups.

    Shapes (pieces, 32) and (pieces,).
    """
    lengths = np.diff(np.append(starts, n))
    counts = -(-lengths // _PIECE)
    groups = np.repeat(np.arange(len(starts)), counts)
    first = _PIECE * (np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)) + starts[groups]
    places = first[:, None] + np.arange(_PIECE)
    return np.where(places < (starts + lengths)[groups][:, None], places, n), groups


def stripe_transforms(values: Any, length: int) -> Any:
    """Return the Fourier transforms of real rows (k, n), cut into stripes of a length.

    Shape (length // 2 + 1, n / length, k): for every frequency, the stripes stacked. A single stripe is a view.
    """
    count, stripes = values.shape[0], values.shape[1] // length
    if is_foreign(values):
        xp = namespace(values)
        cut = xp.reshape(values, (count, stripes, length))
        return xp.permute_dims(xp.fft.rfft(cut, axis=-1), (2, 1, 0))
    cut = values.reshape(count, stripes, length)
    if stripes == 1:
        return scipy.fft.rfft(cut, axis=2).transpose(2, 1, 0)
    transforms = np.empty((length // 2 + 1, stripes, count), np.complex128)
    for part in slices(count, _TRANSFORMED):
        transforms[:, :, part] = scipy.fft.rfft(cut[part], axis=2).transpose(2, 1, 0)
    return transforms


def conjugate(transforms: Any) -> Any:
    """Return the conjugate numbers; NumPy arrays are overwritten."""
    return namespace(transforms).conj(transforms) if is_foreign(transforms) else np.conj(transforms, out=transforms)


def stripe_products(left: Any, right: Any) -> Any:
    """Return Σ_s left_fsr right_fsq over the stripes s for every frequency f, shape (f, r, q)."""
    if is_foreign(left):
        return namespace(left).permute_dims(left, (0, 2, 1)) @ right
    if left.shape[1] > 1:
        return left.transpose(0, 2, 1) @ right
    by_rows = left.transpose(2, 1, 0) * right.transpose(1, 2, 0)  # in the order of memory
    return by_rows.transpose(2, 0, 1)


def turned(products: Any, length: int) -> Array:
    """Return the products of rows under all rotations of stripes, from (f, r, q) to (r, q, length)."""
    return np.asarray(scipy.fft.irfft(to_numpy(products).transpose(1, 2, 0), length))
