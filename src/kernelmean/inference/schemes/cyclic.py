"""The group of rotations, evaluated for every pair of kernels by factors or by tiles, whichever costs less."""

from __future__ import annotations

from typing import Literal, final

import numpy as np

from ..factored import Factored, required_factors, split
from ..problem import Problem
from ..rotations import Rotations, block_length
from ..statistics import Sums
from .base import Resources, Scheme, Shape
from .cyclic_factors import factor_sums
from .cyclic_tiles import tile_sums

# Nanoseconds, measured on one core of an AVX-512 server.
_TILE_NS = 7.0  # per entry of the two Gram matrices, evaluated and transformed
_ROW_NS, _ROW_RANK_NS = 12.0, 0.03  # per entry of a factor, and that times its rank
_ENTRY_NS, _BLOCK_NS = 5.0, 0.1  # per entry of A Cᵀ and rotation, or and row of the sample


@final
class Cyclic(Scheme):
    """Rotations of shuffled blocks: an exact test whose thousand statistics cost about as much as a few."""

    summary = "rotations of shuffled blocks of rows"

    def __init__(self, name: str = "cyclic", evaluation: Literal["auto", "tiles", "factors"] = "auto") -> None:
        self.name = name
        self.evaluation = evaluation

    def sums(self, problem: Problem, resources: Resources) -> Sums:
        """Draw the group and its cosets, and evaluate both kinds of pairs."""
        rotations = Rotations.draw(problem.n, resources.n_resamples + 1, resources.rng)
        problem = problem.shuffled(rotations.shuffle)
        found, low, others = self._split(problem, rotations, resources)
        parts = [] if found is None else [factor_sums(found, rotations)]
        if others:
            parts.append(tile_sums(problem.restricted(others), rotations, resources.n_jobs))
        return Sums.joined(parts, axis=0).reordered(np.argsort(low + others))

    def _split(
        self, problem: Problem, rotations: Rotations, resources: Resources
    ) -> tuple[Factored | None, list[int], list[int]]:
        everything = list(range(len(problem.pairs)))
        if self.evaluation == "factors":
            return required_factors(problem, resources.memory), everything, []
        rank = 0 if self.evaluation == "tiles" else worthwhile_rank(problem, rotations, resources.memory)
        return split(problem, rank) if rank else (None, [], everything)

    def memory(self, shape: Shape, n_jobs: int = 1) -> float:
        """Count the tiles of every thread, wrapped and transformed, and the prepared points of every coset."""
        length = block_length(shape.n, shape.n_resamples + 1)
        cosets = -(-(shape.n_resamples + 1) // length)
        grams = shape.kernels[0] + shape.kernels[1] * cosets
        return 8.0 * (grams * (4.0 * n_jobs * length**2 + 2 * shape.n * (shape.dim + 2)) + shape.n * cosets)


def worthwhile_rank(problem: Problem, rotations: Rotations, memory: float) -> int:
    """Return the highest rank at which factors cost less time than tiles, within a third of the memory; 0 for never."""
    n, cosets = problem.n, len(rotations.cosets)
    sides = problem.left.count + (0 if problem.two_samples else problem.right.count)
    fitting = memory / (3 * 8 * n * sides)
    ranks = np.arange(8, max(9, min(n, fitting)))
    other = 1 if problem.two_samples else ranks
    rows = n * (ranks + (other > 1) * other) * (_ROW_NS + _ROW_RANK_NS * ranks)
    entries = ranks * other * (_ENTRY_NS * rotations.count + _BLOCK_NS * n * cosets)
    tiles = _TILE_NS * n**2 * (1 + cosets) / 2
    return int(max(ranks[rows + entries < tiles], default=0))
