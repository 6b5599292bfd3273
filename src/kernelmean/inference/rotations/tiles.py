"""Rotations of blocks of rows on tiles of both Gram matrices: for kernels without low rank, and on devices.

Every diagonal of a block of K is convolved with that of Z, by FFT; no n × n array, any d. For blocks I and J of g rows,
K_{i,i+d} and Z_{i+s,i+s+d} (i ∈ I, i + d ∈ J, indices turning within the block) meet under the rotation by s: their sum
over i is a convolution of two diagonals, and all d add up in the Fourier domain. Rows outside all blocks do not turn:
columns are convolved against them, and among these rows nothing is.

Kernel values of arrays of other libraries have the type of the points, and what is added up is float64; it stays on
their device until the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import local
from typing import Any, final

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy import fft

from ...core.array import Array, as_float64, as_host, joined, like, namespace, slices, to_numpy, total
from ..permutation_groups import Rotations, Spectrum
from ..problem import KernelSide, Problem
from ..resampling import Resources
from ..statistics import Sums
from ..tiling import Tile, in_order, upper_tiles

_CHUNK = 64
"""How many diagonals are transformed at once."""
_SHARE, _COPIES = 0.25, 5  # of the memory, for so many complex copies of a chunk of diagonals on a device
_STRIP = 128
_HELD = 300
"""Up to so many rows Gram matrices are held whole."""


def tile_sums(problem: Problem, rotations: Rotations, resources: Resources) -> Sums:
    """Return the sums over all rotations of the shuffled rows; O(n² (log g + d)) time, O(g²) memory per thread.

    No more threads work than have room for tiles of their own.
    """
    if is_one_tile(problem, rotations):
        return _of_one_tile(problem, rotations)
    chunk, n_jobs = _room(problem, rotations, resources)
    rest = [rotations.rest] if rotations.rest.start < rotations.rest.stop else []
    tiles = upper_tiles(slices(rotations.rest.start, rotations.order) + rest)
    spectrum: Any = 0.0
    fixed: Any = 0.0
    rows = _RowSums(), _RowSums()
    parts = in_order(_Convolution(problem, rotations, chunk), tiles, n_jobs)
    for tile, (turning, still, margins) in zip(tiles, parts, strict=True):
        spectrum, fixed = spectrum + turning, fixed + still
        for sums, margin in zip(rows, margins, strict=True):
            sums.add(tile, *margin)
    shape = len(problem.pairs), len(rotations.cosets)
    waves: Spectrum = np.zeros((*shape, rotations.order // 2 + 1), np.complex128) + to_numpy(spectrum)
    raw = rotations.back(waves) + (np.zeros(shape) + as_host(fixed))[:, :, None]
    sides = problem.left, problem.right
    left, right = (sums.whole(side.count, side.n) for sums, side in zip(rows, sides, strict=True))
    return rotations.centered(problem, raw.reshape(len(raw), -1), (left, right))


def is_one_tile(problem: Problem, rotations: Rotations) -> bool:
    """Whether all rows turn in one block that is held, so that kernels are evaluated once for all cosets."""
    return rotations.order == problem.n <= _HELD and not problem.left.on_device


def _of_one_tile(problem: Problem, rotations: Rotations) -> Sums:
    """Return the sums of one tile, whose diagonals are taken from it in the order of every coset."""
    n, right = problem.n, np.stack(problem.right.grams())
    weights = diagonal_weights(n // 2 + 1, rows=n)
    steps = (np.arange(n)[:, None] + np.arange(len(weights))) % n
    spectra, rows = np.empty((n // 2 + 1, problem.left.count, len(weights)), np.complex128), []
    for k, gram in enumerate(problem.left.grams()):
        np.conj(fft.rfft(gram.take(n * np.arange(n)[:, None] + steps) * weights, axis=0), out=spectra[:, k])
        rows.append(gram.sum(axis=1))
    waves: Spectrum = np.empty((len(problem.pairs), len(rotations.cosets), n // 2 + 1), np.complex128)
    lefts, rights = problem.index
    pairs = [np.flatnonzero(rights == side) for side in range(len(right))]
    partners = [spectra[:, lefts[those]] for those in pairs]
    for coset, order in enumerate(rotations.cosets):
        places = n * order[:, None] + order.take(steps)
        for those, theirs, gram in zip(pairs, partners, right, strict=True):  # what is taken stays in the cache
            waves[those, coset] = (theirs @ fft.rfft(gram.take(places), axis=0)[:, :, None])[:, :, 0].T
    raw = rotations.back(waves).reshape(len(waves), -1)
    return rotations.centered(problem, raw, (np.stack(rows), right.sum(axis=2)))


def _room(problem: Problem, rotations: Rotations, resources: Resources) -> tuple[int, int]:
    """Return how many diagonals to transform at once, and in how many threads."""
    if problem.left.on_device:
        entries = rotations.order * (problem.left.count + problem.right.count)
        return max(1, int(_SHARE * resources.memory / (16 * _COPIES * entries))), 1
    tile = 16 * rotations.order**2 * (problem.left.count + problem.right.count * len(rotations.cosets))
    return _CHUNK, min(resources.n_jobs, max(1, int(resources.memory // tile)))


def _stacked(arrays: Sequence[Any]) -> Any:
    """Return arrays of one library one above the other."""
    return namespace(arrays[0]).stack(arrays)


@final
class _RowSums:
    """Row sums of symmetric matrices over the same n rows, from tiles of one half; on a device they stay there."""

    def __init__(self) -> None:
        self._parts: dict[int, Any] = {}

    def add(self, tile: Tile, rows: Any, columns: Any) -> None:
        """Add the sums of a tile over its rows and over its columns, shape (count, rows) and (count, columns)."""
        first, second = tile[0].start, tile[1].start
        self._parts[first] = self._parts.get(first, 0.0) + rows
        if first != second:
            self._parts[second] = self._parts.get(second, 0.0) + columns

    def whole(self, count: int, n: int) -> Array:
        """Return the sums of all rows, shape (count, n), 0 where no tile was added."""
        sums = np.zeros((count, n))
        places = [np.arange(start, start + part.shape[1]) for start, part in self._parts.items()]
        sums[:, np.concatenate(places)] = as_host(joined([part.T for part in self._parts.values()])).T
        return sums


@final
class _Convolution:
    """What one tile adds: the left side is transformed once, the right side once per coset."""

    def __init__(self, problem: Problem, rotations: Rotations, chunk: int) -> None:
        self.pairs, self.rest, self.chunk = problem.pairs, rotations.rest, chunk
        self.left = _Evaluation(problem.left, self.rest)
        self.rights = [_Evaluation(problem.right.permuted(order), self.rest) for order in rotations.cosets]

    def __call__(self, tile: Tile) -> tuple[Any, Any, tuple[Any, Any]]:
        """Return sums over rows that turn (pairs, cosets, frequencies), or that do not, and the margins of the sides.

        Margins are row sums and column sums, shape (count, rows) each.
        """
        left, left_margins = self.left(tile)
        rights, right_margins = zip(*(evaluate(tile) for evaluate in self.rights), strict=True)
        margins = left_margins, right_margins[0]
        if tile[0] == self.rest:
            fixed = [_stacked([total(left[k] * right[z]) for right in rights]) for k, z in self.pairs]
            return 0.0, _stacked(fixed), margins
        rows, count = left[0].shape
        weights = diagonal_weights(count, rows=rows if tile[0] == tile[1] else None)
        return self._convolved(left, rights, weights), 0.0, margins

    def _convolved(self, left: Any, rights: Sequence[Any], weights: Array) -> Any:
        """Return Σ_d w_d conj(F K_d) F Z_d, chunk by chunk of diagonals d, shape (pairs, cosets, frequencies)."""
        sums: list[list[Any]] = [[0.0] * len(rights) for _ in self.pairs]
        xp = namespace(left[0])
        for chunk in slices(len(weights), self.chunk):
            weight = like(weights[chunk], left[0])
            spectra = [xp.conj(_transformed(gram[:, chunk] * weight)) for gram in left]
            for coset, right in enumerate(rights):
                other = [_transformed(gram[:, chunk]) for gram in right]
                for pair, (k, z) in enumerate(self.pairs):
                    sums[pair][coset] = sums[pair][coset] + _row_products(spectra[k], other[z])
        return _stacked([_stacked(row) for row in sums])


@final
class _Evaluation:
    """Evaluates the tiles of one side as arrays (rows, diagonals): entry (i, d) belongs to columns i and i + d.

    Half of the diagonals suffice for a symmetric tile; columns that do not turn are left as they are. The sums over the
    rows and the columns of all Gram matrices come with them.
    """

    def __init__(self, side: KernelSide, rest: slice) -> None:
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
        return diagonals, (_stacked(rows), _stacked(columns))

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
