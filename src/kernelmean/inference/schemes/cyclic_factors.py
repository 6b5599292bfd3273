"""Rotations on low-rank factors: all sums are squared norms of A C_πᵀ, and its entries are convolutions.

The entry (r, q) is Σ_i A_ri C_q,π(i): under rotations the blocks of the two rows are convolved by FFT, which for every
frequency is one small product of two matrices.
"""

from __future__ import annotations

import numpy as np

from ..._array import Array, slices
from ..factored import Factored
from ..rotations import Rotations, Spectrum
from ..statistics import Sums
from .base import MIB

_CHUNK_BYTES = 128 * MIB


def factor_sums(factored: Factored, rotations: Rotations) -> Sums:
    """Return the sums over all rotations, shape (m, P); rows of the factors in the shuffled order."""
    problem = factored.problem
    pairs = [_squared_norms(factored.left[i], factored.right[j], rotations) for i, j in problem.pairs]
    left, right = problem.index
    diagonals = factored.diagonals
    return factored.sums(np.stack(pairs), rotations.correlations(diagonals[0][left], diagonals[1][right]))


def _squared_norms(left: Array, right: Array, rotations: Rotations) -> Array:
    """Return |A C_πᵀ|² for all π."""
    others = [right[:, order] for order in rotations.cosets]
    spectra = [_by_frequency(rotations.spectra(rows)) for rows in others]
    bytes_per_row = 16 * rotations.length * max(len(right), rotations.blocks)
    total = np.zeros((len(others), rotations.length))
    for part in slices(len(left), max(1, _CHUNK_BYTES // bytes_per_row)):
        rows = left[part]
        spectrum = np.conj(_by_frequency(rotations.spectra(rows))).swapaxes(1, 2)
        for coset, (other, moved) in enumerate(zip(spectra, others, strict=True)):
            entries = rotations.back(spectrum @ other, axis=0)
            entries += rows[:, rotations.rest] @ moved[:, rotations.rest].T
            total[coset] += np.einsum("srq,srq->s", entries, entries)
    return total.ravel()


def _by_frequency(spectra: Spectrum) -> Spectrum:
    """Reorder (r, blocks, f) to contiguous (f, blocks, r)."""
    return np.ascontiguousarray(spectra.transpose(2, 1, 0))
