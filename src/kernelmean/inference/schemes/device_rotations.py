"""Rotations on tiles of arrays of other libraries: the transforms of :mod:`.cyclic_tiles`, where the points live."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, final

import numpy as np

from ...core.array import Array, as_float64, as_host, joined, like, namespace, slices, to_numpy, total
from ..permutation_groups import Rotations
from ..problem import Problem, Tiles
from ..resampling_options import Resources
from ..statistics import Sums
from .cyclic_tiles import diagonal_weights

_SHARE, _COPIES = 0.25, 5  # of the memory, for so many complex copies of a chunk of diagonals


def tile_sums(problem: Problem, rotations: Rotations, resources: Resources) -> Sums:
    """Return the sums over all rotations of the shuffled rows; O(n² (log g + d)) time, O(g²) memory."""
    places = slices(rotations.rest.start, rotations.order)
    places += [rotations.rest] if rotations.rest.start < rotations.rest.stop else []
    left = _Side(problem.left.tiles(), problem.left.shifts, len(places))
    orders = [problem.right.permuted(order) for order in rotations.cosets]
    rights = [_Side(right.tiles(), right.shifts, len(places)) for right in orders]
    sums = _DeviceConvolution(problem.pairs, rotations, len(rights), resources)
    for a, b in combinations_with_replacement(range(len(places)), 2):
        tile = places[a], places[b]
        sums.add(tile, left.evaluate(tile, a, b), [right.evaluate(tile, a, b) for right in rights])
    raw = sums.everything()
    return rotations.centered(problem, raw.reshape(len(raw), -1), (left.rows(), rights[0].rows()))


@final
class _Side:
    """The Gram matrices of a side less their constants, tile by tile, and their row sums."""

    def __init__(self, tiles: Tiles, shifts: tuple[float, ...], places: int) -> None:
        self.tiles, self.shifts = tiles, shifts
        self._margins: list[list[Any]] = [[0.0] * places for _ in shifts]

    def evaluate(self, tile: tuple[slice, slice], a: int, b: int) -> list[Any]:
        """Return the tile of every Gram matrix in float64, of rows ``a`` and columns ``b`` of all places."""
        grams = [as_float64(gram) - shift for gram, shift in zip(self.tiles(*tile), self.shifts, strict=True)]
        for margin, gram in zip(self._margins, grams, strict=True):
            margin[a] = margin[a] + total(gram, axis=1)
            if a != b:
                margin[b] = margin[b] + total(gram, axis=0)
        return grams

    def rows(self) -> Array:
        """Return the row sums of every Gram matrix, shape (count, n)."""
        return np.stack([as_host(joined(margin)) for margin in self._margins])


@final
class _DeviceConvolution:
    """Adds up spectra of what turns, and sums of what does not, for every pair and coset."""

    def __init__(self, pairs: tuple[tuple[int, int], ...], rotations: Rotations, cosets: int, resources: Resources):
        self.pairs, self.rotations, self.memory = pairs, rotations, resources.memory
        self._spectra: list[list[Any]] = [[0.0] * cosets for _ in pairs]
        self._fixed: list[list[Any]] = [[0.0] * cosets for _ in pairs]

    def add(self, tile: tuple[slice, slice], left: list[Any], rights: list[list[Any]]) -> None:
        """Add a tile; only rows that no block holds do not turn."""
        rest = self.rotations.rest
        if tile[0] == rest:
            self._add(self._fixed, left, rights, lambda own, other: total(own * other))
            return
        (rows, columns), symmetric, turns = left[0].shape, tile[0] == tile[1], tile[1] != rest
        weights = diagonal_weights(columns // 2 + 1 if symmetric else columns, rows=rows if symmetric else None)
        size = max(1, int(_SHARE * self.memory / (16 * _COPIES * rows * (len(left) + len(rights[0])))))
        for chunk in slices(len(weights), size):
            weight = like(weights[chunk], left[0])[None, :]
            own = [_transformed(gram, chunk, turns) * weight for gram in left]
            others = [[_transformed(gram, chunk, turns) for gram in right] for right in rights]
            self._add(self._spectra, own, others, _row_products)

    def _add(self, sums: list[list[Any]], left: list[Any], rights: list[list[Any]], product: Any) -> None:
        for pair, (k, z) in enumerate(self.pairs):
            for coset, right in enumerate(rights):
                sums[pair][coset] = sums[pair][coset] + product(left[k], right[z])

    def everything(self) -> Array:
        """Return the sums, shape (pairs, cosets, order)."""
        spectra = np.array([[to_numpy(one) for one in row] for row in self._spectra])
        fixed = np.array([[float(one) for one in row] for row in self._fixed])
        return self.rotations.back(spectra) + fixed[:, :, None]


def _row_products(left: Any, right: Any) -> Any:
    """Return Σ_d conj(left_fd) right_fd."""
    xp = namespace(left)
    return xp.sum(xp.conj(left) * right, axis=1)


def _transformed(gram: Any, chunk: slice, turns: bool) -> Any:
    """Return the transforms of some diagonals, (frequencies, c): entry (i, d) is that of columns i and i + d.

    Columns that do not turn are transformed as they are.
    """
    xp, (rows, columns) = namespace(gram), gram.shape
    if turns:
        row, step = like(np.arange(rows), gram, "int64"), like(np.arange(chunk.start, chunk.stop), gram, "int64")
        places = row[:, None] * columns + (row[:, None] + step[None, :]) % columns
        flat = xp.take(xp.reshape(gram, (-1,)), xp.reshape(places, (-1,)), axis=0)
        gram = xp.reshape(flat, (rows, chunk.stop - chunk.start))
    else:
        gram = gram[:, chunk]
    return xp.fft.rfft(gram, axis=0)
