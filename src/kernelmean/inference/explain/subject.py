"""What is explained: two samples with a kernel, or pairs of rows with two kernels, and the sums over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, as_host
from ...core.cached import cached_property
from ...core.frozen import owned
from ...core.points import Names
from ...estimators import KME, KernelMean
from ...kernels import Gaussian, Kernel
from ...kernels.any_kernel import Precomputed
from ...kernels.bandwidth import median_bandwidth
from ...kernels.distances import Blocks
from ...plan.plan import DEFAULT, Plan
from ..questions import Pairs, TwoSamples
from ..request import KernelOf, choose_kernel, is_constant, is_plain, representative_rows
from ..samples import in_fixed_order

LEAST_FOR_INTERVAL = 3
"""Fewer rows in a sample show no interval of an effect."""
_MOST, _LEAST_OTHERS = 0.75, 30
"""Above this share of rows with one value the others are rare, unless there are this many of them."""


@final
@dataclass(frozen=True, eq=False)
class SampleSubject:
    """Two samples, one above the other in ``pooled``, and the kernel that compares them."""

    pooled: Array
    sizes: tuple[int, int]
    kernel: Kernel
    plan: Plan
    names: Names = None

    @classmethod
    def of(cls, X: Array, Y: Array, kernel: Kernel, plan: Plan = DEFAULT, names: Names = None) -> SampleSubject:
        """Put two samples of the same columns one above the other."""
        return cls(np.concatenate([X, Y]), (len(X), len(Y)), kernel, plan, names)

    @classmethod
    def gaussian(cls, X: Array, Y: Array) -> SampleSubject:
        """Take the Gaussian kernel with the median distance, the same for either order of the samples."""
        return cls.of(X, Y, kernel_for(np.concatenate(in_fixed_order(X, Y)), KME(), "the pooled sample"))

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

    @property
    def has_interval(self) -> bool:
        """Whether both samples have enough rows for an interval of an effect."""
        return min(self.sizes) >= LEAST_FOR_INTERVAL

    def check_rows(self, least: int, what: str) -> None:
        """Raise when a sample has fewer rows than ``what`` needs."""
        if min(self.sizes) < least:
            raise ValueError(
                f"samples of {self.sizes[0]} and {self.sizes[1]} rows: {what} needs at least {least} in each"
            )


@final
@dataclass(frozen=True, eq=False)
class PairSubject:
    """Rows that belong together, with a kernel for each variable."""

    tables: tuple[Array, Array]
    kernels: tuple[Kernel, Kernel]
    plan: Plan
    names: tuple[Names, Names] = (None, None)

    @property
    def n(self) -> int:
        """Return the number of pairs."""
        return len(self.tables[0])

    @property
    def rare(self) -> bool:
        """Whether one value of a variable takes most rows, and too few rows have another to show how much they vary."""
        often = [np.unique(table, axis=0, return_counts=True)[1].max() for table in self.tables]
        return any(most > _MOST * self.n and self.n - most < _LEAST_OTHERS for most in often)

    def owned(self) -> PairSubject:
        """Return the pairs in memory of their own, for what outlives the call."""
        first, second = (owned(table, table) for table in self.tables)
        return replace(self, tables=(first, second))

    def repaired(self, partner: IntArray) -> PairSubject:
        """Return row i of X with row ``partner[i]`` of Y, for all i."""
        return replace(self, tables=(self.tables[0], self.tables[1][partner]))

    def joined(self, other: PairSubject) -> PairSubject:
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


Subject = SampleSubject | PairSubject


def subject_of(result: Any, plan: Plan, *, weighted: bool = False) -> Subject:
    """Return what a test looked at, with the kernel that explains it.

    With ``weighted``, as for the witness, means with weights of their own are allowed, from any estimator.

    Raises
    ------
    ValueError
        When the result holds no data, its rows have a design, or its estimator shrinks or is fitted under every
        permutation.
    """
    question = check_explained(result.question)
    if question.design is not None:
        raise ValueError(
            "effect sizes and tests of equivalence need plain samples or pairs, and this test had a design; call "
            "mmd_test or hsic_test on rows that are independent as they are (one of each cluster, and one stratum at a "
            "time, where there are these), and ask its result"
        )
    if not weighted:
        _check_estimators(question)
    X, Y = as_host(question.X), as_host(question.Y)
    if isinstance(question, TwoSamples):
        kernel = reference_kernel(np.concatenate([X, Y])) if result.members else result.kernel
        return SampleSubject.of(X, Y, kernel, plan, question.names)
    kernels = (reference_kernel(X), reference_kernel(Y)) if result.members else result.kernel
    return PairSubject((X, Y), kernels, plan, question.names)


def check_explained(question: Any) -> TwoSamples | Pairs:
    """Return the question of two samples or of pairs that a result with its rows is about."""
    if question is None:
        raise ValueError(
            "this result holds no data: it was read from a file, or comes from a test that keeps none; call mmd_test "
            "or hsic_test on the data, and ask the result that it returns"
        )
    explained: TwoSamples | Pairs = question.explained()
    return explained


def check_columns(question: TwoSamples | Pairs, kernel: Any) -> TwoSamples | Pairs:
    """Return the question if its rows have columns, which those of a Gram matrix have not."""
    if any(isinstance(one, Precomputed) for one in (kernel if isinstance(kernel, tuple) else (kernel,))):
        raise ValueError(
            "the test was of a Gram matrix, which knows no columns and no other points; contributions() says what "
            "every row adds, and a test with a kernel of the rows can say more"
        )
    return question


def _check_estimators(question: Any) -> None:
    """Raise when the test compared means with weights of their own, which no single kernel describes."""
    instead = "; of this test only witness() works" if isinstance(question, TwoSamples) else ""
    for side in () if question.asked is None else question.asked.sides:
        if not is_plain(side):
            raise ValueError(
                f"estimator is {side!r}, with weights that permutations change; explanations need "
                f"a test with a kernel, such as estimator='kme' or 'mkme'{instead}"
            )


def reference_kernel(points: Array) -> Gaussian:
    """Return the kernel that explains a test of many kernels: Gaussian, with columns in units of their spread.

    The bandwidth is the median distance in these units, of 1000 rows when there are more.
    """
    spread = points.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    some = (points / spread)[representative_rows(points)]
    theta = 1.0 if is_constant(some) else float(median_bandwidth(some))
    return Gaussian(theta * spread)


def kernel_for(points: Array, estimator: KernelMean | KernelOf, name: str) -> Kernel:
    """Return the kernel of an estimator for some rows; rules look at 1000 of them when there are more."""
    return choose_kernel(points, estimator, representative_rows(points), name).kernel


def both(value: Any) -> tuple[Any, Any]:
    """Return a value for X and one for Y: a tuple as it is, anything else twice."""
    if not isinstance(value, tuple):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{value!r} is a tuple of {len(value)}; pass one value for both variables, or (for X, for Y)")
    return value
