"""Random or all permutations of pairs: the second Gram matrix is gathered in every new order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np

from ...core.array import Array, IntArray, slices
from ..permutations import Permutations
from ..problem import Problem
from ..resampling_options import Resources
from ..statistics import Sums
from .base import in_order
from .device import gatherer as device_gatherer

DENSE_LIMIT = 5000
_BATCH_BYTES = 2**23
_COMPILE_FROM = 2e9
_WHOLE, _STRIP = 100, 64


def permutation_sums(problem: Problem, permutations: Permutations, resources: Resources) -> Sums:
    """Return the sums over the permutations in the list; O(n² P) time, O(n²) memory."""
    (left_grams, left_diagonal), (right_grams, right_diagonal) = problem.left.dense(), problem.right.dense()
    left, right = problem.index
    if problem.left.on_device:
        gather, n_jobs = device_gatherer(problem.n, resources), 1
    else:
        gather, n_jobs = gatherer(problem.n**2 * permutations.count), resources.n_jobs

    def evaluate(batch: IntArray) -> tuple[Array, Array]:
        pairs = np.stack([gather(left_grams[i], right_grams[j], batch) for i, j in problem.pairs])
        return pairs, np.einsum("ki,kbi->kb", left_diagonal[left], right_diagonal[right][:, batch])

    batches = permutations.batches(max(1, _BATCH_BYTES // (8 * problem.n**2)))
    pairs, diagonal = zip(*in_order(evaluate, batches, n_jobs), strict=True)
    traces = left_diagonal.sum(axis=1)[left], right_diagonal.sum(axis=1)[right]
    return Sums(np.concatenate(pairs, axis=1), np.concatenate(diagonal, axis=1), *traces)


def gatherer(cost: float) -> Callable[[Array, Array, IntArray], Array]:
    """Return the compiled loop for large calls if numba is installed, otherwise the NumPy one."""
    if cost >= _COMPILE_FROM and find_spec("numba"):
        from .compiled import gather

        return gather
    return _gather


def _gather(left: Array, right: Array, batch: IntArray) -> Array:
    """Return Σ_ij left_ij right_π(i)π(j) for every row π of ``batch``."""
    if len(left) > _WHOLE:
        return np.array([sum(_strips(left, right, order)) for order in batch])
    permuted = right[batch[:, :, None], batch[:, None, :]]
    return np.asarray(permuted.reshape(len(batch), -1) @ left.ravel())


def _strips(left: Array, right: Array, order: IntArray) -> Iterator[float]:
    """Yield the sums over a few rows each, which stay in the cache."""
    for rows in slices(len(order), _STRIP):
        yield float(np.vdot(left[rows], right[order[rows]].take(order, axis=1)))
