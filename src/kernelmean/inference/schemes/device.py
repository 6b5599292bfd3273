"""The sums of a scheme over tiles of arrays of other libraries: torch tensors on a GPU, say.

Kernel values have the type of the points; everything that is added up is float64. What a tile adds stays where the
points live; results are copied once, or once a batch of permutations.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np

from ...core.array import Array, IntArray, as_float64, as_host, joined, like, namespace, slices, tile_shape, total
from ..problem import KernelSide
from ..resampling_options import Resources
from .base import upper_tiles

ON_DEVICE = ("exact", "gemm", "gather", "cyclic", "cyclic-tiles", "blocks")
"""The schemes that run where the points live."""

_HOST_TILE = (512, 512)
_LABEL_SHARE, _TILE_SHARE = 0.25, 0.5  # of the memory


def check_scheme(name: str) -> None:
    """Raise when a scheme does not run on a device."""
    if name not in ON_DEVICE:
        raise ValueError(
            f"scheme {name!r} runs on NumPy's arrays; pass one of {', '.join(map(repr, ON_DEVICE))}, or the points as "
            "NumPy's, such as X.cpu().numpy()"
        )


def tile_side(side: KernelSide, resources: Resources) -> int:
    """Return the rows and columns of a tile."""
    return min(tile_shape(side.points, _HOST_TILE, _TILE_SHARE * resources.memory))


def label_batch(n: int, resources: Resources) -> int:
    """Return how many labelings are held at once."""
    return max(64, int(_LABEL_SHARE * resources.memory / (24 * n)))


def label_forms(side: KernelSide, labels: Array, resources: Resources) -> tuple[Array, Array]:
    """Return aᵀKa of every kernel and labeling, (m, b), and the row sums of every kernel, (m, n), less the constants.

    ``labels`` are 0 and 1, shape (n, b). A product of float64 for every tile right of the diagonal.
    """
    A = as_float64(like(labels.astype(np.int8), side.points, "int8"))
    tiles, rows = side.tiles(), slices(side.n, tile_side(side, resources))
    forms: list[Any] = [0.0] * side.count
    margins: list[list[Any]] = [[0.0] * len(rows) for _ in range(side.count)]
    for a, b in combinations_with_replacement(range(len(rows)), 2):
        i, j = rows[a], rows[b]
        for k, (tile, shift) in enumerate(zip(tiles(i, j), side.shifts, strict=True)):
            gram = as_float64(tile) - shift
            forms[k] = forms[k] + (1.0 if a == b else 2.0) * total(A[i, :] * (gram @ A[j, :]), axis=0)
            margins[k][a] = margins[k][a] + total(gram, axis=1)
            if a != b:
                margins[k][b] = margins[k][b] + total(gram, axis=0)
    return _copied(forms), _copied([joined(parts) for parts in margins])


def _copied(vectors: list[Any]) -> Array:
    return as_host(namespace(vectors[0]).stack(vectors))


def bin_sums(side: KernelSide, edges: IntArray, resources: Resources) -> Array:
    """Return the sums of every Gram matrix over pairs of bins, (m, bins, bins).

    Bins of one size are added up many at a time: every entry is made, read once for its row, and forgotten.
    """
    groups = _groups(np.diff(edges), tile_side(side, resources))
    tiles, n_bins = side.tiles(), len(edges) - 1
    parts: list[tuple[slice, slice, list[Any]]] = []
    for own, other in upper_tiles(groups):
        rows, columns = (slice(int(edges[group.start]), int(edges[group.stop])) for group in (own, other))
        sums = [_per_bin(tile, own.stop - own.start, other.stop - other.start) for tile in tiles(rows, columns)]
        parts.append((own, other, sums))
    out = np.zeros((side.count, n_bins, n_bins))
    flat = as_host(joined([joined(sums) for *_, sums in parts]))
    start = 0
    for own, other, _ in parts:
        shape = side.count, own.stop - own.start, other.stop - other.start
        block = flat[start : start + int(np.prod(shape))].reshape(shape)
        out[:, own, other], out[:, other, own] = block, block.transpose(0, 2, 1)
        start += block.size
    return out


def _groups(sizes: IntArray, most: int) -> list[slice]:
    """Return runs of bins of one size with at most so many rows each, one bin at least."""
    changes = [0, *(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(sizes)]
    found = []
    for start, stop in pairwise(changes):
        found += slices(stop, max(1, most // int(sizes[start])), start=start)
    return found


def _per_bin(tile: Any, rows: int, columns: int) -> Any:
    """Return the sums of a tile over bins of equal size, flat, in float64."""
    xp = namespace(tile)
    across = total(xp.reshape(tile, (tile.shape[0], columns, -1)), axis=2)
    return xp.reshape(total(xp.reshape(across, (rows, -1, columns)), axis=1), (-1,))


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
