"""Listed permutations of pairs: the second Gram matrix is gathered in every new order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...core.array import Array, IntArray, as_host, joined, like, namespace, slices
from ..permutations import Permutations
from ..problem import Problem
from ..resampling import Resources
from ..statistics import Sums
from ..tiling import TILE_SHARE, in_order

DENSE_LIMIT = 5000
_BATCH_BYTES = 2**23
_COMPILE_FROM = 2e9
_WHOLE, _STRIP = 100, 64

Gather = Callable[[Any, Any, IntArray], Array]
"""Σ_ij left_ij right_π(i)π(j) of two matrices for permutations π of shape (b, n)."""


def permutation_sums(problem: Problem, permutations: Permutations, resources: Resources) -> Sums:
    """Return the sums over the permutations in the list; O(n² P) time, O(n²) memory."""
    (left_grams, left_diagonal), (right_grams, right_diagonal) = problem.left.dense(), problem.right.dense()
    left, right = problem.index
    pairs, diagonal = [], []
    for batch, sums in gathered(left_grams, right_grams, problem.pairs, permutations, resources):
        pairs.append(sums)
        diagonal.append(np.einsum("ki,kbi->kb", left_diagonal[left], right_diagonal[right][:, batch]))
    traces = left_diagonal.sum(axis=1)[left], right_diagonal.sum(axis=1)[right]
    return Sums(np.concatenate(pairs, axis=1), np.concatenate(diagonal, axis=1), *traces)


def gathered(
    left: Sequence[Any],
    right: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    permutations: Permutations,
    resources: Resources,
) -> Iterator[tuple[IntArray, Array]]:
    """Yield permutations (b, n), and Σ_ij left_ij right_π(i)π(j) of all pairs of matrices, shape (pairs, b)."""
    n = permutations.n
    if isinstance(left[0], np.ndarray):
        gather, n_jobs = _gatherer(n**2 * permutations.count), resources.n_jobs
    else:
        gather, n_jobs = _on_device(n, resources), 1

    def evaluate(batch: IntArray) -> tuple[IntArray, Array]:
        return batch, np.stack([gather(left[i], right[j], batch) for i, j in pairs])

    yield from in_order(evaluate, permutations.batches(max(1, _BATCH_BYTES // (8 * n**2))), n_jobs)


def _gatherer(cost: float) -> Gather:
    """Return the compiled loop for large calls if numba is installed, otherwise the NumPy one."""
    if cost >= _COMPILE_FROM and find_spec("numba"):
        from .compiled import gather

        return gather
    return _gather


def _gather(left: Array, right: Array, batch: IntArray) -> Array:
    if len(left) > _WHOLE:
        return np.array([sum(_strips(left, right, order)) for order in batch])
    permuted = right[batch[:, :, None], batch[:, None, :]]
    return np.asarray(permuted.reshape(len(batch), -1) @ left.ravel())


def _strips(left: Array, right: Array, order: IntArray) -> Iterator[float]:
    """Yield the sums over a few rows each, which stay in the cache."""
    for rows in slices(len(order), _STRIP):
        yield float(np.vdot(left[rows], right[order[rows]].take(order, axis=1)))


def _on_device(n: int, resources: Resources) -> Gather:
    """Return the function for arrays of another library, which stay where they are."""
    size = max(1, int(TILE_SHARE * resources.memory / (24 * n**2)))

    def gather(left: Any, right: Any, batch: IntArray) -> Array:
        xp = namespace(left)
        flat, entries = xp.reshape(left, (-1,)), xp.reshape(right, (-1,))
        parts = []
        for some in slices(len(batch), size):
            order = like(batch[some], left, "int64")
            places = order[:, :, None] * n + order[:, None, :]
            taken = xp.reshape(xp.take(entries, xp.reshape(places, (-1,)), axis=0), (order.shape[0], -1))
            parts.append(taken @ flat)
        return as_host(joined(parts))

    return gather
