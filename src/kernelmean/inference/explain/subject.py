"""What is explained: two samples with a kernel, or pairs of rows with two kernels, and the sums over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.conflicts import refuse
from ...core.frozen import owned
from ...core.points import Names, named_points
from ...estimators import KernelMean
from ...estimators.options import KernelLike
from ...kernels import Kernel
from ...kernels.base import Blocks
from ...plan.plan import Plan
from ..kernel_choice import (
    ESTIMATORS,
    KernelOf,
    base_kernel,
    choose_kernel,
    representative_rows,
    unknown_estimator,
)
from ..samples import check_pairs, in_fixed_order, matched


@final
@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Two samples, one above the other in ``pooled``, and the kernel that compares them."""

    pooled: Array
    sizes: tuple[int, int]
    kernel: Kernel
    plan: Plan
    names: Names = None

    @classmethod
    def of(cls, X: Any, Y: Any, kernel: KernelLike, bandwidth: Any, estimator: Any, plan: Plan) -> TwoSamples:
        """Check two tables, and choose the kernel from the pooled rows, in the order in which the test has them."""
        tables = matched(X, Y)
        first, second = (table.values for table in tables)
        rows = np.concatenate(in_fixed_order(first, second))
        chosen = kernel_for(rows, kernel, bandwidth, estimator, "the pooled sample")
        names = next((table.names for table in tables if table.named), None)
        return cls(np.concatenate([first, second]), (len(first), len(second)), chosen, plan, names)

    @property
    def n(self) -> int:
        """Return the number of pooled rows."""
        return len(self.pooled)

    @property
    def parts(self) -> tuple[slice, slice]:
        """Return the rows of the first and of the second sample."""
        return slice(0, self.sizes[0]), slice(self.sizes[0], self.n)

    @property
    def labels(self) -> Array:
        """Return one column per sample that is 1 on its rows, shape (n, 2)."""
        return np.repeat(np.eye(2), self.sizes, axis=0)

    @property
    def signed(self) -> Array:
        """Return 1/n on the first sample and -1/m on the second: the weights of the difference of the means."""
        return np.repeat([1.0 / self.sizes[0], -1.0 / self.sizes[1]], self.sizes)

    @property
    def blocks(self) -> Blocks:
        """Prepare the Gram matrix of the pooled rows."""
        return self.kernel.blocks(self.pooled, self.pooled)

    @cached_property
    def diagonal(self) -> Array:
        """Return k(z_i, z_i), shape (n,)."""
        return self.kernel.diag(self.pooled)

    @cached_property
    def row_sums(self) -> Array:
        """Return Σ k(z_i, ·) over the first and over the second sample, shape (n, 2)."""
        return self.plan.matmul(self.blocks, self.n, self.n, self.labels, symmetric=True)

    def check_rows(self, least: int, what: str) -> None:
        """Raise when a sample has fewer rows than ``what`` needs."""
        if min(self.sizes) < least:
            raise ValueError(
                f"samples of {self.sizes[0]} and {self.sizes[1]} rows: {what} needs at least {least} in each"
            )


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows that belong together, with a kernel for either variable."""

    tables: tuple[Array, Array]
    kernels: tuple[Kernel, Kernel]
    plan: Plan
    names: tuple[Names, Names] = (None, None)

    @classmethod
    def of(cls, X: Any, Y: Any, kernels: Any, bandwidth: Any, estimator: Any, plan: Plan) -> Pairs:
        """Check two tables, and choose the kernel of each from its rows."""
        tables, names = check_pairs(X, Y), (named_points(X, "X")[1], named_points(Y, "Y")[1])
        first, second = (
            kernel_for(table, kernel, theta, estimator, name)
            for table, kernel, theta, name in zip(tables, both(kernels), both(bandwidth), "XY", strict=True)
        )
        return cls(tables, (first, second), plan, names)

    @property
    def n(self) -> int:
        """Return the number of pairs."""
        return len(self.tables[0])

    def owned(self) -> Pairs:
        """Return the pairs in memory of their own, for what outlives the call."""
        first, second = (owned(table, table) for table in self.tables)
        return replace(self, tables=(first, second))

    def repaired(self, partner: IntArray) -> Pairs:
        """Return row i of X with row ``partner[i]`` of Y, for all i."""
        return replace(self, tables=(self.tables[0], self.tables[1][partner]))

    def joined(self, other: Pairs) -> Pairs:
        """Return the pairs of both, these first."""
        first, second = (np.concatenate(tables) for tables in zip(self.tables, other.tables, strict=True))
        return replace(self, tables=(first, second))

    def centered(self, *, unbiased: bool) -> tuple[CenteredGram, CenteredGram]:
        """Return the centered Gram matrices of both variables."""
        return self._unbiased if unbiased else self._plain

    @cached_property
    def _plain(self) -> tuple[CenteredGram, CenteredGram]:
        return self._centered(False)

    @cached_property
    def _unbiased(self) -> tuple[CenteredGram, CenteredGram]:
        return self._centered(True)

    def _centered(self, unbiased: bool) -> tuple[CenteredGram, CenteredGram]:
        first, second = (
            CenteredGram.of(kernel.blocks(points, points), kernel.diag(points), self.plan, unbiased=unbiased)
            for kernel, points in zip(self.kernels, self.tables, strict=True)
        )
        return first, second

    def products(self, sides: tuple[int, int] = (0, 1), *, unbiased: bool) -> Array:
        """Return Σ_j of the product of two centered matrices, shape (n,)."""
        grams = self.centered(unbiased=unbiased)
        return product_rows(grams[sides[0]], grams[sides[1]], self.plan)


@final
@dataclass(frozen=True, eq=False)
class CenteredGram:
    r"""Blocks of :math:`\bar K = HKH`, or of the U-centered matrix of Székely & Rizzo (2014), section 2.1.

    The latter has a zero diagonal and rows that sum to 0: products of two such matrices have the unbiased expectation.
    One pass over the Gram matrix prepares it; the blocks make another one.
    """

    raw: Blocks
    means: Array
    shift: float
    raw_diagonal: Array
    unbiased: bool

    @classmethod
    def of(cls, raw: Blocks, diagonal: Array, plan: Plan, *, unbiased: bool) -> CenteredGram:
        """Take the means of a symmetric matrix with this diagonal."""
        n = len(diagonal)
        sums = plan.matmul(raw, n, n, np.ones(n), symmetric=True) - (diagonal if unbiased else 0.0)
        total = float(sums.sum())
        if unbiased:
            return cls(raw, sums / (n - 2), total / ((n - 1) * (n - 2)), diagonal, True)
        return cls(raw, sums / n, total / n**2, diagonal, False)

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.means)

    @property
    def diagonal(self) -> Array:
        """Return the diagonal of the centered matrix, shape (n,)."""
        return np.zeros(self.n) if self.unbiased else self.raw_diagonal - 2 * self.means + self.shift

    def __call__(self, i: slice, j: slice) -> Array:
        """Return the tile of two slices."""
        tile = self.raw(i, j) - self.means[j] - (self.means[i] - self.shift)[:, None]
        if self.unbiased:
            tile[np.arange(*i.indices(self.n))[:, None] == np.arange(*j.indices(self.n))] = 0.0
        return tile


def product_rows(first: CenteredGram, second: CenteredGram, plan: Plan) -> Array:
    """Return the row sums of the entrywise product of two matrices, shape (n,)."""
    return plan.matmul(hadamard(first, second), first.n, first.n, np.ones(first.n), symmetric=True)


def hadamard(first: Blocks, second: Blocks) -> Blocks:
    """Prepare the entrywise product of two matrices."""
    return lambda i, j: first(i, j) * second(i, j)


def kernel_for(points: Array, kernel: KernelLike, bandwidth: Any, estimator: Any, name: str) -> Kernel:
    """Return the kernel with the estimator's noise in it; rules look at 1000 rows when there are more."""
    rows, found = representative_rows(points), given_estimator(kernel, bandwidth, estimator)
    if isinstance(found, KernelMean):
        return choose_kernel(points, found, rows, name).kernel
    return found(points, base_kernel(points, kernel, bandwidth, rows, name).kernel)[0]


def given_estimator(kernel: KernelLike, bandwidth: Any, estimator: Any) -> KernelMean | KernelOf:
    """Return an estimator with its kernel, or the function that stands for one.

    Raises
    ------
    ValueError
        When no estimator has the name, or one that brings its kernel was passed beside another kernel or bandwidth.
    """
    if isinstance(estimator, KernelMean):
        reason = f"estimator={estimator!r} brings its own kernel and bandwidth"
        refuse(reason, kernel=(kernel, "gaussian"), bandwidth=(bandwidth, "median"))
        return estimator
    if isinstance(estimator, str):
        if estimator not in ESTIMATORS:
            raise unknown_estimator(estimator, ESTIMATORS)
        named: KernelMean = ESTIMATORS[estimator]().set_params(kernel=kernel, bandwidth=bandwidth)
        return named
    function: KernelOf = estimator
    return function


def both(value: Any) -> tuple[Any, Any]:
    """Return what holds for X and for Y: a tuple as it is, anything else twice."""
    if not isinstance(value, tuple):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{value!r} is a tuple of {len(value)}; pass one value for both variables, or (for X, for Y)")
    return value
