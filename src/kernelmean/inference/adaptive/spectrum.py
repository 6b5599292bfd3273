r"""Kernel principal components of the pooled rows, on few features: one decomposition serves every filter.

With landmarks S and :math:`φ(x) = W^{-1/2} k(S, x)`, W = k(S, S), the centered features of n rows have the covariance
:math:`\sum_i φ_i φ_i^⊤ = V \mathrm{diag}(w) V^⊤`, and the coordinates :math:`s_i = V^⊤ φ_i` of the rows are all that a
statistic needs: a function g of the spectrum is the kernel :math:`\sum_j g(w_j) s_j s_j' / w_j`, which is k itself,
centered, for g(w) = w, and the whitened or spectrally regularized one for :math:`g(w) = w / (w + λ \sum_j w_j)`
(Hagrass, Sriperumbudur & Li 2024; kernel Fisher discriminants, Harchaoui, Bach & Moulines 2007; with both sides of
HSIC filtered, Fukumizu et al. 2007). Where there are no more rows than landmarks, all rows are landmarks and nothing
is left out.

Landmarks do not depend on the order of the rows. If they were chosen by row numbers, the same for X and Y, they would
make independent variables look dependent: the rows of landmarks have a high leverage on both sides at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh

from ...core.array import Array, IntArray, like, slices
from ...kernels import Kernel, Linear

_LEAST = 1e-10
"""As a share of the squares of all features before centering: smaller eigenvalues are rounding."""
_DEPENDENT = 1e-10
_NEGLIGIBLE = 0.01
_AROUND = 2.0
_ROWS = 512
"""Rows of kernel values that stay in the cache of a processor until they are features."""


@final
@dataclass(frozen=True)
class Projection:
    """From kernel values of any rows to their coordinates in some directions of a spectrum."""

    kernel: Kernel
    landmarks: Array
    """Shape (l, d)."""
    lift: Array
    """From kernel values to coordinates, shape (r, l)."""
    origin: Array
    """The coordinates of the mean of the rows behind the spectrum, shape (r, 1)."""

    def __call__(self, values: Array) -> Array:
        """Return the coordinates of rows from their kernel values at the landmarks (l, n), shape (r, n)."""
        coordinates = like(self.lift, values) @ values
        coordinates -= like(self.origin, values)
        return coordinates


@final
@dataclass(frozen=True)
class Components:
    """The directions of the covariance of features, which give the coordinates of the rows."""

    features: Array
    """The features of the rows, centered, shape (n, q)."""
    basis: Projection
    """From kernel values of any rows to their features, centered in the same way."""
    directions: Array
    """Orthonormal columns, shape (q, r)."""
    values: Array
    """w, shape (r,), positive and ascending."""
    whole: bool
    """Whether nothing is left out: all rows were landmarks."""

    def scores(self, first: int = 0, out: Array | None = None) -> Array:
        """Return the coordinates of the rows in the directions from the ``first`` on, shape (r - first, n).

        They are orthogonal, centered, and have the squared norms ``values``.
        """
        return np.matmul(self.directions[:, first:].T, self.features.T, out=out)

    def projection(self, first: int) -> Projection:
        """Return the projection that gives the same coordinates of any other rows."""
        turned = self.directions[:, first:].T
        basis = self.basis
        return Projection(basis.kernel, basis.landmarks, turned @ basis.lift, turned @ basis.origin)

    def filtered(self, ridge: float | None) -> tuple[int, tuple[float, ...]]:
        """Return the first column that counts, and g(w) / w for it and all later ones.

        On features, directions with less than a hundredth of the weight of the largest one are left out: for the plain
        kernel those with a small w, with λ = ``ridge`` only those with w far below λ.
        """
        total, largest = float(self.values.sum()), float(self.values.max(initial=0.0))
        negligible = _NEGLIGIBLE * largest  # the w at which g is a hundredth of that of the largest w
        if ridge is not None and largest:
            share = negligible / (largest + ridge * total)
            negligible = total * ridge * share / (1.0 - share)
        first = 0 if self.whole or not largest else _cut(self.values, negligible)
        if ridge is None:
            return first, (1.0,) * (len(self.values) - first)
        return first, tuple((1.0 / (self.values[first:] / total + ridge)).tolist())


def spectrum(table: Array, kernel: Kernel, landmarks: IntArray) -> Components:
    """Return the spectrum of a kernel over the rows of a table (n, d), on these landmarks; O(n r (d + r)) time.

    Of a linear kernel the axes tell as much, and all, if there are no more of them.
    """
    dim = table.shape[1]
    chosen = np.eye(dim) if isinstance(kernel, Linear) and dim <= len(landmarks) else table[landmarks]
    values, vectors = decomposed(kernel(chosen, chosen))
    kept = values > _DEPENDENT * max(values[-1], 0.0)
    roots, blocks = vectors[:, kept] / np.sqrt(values[kept]), kernel.blocks(chosen, table)
    features = np.empty((len(table), roots.shape[1]))
    for part in slices(len(table), _ROWS):
        np.matmul(blocks(slice(None), part).T, roots, out=features[part])
    least = _LEAST * float(np.vdot(features, features))
    mean = features.mean(axis=0)
    features -= mean
    values, directions = decomposed(features.T @ features)
    first = _cut(values, least)
    basis = Projection(kernel, chosen, roots.T, mean[:, None])
    return Components(features, basis, directions[:, first:], values[first:], whole=len(landmarks) == len(table))


def decomposed(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and the eigenvectors of a symmetric matrix.

    Divide and conquer, the fastest method, fails to converge on rare Gram matrices, such as that of a narrow kernel
    with values down to the smallest floats; the QR algorithm converges.
    """
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        values, vectors = eigh(matrix, driver="ev")
    return np.asarray(values), np.asarray(vectors)


def _cut(values: Array, least: float) -> int:
    """Return the first of ascending eigenvalues to keep, after the widest gap around ``least``: never within a cluster.

    If two eigenvalues are equal, rounding chooses the directions, and nothing may depend on this choice.
    """
    first = int(np.searchsorted(values, least, side="right"))
    near = np.flatnonzero((values > least / _AROUND) & (values < least * _AROUND))
    if not len(near):
        return first
    places = np.arange(near[0], min(near[-1] + 2, len(values)))
    below = np.where(places > 0, values[places - 1], least / _AROUND)
    gaps = values[places] / np.maximum(below, least / _AROUND)
    return int(places[np.argmax(gaps)])
