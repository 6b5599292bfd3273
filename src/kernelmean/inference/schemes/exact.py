"""All relabelings, when there are few."""

from __future__ import annotations

import math
from typing import final

from ..problem import Problem
from ..statistics import Sums
from .base import Resources, Scheme, Shape
from .gather import Gather, permutation_sums
from .gemm import Gemm, label_sums

_MOST = 2 * 10**6


@final
class Exact(Scheme):
    """Every way to divide the pooled rows, or every permutation of the pairs: the p-value has no randomness."""

    name = "exact"
    summary = "all distinct relabelings enumerated"

    def sums(self, problem: Problem, resources: Resources) -> Sums:
        """Evaluate the complete list."""
        evaluate = label_sums if problem.two_samples else permutation_sums
        return evaluate(problem, problem.everything(), resources.n_jobs)

    def memory(self, shape: Shape, n_jobs: int = 1) -> float:
        """Count as the random scheme of the same size does."""
        scheme = Gather() if shape.first is None else Gemm()
        return scheme.memory(Shape(shape.n, shape.dim, count_all(shape), shape.first, shape.kernels), n_jobs)

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse lists beyond two million."""
        count = count_all(shape)
        if count <= _MOST:
            return None
        return f"there are {count:.3g} relabelings to enumerate, more than {_MOST}; use scheme='auto'"


def count_all(shape: Shape) -> int:
    """Return how many relabelings can differ: labelings of two samples, or permutations of pairs."""
    return math.factorial(shape.n) if shape.first is None else math.comb(shape.n, shape.first)
