"""Rotations on tiles: every diagonal of a block of K is convolved with that of Z, by FFT; no n × n array, any d.

For blocks I and J of g rows, K_{i,i+d} and Z_{i+s,i+s+d} (i ∈ I, i + d ∈ J, indices turning within the block) meet
under the rotation by s: their sum over i is a convolution of two diagonals, and all d add up in the Fourier domain.
Rows that no block holds do not turn: against them it is columns that are convolved, and among them nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from threading import local
from typing import final

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy import fft

from ..._array import Array, slices
from ..problem import Problem, Side
from ..rotations import Rotations, Spectrum
from ..statistics import Sums
from .base import in_order, upper_tiles

_CHUNK = 64
_STRIP = 128
Tile = tuple[slice, slice]


@final
@dataclass(frozen=True)
class _Part:
    """What one tile (I, J) adds: sums over what turns and what does not, and both margins of both sides."""

    tile: Tile
    spectrum: Spectrum  # (pairs, cosets, frequencies)
    fixed: Array  # (pairs, cosets)
    margins: tuple[tuple[Array, Array], ...]  # row sums and column sums, (count, rows) each


def tile_sums(problem: Problem, rotations: Rotations, n_jobs: int) -> Sums:
    """Return the sums over all rotations of the shuffled rows; O(n² (log g + d)) time, O(g²) memory per thread."""
    blocks = slices(rotations.rest.start, rotations.length)
    rest = [rotations.rest] if rotations.rest.start < rotations.rest.stop else []
    spectrum: Spectrum = np.zeros(1, dtype=np.complex128)
    fixed: Array = np.zeros(1)
    rows = np.zeros((problem.left.count, problem.n)), np.zeros((problem.right.count, problem.n))
    for part in in_order(_Convolution(problem, rotations), upper_tiles(blocks + rest), n_jobs):
        spectrum, fixed = spectrum + part.spectrum, fixed + part.fixed
        for total, margins in zip(rows, part.margins, strict=True):
            total[:, part.tile[0]] += margins[0]
            if part.tile[0] != part.tile[1]:
                total[:, part.tile[1]] += margins[1]
    raw = rotations.back(spectrum) + fixed[:, :, None]
    return _centered(problem, rotations, raw.reshape(len(raw), -1), rows)


def _centered(problem: Problem, rotations: Rotations, raw: Array, rows: tuple[Array, Array]) -> Sums:
    """Add the sums over single rows, and center."""
    left, right = problem.index
    linear = rotations.correlations(rows[0][left], rows[1][right])
    diagonals = problem.left.diagonal(rows[0])[left], problem.right.coupling(rows[1])[right]
    return problem.centered_sums(raw, linear, rotations.correlations(*diagonals), rows)


@final
class _Convolution:
    """Adds up one tile: the left side is transformed once, the right side once per coset."""

    def __init__(self, problem: Problem, rotations: Rotations) -> None:
        self.pairs, self.rotations = problem.pairs, rotations
        self.left = _Evaluation(problem.left, rotations.rest)
        self.rights = [_Evaluation(problem.right.permuted(order), rotations.rest) for order in rotations.cosets]

    def __call__(self, tile: Tile) -> _Part:
        shape = (len(self.pairs), len(self.rights))
        spectrum = np.zeros((*shape, self.rotations.length // 2 + 1), dtype=np.complex128)
        fixed = np.zeros(shape)
        left, margins = self.left(tile)
        turns = tile[0] != self.rotations.rest
        spectra = _conjugates(left, same=tile[0] == tile[1]) if turns else iter(())
        repeated = [spectra] if len(self.rights) == 1 else repeat(list(spectra))
        both = [margins]
        for coset, (evaluate, own_spectra) in enumerate(zip(self.rights, repeated, strict=False)):
            right, margins = evaluate(tile)
            both.append(margins)
            if not turns:
                fixed[:, coset] = [np.vdot(left[k], right[z]) for k, z in self.pairs]
            for own, other in zip(own_spectra, _spectra(right) if turns else [], strict=True):
                for pair, (k, z) in enumerate(self.pairs):
                    spectrum[pair, coset] += _row_products(own[k], other[z])
        return _Part(tile, 2.0 * spectrum, fixed, tuple(both[:2]))


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
        size = len(self.shifts) * rows * columns
        if len(getattr(self.memory, "numbers", ())) < size:
            self.memory.numbers = np.empty(size)
        diagonals: Array = self.memory.numbers[:size].reshape(len(self.shifts), rows, columns)
        return diagonals


def _turned(gram: Array, start: int, count: int) -> Array:
    """Return a view (rows, count) whose entry (i, d) is that of columns start + i + d, which begin again at the end."""
    ahead = gram[:, start : start + len(gram) + count - 1]
    wide = np.concatenate([ahead, gram[:, : len(gram) + count - 1 - ahead.shape[1]]], axis=1)
    down, across = wide.strides
    return as_strided(wide, (len(gram), count), (down + across, across), writeable=False)


def _spectra(diagonals: Array) -> Iterator[list[Spectrum]]:
    """Yield the transforms of all diagonals, shape (f, chunk) for each Gram matrix, chunk by chunk."""
    for chunk in slices(diagonals.shape[2], _CHUNK):
        yield [fft.rfft(gram[:, chunk], axis=0) for gram in diagonals]


def _conjugates(diagonals: Array, *, same: bool) -> Iterator[list[Spectrum]]:
    """Yield the conjugate transforms; in a symmetric tile, what counts once is halved where the rest counts twice."""
    count, rows = diagonals.shape[2], diagonals.shape[1]
    once = [0, count - 1] if same and rows % 2 == 0 else [0] * same
    for chunk, spectra in zip(slices(count, _CHUNK), _spectra(diagonals), strict=True):
        for spectrum in spectra:
            np.conjugate(spectrum, out=spectrum)
            spectrum[:, [d - chunk.start for d in once if chunk.start <= d < chunk.stop]] *= 0.5
        yield spectra


def _row_products(left: Spectrum, right: Spectrum) -> Spectrum:
    """Return Σ_d left_fd right_fd."""
    return np.asarray(np.matmul(left[:, None, :], right[:, :, None])[:, 0, 0])
