"""The group of rotations, evaluated for every pair of kernels by factors or by tiles, whichever costs less.

*On low-rank factors* all sums are squared norms of A C_πᵀ, and its entries are convolutions. The entry (r, q) is
Σ_i A_ri C_q,π(i): under rotations the blocks of the two rows are convolved by FFT, which for every frequency is one
small product of two matrices.

*On tiles* every diagonal of a block of K is convolved with that of Z, by FFT; no n × n array, any d. For blocks I and J
of g rows, K_{i,i+d} and Z_{i+s,i+s+d} (i ∈ I, i + d ∈ J, indices turning within the block) meet under the rotation by
s: their sum over i is a convolution of two diagonals, and all d add up in the Fourier domain. Rows outside all blocks
do not turn: columns are convolved against them, and among these rows nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import local
from typing import Any, final

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy import fft

from ...core.array import Array, as_float64, as_host, like, namespace, slices, to_numpy, total
from ..low_rank_problem import Factored, SharedRows, most_rank, split
from ..permutation_groups import Rotations, Spectrum, block_length
from ..problem import Problem, Side
from ..resampling_options import Resources, Shape
from ..statistics import Sums
from .base import RowSums, Tile, Total, in_order, stacked, upper_tiles

# -- on factors --------------------------------------------------------------------------------------------------------

_ENTRIES = 2**16
"""Entries of A Cᵀ and rotations at a time: as many as stay in the cache of a processor.

