"""All permutations, when there are few."""

from __future__ import annotations

from typing import final

import numpy as np

from ..permutations import EXACT, AllPermutations
from ..problem import Problem
from ..resampling_options import Resources, Shape
from ..statistics import Sums
from .base import Scheme
from .random_pairs import permutation_sums

_MOST = 2 * 10**6


@final
class Exact(Scheme):
    """Every permutation of the pairs: the p-value has no randomness."""

    name = EXACT

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Evaluate the complete list."""
        del n_resamples, rng
        return permutation_sums(problem, AllPermutations(problem.n), resources)

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse lists beyond two million."""
        if shape.count_all(_MOST) <= _MOST:
            return None
        return f"there are more than {_MOST:,} permutations to enumerate; use scheme='auto'"
