r"""Pairs with strata, clusters or weights: which rows take part, and the permutation distribution of HSIC.

With weights p of sum 1 and C_s the weighted cross-covariance within stratum s,

.. math:: \mathrm{HSIC} = \Big| \sum_s p_s C_s \Big|^2 = \sum_{ij} p_i p_j \bar K_{ij} Z_{ij} ,

with K̄ the Gram matrix of X minus its weighted means over strata: dependence between strata does not enter. With one
stratum and equal weights it is tr(HKHZ)/n². Only Z is permuted; K̄ takes care of its means.

Units are rows or clusters, which change places within cells. Up to 100 of them are permuted at random; more are cut
into stripes that turn, ``rotations/wheels.py``. Beyond 5,000 rows kernels become features, ``questions/many_pairs.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.labels import check_codes, codes
from ...plan.plan import Plan, serial_blas
from ..low_rank import Factor
from ..low_rank_problem import SharedRows, centered, highest_rank, shared_rows, weighted_norms
from ..null import Null
from ..permutations import EXACT, RANDOM, Expanded, Permutations, within_cells
from ..problem import KernelPair, KernelSide, distinct_side
from ..products import Within
from ..resampling import Resampling, Resources
from ..rotations.gathered import DENSE_LIMIT, gathered
from ..rotations.stripes import BlockPair
from ..rotations.wheels import Wheels
from ..statistics import StatisticForm, ties
from ..units.forms import FACTORS_FROM
from ..units.kernel_sums import Block
from ..units.layout import Layout
from .labels import (
    Labels,
    check_nested,
    check_sample_weights,
    description,
    effective,
    taken_layout,
    weightless,
)

_FEW = 100
"""Up to so many units are permuted at random, if the rows are not many."""
_AT_ONCE = 16
_PAYS = 5  # a product of factors of rank 5 √n takes as long as a gathered matrix
NAME = "HSIC (V-statistic)"

_ALONE = Plan(threads=1)

Pairs = tuple[tuple[int, int], ...]


def exact_kernels(
    sides: tuple[KernelSide, KernelSide], pairs: Pairs, layout: Layout, permutations: Permutations, resources: Resources
) -> tuple[Array, Array]:
    """Return HSIC of pairs of kernels, shape (pairs, P), and the magnitude for rounding errors, (pairs,).

    On factors if both ranks are low, otherwise on whole matrices.
    """
    left, right = sides
    shares = layout.weights / layout.n
    factors = _factors(left, right)
    if factors is None:
        values = _on_matrices(left, right, pairs, layout, permutations, resources)
        squares = [np.abs(side.gram_diagonal()) for side in sides]
    else:
        lefts, rights = map(centered, factors)
        values = np.empty((len(pairs), permutations.count))
        for group in shared_rows(_within_strata(lefts, layout), rights, pairs):
            values[group.pairs] = _on_factors(group, permutations)
        squares = [np.stack([factor.diagonal for factor in side]) for side in (lefts, rights)]
    magnitudes = squares[0] @ shares**2, squares[1].sum(axis=1)
    return values, np.array([magnitudes[0][i] * magnitudes[1][j] for i, j in pairs])


def _factors(left: KernelSide, right: KernelSide) -> tuple[list[Factor], list[Factor]] | None:
    """Return low-rank factors of all kernels, or None where a rank is too high to pay."""
    if left.explicit and right.explicit:
        return left.known_factors(), right.known_factors()
    n = left.n
    if n < FACTORS_FROM:
        return None
    rank = min(int(_PAYS * np.sqrt(n)), highest_rank(n, left.count + right.count))
    lefts, rights = ([factor for factor in side.factors(rank) if factor is not None] for side in (left, right))
    return (lefts, rights) if [len(lefts), len(rights)] == [left.count, right.count] else None


def _within_strata(factors: list[Factor], layout: Layout) -> list[Factor]:
    """Return factors minus their means over strata, times the weights of the rows; shared rows stay shared."""
    strata = Within.of(layout)
    distinct = {id(factor.rows): factor.rows for factor in factors}
    within = {
        key: (rows - (rows @ strata.inside)[:, strata.stratum]) * strata.weights for key, rows in distinct.items()
    }
    return [replace(factor, rows=within[id(factor.rows)]) for factor in factors]


def _on_factors(shared: SharedRows, permutations: Permutations) -> Array:
    """Return Σ_rq w_r v_q (A C_πᵀ / n)_rq² for factors A and C with weights w and v, shape (k, P)."""
    numbers, n = np.arange(len(shared.pairs)), permutations.n
    if isinstance(permutations, Wheels):
        pair = BlockPair(0, 0, numbers, shared.weights)
        return permutations.values(_Rows(shared.left), _Rows(shared.right), [pair], _ALONE)
    parts = []
    for orders in permutations.batches(_AT_ONCE):  # O(n r²) time a permutation
        entries = np.stack([shared.left @ shared.right[:, order].T for order in orders], axis=-1) / n
        parts.append(weighted_norms(shared.weights, entries, slice(None)))
    return np.concatenate(parts, axis=1)


@final
class _Rows:
    """The rows of a factor as columns of numbered points."""

    def __init__(self, rows: Array) -> None:
        self._rows, self.size = rows, len(rows)
        self.blocks = [Block(slice(0, len(rows)), np.arange(0), np.zeros((0, len(rows))))]

    def at(self, rows: Any) -> Iterator[tuple[Block, Array]]:
        """Yield the columns of some points, all in one block."""
        yield self.blocks[0], self._rows[:, rows]


def _on_matrices(
    left: KernelSide,
    right: KernelSide,
    pairs: Pairs,
    layout: Layout,
    permutations: Permutations,
    resources: Resources,
) -> Array:
    """Return Σ_ij p_i p_j K̄_ij Z_π(i)π(j): both in memory, Z gathered every time, O(n²) time each."""
    strata = Within.of(layout)
    stratum, inside, shares = strata.stratum, strata.inside, strata.shares
    grams, others = left.grams(), right.grams()
    for number, gram in enumerate(grams):
        rows = gram - (inside.T @ gram)[stratum]
        grams[number] = (rows - (rows @ inside)[:, stratum]) * np.outer(shares, shares)
    sums = gathered(grams, others, pairs, permutations, resources)
    return np.concatenate([values for _, values in sums], axis=1)


# -- the design --------------------------------------------------------------------------------------------------------


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

    @property
    def in_outline(self) -> Self:
        """Return the same without its rows, for the result of a test that did not hold them."""
        return replace(self, rows=self.rows[:0])

    @property
    def many_rows(self) -> bool:
        """Whether there are so many rows that kernels are replaced by features."""
        return self.layout.n > DENSE_LIMIT

    def permutations(self, how: Resampling) -> Permutations:
        """Return the permutations, of units if these are listed, otherwise of rows."""
        layout, units_are_few = self.layout, len(self.layout.cells) <= _FEW
        if self.many_rows and how.scheme == RANDOM and not units_are_few:
            raise ValueError(
                f"scheme 'random' does not fit: beyond {DENSE_LIMIT} rows it is for at most {_FEW} clusters; use "
                "scheme='auto'"
            )
        units = within_cells(layout.cells, how.n_resamples, how.rng, scheme=how.scheme)
        if units.scheme == EXACT or how.scheme != "auto" or (units_are_few and not self.many_rows):
            return units
        return Wheels.of(layout, self.rows, how.n_resamples, how.rng) or units

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[KernelPair], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return HSIC of every pair of kernels under the same permutations, on these rows."""
        check_statistic(statistic)
        units = self.permutations(how)
        listed = units if isinstance(units, Wheels) else Expanded(units, self.layout.sizes)
        sides = [distinct_side(points, [pair[side] for pair in kernels]) for side, points in enumerate(tables)]
        with serial_blas:
            pairs = tuple(zip(sides[0][1], sides[1][1], strict=True))
            values, magnitude = exact_kernels((sides[0][0], sides[1][0]), pairs, self.layout, listed, how.resources)
        return Null(values, ties(values, magnitude), NAME, units.scheme)


