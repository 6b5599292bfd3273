r"""Pairs with strata, clusters or weights: which rows take part, and the permutation distribution of HSIC.

With weights p of sum 1 and C_s the weighted cross-covariance within stratum s,

.. math:: \mathrm{HSIC} = \Big| \sum_s p_s C_s \Big|^2 = \sum_{ij} p_i p_j \bar K_{ij} Z_{ij} ,

with K̄ the Gram matrix of X minus its weighted means over strata: dependence between strata does not enter. With one
stratum and equal weights it is tr(HKHZ)/n². Only Z is permuted; K̄ takes care of its means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, ClassVar, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...plan.plan import serial_blas
from ..low_rank import Factor
from ..low_rank_problem import SharedRows, highest_rank, shared_rows
from ..null import Null
from ..permutations import Expanded, Permutations, within_cells
from ..problem import KernelPair, KernelSide, distinct_side
from ..resampling_options import Resampling, Resources
from ..rotations.gathered import DENSE_LIMIT, gathered
from ..statistics import StatisticForm, ties
from ..tiling import Tile, in_order, upper_tiles
from ..units.forms import FACTORS_FROM, TILE, tiled_forms
from ..units.layout import Layout
from .design import (
    Design,
    Labels,
    check_codes,
    check_nested,
    check_sample_weights,
    codes,
    description,
    effective,
    taken_layout,
    weightless,
)

_PERMUTED = 64
_AT_ONCE = 16
_PAYS = 5  # a product of factors of rank 5 √n takes as long as a gathered matrix

Pairs = tuple[tuple[int, int], ...]
Factors = list[Factor]


def stratified_hsic(
    sides: tuple[KernelSide, KernelSide], pairs: Pairs, layout: Layout, permutations: Permutations, resources: Resources
) -> tuple[Array, Array]:
    """Return HSIC of pairs of kernels, shape (pairs, P), and the magnitude for rounding errors, (pairs,).

    On factors if both ranks are low, otherwise on dense matrices, above 5000 rows on tiles.
    """
    left, right = sides
    factors = _factors(left, right)
    if factors is not None:
        centered = _centered(factors[0], layout), factors[1]
        traces = [np.array([factor.diagonal.sum() for factor in side]) for side in centered]
        values = _on_factors(shared_rows(*centered, pairs), permutations, len(pairs))
    else:
        tiles = CenteredTiles(left, layout, resources)
        traces = [tiles.magnitude(), np.abs(right.gram_diagonal()).sum(axis=1)]
        values = (_dense if left.n <= DENSE_LIMIT else _on_tiles)(tiles, right, pairs, permutations, resources)
    return values, np.array([traces[0][i] * traces[1][j] for i, j in pairs])


def _factors(left: KernelSide, right: KernelSide) -> tuple[Factors, Factors] | None:
    """Return low-rank factors of all kernels, or None where a rank is too high to pay."""
    if left.explicit and right.explicit:
        return left.known_factors(), right.known_factors()
    n = left.n
    pays = _PAYS * np.sqrt(n) if n <= DENSE_LIMIT else n / 8
    rank = min(int(pays), highest_rank(n, left.count + right.count))
    if n < FACTORS_FROM:
        return None
    own, other = ([factor for factor in side.factors(rank) if factor is not None] for side in (left, right))
    return (own, other) if [len(own), len(other)] == [left.count, right.count] else None


def stratum_means(layout: Layout) -> Array:
    """Return the matrix (n, strata) of the weights within strata, every column of sum 1."""
    inside = np.zeros((layout.n, int(layout.stratum[-1]) + 1))
    inside[np.arange(layout.n), layout.stratum] = layout.weights
    return np.asarray(inside / inside.sum(axis=0))


def _centered(factors: Factors, layout: Layout) -> Factors:
    """Return factors minus their means over strata, times the shares of the rows; shared rows stay shared."""
    means, shares = stratum_means(layout), layout.weights / layout.weights.sum()
    distinct = {id(own.rows): own.rows for own in factors}
    centered = {key: (rows - (rows @ means)[:, layout.stratum]) * shares for key, rows in distinct.items()}
    return [replace(own, rows=centered[id(own.rows)]) for own in factors]


def _on_factors(shared: list[SharedRows], permutations: Permutations, count: int) -> Array:
    """Return Σ_rq w_r v_q (A C_πᵀ)_rq² for factors A and C with weights w and v: O(n r²) time a permutation."""
    values = np.empty((count, permutations.count))
    start = 0
    for orders in permutations.batches(_AT_ONCE):
        for rows in shared:
            entries = np.stack([rows.left @ rows.right[:, order].T for order in orders], axis=-1)
            values[rows.pairs, start : start + len(orders)] = rows.weighted_norms(entries, slice(None))
        start += len(orders)
    return values


@final
class CenteredTiles:
    """Tiles of p_i p_j K̄_ij; O(n S) memory for S strata."""

    def __init__(self, side: KernelSide, layout: Layout, resources: Resources) -> None:
        self.side, self.tiles, self.stratum = side, side.tiles(), layout.stratum
        self.shares = layout.weights / layout.weights.sum()
        inside = stratum_means(layout)
        self.means = tiled_forms(side, resources).times(inside)
        self.between = np.einsum("ns,mnt->mst", inside, self.means)

    def __call__(self, i: slice, j: slice) -> list[Array]:
        """Return one tile of every kernel."""
        rows, columns = self.stratum[i], self.stratum[j]
        return [
            (gram - shift - means[i][:, columns] - means[j][:, rows].T + between[np.ix_(rows, columns)])
            * np.outer(self.shares[i], self.shares[j])
            for gram, shift, means, between in zip(
                self.tiles(i, j), self.side.shifts, self.means, self.between, strict=True
            )
        ]

    def magnitude(self) -> Array:
        """Return Σ p_i² |k_ii| of the matrices minus a constant, shape (m,)."""
        return np.abs(self.side.gram_diagonal()) @ np.square(self.shares)


def _dense(
    left: CenteredTiles, right: KernelSide, pairs: Pairs, permutations: Permutations, resources: Resources
) -> Array:
    """Return Σ_ij M_ij Z_π(i)π(j), M from centered tiles: both in memory, Z gathered every time, O(n²) time each."""
    everything = slice(0, permutations.n)
    raw = right.tiles()(everything, everything)
    others = [gram - shift for gram, shift in zip(raw, right.shifts, strict=True)]
    sums = gathered(left(everything, everything), others, pairs, permutations, resources)
    return np.concatenate([values for _, values in sums], axis=1)


def _on_tiles(
    left: CenteredTiles, right: KernelSide, pairs: Pairs, permutations: Permutations, resources: Resources
) -> Array:
    """Return the same, with Z evaluated on permuted rows: O(n² d) time per permutation, O(tile²) memory.

    A tile of M is evaluated once for a batch of permutations.
    """
    tiles = upper_tiles(slices(permutations.n, TILE))

    def of_tile(batch: IntArray, tile: Tile) -> Array:
        i, j = tile
        grams, weight, found = left(i, j), 1.0 if i == j else 2.0, []
        for order in batch:
            points = right.points[order[i]], right.points[order[j]]
            others = [kernel(*points) - shift for kernel, shift in zip(right.kernels, right.shifts, strict=True)]
            found.append([weight * float(np.vdot(grams[k], others[z])) for k, z in pairs])
        return np.array(found).T

    batches = permutations.batches(_PERMUTED)
    sums = [reduce(np.add, in_order(partial(of_tile, batch), tiles, resources.n_jobs)) for batch in batches]
    return np.concatenate(sums, axis=1)


@final
@dataclass(frozen=True)
class PairDesign:
    """Pairs with strata, clusters or weights."""

    rows: IntArray
    """Positions of the rows that take part, in the order of the layout, shape (n,)."""
    layout: Layout
    notes: tuple[str, ...]
    """Notes for the reader."""

    methods: ClassVar[tuple[str, str]] = (
        "Permutation test of independence, Hilbert-Schmidt criterion",
        "Adaptive permutation test of independence, Hilbert-Schmidt criteria",
    )
    plain_only: ClassVar[str | None] = "strata, clusters or weights"

    def taken(self, X: Array, Y: Array) -> tuple[Array, Array]:
        """Return the rows of the variables that take part."""
        return X[self.rows], Y[self.rows]

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[KernelPair], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return HSIC of every pair of kernels under the same permutations, on these rows."""
        if statistic != "v":
            raise ValueError(
                "with strata, clusters or weights HSIC is a V-statistic of equally estimated means; pass "
                "statistic='v', and an estimator with equal weights, such as 'kme' or 'mkme'"
            )
        layout, resources = self.layout, how.resources
        units = within_cells(layout.cells, how.n_resamples, how.rng, scheme=how.scheme)
        sides = [distinct_side(points, [pair[side] for pair in kernels]) for side, points in enumerate(tables)]
        with serial_blas:
            pairs = tuple(zip(sides[0][1], sides[1][1], strict=True))
            listed = Expanded(units, layout.sizes)
            values, magnitude = stratified_hsic((sides[0][0], sides[1][0]), pairs, layout, listed, resources)
        return Null(values, ties(values, magnitude), "HSIC (V-statistic)", units.scheme)


_WEIGHTS_STAY = (
    "weights stay with the first variable while the second is permuted: p-values are exact if "
    "this is independent of the first and the weight together"
)


def _codes_of(labels: Any, n: int, name: str) -> Labels:
    return (None, ("",)) if labels is None else codes(check_codes(labels, n, name), name)


def pair_design(n: int, design: Design) -> PairDesign:
    """Return the design of n pairs with strata, clusters or weights."""
    clusters, weights = design.clusters, design.weights
    strata, names = _codes_of(design.strata, n, "strata")
    own, own_names = _codes_of(clusters, n, "clusters")
    check_nested((own, own_names), (strata, names))
    every = np.ones(n) if weights is None else check_sample_weights(weights, n, "weights")
    kept = np.flatnonzero(every)
    layout = taken_layout(kept, every, strata, own, np.zeros(len(kept), dtype=np.intp), equal_sizes=True)
    notes = weightless(every > 0.0)
    if weights is not None:
        notes += (_WEIGHTS_STAY, *effective(every[kept]))
    used = tuple(name for code, name in enumerate(names) if strata is None or (strata[kept] == code).any())
    return PairDesign(kept[layout.order], layout, notes + description(layout, used, clusters is not None))
