"""Schemes on arrays of other libraries, such as torch tensors on a GPU: in what tiles they run.

Kernel values have the type of the points; everything that is added up is float64. What a tile adds stays on the device
of the points; results are copied once, or once per batch of permutations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.array import Array, IntArray, as_host, joined, like, namespace, slices, tile_shape
from ..problem import KernelSide
from ..resampling_options import Resources

_HOST_TILE = (512, 512)
_TILE_SHARE = 0.5  # of the memory


def tile_side(side: KernelSide, resources: Resources) -> int:
    """Return the rows and columns of a tile."""
    return min(tile_shape(side.points, _HOST_TILE, _TILE_SHARE * resources.memory))


def gatherer(n: int, resources: Resources) -> Callable[[Any, Any, IntArray], Array]:
    """Return the function Σ_ij left_ij right_π(i)π(j) of matrices and permutations (b, n)."""
    size = max(1, int(_TILE_SHARE * resources.memory / (24 * n**2)))

    def gather(left: Any, right: Any, batch: IntArray) -> Array:
        xp, own, other = namespace(left), namespace(left).reshape(left, (-1,)), namespace(left).reshape(right, (-1,))
        parts = []
        for some in slices(len(batch), size):
            order = like(batch[some], left, "int64")
            places = order[:, :, None] * n + order[:, None, :]
            taken = xp.reshape(xp.take(other, xp.reshape(places, (-1,)), axis=0), (order.shape[0], -1))
            parts.append(taken @ own)
        return as_host(joined(parts))

    return gather