Where matrices are multiplied, as many rows as there are blocks, while these hold them and their transforms: every
part reads all blocks of the other side.
"""
_MOST_ENTRIES, _MOST_TRANSFORMED = 2**22, 2**24
_KEPT = 2**20
"""Numbers of all cosets of one column that are kept, with their transforms."""
_ROWS = 32
"""Rows whose transforms are ordered by frequency at a time."""


def factor_sums(factored: Factored, rotations: Rotations) -> Sums:
    """Return the sums over all rotations, shape (m, P); rows of the factors in the shuffled order."""
    pairs = np.empty((len(factored.problem.pairs), rotations.count))
    for group in factored.shared:
        pairs[group.pairs] = _squared_norms(group, rotations)
    return factored.sums(pairs, rotations.correlations(*factored.diagonals))


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
    few = max(1, _KEPT // rotations.n) if len(right) == 1 else 1
    for at_once in slices(len(rotations.cosets), few):  # one transform of A serves them
        moved = [right[:, order] for order in rotations.cosets[at_once]]
        others = [_spectra(rows, rotations, matrices) for rows in moved]
        for part in parts:
            own = _spectra(left[part], rotations, matrices)
            np.conj(own, out=own)
            for coset, rows, other in zip(range(len(rotations.cosets))[at_once], moved, others, strict=True):
                entries = rotations.back(_over_blocks(own, other, matrices))
                if rest.start < rest.stop:
                    entries += (left[part, rest] @ rows[:, rest].T)[:, :, None]
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


# -- on tiles ----------------------------------------------------------------------------------------------------------

_CHUNK = 64
_SHARE, _COPIES = 0.25, 5  # of the memory, for so many complex copies of a chunk of diagonals on a device
_STRIP = 128


@final
@dataclass(frozen=True)
class _TilePart:
    """What one tile adds: sums over rows that turn and rows that do not, and both margins of both sides."""

    spectrum: Any  # (pairs, cosets, frequencies), or 0
    fixed: Any  # (pairs, cosets), or 0
    margins: tuple[tuple[Any, Any], ...]  # row sums and column sums, (count, rows) each


@final
@dataclass(frozen=True, eq=False)
class RotationTiling:
    """Both sides in the shuffled order; O(n² (log g + d)) time, O(g²) memory per thread.

    The total is the spectrum over the rotations (pairs, cosets, frequencies), the part that does not turn (pairs,
    cosets), and the row sums of all Gram matrices on the left and on the right, (count, n) each. Arrays of other
    libraries are added up on their device.
    """

    problem: Problem
    rotations: Rotations
    chunk: int = _CHUNK
    """How many diagonals are transformed at once."""

    def tiles(self) -> list[Tile]:
        """Return pairs of blocks, then pairs with the rows outside all blocks."""
        rotations = self.rotations
        rest = [rotations.rest] if rotations.rest.start < rotations.rest.stop else []
        return upper_tiles(slices(rotations.rest.start, rotations.order) + rest)

    def evaluator(self) -> Callable[[Tile], _TilePart]:
        """Prepare both sides, the right one for every coset."""
        return _Convolution(self)

    def total(self, parts: Iterable[tuple[Tile, _TilePart]]) -> Total:
        """Add up spectra and margins."""
        shape = (len(self.problem.pairs), len(self.rotations.cosets))
        spectrum, fixed = 0.0, 0.0
        rows = RowSums(), RowSums()
        for tile, part in parts:
            spectrum, fixed = spectrum + part.spectrum, fixed + part.fixed
            for own, margins in zip(rows, part.margins, strict=True):
                own.add(tile, *margins)
        waves: Spectrum = np.zeros((*shape, self.rotations.order // 2 + 1), dtype=np.complex128) + to_numpy(spectrum)
        sides = self.problem.left, self.problem.right
        row_sums = [own.whole(side.count, side.n) for own, side in zip(rows, sides, strict=True)]
        return np.stack([waves.real, waves.imag]), np.zeros(shape) + as_host(fixed), *row_sums

    def evaluated(self, n_jobs: int = 1) -> Total:
        """Evaluate all tiles, in ``n_jobs`` threads, and add them up in their order."""
        tiles = self.tiles()
        return self.total(zip(tiles, in_order(self.evaluator(), tiles, n_jobs), strict=True))

    def sums(self, total: Total) -> Sums:
        """Transform back, and center."""
        waves, fixed, left, right = total
        raw = self.rotations.back(waves[0] + 1j * waves[1]) + fixed[:, :, None]
        return self.rotations.centered(self.problem, raw.reshape(len(raw), -1), (left, right))


def tile_sums(problem: Problem, rotations: Rotations, resources: Resources) -> Sums:
    """Return the sums over all rotations of the shuffled rows.

    No more threads work than have room for tiles of their own.
    """
    if not problem.left.on_device:
        tile = 16 * rotations.order**2 * (problem.left.count + problem.right.count * len(rotations.cosets))
        n_jobs = min(resources.n_jobs, max(1, int(resources.memory // tile)))
        tiling = RotationTiling(problem, rotations)
    else:
        entries = rotations.order * (problem.left.count + problem.right.count)
        chunk = max(1, int(_SHARE * resources.memory / (16 * _COPIES * entries)))
        tiling, n_jobs = RotationTiling(problem, rotations, chunk), 1
    return tiling.sums(tiling.evaluated(n_jobs))


@final
class _Convolution:
    """Adds up one tile: the left side is transformed once, the right side once per coset."""

    def __init__(self, tiling: RotationTiling) -> None:
        problem, rest = tiling.problem, tiling.rotations.rest
        self.pairs, self.rest, self.chunk = problem.pairs, rest, tiling.chunk
        self.left = _Evaluation(problem.left, rest)
        self.rights = [_Evaluation(problem.right.permuted(order), rest) for order in tiling.rotations.cosets]

    def __call__(self, tile: Tile) -> _TilePart:
        left, left_margins = self.left(tile)
        rights, right_margins = zip(*(evaluate(tile) for evaluate in self.rights), strict=True)
        margins = left_margins, right_margins[0]
        if tile[0] == self.rest:
            fixed = [stacked([total(left[k] * right[z]) for right in rights]) for k, z in self.pairs]
            return _TilePart(0.0, stacked(fixed), margins)
        rows, count = left[0].shape
        weights = diagonal_weights(count, rows=rows if tile[0] == tile[1] else None)
        return _TilePart(self._convolved(left, rights, weights), 0.0, margins)

    def _convolved(self, left: Any, rights: Sequence[Any], weights: Array) -> Any:
        """Return Σ_d w_d conj(F K_d) F Z_d, chunk by chunk of diagonals d, shape (pairs, cosets, frequencies)."""
        sums: list[list[Any]] = [[0.0] * len(rights) for _ in self.pairs]
        xp = namespace(left[0])
        for chunk in slices(len(weights), self.chunk):
            weight = like(weights[chunk], left[0])
            own = [xp.conj(_transformed(gram[:, chunk] * weight)) for gram in left]
            for coset, right in enumerate(rights):
                other = [_transformed(gram[:, chunk]) for gram in right]
                for pair, (k, z) in enumerate(self.pairs):
                    sums[pair][coset] = sums[pair][coset] + _row_products(own[k], other[z])
        return stacked([stacked(row) for row in sums])


@final
class _Evaluation:
    """Evaluates the tiles of one side as arrays (rows, diagonals): entry (i, d) belongs to columns i and i + d.

    Half of the diagonals suffice for a symmetric tile; columns that do not turn are left as they are. The sums over the
    rows and the columns of all Gram matrices come with them.
    """

    def __init__(self, side: Side, rest: slice) -> None:
        self.side, self.tiles, self.rest = side, side.tiles(), rest
        self.memory = local()

    def __call__(self, tile: Tile) -> tuple[Any, tuple[Any, Any]]:
        i, j = tile
        rows, columns = i.stop - i.start, j.stop - j.start
        turns = j != self.rest
        count = columns // 2 + 1 if turns and i == j else columns
        if self.side.on_device:
            return self._elsewhere(tile, count if turns else None)
        shifts, diagonals = self.side.shifts, self._buffer(rows, count)
        row_sums, column_sums = np.zeros((len(shifts), rows)), np.zeros((len(shifts), columns))
        for strip in slices(rows, _STRIP):
            blocks = self.tiles(slice(i.start + strip.start, i.start + strip.stop), j)
            for k, (block, shift) in enumerate(zip(blocks, shifts, strict=True)):
                gram = block - shift
                row_sums[k, strip], column_sums[k] = gram.sum(axis=1), column_sums[k] + gram.sum(axis=0)
                diagonals[k, strip] = _turned(gram, strip.start, count) if turns else gram
        return diagonals, (row_sums, column_sums)

    def _elsewhere(self, tile: Tile, count: int | None) -> tuple[list[Any], tuple[Any, Any]]:
        """Return the same for arrays of another library, in float64; without a count of diagonals nothing turns."""
        diagonals, rows, columns = [], [], []
        for block, shift in zip(self.tiles(*tile), self.side.shifts, strict=True):
            gram = as_float64(block) - shift
            rows.append(total(gram, axis=1))
            columns.append(total(gram, axis=0))
            diagonals.append(gram if count is None else _gathered(gram, count))
        return diagonals, (stacked(rows), stacked(columns))

    def _buffer(self, rows: int, columns: int) -> Array:
        """Return memory that the thread keeps, as an array (count, rows, columns)."""
        padded = columns + 8 * (columns % 64 == 0)  # rows a power of two apart would share a cache line
        size = self.side.count * rows * padded
        if len(getattr(self.memory, "numbers", ())) < size:
            self.memory.numbers = np.empty(size)
        diagonals: Array = self.memory.numbers[:size].reshape(self.side.count, rows, padded)[:, :, :columns]
        return diagonals


def _turned(gram: Array, start: int, count: int) -> Array:
    """Return a view (rows, count) whose entry (i, d) belongs to columns start + i + d, wrapped around at the end."""
    ahead = gram[:, start : start + len(gram) + count - 1]
    wide = np.concatenate([ahead, gram[:, : len(gram) + count - 1 - ahead.shape[1]]], axis=1)
    down, across = wide.strides
    return as_strided(wide, (len(gram), count), (down + across, across), writeable=False)


def _gathered(gram: Any, count: int) -> Any:
    """Return the same for all rows of an array of another library, as a copy."""
    xp, (rows, columns) = namespace(gram), gram.shape
    row, step = (like(np.arange(many), gram, "int64") for many in (rows, count))
    places = row[:, None] * columns + (row[:, None] + step[None, :]) % columns
    return xp.reshape(xp.take(xp.reshape(gram, (-1,)), xp.reshape(places, (-1,)), axis=0), (rows, count))


def diagonal_weights(count: int, rows: int | None) -> Array:
    """Return how often a diagonal counts: twice by symmetry, once where a symmetric tile mirrors it on itself."""
    weights = np.full(count, 2.0)
    if rows is not None:
        weights[0] = 1.0
        if rows % 2 == 0:
            weights[-1] = 1.0
    return weights


def _transformed(columns: Any) -> Any:
    return (
        fft.rfft(columns, axis=0) if isinstance(columns, np.ndarray) else namespace(columns).fft.rfft(columns, axis=0)
    )


def _row_products(left: Any, right: Any) -> Any:
    """Return Σ_d left_fd right_fd."""
    if isinstance(left, np.ndarray):
        return np.matmul(left[:, None, :], right[:, :, None])[:, 0, 0]
    return namespace(left).sum(left * right, axis=1)


# -- whichever costs less ----------------------------------------------------------------------------------------------

# How many multiplications in a product of matrices take as long.
_TILE = 233.0  # an entry of the two Gram matrices, evaluated and transformed
_ENTRY = 400.0  # an entry of a factor, besides one for every row of it
_TURNED, _ROW = 167.0, 3.3  # an entry of A Cᵀ, for every rotation and for every row of the sample
_SEARCH = 6.0e7  # the pivots of one kernel


def rotation_sums(problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
    """Draw the group and its cosets, and add up factors, or tiles where there are none."""
    rotations = Rotations.draw(problem.n, n_resamples + 1, rng)
    problem = problem.shuffled(rotations.shuffle)
    rank = 0 if problem.left.on_device else _rank(problem.shape(n_resamples))
    found, low, others = split(problem, rank) if rank else (None, [], list(range(len(problem.pairs))))
    if found is None:
        return tile_sums(problem, rotations, resources)
    parts = [factor_sums(found, rotations)]
    if others:
        parts.append(tile_sums(problem.restricted(others), rotations, resources))
    return Sums.joined(parts, axis=0).reordered(np.argsort(low + others))


def _rank(shape: Shape) -> int:
    """Return the highest rank that factors may have; 0 for tiles only."""
    return shape.n if shape.explicit else min(most_rank(shape), worthwhile_rank(shape))


def _group(shape: Shape) -> tuple[int, int]:
    """Return the order of the group and the number of cosets."""
    length = block_length(shape.n, shape.n_resamples + 1)
    return length, -(-(shape.n_resamples + 1) // length)


def worthwhile_rank(shape: Shape) -> int:
    """Return the highest rank at which factors take fewer multiplications than tiles; 0 for never."""
    n, (length, cosets) = shape.n, _group(shape)
    ranks = np.arange(8, max(9, min(n, 20_000)))
    rows = n * 2 * ranks * (_ENTRY + ranks)
    entries = ranks**2 * cosets * (_TURNED * length + _ROW * n)
    tiles = _TILE * n**2 * (1 + cosets) / 2
    return int(max(ranks[rows + entries + _SEARCH < tiles], default=0))
