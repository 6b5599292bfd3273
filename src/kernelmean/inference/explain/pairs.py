r"""Two variables that are explained: their centered Gram matrices, without and with a design.

With the weights p of pairs, of sum 1, and C_s the weighted cross-covariance within stratum s, the statistic is
:math:`\mathrm{HSIC} = |\sum_s p_s C_s|^2 = \sum_{ij} p_i p_j \bar K_{ij} \bar Z_{ij}`, both Gram matrices less the
weighted means of their strata. Without a design there is one stratum, and p is 1/n.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...core.cached import cached_property
from ...core.frozen import owned
from ...core.points import Names
from ...core.words import passed
from ...kernels import Kernel
from ...plan.plan import Plan
from ..designs.independence import PairDesign
from ..permutations import RANDOM, Expanded, within_cells
from ..products import Within
from ..questions import Pairs
from ..resampling import Resampling
from ..units.layout import DesignError
from .cells import Cells, RowsOfUnits, others_are_rare
from .centered import CenteredGram, hadamard
from .gram_features import Features, factor_of

_LEAST, _LEAST_IN_STRATUM, _LEAST_STRATA = 4, 3.0, 10
"""The fewest pairs, those by which a stratum shows a variance of products, and the strata if one shows none."""
_ROUNDED = 1e-9
_TOGETHER = 256  # rows of the factor of a product of kernels that are made at a time


@final
@dataclass(frozen=True, eq=False)
class PairSubject:
    """Rows that belong together, with a kernel for each variable."""

    tables: tuple[Array, Array]
    """The rows that take part, in the order of the design."""
    kernels: tuple[Kernel, Kernel]
    plan: Plan
    names: tuple[Names, Names] = (None, None)
    design: PairDesign | None = field(default=None, kw_only=True)
    total: int = field(default=0, kw_only=True)
    """The rows of a test, of which some may take no part."""

    @classmethod
    def of_question(
        cls, question: Pairs, tables: tuple[Array, Array], kernels: tuple[Kernel, Kernel], plan: Plan
    ) -> Self:
        """Take the rows of a test that take part, which may have been on a device, and its design."""
        design = question.design if isinstance(question.design, PairDesign) else None
        return cls(tables, kernels, plan, question.names, design=design, total=len(question.X))

    @property
    def n(self) -> int:
        """Return the number of pairs."""
        return len(self.tables[0])

    @cached_property
    def strata(self) -> Within:
        """The strata of the pairs, and what pairs count in them."""
        return Within.all(self.n) if self.design is None else Within.of(self.design.layout)

    @property
    def weights(self) -> Array:
        """What every pair counts, of sum 1, shape (n,)."""
        return self.strata.shares

    @cached_property
    def centered(self) -> tuple[CenteredGram, CenteredGram]:
        """The Gram matrices of both variables, less the means of strata."""
        return self._centered(self.tables, self.strata.stratum, self.strata.inside)

    def _centered(
        self, tables: tuple[Array, Array], stratum: IntArray, inside: Array
    ) -> tuple[CenteredGram, CenteredGram]:
        first, second = (
            CenteredGram.of(kernel.blocks(points, points), kernel.diag(points), self.plan, stratum, inside)
            for kernel, points in zip(self.kernels, tables, strict=True)
        )
        return first, second

    @cached_property
    def _unbiased(self) -> tuple[CenteredGram, CenteredGram]:
        first, second = (
            CenteredGram.unbiased_of(kernel.blocks(points, points), kernel.diag(points), self.plan)
            for kernel, points in zip(self.kernels, self.tables, strict=True)
        )
        return first, second

    def products(self, sides: tuple[int, int] = (0, 1), weights: Array | None = None) -> Array:
        """Return weighted sums over columns, by those of the pairs, of the product of two centered matrices, (n,)."""
        return self._products(self.centered, sides, self.weights if weights is None else weights)

    def unbiased_products(self, sides: tuple[int, int] = (0, 1)) -> Array:
        """Return what pairs, which count alike, add to n times the unbiased HSIC, shape (n,)."""
        return self._products(self._unbiased, sides, np.ones(self.n)) / (self.n - 3)

    def _products(self, grams: tuple[CenteredGram, CenteredGram], sides: tuple[int, int], weights: Array) -> Array:
        blocks = hadamard(grams[sides[0]], grams[sides[1]])
        return self.plan.matmul(blocks, self.n, self.n, weights, symmetric=True)

    @property
    def squared(self) -> float:
        """Return HSIC, the V-statistic of the test."""
        return float(self.weights @ self.products())

    def features(self) -> Features:
        """Return the products of centered features: of the pairs, and of X with the partners that Y has by chance.

        On verified factors where the product of their ranks is below the number of pairs.
        """
        stratum, inside = self.strata.stratum, self.strata.inside  # the pairs twice, with the means of the first ones
        stratum, inside = np.tile(stratum, 2), np.concatenate([inside, np.zeros_like(inside)])
        tables = np.tile(self.tables[0], (2, 1)), np.concatenate([self.tables[1], self.tables[1][self.partner]])
        grams, factors = self._centered(tables, stratum, inside), list(map(factor_of, self.kernels, tables))
        fast = None
        if factors[0] is not None and factors[1] is not None and factors[0].rank * factors[1].rank <= self.n:
            left, right = (factor.rows - (factor.rows @ inside)[:, stratum] for factor in factors if factor is not None)
            fast = partial(_product, left, right)
        return Features(hadamard(*grams), grams[0].diagonal * grams[1].diagonal, self.plan, fast)

    def features_of(self, side: int) -> Features:
        """Return the products of the centered features of a variable with themselves."""
        gram = self.centered[side]
        return Features(hadamard(gram, gram), gram.diagonal**2, self.plan)

    @cached_property
    def partner(self) -> IntArray:
        """One permutation of the design: the partner that every row of X has by chance."""
        rng = np.random.default_rng(0)
        if self.design is None:
            return rng.permutation(self.n)
        listed = Expanded(within_cells(self.design.layout.cells, 1, rng, scheme=RANDOM), self.design.layout.sizes)
        return np.asarray(np.concatenate(list(listed.batches(2)))[1])

    @property
    def rare(self) -> bool:
        """Whether one value of a variable takes most rows, and too few rows have another to show how much they vary."""
        often = [np.unique(table, axis=0, return_counts=True)[1].max() for table in self.tables]
        return any(others_are_rare(int(most), self.n) for most in often)

    def owned(self) -> PairSubject:
        """Return the pairs in memory of their own, for what outlives the call."""
        first, second = (owned(table, table) for table in self.tables)
        return replace(self, tables=(first, second))

    def placed(self, values: Array) -> Array:
        """Return values of the pairs in the order in which all were passed, 0 where one takes no part."""
        if self.design is None:
            return values
        padded = np.zeros(self.total)
        padded[self.design.rows] = values
        return padded

    def pvalue(self, how: Resampling) -> float:
        """Return the p-value of the test of independence, by permutations of the design."""
        if self.design is None:
            return float(Pairs(*self.tables).null([self.kernels], "v", how).pvalues[0])
        return float(self.design.null(self.tables, [self.kernels], "v", how).pvalues[0])

    def units(self) -> tuple[RowsOfUnits, Cells]:
        """Return which pairs are drawn together, and how they count in an interval.

        Strata are units where one has so few that products of centered features do not vary in it.

        Raises
        ------
        ValueError
            When there are too few.
        """
        if self.design is None:
            if self.n < _LEAST:
                raise ValueError(f"{passed(self.n, 'pair')}, the unbiased HSIC needs at least {_LEAST}")
            return RowsOfUnits.single(self.n), Cells.of_samples(self.n)
        layout = self.design.layout
        strata = layout.stratum[layout.starts]
        raw = Cells(np.add.reduceat(self.weights, layout.starts), strata, int(strata[-1]) + 1, spent=1)
        vary = raw.worth.min() >= _LEAST_IN_STRATUM - _ROUNDED
        if not vary:
            self._check_strata(raw)
        cells, sizes = raw.unbiased(), layout.sizes
        if not vary:
            sizes = np.add.reduceat(layout.sizes, raw.starts)
            cells = Cells(cells.masses[0], np.zeros(raw.strata, dtype=np.intp), 1)
        if cells.effective(0) < _LEAST - _ROUNDED:
            raise DesignError(
                f"the pairs are worth {cells.effective(0):.3g} of equal weight that are drawn independently; an "
                f"interval needs at least {_LEAST}"
            )
        return RowsOfUnits.of(self.weights, sizes), cells

    def _check_strata(self, cells: Cells) -> None:
        """Raise when strata are no units: some have one row or cluster, or they are few."""
        if cells.worth.min() < 2.0 - _ROUNDED or cells.strata < _LEAST_STRATA:
            raise DesignError(
                f"some of {cells.strata} strata hold pairs, or clusters, that are worth {cells.worth.min():.3g} of "
                f"equal weight; an interval needs {_LEAST_IN_STRATUM:g} in each stratum, or {_LEAST_STRATA} strata "
                "with two in each: pass coarser strata"
            )


def _product(left: Array, right: Array, columns: Array) -> Array:
    """Return the product of columns and the entrywise product of two Gram matrices with these factors."""
    out = np.zeros_like(columns)
    for some in slices(len(left), max(1, _TOGETHER // len(right))):
        rows = (left[some, None] * right).reshape(-1, left.shape[1])
        out += rows.T @ (rows @ columns)
    return out
