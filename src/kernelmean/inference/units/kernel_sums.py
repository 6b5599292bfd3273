"""Kernel sums over units: S_u = Σ ω_i k(x_i, ·) over the rows of every unit, as forms in the coefficients of units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray, as_host, like, namespace, slices, total
from ...core.sums import RowGroups
from ..low_rank import Factor, by_rows
from ..low_rank_problem import factor_weights
from ..problem import KernelSide
from ..resampling import Resources
from ..tiling import Tile, in_order, tile_side, upper_tiles
from .forms import TILE, FactorForms, Forms, GramForms, TiledForms, paying_factors, tiled_forms
from .layout import FEWEST, MOST_UNITS, Layout

_AT_ONCE = 16
"""Rows of a factor that are copied at a time."""
_MOST_HELD = MOST_UNITS + 2 * MOST_UNITS // FEWEST
"""The most units whose Gram matrix is held: bins, with what two samples have left over of each cell. More of them are
streamed by tiles for every batch of permutations."""


@final
@dataclass(frozen=True)
class Block:
    """Columns that belong together, and the kernels on them."""

    place: slice
    numbers: IntArray
    """The positions of the kernels among all, shape (k,)."""
    weights: Array
    """The weights of the columns in every kernel, shape (k, columns)."""

    def weighted(self, columns: Array) -> Array:
        """Return Σ_j w_j c_j² of every kernel, from columns of shape (columns, n), shape (k, n)."""
        return like(self.weights, columns) @ namespace(columns).square(columns)


@final
@dataclass(frozen=True)
class KernelSums:
    """The sums of m kernels over units, less their mass times the mean of all rows."""

    forms: Forms
    """Of coefficients of units: |Σ_u c_u S_u|²; the diagonal holds Σ ω_i K̄_ii over the rows of every unit."""
    masses: Array
    """The sums of the weights ω of every unit, shape (units,)."""
    means: Array
    """Σ ω_i r_i over the rows of every unit, where r_i is the mean of row i of K, shape (m, units)."""
    mean: Array
    """The mean of K, shape (m,)."""

    @classmethod
    def of(cls, blocks: Sequence[Block], sums: Array, squares: Array, masses: Array) -> Self:
        """Center sums over units: of the columns of blocks, (units, D), and of the squares of m kernels, (units, m)."""
        count, centre = squares.shape[1], sums.sum(axis=0) / masses.sum()
        factors: list[Factor | None] = [None] * count
        diagonal, means, mean = np.empty((count, len(masses))), np.empty((count, len(masses))), np.empty(count)
        for block in blocks:
            raw, middle = sums[:, block.place].T, centre[block.place]
            rows = raw - middle[:, None] * masses
            along, mean[block.numbers] = block.weights * middle, block.weights @ middle**2
            level = masses * mean[block.numbers, None]
            diagonal[block.numbers] = squares[:, block.numbers].T - 2 * along @ raw + level
            means[block.numbers] = along @ rows + level
            for number, weights in zip(block.numbers.tolist(), block.weights, strict=True):
                factors[number] = Factor(rows, 0.0, weights)
        known = tuple(factor for factor in factors if factor is not None)
        return cls(FactorForms(known, diagonal), masses, means, mean)


def kernel_sums(side: KernelSide, layout: Layout, resources: Resources) -> KernelSums:
    """Return the sums of the kernels of a side: on factors if their ranks are low, otherwise from tiles of K.

    O(n r) time on factors of rank r, otherwise O(n² d) in one pass; memory O(units²) or O(units r).
    """
    factors = paying_factors(side)
    if factors is not None:
        return _of_factors(factors, layout)
    ordered = side.permuted(layout.order)
    if len(layout.sizes) <= _MOST_HELD:
        return _of_tiles(ordered, layout, resources)
    return _streamed(ordered, layout, resources)


# -- on factors --------------------------------------------------------------------------------------------------------


def _of_factors(factors: Sequence[Factor], layout: Layout) -> KernelSums:
    units, count, groups = len(layout.sizes), len(factors), RowGroups(layout.starts, layout.weights)
    diagonal, means, mean = np.empty((count, units)), np.empty((count, units)), np.empty(count)
    masses = groups.sums(layout.weights[None])[0]
    summed = list(factors)
    for numbers in by_rows(factors):
        some = [factors[number] for number in numbers]
        weights = factor_weights(some)
        sums, centre, squares = _of_rows(some[0].rows, weights, layout, groups)
        diagonal[numbers] = groups.sums(layout.weights * squares)
        mean[numbers] = weights @ centre**2
        means[numbers] = (weights * centre) @ sums + masses * mean[numbers, None]
        for number in numbers:
            summed[number] = replace(factors[number], rows=sums)
    return KernelSums(FactorForms(tuple(summed), diagonal), masses, means, mean)


def _of_rows(rows: Array, weights: Array, layout: Layout, groups: RowGroups) -> tuple[Array, Array, Array]:
    """Return the sums of centered rows A (r, n) over units, their means, and the diagonals of Aᵀ diag(w) A.

    Shapes (r, units), (r,) and (k, n), for weights (k, r).
    """
    in_order_already = bool((np.diff(layout.order) == 1).all())
    weighted = bool((layout.weights != 1.0).any())
    sums, centre = np.empty((len(rows), len(layout.sizes))), np.empty(len(rows))
    squares = np.zeros((len(weights), layout.n))
    for part in slices(len(rows), _AT_ONCE):
        ordered = rows[part] if in_order_already else rows[part].take(layout.order, axis=1)
        centre[part] = ordered @ layout.weights / layout.n
        centered = ordered - centre[part, None]
        squares += weights[:, part] @ np.square(centered)
        sums[part] = groups.sums(centered * layout.weights if weighted else centered)
    return sums, centre, squares


# -- from tiles --------------------------------------------------------------------------------------------------------


def _of_tiles(side: KernelSide, layout: Layout, resources: Resources) -> KernelSums:
    """Add up the tiles of half of every Gram matrix over pairs of units, and center."""
    units = len(layout.sizes)
    grams = np.zeros((side.count, units, units))
    n_jobs = 1 if side.on_device else resources.n_jobs
    rows_of = _runs(layout.sizes, tile_side(side.points, resources)) if side.on_device else slices(layout.n, TILE)
    tiles = upper_tiles(rows_of)
    evaluate, shifts = _on_device(side, layout) if side.on_device else _on_host(side, layout)
    unit = np.repeat(np.arange(units), layout.sizes)
    for (i, j), parts in zip(tiles, in_order(evaluate, tiles, n_jobs), strict=True):
        rows, columns = slice(unit[i.start], unit[i.stop - 1] + 1), slice(unit[j.start], unit[j.stop - 1] + 1)
        for gram, part in zip(grams, parts, strict=True):
            gram[rows, columns] += part
            if i != j:
                gram[columns, rows] += part.T
    masses, n = np.add.reduceat(layout.weights, layout.starts), float(layout.n)
    means = grams.sum(axis=2) / n
    mean = means.sum(axis=1) / n
    outer = means[:, :, None] * masses
    grams -= outer
    grams -= outer.transpose(0, 2, 1)
    grams += mean[:, None, None] * np.outer(masses, masses)
    groups = RowGroups(layout.starts, layout.weights)
    diagonal = groups.sums(layout.weights * (side.raw_diagonal() - shifts[:, None]))
    forms = GramForms(grams, diagonal - 2 * means + mean[:, None] * masses)
    return KernelSums(forms, masses, means + shifts[:, None] * masses, mean + shifts)


Evaluator = tuple[Callable[[Tile], list[Array]], Array]
"""The sums over pairs of units in a tile, and the constants that were subtracted from the kernels, shape (m,)."""


def _on_host(side: KernelSide, layout: Layout) -> Evaluator:
    """Prepare the sums; no constant is subtracted from kernels a_i E_ij b_j, which need less work."""
    left, tiles, right = side.separated()
    separated = ((left != 1.0) | (right != 1.0)).any(axis=1)
    shifts = np.zeros(side.count) if separated.all() else np.where(separated, 0.0, side.shifts)
    left, right, starts = left * layout.weights, right * layout.weights, layout.starts

    def add_up(tile: Tile) -> list[Array]:
        (i, j), totals = tile, []
        rows, columns = _edges(starts, i), _edges(starts, j)
        for gram, a, b, shift in zip(tiles(i, j), left[:, i], right[:, j], shifts.tolist(), strict=True):
            sums = _column_sums(gram - shift if shift else gram, b, columns) * a
            totals.append((sums if len(rows) == len(a) else np.add.reduceat(sums, rows, axis=1)).T)
        return totals

    return add_up, shifts


def _edges(starts: IntArray, rows: slice) -> IntArray:
    """Return where the units in a slice of rows begin, counted from its first row, from the first rows of all units."""
    first, last = np.searchsorted(starts, [rows.start, rows.stop])
    begun = starts[first:last] - rows.start
    return begun if len(begun) and begun[0] == 0 else np.append(0, begun)


def _column_sums(tile: Array, weights: Array, starts: IntArray) -> Array:
    """Return the weighted sums over units of columns of every row, shape (units, rows), one product a unit."""
    if len(starts) == len(weights):
        return np.asarray(tile.T * weights[:, None])
    sums = np.empty((len(starts), len(tile)))
    for unit, (start, stop) in zip(sums, pairwise([*starts.tolist(), len(weights)]), strict=True):
        unit[:] = tile[:, start:stop] @ weights[start:stop]
    return sums


def _on_device(side: KernelSide, layout: Layout) -> Evaluator:
    """Prepare the same for arrays of another library, whose tiles hold whole units of one size and weight."""
    tiles, sizes = side.tiles(), np.repeat(layout.sizes, layout.sizes)

    def add_up(tile: Tile) -> list[Array]:
        rows, columns = ((part.stop - part.start) // int(sizes[part.start]) for part in tile)
        return [as_host(_per_unit(gram, rows, columns)) for gram in tiles(*tile)]

    return add_up, np.zeros(side.count)


def _per_unit(tile: Any, rows: int, columns: int) -> Any:
    """Return the sums of a tile over so many units of rows and of columns, in float64."""
    xp = namespace(tile)
    across = total(xp.reshape(tile, (tile.shape[0], columns, -1)), axis=2)
    return total(xp.reshape(across, (rows, -1, columns)), axis=1)


def _runs(sizes: IntArray, most: int) -> list[slice]:
    """Cut the rows of units of these sizes into slices of at most ``most`` rows, or one unit, of one size."""
    edges = np.append(0, np.cumsum(sizes))
    changes = [0, *(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(sizes)]
    runs = (slices(stop, max(1, most // int(sizes[start])), start=start) for start, stop in pairwise(changes))
    return [slice(int(edges[units.start]), int(edges[units.stop])) for run in runs for units in run]


# -- streamed ----------------------------------------------------------------------------------------------------------


def _streamed(side: KernelSide, layout: Layout, resources: Resources) -> KernelSums:
    """Evaluate the tiles again for every batch of coefficients: more units than fit, and no low rank."""
    rows = tiled_forms(side, resources)
    shifts = np.array(side.shifts)
    n, weights = float(layout.n), layout.weights
    row_means = rows.times(weights[:, None])[:, :, 0] / n
    mean = row_means @ weights / n
    groups = RowGroups(layout.starts, weights)
    diagonal = groups.sums(weights * (rows.diagonal - 2 * row_means + mean[:, None]))
    masses = np.add.reduceat(weights, layout.starts)
    means = groups.sums(weights * row_means) + shifts[:, None] * masses
    return KernelSums(_OfUnits(rows, layout, diagonal), masses, means, mean + shifts)


@final
@dataclass(frozen=True)
class _OfUnits(Forms):
    """Forms of coefficients of units by forms of their rows, of which the mean of all rows is taken away."""

    rows: TiledForms
    layout: Layout
    diagonal: Array

    def forms(self, vectors: Array) -> Array:
        """Repeat every coefficient for the rows of its unit, less the mean over all rows."""
        return self.rows.forms(self._spread(vectors))

    def times(self, vectors: Array) -> Array:
        """Return the sums over the rows of every unit."""
        products = self.rows.times(self._spread(vectors)) * self.layout.weights[:, None]
        return np.asarray(np.add.reduceat(products, self.layout.starts, axis=1))

    @property
    def batch(self) -> int:
        """Return how many vectors to pass at once, as many as the rows allow."""
        return self.rows.batch

    def _spread(self, coefficients: Array) -> Array:
        weights = self.layout.weights[:, None]
        rows = np.repeat(coefficients, self.layout.sizes, axis=0)
        return (rows - (weights * rows).sum(axis=0) / self.layout.n) * weights
