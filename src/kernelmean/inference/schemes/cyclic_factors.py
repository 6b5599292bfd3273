"""Rotations on low-rank factors: all sums are squared norms of A C_πᵀ, and its entries are convolutions.

The entry (r, q) is Σ_i A_ri C_q,π(i): under rotations the blocks of the two rows are convolved by FFT, which for every
frequency is one small product of two matrices.
"""

from __future__ import annotations

import numpy as np

from ...core.array import Array, slices
from ..low_rank_problem import CHUNK_BYTES, Factored, SharedRows
from ..permutation_groups import Rotations, Spectrum
from ..statistics import Sums


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
    left, right = group.left, group.right
    total = np.zeros((len(group.pairs), len(rotations.cosets), rotations.order))
    bytes_per_row = 16 * rotations.order * max(len(right), rotations.blocks)
    parts = slices(len(left), max(1, CHUNK_BYTES // bytes_per_row))
    for coset, order in enumerate(rotations.cosets):
        moved = right[:, order] if coset else right  # the first coset is the group itself
        spectra = _by_frequency(moved, rotations)
        for part in parts:
            own = np.conj(_by_frequency(left[part], rotations)).swapaxes(1, 2)
            entries = rotations.back(own @ spectra, axis=0)
            entries += left[part, rotations.rest] @ moved[:, rotations.rest].T
            total[:, coset] += group.squared_norms(entries, part)
    return total.reshape(len(total), -1)


def _by_frequency(rows: Array, rotations: Rotations) -> Spectrum:
    """Return the transforms of the blocks of all rows, shape (f, blocks, r)."""
    spectra = np.empty((rotations.order // 2 + 1, rotations.blocks, len(rows)), dtype=np.complex128)
    for part in slices(len(rows), 32):
        spectra[:, :, part] = rotations.spectra(rows[part]).transpose(2, 1, 0)
    return spectra
