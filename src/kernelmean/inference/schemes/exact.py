"""All permutations, when there are few."""

from __future__ import annotations

from typing import final

import numpy as np

from ..problem import Problem
from ..resampling_options import Resources, Shape
from ..statistics import Sums
from .base import Scheme
from .random_labels import Gemm, label_sums
from .random_pairs import Gather, permutation_sums

_MOST = 2 * 10**6


@final
class Exact(Scheme):
    """Every way to divide the pooled rows, or every permutation of the pairs: the p-value has no randomness."""

    name = "exact"
    summary = "all distinct permutations enumerated"

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Evaluate the complete list."""
        del n_resamples, rng
        evaluate = label_sums if problem.two_samples else permutation_sums
        return evaluate(problem, problem.everything(), resources)

    def memory(self, shape: Shape, resources: Resources) -> float:
        """Count as the random scheme of the same size does."""
        scheme = Gather() if shape.first is None else Gemm()
        return scheme.memory(Shape(shape.n, shape.dim, count_all(shape), shape.first, shape.kernels), resources)

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse lists beyond two million."""
        if count_all(shape) <= _MOST:
            return None
        return f"there are more than {_MOST:,} permutations to enumerate; use scheme='auto'"


def count_all(shape: Shape, limit: int = _MOST) -> int:
    """Return how many permutations can differ, or ``limit`` + 1 when there are more."""
    if shape.first is None:
        factors = ((i, 1) for i in range(1, shape.n + 1))
    else:
        factors = ((shape.n - i, i + 1) for i in range(min(shape.first, shape.n - shape.first)))
    count = 1
    for above, below in factors:
        count = count * above // below
        if count > limit:
            return limit + 1
    return count
