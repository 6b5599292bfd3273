"""Translations on tiles: every xor-diagonal of a block of K is convolved with that of Z by Walsh-Hadamard transforms.

Additions only; the loops are compiled by numba. About as fast as rotations, and another group to check them by.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import final

import numpy as np

from ...core.array import Array
from ..problem import Problem
from ..sizes import Resources, Shape, point_bytes
from ..statistics import Sums
from ..translations import Translations, translation_order, walsh
from .base import Scheme, in_order, shifted_tile, upper_tiles

Tile = tuple[slice, slice]
Part = tuple[Tile, Array, tuple[tuple[Array, Array], ...]]


@final
class Xor(Scheme):
    """Translations of shuffled blocks of rows: an exact test over another group than that of the rotations."""

    name = "xor"
    summary = "translations i → i xor t of shuffled blocks of rows (extra 'fast')"

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Draw the group and its cosets, and add up the tiles."""
        group = Translations.draw(problem.n, n_resamples + 1, rng)
        problem = problem.shuffled(group.shuffle)
        raw = np.zeros((len(problem.pairs), len(group.cosets), group.order))
        rows = np.zeros((problem.left.count, problem.n)), np.zeros((problem.right.count, problem.n))
        for (i, j), spectrum, margins in in_order(
            _Convolution(problem, group), upper_tiles(group.blocks), resources.n_jobs
        ):
            values = walsh(spectrum) / spectrum.shape[-1]
            raw += group.spread(values if i == j else 2.0 * values)
            for total, (row_sums, column_sums) in zip(rows, margins, strict=True):
                total[:, i] += row_sums
                if i != j:
                    total[:, j] += column_sums
        return group.centered(problem, raw.reshape(len(raw), -1), rows)

    def memory(self, shape: Shape, resources: Resources) -> float:
        """Count the tiles of every thread and the prepared points of every coset."""
        order = translation_order(shape.n, shape.n_resamples + 1)
        cosets = -(-(shape.n_resamples + 1) // order)
        grams = shape.kernels[0] + shape.kernels[1] * cosets
        return point_bytes(shape, grams) + 24.0 * grams * resources.n_jobs * order**2

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse where numba is missing."""
        del shape
        return None if find_spec("numba") else "it needs numba; install kernelmean[fast], or use 'cyclic'"


@final
class _Convolution:
    """Adds up one tile: spectra (pairs, cosets, rows), and the margins of both sides."""

    def __init__(self, problem: Problem, group: Translations) -> None:
        self.pairs, self.problem = problem.pairs, problem
        self.left = problem.left.tiles()
        self.rights = [problem.right.permuted(order).tiles() for order in group.cosets]

    def __call__(self, tile: Tile) -> Part:
        from .compiled import xor_spectrum

        left = shifted_tile(self.left, self.problem.left, tile)
        rights = [shifted_tile(tiles, self.problem.right, tile) for tiles in self.rights]
        spectrum = np.array([[xor_spectrum(left[k], right[z]) for right in rights] for k, z in self.pairs])
        return tile, spectrum, tuple((side.sum(axis=2), side.sum(axis=1)) for side in (left, rights[0]))
