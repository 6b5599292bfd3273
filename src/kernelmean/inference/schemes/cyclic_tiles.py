"""Rotations on tiles: every diagonal of a block of K is convolved with that of Z, by FFT; no n × n array, any d.

For blocks I and J of g rows, K_{i,i+d} and Z_{i+s,i+s+d} (i ∈ I, i + d ∈ J, indices turning within the block) meet
under the rotation by s: their sum over i is a convolution of two diagonals, and all d add up in the Fourier domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import local
from typing import final

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy import fft

from ..._array import Array, slices
from ..problem import Problem, Tiles
from ..rotations import Rotations, Spectrum
from ..statistics import Sums
from .base import in_order, upper_tiles

_CHUNK = 256
_STRIP = 256


@final
@dataclass(frozen=True)
class _Part:
    """What one tile (I, J) adds: spectra (m, c, f), sums of fixed rows (m, c), row and column sums of both sides."""

    tile: tuple[slice, slice]
    spectrum: Spectrum
    fixed: Array
    row_sums: tuple[Array, Array]
    column_sums: tuple[Array, Array]


def tile_sums(problem: Problem, rotations: Rotations, n_jobs: int) -> Sums:
    """Return the sums over all rotations of the shuffled rows; O(n² (log g + d)) time, O(g²) memory per thread."""
    blocks = slices(rotations.rest.start, rotations.length)
    rest = [rotations.rest] if rotations.rest.start < rotations.rest.stop else []
    spectrum: Spectrum = np.zeros(1, dtype=np.complex128)
    fixed: Array = np.zeros(1)
    rows = np.zeros((problem.left.count, problem.n)), np.zeros((problem.right.count, problem.n))
    for part in in_order(_Convolution(problem, rotations), upper_tiles(blocks + rest), n_jobs):
        spectrum, fixed = spectrum + part.spectrum, fixed + part.fixed
        _add_row_sums(rows, part)
    raw = rotations.back(spectrum) + fixed[:, :, None]
    return _centered(problem, rotations, raw.reshape(len(raw), -1), rows)


def _add_row_sums(totals: tuple[Array, Array], part: _Part) -> None:
    i, j = part.tile
    for total, row_sums, column_sums in zip(totals, part.row_sums, part.column_sums, strict=True):
        total[:, i] += row_sums
        if i != j:
            total[:, j] += column_sums


def _centered(problem: Problem, rotations: Rotations, raw: Array, rows: tuple[Array, Array]) -> Sums:
    """Add the sums over single rows, and center."""
    left, right = problem.index
    linear = rotations.correlations(rows[0][left], rows[1][right])
    diagonals = problem.left.diagonal(rows[0])[left], problem.right.coupling(rows[1])[right]
    return problem.centered_sums(raw, linear, rotations.correlations(*diagonals), rows)


@final
class _Convolution:
    """Adds up one tile: of the left side once, of the right side once per coset."""

    def __init__(self, problem: Problem, rotations: Rotations) -> None:
        self.problem, self.rotations = problem, rotations
        self.left = _Strips(problem.left.tiles(), problem.left.shifts)
        self.rights = [_Strips(problem.right.permuted(o).tiles(), problem.right.shifts) for o in rotations.cosets]
        self.buffers = local()

    def __call__(self, tile: tuple[slice, slice]) -> _Part:
        left, *rights = (
            strips.fill(tile, self._buffer(number, strips.count)) for number, strips in enumerate([self.left, *self.rights])
        )
