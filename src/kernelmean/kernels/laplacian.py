"""The Laplacian kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from scipy.spatial.distance import cdist

from ..core.array import Array, array_api, as_type, like, namespace, overwritten, precision
from .bandwidth import check_axes
from .base import AxisProfile, Kernel, Separable, WithBandwidth
from .distances import Blocks, recentered, summed_over_axes


@final
@dataclass(frozen=True)
class Laplacian(WithBandwidth, Separable):
    r"""The Laplacian kernel :math:`k(x, y) = \exp(-\sum_j |x_j - y_j| / θ_j)`.

    Parameters
    ----------
    bandwidth : float, array of shape (d,), or str
        θ, in the units of X: one for all axes, one per axis, or a rule as in :func:`kernelmean.median_bandwidth`.
        scikit-learn's ``gamma`` is ``1 / θ``.

    Raises
    ------
    ValueError
        When a bandwidth is not positive and finite.

    Notes
    -----
    O(n m d) time, O(n m) memory.

    Examples
    --------
    >>> import numpy as np
    >>> Laplacian(1.0)(np.array([[0.0]]), np.array([[1.0]]))
    array([[0.36787944]])
    """

    bandwidth: Any

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return (cls(1.0),)

    def profiles(self, dim: int) -> Sequence[AxisProfile]:
        """Return t ↦ exp(-t / θ_j) for every axis."""
        return [partial(_exponential, float(theta)) for theta in self.bandwidths(dim)]

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare the Gram matrix of slices: one distance and one exponential per pair."""
        scale = check_axes(self.bandwidth, X.shape[1])
        scaled_X, scaled_Y = (Z / like(scale, Z) for Z in recentered(X, Y))
        dtype = precision(X)
        return lambda i, j: as_type(_tile(scaled_X[i, :], scaled_Y[j, :]), dtype)


@array_api
def _tile(X: Array, Y: Array) -> Array:
    """Return exp(-Σ_j |x_j - y_j|), shape (n, m)."""
    return overwritten("exp", -summed_over_axes(X, Y, lambda gap: overwritten("abs", gap)))


@_tile.numpy
def _(X: Array, Y: Array) -> Array:
    return np.exp(-cdist(X, Y, "cityblock"))


def _exponential(theta: float, gap: Array) -> Array:
    """Return exp(-t / θ)."""
    return namespace(gap).exp(-gap / theta)
