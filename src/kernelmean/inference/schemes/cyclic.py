"""The group of rotations, evaluated for every pair of kernels by factors or by tiles, whichever costs less."""

from __future__ import annotations

from typing import Literal, final

import numpy as np

from ..low_rank_problem import Factored, LowRankError, explicit_bytes, factor_bytes, fitting_rank, split
from ..permutation_groups import ListedRotations, Rotations, block_length
from ..problem import Problem
from ..resampling_options import Resources, Shape, point_bytes
from ..statistics import Sums
from .base import TiledScheme, Tiling
from .cyclic_factors import factor_sums
from .cyclic_tiles import RotationTiling, tile_sums
from .device_rotations import tile_sums as device_tile_sums
from .random_labels import label_sums

# Nanoseconds, measured on one core of an AVX-512 server.
_TILE_NS = 7.0  # per entry of the two Gram matrices, evaluated and transformed
_ROW_NS, _ROW_RANK_NS = 12.0, 0.03  # per entry of a factor, and that times its rank
_ENTRY_NS, _BLOCK_NS = 5.0, 0.1  # per entry of A Cᵀ and rotation, or and row of the sample
_BIN_NS = 1.5  # per entry of the Gram matrix of "blocks"
_SEARCH_NS = 2e6  # to find the pivots of one kernel


@final
class Cyclic(TiledScheme):
    """Rotations of shuffled blocks: an exact test whose thousand statistics cost about as much as a few."""

    summary = "rotations of shuffled blocks of rows"

    def __init__(
        self, name: str, *, tiles: bool = True, factors: Literal["never", "worthwhile", "fitting"] = "worthwhile"
    ) -> None:
        self.name, self.tiles, self.factors = name, tiles, factors

    def begin(
        self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources
    ) -> Tiling | Sums:
        """Draw the group and its cosets; where every pair goes by tiles these are left, else both kinds are done."""
        rotations = Rotations.draw(problem.n, n_resamples + 1, rng)
        problem = problem.shuffled(rotations.shuffle)
        found, low, others = self._split(problem, n_resamples, resources)
        if found is None and not problem.left.on_device:
            return RotationTiling(problem, rotations)
        parts = [] if found is None else [factor_sums(found, rotations)]
        if others:
            parts.append(_tile_sums(problem.restricted(others), rotations, resources))
        return Sums.joined(parts, axis=0).reordered(np.argsort(low + others))

    def _split(
        self, problem: Problem, n_resamples: int, resources: Resources
    ) -> tuple[Factored | None, list[int], list[int]]:
        rank = 0 if problem.left.on_device else self._rank(problem.shape(n_resamples), resources)
        found, low, others = split(problem, rank) if rank else (None, [], list(range(len(problem.pairs))))
        if others and not self.tiles:
            raise LowRankError(problem.n, rank)
        return found, low, others

    def _rank(self, shape: Shape, resources: Resources) -> int:
        """Return the highest rank that factors may have; 0 for tiles only."""
        if self.factors == "never":
            return 0
        if shape.explicit:
            return shape.n
        fitting = fitting_rank(shape, resources.memory - self._without_factors(shape, resources))
        return fitting if self.factors == "fitting" else min(fitting, worthwhile_rank(shape, tiles=self.tiles))

    def memory(self, shape: Shape, resources: Resources) -> float:
        """Count points, tiles, and factors of the highest rank that they may have."""
        if shape.explicit:
            return explicit_bytes(shape)
        return self._without_factors(shape, resources) + factor_bytes(shape, self._rank(shape, resources))

    def _without_factors(self, shape: Shape, resources: Resources) -> float:
        """Count the prepared points of every coset, and the tiles of every thread."""
        length, cosets = _group(shape)
        right = shape.kernels[1] * cosets
        tiles = 16.0 * (shape.kernels[0] + right) * resources.n_jobs * length**2 if self.tiles else 0.0
        prepared = shape.kernels[0] + (right if shape.first is None else 0)
        return point_bytes(shape, prepared) + 16.0 * shape.n * cosets + tiles


def _tile_sums(problem: Problem, rotations: Rotations, resources: Resources) -> Sums:
    """Return the sums over all rotations by tiles; on a device two samples take them as a list of labelings."""
    if not problem.left.on_device:
        return tile_sums(problem, rotations, resources.n_jobs)
    if problem.two_samples:
        return label_sums(problem, ListedRotations(rotations), resources)
    return device_tile_sums(problem, rotations, resources)


def _group(shape: Shape) -> tuple[int, int]:
    """Return the order of the group and the number of cosets."""
    length = block_length(shape.n, shape.n_resamples + 1)
    return length, -(-(shape.n_resamples + 1) // length)


def worthwhile_rank(shape: Shape, *, tiles: bool) -> int:
    """Return the highest rank at which factors cost less than tiles, or than the bins of "blocks"; 0 for never."""
    n, (length, cosets) = shape.n, _group(shape)
    ranks = np.arange(8, max(9, min(n, 20_000)))
    other = 1 if shape.first is not None else ranks
    rows = n * (ranks + (other > 1) * other) * (_ROW_NS + _ROW_RANK_NS * ranks)
    entries = ranks * other * cosets * (_ENTRY_NS * length + _BLOCK_NS * n)
    instead = n**2 * (_TILE_NS * (1 + cosets) / 2 if tiles else _BIN_NS)
    return int(max(ranks[rows + entries + _SEARCH_NS < instead], default=0))
