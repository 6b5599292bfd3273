"""Rotations of blocks of rows on low-rank factors of both Gram matrices.

All sums are squared norms of A C_πᵀ. The entry (r, q) is Σ_i A_ri C_q,π(i): under rotations the blocks of the two rows
are convolved by FFT, which for every frequency is one small product of two matrices.
"""

from __future__ import annotations

import numpy as np

from ...core.array import Array, slices
from ...core.sums import conjugate, stripe_products, stripe_transforms, turned
from ..low_rank_problem import Factored, SharedRows, most_rank, weighted_norms
from ..permutation_groups import Rotations, block_length
from ..problem import Shape
from ..statistics import Sums
from .tiles import is_one_tile

_ENTRIES = 2**16
"""Entries of A Cᵀ and rotations at a time: as many as stay in the cache of a processor.

With several blocks, as many rows as there are blocks, while these hold them and their transforms: every part reads all
blocks of the other side.
"""
_MOST_ENTRIES, _MOST_TRANSFORMED = 2**22, 2**24

# How many multiplications in a product of matrices take as long.
_TILE = 233.0  # an entry of the two Gram matrices, evaluated and transformed
_ENTRY = 400.0  # an entry of a factor, besides one for every row of it
_TURNED, _ROW = 167.0, 3.3  # an entry of A Cᵀ, for every rotation and for every row of the sample
_SEARCH = 6.0e7  # the pivots of one kernel

_TILE_OF_GIVEN, _HELD_TILE_OF_GIVEN = 1.75, 1.0
"""How many entries of A Cᵀ under one rotation (8.5 ns) take as long as one of a Gram matrix, and as a held one."""


def factor_sums(factored: Factored, rotations: Rotations) -> Sums:
    """Return the sums over all rotations, shape (m, P); rows of the factors in the shuffled order."""
    pairs = np.empty((len(factored.problem.pairs), rotations.count))
    for group in factored.shared:
        pairs[group.pairs] = _squared_norms(group, rotations)
    return factored.sums(pairs, rotations.of_diagonals(factored.problem, *factored.diagonals))


def _squared_norms(group: SharedRows, rotations: Rotations) -> Array:
    """Return |A C_πᵀ|² for all π and weights, (k, P).

    O(n r q + r q g log g) time and 8 n (r + q) bytes besides chunks, for a single coset. Cosets of few entries are
    taken together.
    """
    left, right, length = group.left, group.right, rotations.order
    turning, rest = slice(0, rotations.rest.start), rotations.rest
    total = np.zeros((len(group.pairs), len(rotations.cosets), length))
    parts = slices(len(left), _at_once(rotations, len(right)))
    transformed = [conjugate(stripe_transforms(left[part, turning], length)) for part in parts]
    for some in slices(len(rotations.cosets), max(1, _ENTRIES // (length * max(1, len(left) * len(right))))):
        moved = right[:, rotations.cosets[some]].reshape(-1, rotations.n)
        others = stripe_transforms(moved[:, turning], length)
        for part, spectra in zip(parts, transformed, strict=True):
            entries = turned(stripe_products(spectra, others), length)
            if rest.start < rest.stop:
                entries += (left[part, rest] @ moved[:, rest].T)[:, :, None]
            entries = entries.reshape(len(entries), len(right), -1)
            total[:, some] += weighted_norms(group.weights, entries, part).reshape(len(total), -1, length)
    return total.reshape(len(total), -1)


def by_factors(factored: Factored, rotations: Rotations) -> list[int]:
    """Return the pairs for which given factors, whose ranks are known, take less time than tiles of Gram matrices.

    A right Gram matrix is transformed once for all pairs that have it.
    """
    n, pairs = factored.problem.n, factored.problem.pairs
    tile = n**2 * (_HELD_TILE_OF_GIVEN if is_one_tile(factored.problem, rotations) else _TILE_OF_GIVEN)
    kept: list[int] = []
    on_tiles: set[int] = set()
    for group in sorted(factored.shared, key=lambda shared: len(shared.left) * len(shared.right), reverse=True):
        rights = {pairs[pair][1] for pair in group.pairs} - on_tiles
        if len(group.left) * len(group.right) * rotations.order < tile * len(rights):
            kept += group.pairs
        else:
            on_tiles |= rights
    return sorted(kept)


def _at_once(rotations: Rotations, rank: int) -> int:
    """Return how many rows of the left factor to take at once beside a right one of some rank."""
    per_row = rotations.order * max(1, rank)
    most = min(rotations.blocks, _MOST_ENTRIES // per_row, _MOST_TRANSFORMED // rotations.n)
    return max(1, _ENTRIES // per_row, most)


def paying_rank(shape: Shape) -> int:
    """Return the highest rank that factors may have; 0 for tiles only."""
    return shape.n if shape.explicit else min(most_rank(shape), worthwhile_rank(shape))


def worthwhile_rank(shape: Shape) -> int:
    """Return the highest rank at which factors take fewer multiplications than tiles; 0 for never."""
    n, length = shape.n, block_length(shape.n, shape.n_resamples + 1)
    cosets = -(-(shape.n_resamples + 1) // length)
    ranks = np.arange(8, max(9, min(n, 20_000)))
    rows = n * 2 * ranks * (_ENTRY + ranks)
    entries = ranks**2 * cosets * (_TURNED * length + _ROW * n)
    tiles = _TILE * n**2 * (1 + cosets) / 2
    return int(max(ranks[rows + entries + _SEARCH < tiles], default=0))