def check_statistic(statistic: StatisticForm) -> None:
    """Raise for the unbiased statistic."""
    if statistic != "v":
        raise ValueError(
            "with strata, clusters or weights HSIC is a V-statistic of equally estimated means; pass "
            "statistic='v', and an estimator with equal weights, such as 'kme' or 'mkme'"
        )


_WEIGHTS_STAY = (
    "weights stay with the first variable while the second is permuted: p-values are exact if "
    "this is independent of the first and the weight together"
)


def _codes_of(labels: Any, n: int, name: str) -> Labels:
    return (None, ("",)) if labels is None else codes(check_codes(labels, n, name), name)


def pair_design(n: int, of_strata: Any = None, clusters: Any = None, weights: Any = None) -> PairDesign:
    """Return the design of n pairs with strata, clusters or weights."""
    strata, names = _codes_of(of_strata, n, "strata")
    cluster_codes, cluster_names = _codes_of(clusters, n, "clusters")
    check_nested((cluster_codes, cluster_names), (strata, names))
    every = np.ones(n) if weights is None else check_sample_weights(weights, n, "weights")
    kept = np.flatnonzero(every)
    layout = taken_layout(kept, every, strata, cluster_codes, np.zeros(len(kept), dtype=np.intp), equal_sizes=True)
    notes = weightless(every > 0.0)
    if weights is not None:
        notes += (_WEIGHTS_STAY, *effective(every[kept]))
    used = tuple(name for code, name in enumerate(names) if strata is None or (strata[kept] == code).any())
    return PairDesign(kept[layout.order], layout, notes + description(layout, used, clusters is not None))
