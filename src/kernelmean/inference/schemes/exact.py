"""All permutations, when there are few."""

from __future__ import annotations

from typing import final

import numpy as np

from ..problem import Problem
from ..resampling_options import Resources, Shape
from ..statistics import Sums
from .base import Scheme
from .random_labels import label_sums
from .random_pairs import permutation_sums

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

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse lists beyond two million."""
        if shape.count_all(_MOST) <= _MOST:
            return None
        return f"there are more than {_MOST:,} permutations to enumerate; use scheme='auto'"
