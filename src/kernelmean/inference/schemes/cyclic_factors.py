"""Rotations on low-rank factors: all sums are squared norms of A C_πᵀ, and its entries are convolutions.

The entry (r, q) is Σ_i A_ri C_q,π(i): under rotations the blocks of the two rows are convolved by FFT, which for every
frequency is one small product of two matrices.
"""

from __future__ import annotations

import numpy as np

from ...core.array import Array, slices
from ..low_rank_problem import Factored, SharedRows
from ..permutation_groups import Rotations, Spectrum
from ..statistics import Sums

_ENTRIES = 2**16
"""Numbers of A Cᵀ and rotation at a time: those that a processor keeps in its cache, and need not be fetched anew.

Where matrices are multiplied, as many rows as there are blocks, while these hold them and their transforms: every
part reads all blocks of the other side.
"""
_MOST_ENTRIES, _MOST_TRANSFORMED = 2**22, 2**24
_ROWS = 32
"""Rows whose transforms are put in the order of frequencies at a time."""


def factor_sums(factored: Factored, rotations: Rotations) -> Sums:
    """Return the sums over all rotations, shape (m, P); rows of the factors in the shuffled order."""
    pairs = np.empty((len(factored.problem.pairs), rotations.count))
    for group in factored.shared:
        pairs[group.pairs] = _squared_norms(group, rotations)
    return factored.sums(pairs, rotations.correlations(*factored.coupled))


def _squared_norms(group: SharedRows, rotations: Rotations) -> Array:
    """Return |A C_πᵀ|² for all π and weights, (k, P).

    O(n r q + r q g log g) time and 8 n q bytes besides chunks, for a single coset.
    """
    left, right, rest = group.left, group.right, rotations.rest
    total = np.zeros((len(group.pairs), len(rotations.cosets), rotations.order))
    matrices = rotations.blocks > 1 and len(right) > 1
    per_row = rotations.order * max(1, len(right))
    most = min(rotations.blocks, _MOST_ENTRIES // per_row, _MOST_TRANSFORMED // rotations.n) if matrices else 1
    parts = slices(len(left), max(1, _ENTRIES // per_row, most))
    for coset, order in enumerate(rotations.cosets):
        moved = right[:, order] if coset else right  # the first coset is the group itself
        other = _spectra(moved, rotations, matrices)
        for part in parts:
            own = _spectra(left[part], rotations, matrices)
            entries = rotations.back(_over_blocks(np.conj(own, out=own), other, matrices))
            if rest.start < rest.stop:
                entries += (left[part, rest] @ moved[:, rest].T)[:, :, None]
            total[:, coset] += group.weighted_norms(entries, part)
    return total.reshape(len(total), -1)


def _spectra(rows: Array, rotations: Rotations, matrices: bool) -> Spectrum:
    """Return the transforms of the blocks of all rows, (r, blocks, f); in memory by frequency for matrices."""
    if not matrices:
        return rotations.spectra(rows)
    by_frequency = np.empty((rotations.order // 2 + 1, rotations.blocks, len(rows)), dtype=np.complex128)
    for part in slices(len(rows), _ROWS):
        by_frequency[:, :, part] = rotations.spectra(rows[part]).transpose(2, 1, 0)
    return by_frequency.transpose(2, 1, 0)


def _over_blocks(own: Spectrum, other: Spectrum, matrices: bool) -> Spectrum:
    """Return the products of two spectra summed over the blocks, (r, blocks, f) and (q, blocks, f) to (r, q, f)."""
    if matrices:
        return np.asarray((own.transpose(2, 0, 1) @ other.transpose(2, 1, 0)).transpose(1, 2, 0))
    total = own[:, None, 0] * other[:, 0]
    for block in range(1, own.shape[1]):
        total += own[:, None, block] * other[:, block]
    return total
