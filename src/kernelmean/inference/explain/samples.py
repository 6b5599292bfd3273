"""Two samples that are explained, without and with a design: their means, and what these are under permutations.

Both kinds of subjects answer the same questions: which rows they have, what these count in the difference of the means
and are drawn together (:mod:`.contrast`), how likely a difference as large is by chance, and how large the difference
is at places under permutations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...core.array import Array, slices
from ...core.cached import cached_property
from ...core.points import Names
from ...embedding.embedding import Embedding, embed
from ...estimators import KME, KernelMean
from ...kernels import Kernel
from ...kernels.distances import Blocks
from ...noise import Noise
from ...plan.plan import DEFAULT, Plan
from ..designs.paired import PairedDesign
from ..permutations import Permutations, SignFlips
from ..permuted_pairs import permutations_of
from ..questions import TwoSamples
from ..request import KernelOf, choose_kernel, fitted, is_constant, is_plain, representative_rows
from ..resampling import Resampling
from ..samples import in_fixed_order
from ..units.layout import Layout
from ..units.permuted_labels import Arrangements, OfParts, arrangements
from .contrast import LEAST_FOR_INTERVAL, Contrast

_BATCH_BYTES = 2**26
_CELLS, _BATCH = 2**22, 256
_NOTHING = 1e-14

Heights = tuple[Array, Array, Array]
"""The observed difference at places, its deviation over permutations, and the largest relative one of each."""


@final
@dataclass(frozen=True, eq=False)
class SampleSubject:
    """Two samples, one above the other in ``pooled``, and the kernel that compares them."""

    pooled: Array
    sizes: tuple[int, int]
    kernel: Kernel
    plan: Plan
    names: Names = None
    estimator: KernelMean | None = None
    """What the test fitted to the samples, if their means are not plain ones under the kernel."""

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
    def rows(self) -> Array:
        """Return the rows of X and then of Y, whose positions a contrast has."""
        return self.pooled

    @property
    def has_interval(self) -> bool:
        """Whether both samples have enough rows for an interval of an effect."""
        return min(self.sizes) >= LEAST_FOR_INTERVAL

    @property
    def contrast(self) -> Contrast:
        """Return what every row counts: all are units of their own."""
        return Contrast.of_rows(*self.sizes).checked()

    @property
    def means(self) -> tuple[Embedding, Embedding]:
        """Return the means of the samples that the test compared, in the space of one kernel."""
        first, second = (replace(self._mean(self.pooled[part]), names=self.names) for part in self.parts)
        return first, second

    def _mean(self, points: Array) -> Embedding:
        """Return a plain mean, or that of an estimator whose parameters are known, or are fitted to the sample."""
        estimator = self.estimator
        if estimator is None:
            return embed(points, self.kernel, plan=self.plan)
        if is_plain(estimator) and isinstance(estimator.noise, Noise):
            return embed(points, estimator.kernel, noise=estimator.noise, plan=self.plan)  # type: ignore[arg-type]  # resolved
        kernel: Kernel = estimator.kernel  # type: ignore[assignment]
        return embed(points, kernel) if is_constant(points) else fitted(estimator, kernel, points).embedding_

    def check_rows(self, least: int, what: str) -> None:
        """Raise when a sample has fewer rows than ``what`` needs."""
        if min(self.sizes) < least:
            raise ValueError(
                f"samples of {self.sizes[0]} and {self.sizes[1]} rows: {what} needs at least {least} in each"
            )

    def pvalue(self, how: Resampling) -> float:
        """Return the p-value of the permutation test of equal distributions."""
        first, second = (self.pooled[part] for part in self.parts)
        return float(TwoSamples(first, second).null([self.kernel], "u", how).pvalues[0])

    def heights(self, places: Array, how: Resampling) -> Heights:
        """Return the difference of the means at places, and what permutations of the rows make of it.

        O(p n) time a permutation.
        """
        listed, scale = permutations_of(self.sizes, how), self._null_deviation(places)
        observed: list[Array] = []
        largest = []
        for batch in self._under_permutations(places, listed):
            observed = observed or [batch[:, 0]]
            largest.append(relative(batch, scale[:, None]).max(axis=0))
        return observed[0], scale, np.concatenate(largest)

    def _null_deviation(self, places: Array) -> Array:
        """Return the deviation of the difference at every place over all permutations, shape (p,)."""
        blocks, n, ones = self.kernel.blocks(places, self.pooled), self.n, np.ones(self.n)
        means = self.plan.matmul(blocks, len(places), n, ones) / n

        def squares(i: slice, j: slice) -> Array:
            return np.square(blocks(i, j) - means[i, None])

        variance = self.plan.matmul(squares, len(places), n, ones) / n
        first, second = self.sizes
        variance[variance < 1e-28 * means**2] = 0.0
        return np.sqrt(variance * n**2 / (first * second * max(n - 1, 1)))

    def _under_permutations(self, places: Array, listed: Permutations) -> Iterator[Array]:
        """Yield the difference at all places under batches of permutations, shape (p, b), the observed one first."""
        blocks = self.kernel.blocks(places, self.pooled)
        size = max(16, _BATCH_BYTES // (8 * (self.n + len(places))))
        for batch in listed.batches(min(size, listed.count)):
            yield self.plan.matmul(blocks, len(places), self.n, self.signed[batch.T])


@final
@dataclass(frozen=True, eq=False)
class DesignedSubject:
    r"""Two samples with strata, clusters or weights, or in pairs, and the kernel that compares them.

    The statistic of such a test is :math:`|\sum_i a_i φ(z_i)|^2` with what every row counts, a: positive in one sample
    and negative in the other (:mod:`kernelmean.inference.units.samples`). The witness :math:`\sum_i a_i k(z_i, ·)` and
    what every row adds to the statistic follow from a; a permutation of the units changes it.
    """

    question: TwoSamples
    kernel: Kernel
    plan: Plan

    @classmethod
    def of(cls, question: TwoSamples, kernel: Kernel | None = None, plan: Plan = DEFAULT) -> DesignedSubject:
        """Take a kernel, by default the Gaussian one with the median distance."""
        kernel = kernel_for(question.tables[0], KME(), "the pooled sample") if kernel is None else kernel
        return cls(question, kernel, plan)

    @property
    def pooled(self) -> Array:
        """Return the rows that take part."""
        return self.question.tables[0]

    @property
    def rows(self) -> Array:
        """Return the rows of X and then of Y, whose positions a contrast has."""
        return np.concatenate([self.question.X, self.question.Y])

    @property
    def names(self) -> Names:
        """Return the names of the columns."""
        return self.question.names

    @property
    def sizes(self) -> tuple[int, int]:
        """Return how many rows of X and of Y take part."""
        first = int(np.count_nonzero(self.question.places < len(self.question.X)))
        return first, len(self.question.places) - first

    @cached_property
    def contrast(self) -> Contrast:
        """What every row counts, and which are drawn together."""
        return Contrast.of_question(self.question)

    @property
    def means(self) -> tuple[Embedding, Embedding]:
        """Return the means of both samples that the test compares; rows that take no part have weight 0."""
        counted = np.split(self.question.counted, [len(self.question.X)])
        samples = zip((self.question.X, self.question.Y), counted, (1.0, -1.0), strict=True)
        first, second = (
            replace(embed(rows, self.kernel, weights=sign * weights, plan=self.plan), names=self.names)
            for rows, weights, sign in samples
        )
        return first, second

    def pvalue(self, how: Resampling) -> float:
        """Return the p-value of the test, by permutations of the design."""
        return float(self.question.over(self.question.tables, [self.kernel], "v", how).pvalues[0])

    def heights(self, places: Array, how: Resampling) -> Heights:
        """Return the difference of the means at places, and what permutations of the design make of it."""
        values = self.under_permutations(places, how)
        scale = values.std(axis=1)
        largest = np.sqrt(np.abs(self.kernel.diag(places)) * np.abs(self.kernel.diag(self.pooled)).mean())
        scale[scale < _NOTHING * largest] = 0.0
        return values[:, 0], scale, relative(values, scale[:, None]).max(axis=0)

    def under_permutations(self, places: Array, how: Resampling) -> Array:
        """Return the difference of the means at places under permutations of the design, shape (p, P), observed first.

        O(p n) time for the sums of units, O(p units P) for the rest; of many units, bins of them are permuted.
        """
        question, pooled = self.question, self.pooled
        sign = 1.0 if question.places[0] < len(question.X) else -1.0  # pooled rows are in an order of their own
        if isinstance(question.design, PairedDesign):
            n = len(question.X)
            paired = Layout.of(np.zeros(n, dtype=np.intp), np.ones(n))
            first, second = (self._sums(places, rows, paired) for rows in np.split(pooled, 2))
            flips = SignFlips.choose(n, how.n_resamples, how.rng, how.scheme)
            return np.concatenate([(first - second) @ signs * (sign / n) for signs in flips.batches(_BATCH)], axis=1)
        layout = question.layout.in_bins(how.rng)
        sums = self._sums(places, pooled, layout.in_parts)
        return np.concatenate([sign * sums @ counts for counts in _coefficients(question.design, layout, how)], axis=1)

    def _sums(self, places: Array, rows: Array, layout: Layout) -> Array:
        """Return the kernel sums of units of rows at places, shape (p, units)."""
        ordered = rows[layout.order]
        tiles = (
            self.kernel(places[some], ordered) * layout.weights
            for some in slices(len(places), max(1, _CELLS // len(ordered)))
        )
        return np.concatenate([np.add.reduceat(tile, layout.starts, axis=1) for tile in tiles])


def _coefficients(design: Any, layout: Layout, how: Resampling) -> Iterator[Array]:
    """Yield what the parts of units count under permutations of their labels, shape (parts, b), the observed first."""
    units = layout.units
    listed: Arrangements = arrangements(units.cells, units.labels, how.n_resamples, how.rng, how.scheme)
    every = listed if units.patterns is None else OfParts(listed, units.patterns)
    differences = design.differences(units)
    for part in every.parts(_BATCH):
        for some in slices(len(part.labels), _BATCH):
            yield differences(part.labels[some].T, 0, 1)[0]


def relative(values: Array, scale: Array) -> Array:
    """Return |value| / scale, and 0 where no permutation changes anything."""
    return np.divide(np.abs(values), scale, out=np.zeros_like(values), where=scale > 0.0)


def kernel_for(points: Array, estimator: KernelMean | KernelOf, name: str) -> Kernel:
    """Return the kernel of an estimator for some rows; rules look at 1,000 of them when there are more."""
    return choose_kernel(points, estimator, representative_rows(points), name).kernel
