"""Random or all labelings of two samples: one matrix product of the Gram matrix with a batch of label vectors."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, as_float64, as_host, like, slices, total
from ..permutations import Permutations
from ..problem import KernelSide, Problem
from ..resampling_options import MIB, Resources, Shape, point_bytes
from ..statistics import Sums
from .base import RandomList, RowSums, Tile, in_order, stacked, upper_tiles
from .device import tile_side

_TILE = 512
_BATCH_BYTES = 256 * MIB


_LABEL_SHARE = 0.25  # of the memory, on a device


def _batch(n: int, count: int) -> int:
    return int(min(count, max(64, _BATCH_BYTES // (16 * n))))


def device_batch(n: int, resources: Resources) -> int:
    """Return how many labelings are held at once on a device."""
    return max(64, int(_LABEL_SHARE * resources.memory / (24 * n)))


def label_sums(problem: Problem, permutations: Permutations, resources: Resources) -> Sums:
    """Return the sums over the labelings in the list; O(n² P) time, O(n P) memory in batches."""
    most = device_batch(problem.n, resources) if problem.left.on_device else _batch(problem.n, permutations.count)
    batches = permutations.batches(most)
    return Sums.joined([_batch_sums(problem, batch, resources) for batch in batches], axis=1)


@final
class Gemm(RandomList):
    """The quadratic forms a_πᵀKa_π of a whole batch as K·(a_π1 … a_πb), tile by tile over half of K."""

    name = "gemm"
    summary = "random labelings, all of them in one matrix product"
    evaluate = staticmethod(label_sums)

    def memory(self, shape: Shape, resources: Resources) -> float:
        """Count a batch of labels (as integers and numbers) and one tile with its product per thread."""
        batch = _batch(shape.n, shape.n_resamples + 1)
        tile = min(_TILE, shape.n)
        return point_bytes(shape, shape.kernels[0]) + 8.0 * (
            2 * shape.n * batch + resources.n_jobs * tile * (3 * tile + 2 * batch) * shape.kernels[0]
        )

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse independence, which is not a matrix product."""
        return None if shape.first is not None else "it serves two-sample tests"


def _batch_sums(problem: Problem, batch: IntArray, resources: Resources) -> Sums:
    """Return the sums of one batch of permutations, shape (b, n)."""
    side, labels = problem.left, problem.labels[batch.T]
    label_rows = problem.labels.sum() * problem.labels[None]
    raw, rows = _forms(side, labels, resources)
    left, _ = problem.index
    linear = (rows @ labels) * label_rows.max()
    return problem.centered_sums(raw[left], linear[left], (side.diagonal(rows) @ labels)[left], (rows, label_rows))


def _forms(side: KernelSide, labels: Array, resources: Resources) -> tuple[Array, Array]:
    """Return aᵀKa of every kernel and labeling, (m, b), and the row sums of every kernel, (m, n), constants removed.

    ``labels`` are 0 and 1, shape (n, b). A product of float64 for every tile right of the diagonal.
    """
    tiles, size, n_jobs = side.tiles(), _TILE, resources.n_jobs
    own: Any = labels
    if side.on_device:
        size, n_jobs = tile_side(side, resources), 1
        own = as_float64(like(labels.astype(np.int8), side.points, "int8"))

    def forms(tile: Tile) -> list[Any]:
        i, j = tile
        weight = 1.0 if i == j else 2.0
        parts = [
            (weight * _dots(own[i, :], gram @ own[j, :]), total(gram, axis=1), total(gram, axis=0))
            for gram in (as_float64(block) - shift for block, shift in zip(tiles(i, j), side.shifts, strict=True))
        ]
        return [stacked(part) for part in zip(*parts, strict=True)]

    raw: Any = 0.0
    rows = RowSums()
    pairs = upper_tiles(slices(side.n, size))
    for tile, (form, *margins) in zip(pairs, in_order(forms, pairs, n_jobs), strict=True):
        raw = raw + form
        rows.add(tile, *margins)
    return as_host(raw), rows.whole(side.count, side.n)


def _dots(left: Any, right: Any) -> Any:
    """Return the inner products of columns."""
    return np.einsum("ib,ib->b", left, right) if isinstance(left, np.ndarray) else total(left * right, axis=0)
