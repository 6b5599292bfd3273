"""Random or all labelings of two samples: one matrix product of the Gram matrix with a batch of label vectors."""

from __future__ import annotations

from typing import final

import numpy as np

from ...core.array import Array, IntArray, slices
from ..permutations import Permutations
from ..problem import KernelSide, Problem
from ..resampling_options import MIB, Resources, Shape, point_bytes
from ..statistics import Sums
from .base import RandomList, in_order, upper_tiles
from .device import label_batch, label_forms

_TILE = 512
_BATCH_BYTES = 256 * MIB


def _batch(n: int, count: int) -> int:
    return int(min(count, max(64, _BATCH_BYTES // (16 * n))))


def label_sums(problem: Problem, permutations: Permutations, resources: Resources) -> Sums:
    """Return the sums over the labelings in the list; O(n² P) time, O(n P) memory in batches."""
    most = label_batch(problem.n, resources) if problem.left.on_device else _batch(problem.n, permutations.count)
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
        """Refuse independence, where nothing is a matrix product."""
        return None if shape.first is not None else "it serves two-sample tests; use 'gather' or 'cyclic'"


def _batch_sums(problem: Problem, batch: IntArray, resources: Resources) -> Sums:
    """Return the sums of one batch of permutations, shape (b, n)."""
    side, labels = problem.left, problem.labels[batch.T]
    label_rows = problem.labels.sum() * problem.labels[None]
    if side.on_device:
        raw, rows = label_forms(side, labels, resources)
    else:
        raw, rows = _forms(side, labels, resources.n_jobs)
    left, _ = problem.index
    linear = (rows @ labels) * label_rows.max()
    return problem.centered_sums(raw[left], linear[left], (side.diagonal(rows) @ labels)[left], (rows, label_rows))


def _forms(side: KernelSide, labels: Array, n_jobs: int) -> tuple[Array, Array]:
    """Return aᵀKa of every kernel and labeling, (m, b), and the row sums of every kernel, (m, n), constants removed."""
    tiles = side.tiles()

    def forms(pair: tuple[slice, slice]) -> list[tuple[Array, Array, Array]]:
        i, j = pair
        weight = 1.0 if i == j else 2.0
        return [
            (weight * np.einsum("ib,ib->b", labels[i], gram @ labels[j]), gram.sum(axis=1), gram.sum(axis=0))
            for gram in map(np.subtract, tiles(i, j), side.shifts)
        ]

    raw, rows = np.zeros((side.count, labels.shape[1])), np.zeros((side.count, side.n))
    pairs = upper_tiles(slices(side.n, _TILE))
    for (i, j), parts in zip(pairs, in_order(forms, pairs, n_jobs), strict=True):
        for k, (form, row_sums, column_sums) in enumerate(parts):
            raw[k] += form
            rows[k, i] += row_sums
            if i != j:
                rows[k, j] += column_sums
    return raw, rows
