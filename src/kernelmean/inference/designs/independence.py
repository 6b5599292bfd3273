"""Pairs with strata, clusters or weights: which rows take part, and the permutation distribution of HSIC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.words import count
from ...plan.plan import serial_blas
from ..engine import check_memory
from ..null import Null
from ..problem import KernelPair, KernelSide, distinct_side
from ..resampling_options import MIB, Resampling, Resources
from ..schemes.random_pairs import DENSE_LIMIT
from ..statistics import StatisticForm, ties
from .design import Design
from .layout import Layout, check_codes, check_nested, check_sample_weights, codes, description, taken_layout
from .restricted import Expanded, within_cells
from .stratified_hsic import stratified_hsic


@final
@dataclass(frozen=True)
class PairDesign:
    """What strata, clusters and weights make of pairs."""

    rows: IntArray
    """Positions of the rows that take part, in the order of the layout, shape (n,)."""
    layout: Layout
    notes: tuple[str, ...]
    """What a reader should know."""

    methods: ClassVar[tuple[str, str]] = (
        "Permutation test of independence, Hilbert-Schmidt criterion",
        "Adaptive permutation test of independence, Hilbert-Schmidt criteria",
    )
    plain_only: ClassVar[str | None] = "groups, clusters or weights"

    def taken(self, X: Array, Y: Array) -> tuple[Array, Array]:
        """Return the rows of the variables that take part."""
        return X[self.rows], Y[self.rows]

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[KernelPair], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return HSIC of every pair of kernels under the same permutations, on these rows."""
        if statistic != "v":
            raise ValueError(
                "with groups, clusters or weights HSIC is a V-statistic of equally estimated means; pass "
                "statistic='v', and an estimator with equal weights, such as 'kme' or 'mkme'"
            )
        layout, resources = self.layout, how.resources
        units = within_cells(layout.cells, how.n_resamples, how.rng, scheme=how.scheme)
        sides = [distinct_side(points, [pair[side] for pair in kernels]) for side, points in enumerate(tables)]
        needed = _bytes(layout, sides[0][0], sides[1][0], resources)
        check_memory(needed, resources, "this design", layout.n)
        with serial_blas:
            pairs = tuple(zip(sides[0][1], sides[1][1], strict=True))
            criterion = stratified_hsic(sides[0][0], sides[1][0], pairs, layout, resources)
            values = criterion.over(Expanded(units, layout.sizes))
            slack = ties(values, criterion.magnitude())
        return Null(values, slack, "HSIC (V-statistic)", units.scheme, needed)


def pair_design(n: int, design: Design) -> PairDesign:
    """Return what strata, clusters and weights make of n pairs."""
    groups, clusters, weights = design.groups, design.clusters, design.weights
    strata, names = (None, ("",)) if groups is None else codes(check_codes(groups, n, "groups"), "groups")
    own, own_names = (None, ("",)) if clusters is None else codes(check_codes(clusters, n, "clusters"), "clusters")
    check_nested(own, own_names, strata, "groups")
    every = np.ones(n) if weights is None else check_sample_weights(weights, n, "weights")
    kept = np.flatnonzero(every)
    layout = taken_layout(kept, every, strata, own, np.zeros(len(kept), dtype=np.intp))
    notes: tuple[str, ...] = ()
    if len(kept) < n:
        notes += (f"{count(n - len(kept), 'row')} of weight zero left out",)
    if weights is not None:
        notes += ("weights stay with the rows of X: exact where Y is independent of X and the weight together",)
    used = tuple(name for code, name in enumerate(names) if strata is None or (strata[kept] == code).any())
    return PairDesign(kept[layout.order], layout, notes + description(layout, used, clusters is not None))


def _bytes(layout: Layout, left: KernelSide, right: KernelSide, resources: Resources) -> float:
    """Return the memory at most: means over strata, dense matrices where these serve, factors, and batches."""
    n, kernels = layout.n, left.count + right.count
    if left.explicit and right.explicit:
        return 8.0 * n * (4 * left.dim + 2 * right.dim + kernels) + 32 * MIB * resources.n_jobs
    grams = 8.0 * n**2 * (kernels + 3) if n <= DENSE_LIMIT else 8.0 * 64 * n
    means = 8.0 * n * (int(layout.stratum[-1]) + 1) * (left.count + 2)
    points = 8.0 * n * (7 * (left.dim + right.dim) + 8 * kernels)
    return grams + means + points + resources.memory / 4 * (n > DENSE_LIMIT) + 32 * MIB * resources.n_jobs
