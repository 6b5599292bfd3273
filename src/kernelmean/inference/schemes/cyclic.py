"""The group of rotations, evaluated for every pair of kernels by factors or by tiles, whichever costs less."""

from __future__ import annotations

from typing import Literal, final

import numpy as np

from ..factored import Factored, LowRankError, factor_bytes, fitting_rank, split
from ..problem import Problem
from ..rotations import Rotations, block_length
from ..sizes import Resources, Shape
from ..statistics import Sums
from .base import Scheme
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

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Draw the group and its cosets, and evaluate both kinds of pairs."""
        rotations = Rotations.draw(problem.n, n_resamples + 1, rng)
        problem = problem.shuffled(rotations.shuffle)
        found, low, others = self._split(problem, n_resamples, resources)
        parts = [] if found is None else [factor_sums(found, rotations)]
        if others:
            parts.append(tile_sums(problem.restricted(others), rotations, resources.n_jobs))
        return Sums.joined(parts, axis=0).reordered(np.argsort(low + others))

    def _split(
        self, problem: Problem, n_resamples: int, resources: Resources
    ) -> tuple[Factored | None, list[int], list[int]]:
        rank = self._rank(problem.shape(n_resamples), resources)
        found, low, others = split(problem, rank) if rank else (None, [], list(range(len(problem.pairs))))
        if others and self.evaluation == "factors":
            raise LowRankError(problem.n, rank)
        return found, low, others

    def _rank(self, shape: Shape, resources: Resources) -> int:
        """Return the highest rank that factors may have; 0 for tiles only."""
        if self.evaluation == "tiles":
            return 0
        fitting = fitting_rank(shape, resources.memory)
        return fitting if self.evaluation == "factors" else min(fitting, worthwhile_rank(shape))

    def memory(self, shape: Shape, resources: Resources) -> float:
        """Count the tiles of every thread, prepared points, and factors of the highest rank that they may have."""
        length, cosets = _group(shape)
        grams = shape.kernels[0] + shape.kernels[1] * cosets
        tiles = 0.0 if self.evaluation == "factors" else 8.0 * grams * resources.n_jobs * 2.0 * length**2
        points = 8.0 * (grams * shape.n * (2 * shape.dim + 3) + shape.n * cosets)
        return points + tiles + factor_bytes(shape, self._rank(shape, resources))


def _group(shape: Shape) -> tuple[int, int]:
    """Return the order of the group and the number of cosets."""
    length = block_length(shape.n, shape.n_resamples + 1)
    return length, -(-(shape.n_resamples + 1) // length)


def worthwhile_rank(shape: Shape) -> int:
    """Return the highest rank at which factors cost less time than tiles; 0 for never."""
    n, (length, cosets) = shape.n, _group(shape)
    ranks = np.arange(8, max(9, min(n, 20_000)))
    other = 1 if shape.first is not None else ranks
    rows = n * (ranks + (other > 1) * other) * (_ROW_NS + _ROW_RANK_NS * ranks)
    entries = ranks * other * cosets * (_ENTRY_NS * length + _BLOCK_NS * n)
    tiles = _TILE_NS * n**2 * (1 + cosets) / 2
    return int(max(ranks[rows + entries < tiles], default=0))
