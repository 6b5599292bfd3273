"""Random or all labelings of two samples: one matrix product of the Gram matrix with a batch of label vectors."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, as_float64, as_host, like, slices, total
from ..permutations import Permutations
from ..problem import KernelSide, Problem
from ..resampling_options import Resources, Shape
from ..statistics import Sums
from .base import RandomList, RowSums, Tile, in_order, stacked, upper_tiles
from .device import tile_side

_TILE = 512
_LABEL_SHARE = 0.25  # of the memory


def labelings_at_once(side: KernelSide, resources: Resources) -> int:
    """Return how many labelings are held at once."""
    return max(64, int(_LABEL_SHARE * resources.memory / ((24 if side.on_device else 16) * side.n)))


def label_sums(problem: Problem, permutations: Permutations, resources: Resources) -> Sums:
    """Return the sums over the labelings in the list; O(n² P) time, O(n P) memory in batches."""
    batches = permutations.batches(labelings_at_once(problem.left, resources))
    return Sums.joined([_batch_sums(problem, batch, resources) for batch in batches], axis=1)


@final
class Gemm(RandomList):
    """The quadratic forms a_πᵀKa_π of a whole batch as K·(a_π1 … a_πb), tile by tile over half of K."""

    name = "gemm"
    summary = "random labelings, all of them in one matrix product"
    evaluate = staticmethod(label_sums)

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
