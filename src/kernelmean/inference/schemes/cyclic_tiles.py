"""Rotations on tiles: every diagonal of a block of K is convolved with that of Z, by FFT; no n × n array, any d.

For blocks I and J of g rows, K_{i,i+d} and Z_{i+s,i+s+d} (i ∈ I, i + d ∈ J, indices turning within the block) meet
under the rotation by s: their sum over i is a convolution of two diagonals, and all d add up in the Fourier domain.
Rows that no block holds do not turn: against them it is columns that are convolved, and among them nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import local
from typing import final

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy import fft

from ...core.array import Array, slices
from ..permutation_groups import Rotations, Spectrum
from ..problem import Problem, Side
from ..statistics import Sums
from .base import Tile, Tiling, Total, upper_tiles

_CHUNK = 64
_STRIP = 128


@final
@dataclass(frozen=True)
class _TilePart:
    """What one tile adds: sums over what turns and what does not, and both margins of both sides."""

    spectrum: Spectrum  # (pairs, cosets, frequencies)
    fixed: Array  # (pairs, cosets)
    margins: tuple[tuple[Array, Array], ...]  # row sums and column sums, (count, rows) each


@final
@dataclass(frozen=True, eq=False)
class RotationTiling(Tiling):
    """Both sides in the shuffled order; O(n² (log g + d)) time, O(g²) memory per thread.

    The total is the spectrum over the rotations (pairs, cosets, frequencies), what does not turn (pairs, cosets), and
    the row sums of all Gram matrices on the left and on the right, (count, n) each.
    """

    problem: Problem
    rotations: Rotations

    def tiles(self) -> list[Tile]:
        """Return pairs of blocks, then those with the rows that fill none."""
        rotations = self.rotations
        rest = [rotations.rest] if rotations.rest.start < rotations.rest.stop else []
        return upper_tiles(slices(rotations.rest.start, rotations.order) + rest)

    def evaluator(self) -> Callable[[Tile], _TilePart]:
        """Prepare both sides, the right one for every coset."""
        return _Convolution(self.problem, self.rotations)

    def total(self, parts: Iterable[tuple[Tile, _TilePart]]) -> Total:
        """Add up spectra and margins."""
        problem, shape = self.problem, (len(self.problem.pairs), len(self.rotations.cosets))
        spectrum: Spectrum = np.zeros((*shape, self.rotations.order // 2 + 1), dtype=np.complex128)
        fixed = np.zeros(shape)
        rows = np.zeros((problem.left.count, problem.n)), np.zeros((problem.right.count, problem.n))
        for (i, j), part in parts:
            spectrum, fixed = spectrum + part.spectrum, fixed + part.fixed
            for total, margins in zip(rows, part.margins, strict=True):
                total[:, i] += margins[0]
                if i != j:
                    total[:, j] += margins[1]
        return np.stack([spectrum.real, spectrum.imag]), fixed, *rows

    def sums(self, total: Total) -> Sums:
        """Transform back, and center."""
        waves, fixed, left, right = total
        raw = self.rotations.back(waves[0] + 1j * waves[1]) + fixed[:, :, None]
        return self.rotations.centered(self.problem, raw.reshape(len(raw), -1), (left, right))


def tile_sums(problem: Problem, rotations: Rotations, n_jobs: int) -> Sums:
    """Return the sums over all rotations of the shuffled rows."""
    tiling = RotationTiling(problem, rotations)
    return tiling.sums(tiling.part(tiling.tiles(), n_jobs))


@final
class _Convolution:
    """Adds up one tile: the left side is transformed once, the right side once per coset."""

    def __init__(self, problem: Problem, rotations: Rotations) -> None:
        self.pairs, self.rotations = problem.pairs, rotations
        self.left = _Evaluation(problem.left, rotations.rest)
        self.rights = [_Evaluation(problem.right.permuted(order), rotations.rest) for order in rotations.cosets]

    def __call__(self, tile: Tile) -> _TilePart:
        left, left_margins = self.left(tile)
        rights, right_margins = zip(*(evaluate(tile) for evaluate in self.rights), strict=True)
        shape = (len(self.pairs), len(rights))
        spectrum = np.zeros((*shape, self.rotations.order // 2 + 1), dtype=np.complex128)
        fixed = np.zeros(shape)
        if tile[0] == self.rotations.rest:
            fixed[:] = [[np.vdot(left[k], right[z]) for right in rights] for k, z in self.pairs]
        else:
            weights = diagonal_weights(left.shape[2], rows=left.shape[1] if tile[0] == tile[1] else None)
            self._convolve(left, rights, weights, spectrum)
        return _TilePart(spectrum, fixed, (left_margins, right_margins[0]))

    def _convolve(self, left: Array, rights: Sequence[Array], weights: Array, out: Spectrum) -> None:
        """Add Σ_d w_d conj(F K_d) F Z_d to ``out``, chunk by chunk of diagonals d."""
        for chunk in slices(len(weights), _CHUNK):
            own = [np.conj(fft.rfft(gram[:, chunk] * weights[chunk], axis=0)) for gram in left]
            for coset, right in enumerate(rights):
                other = [fft.rfft(gram[:, chunk], axis=0) for gram in right]
                for pair, (k, z) in enumerate(self.pairs):
                    out[pair, coset] += _row_products(own[k], other[z])


@final
class _Evaluation:
    """Evaluates the tiles of one side as arrays (count, rows, diagonals): entry (i, d) is that of columns i and i + d.

    Half of the diagonals serve where the tile is symmetric; columns that do not turn come as they are.
    """

    def __init__(self, side: Side, rest: slice) -> None:
        self.tiles, self.shifts, self.rest = side.tiles(), side.shifts, rest
        self.memory = local()

    def __call__(self, tile: Tile) -> tuple[Array, tuple[Array, Array]]:
        i, j = tile
        rows, columns = i.stop - i.start, j.stop - j.start
        turns = j != self.rest
        diagonals = self._buffer(rows, columns // 2 + 1 if turns and i == j else columns)
        row_sums, column_sums = np.zeros((len(self.shifts), rows)), np.zeros((len(self.shifts), columns))
        for strip in slices(rows, _STRIP):
            blocks = self.tiles(slice(i.start + strip.start, i.start + strip.stop), j)
            for k, (block, shift) in enumerate(zip(blocks, self.shifts, strict=True)):
                gram = block - shift
                row_sums[k, strip], column_sums[k] = gram.sum(axis=1), column_sums[k] + gram.sum(axis=0)
                diagonals[k, strip] = _turned(gram, strip.start, diagonals.shape[2]) if turns else gram
        return diagonals, (row_sums, column_sums)

    def _buffer(self, rows: int, columns: int) -> Array:
        """Return memory that the thread keeps, as an array (count, rows, columns)."""
        padded = columns + 8 * (columns % 64 == 0)  # rows a power of two apart would share a cache line
        size = len(self.shifts) * rows * padded
        if len(getattr(self.memory, "numbers", ())) < size:
            self.memory.numbers = np.empty(size)
        diagonals: Array = self.memory.numbers[:size].reshape(len(self.shifts), rows, padded)[:, :, :columns]
        return diagonals


def _turned(gram: Array, start: int, count: int) -> Array:
    """Return a view (rows, count) whose entry (i, d) is that of columns start + i + d, which begin again at the end."""
    ahead = gram[:, start : start + len(gram) + count - 1]
    wide = np.concatenate([ahead, gram[:, : len(gram) + count - 1 - ahead.shape[1]]], axis=1)
    down, across = wide.strides
    return as_strided(wide, (len(gram), count), (down + across, across), writeable=False)


def diagonal_weights(count: int, rows: int | None) -> Array:
    """Return how often a diagonal counts: twice by symmetry, once where a symmetric tile mirrors it on itself."""
    weights = np.full(count, 2.0)
    if rows is not None:
        weights[0] = 1.0
        if rows % 2 == 0:
            weights[-1] = 1.0
    return weights


def _row_products(left: Spectrum, right: Spectrum) -> Spectrum:
    """Return Σ_d left_fd right_fd."""
    return np.asarray(np.matmul(left[:, None, :], right[:, :, None])[:, 0, 0])
