"""Rotations of two halves, on factors if all kernels have some by themselves and that costs less, otherwise on tiles.

*On low-rank factors* all sums are squared norms of A C_πᵀ, and under (s, t) that matrix is F_s + G_t, one part for each
half. The squares of either take g numbers a pair of kernels, and ⟨F_s, G_t⟩ for all (s, t) is one product of matrices.

*On tiles* a tile between the halves is convolved with its counterpart in two dimensions. For blocks I of the first and
J of the second half, K_ij and Z_{i+s,j+t} meet under (s, t): their sum over i and j is a correlation in two dimensions,
at all (s, t) at once. Within a half s = t, the diagonal of such a correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import fft

from ...core.array import Array, slices
from ..low_rank_problem import Factored, SharedRows, split
from ..permutation_groups import Torus, torus_length
from ..problem import Problem
from ..resampling_options import Resources, Shape, point_bytes
from ..statistics import Sums
from .base import RowSums, Scheme, Tile, in_order, shifted_tile, upper_tiles

_LEAST_ROWS = 8
_ENTRIES = 2**20
"""Entries of F_s, over all s, at a time."""
_TILE_COST = 100
"""How many multiplications an entry of a tile takes as long as (measured)."""


@final
class TwoHalves(Scheme):
    """Many permutations for little more than one pass over both Gram matrices: for p-values far below one in 1000."""

    name = "torus"
    summary = "rotations of two shuffled halves of the rows, each by a number of its own"

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Draw the group and its cosets, and add up the tiles; O(n² (log n + d)) time."""
        group = Torus.draw(problem.n, n_resamples + 1, rng)
        problem = problem.shuffled(group.shuffle)
        if _is_worthwhile(problem, group):
            factored, _, _ = split(problem, problem.n)
            assert factored is not None, "explicit kernels have factors"
            return factor_sums(factored, group)
        total = _Total.empty(len(problem.pairs), group)
        rows = RowSums(), RowSums()
        places = [*group.blocks, *([group.rest] if group.rest.start < problem.n else [])]
        tiles = upper_tiles(places)
        for tile, part in zip(tiles, in_order(_Correlation(problem, group), tiles, resources.n_jobs), strict=True):
            total.add(tile, part.values)
            for own, margins in zip(rows, part.margins, strict=True):
                own.add(tile, *margins)
        left, right = (
            own.whole(side.count, side.n) for own, side in zip(rows, (problem.left, problem.right), strict=True)
        )
        return group.centered(problem, total.everything(), (left, right))

    def memory(self, shape: Shape, resources: Resources) -> float:
        """Count the tiles and transforms of every thread, the sums, and the prepared points of every coset."""
        length = torus_length(shape.n, shape.n_resamples + 1)
        cosets = -(-(shape.n_resamples + 1) // length**2)
        grams = shape.kernels[0] + shape.kernels[1] * cosets
        sums = 3 * max(shape.kernels) ** 2 * cosets
        return point_bytes(shape, grams) + 8.0 * length**2 * (3 * grams * resources.n_jobs + sums)

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse two samples, for which it was not tried, and fewer rows than two halves that turn need."""
        if shape.first is not None:
            return "it serves independence tests; use 'cyclic'"
        if shape.n < _LEAST_ROWS:
            return f"two halves that turn need at least {_LEAST_ROWS} rows; use 'auto'"
        return None


# -- on factors --------------------------------------------------------------------------------------------------------


def factor_sums(factored: Factored, group: Torus) -> Sums:
    """Return the sums over all permutations, shape (m, P); rows of the factors in the shuffled order."""
    pairs = np.empty((len(factored.problem.pairs), group.count))
    for shared in factored.shared:
        pairs[shared.pairs] = _squared_norms(shared, group)
    return factored.sums(pairs, group.correlations(*factored.coupled))


def _is_worthwhile(problem: Problem, group: Torus) -> bool:
    """Return whether all kernels have factors by themselves, and products of these cost less than tiles."""
    if problem.left.on_device or not (problem.left.explicit and problem.right.explicit):
        return False
    cosets, (own, other) = len(group.cosets), (side.ranks for side in (problem.left, problem.right))
    products = cosets * group.order * sum(own[i] * other[j] for i, j in problem.pairs)
    return products < _TILE_COST * problem.n**2 * (len(own) + cosets * len(other)) / 2


def _squared_norms(shared: SharedRows, group: Torus) -> Array:
    """Return |A C_πᵀ|² for all π and weights, (k, P); O(r q (k g² + n log g)) time for a single coset."""
    total = np.zeros((len(shared.pairs), len(group.cosets), group.length, group.length))
    for coset, order in enumerate(group.cosets):
        right = shared.right[:, order]
        for part in slices(len(shared.left), max(1, _ENTRIES // (group.length * max(1, len(right))))):
            first, second = group.halves(shared.left[part], right)
            for number, weights in enumerate(shared.products(part)):
                total[number, coset] += 2.0 * (weights * first.T) @ second
            squares = [shared.weighted_norms(own, part) for own in (first, second)]
            total[:, coset] += squares[0][:, :, None] + squares[1][:, None, :]
    return total.reshape(len(total), -1)


# -- on tiles ----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Total:
    """The sums so far: over tiles between the halves (pairs, cosets, g, g), and within each half (…, g)."""

    group: Torus
    between: Array
    within: tuple[Array, Array]

    @classmethod
    def empty(cls, pairs: int, group: Torus) -> _Total:
        shape = (pairs, len(group.cosets), group.length)
        return cls(group, np.zeros((*shape, group.length)), (np.zeros(shape), np.zeros(shape)))

    def add(self, tile: Tile, values: Array) -> None:
        """Add what a tile holds: a function of (s, t), of one turn, or a constant."""
        values = values if tile[0] == tile[1] else 2.0 * values
        if values.ndim == self.between.ndim:
            self.between[...] += values
        else:
            self.within[0 if tile[0] == self.group.rest else self.group.half(tile[0])][...] += values

    def everything(self) -> Array:
        """Return the sums over all permutations, shape (pairs, P)."""
        pairs = len(self.between)
        both = self.between.reshape(*self.between.shape[:2], -1) + self.group.spread(*self.within)
        return np.asarray(both.reshape(pairs, -1))


@final
@dataclass(frozen=True)
class _Part:
    """What one tile adds, and the margins of both sides."""

    values: Array
    margins: tuple[tuple[Array, Array], ...]


@final
class _Correlation:
    """Evaluates one tile: the left side is transformed once, the right side once per coset."""

    def __init__(self, problem: Problem, group: Torus) -> None:
        self.pairs, self.problem, self.group = problem.pairs, problem, group
        self.left = problem.left.tiles()
        self.rights = [problem.right.permuted(order).tiles() for order in group.cosets]

    def __call__(self, tile: Tile) -> _Part:
        left = shifted_tile(self.left, self.problem.left, tile)
        rights = [shifted_tile(tiles, self.problem.right, tile) for tiles in self.rights]
        margins = tuple((side.sum(axis=2), side.sum(axis=1)) for side in (left, rights[0]))
        axes = tuple(axis for axis, place in enumerate(tile, start=1) if place != self.group.rest)
        own = np.conj(_transform(left, axes))
        values = [self._correlated(own, _transform(right, axes), tile) for right in rights]
        return _Part(np.stack(values, axis=1), margins)

    def _correlated(self, own: Array, other: Array, tile: Tile) -> Array:
        """Return the correlations of all pairs, shape (pairs, g, g), (pairs, g) or (pairs, 1)."""
        products = (own[k] * other[z] for k, z in self.pairs)
        length = self.group.length
        if tile[0] == self.group.rest:
            return np.array([[product.sum()] for product in products])
        if tile[1] == self.group.rest:
            return np.stack([fft.irfft(product.sum(axis=1), length) for product in products])
        correlations = np.stack([fft.irfft2(product, (length, length)) for product in products])
        between = self.group.half(tile[0]) != self.group.half(tile[1])
        return correlations if between else np.diagonal(correlations, axis1=1, axis2=2)


def _transform(grams: Array, axes: tuple[int, ...]) -> Array:
    """Return the Fourier transforms over the axes that turn."""
    if len(axes) == 2:
        return np.asarray(fft.rfft2(grams, axes=axes))
    return np.asarray(fft.rfft(grams, axis=1)) if axes else grams
