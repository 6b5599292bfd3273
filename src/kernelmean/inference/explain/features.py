"""The two vectors of feature space whose lengths are effects: the difference of two means, and the cross-covariance.

Like feature variances and drops, they are computed from means of a kernel within and between samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, centered, slices
from ...core.words import passed
from ...kernels import Kernel
from ...kernels.distances import Blocks
from ...plan.plan import Plan, serial_blas
from ..low_rank import Factor, pivoted_cholesky
from .fluctuation import FeatureMean, Operator
from .subject import LEAST_FOR_INTERVAL, CenteredGram, PairSubject, SampleSubject, hadamard, product_rows

_TILE = 256
_RANK, _ROWS = 64, 500


@final
@dataclass(frozen=True)
class Moments:
    r"""Unbiased moments of two samples in feature space."""

    squared: float
    """The unbiased MMD²."""
    variances: tuple[float, float]
    """:math:`E|φ(x) - μ|^2 = E k(x, x) - E k(x, x')` of either sample, unbiased."""

    @classmethod
    def from_sums(cls, sums: Array, traces: Array, sizes: tuple[int, int]) -> Moments:
        """Make the moments from the sums of the four blocks of a Gram matrix, (2, 2), and their traces, (2,)."""
        n, m = sizes
        within = (np.diagonal(sums) - traces) / (np.array(sizes) * (np.array(sizes) - 1))
        variances = traces / np.array(sizes) - within
        return cls(float(within.sum() - 2 * sums[0, 1] / (n * m)), (float(variances[0]), float(variances[1])))

    @property
    def variance(self) -> float:
        """Return the mean of the two variances."""
        return sum(self.variances) / 2

    @property
    def explained(self) -> float:
        """Return MMD² / (4 · variance + MMD²), and 0 when nothing varies."""
        total = 4 * self.variance + self.squared
        return self.squared / total if total > 0.0 else 0.0


def moments(subject: SampleSubject, kernel: Kernel | None = None) -> Moments:
    """Return the moments with the subject's kernel or another: O(n r²) on a verified factor of rank r ≤ 64, else O(n²).

    The factor leaves out at most 1e-10 of the trace, and the moments are accurate to 1e-10 of the mean of k(x, x).
    """
    other = SampleSubject(subject.pooled, subject.sizes, kernel or subject.kernel, subject.plan)
    traces = other.diagonal @ other.labels
    factor = pivoted_cholesky(other.kernel, other.pooled, max_rank=_RANK) if other.n > _ROWS else None
    if factor is None:
        return Moments.from_sums(other.labels.T @ other.row_sums, traces, other.sizes)
    means = factor.rows @ other.labels
    return Moments.from_sums(means.T @ means, traces, other.sizes)


def weighted_moments(subject: SampleSubject, counted: Array, kernel: Kernel) -> Moments:
    """Return the moments of two weighted means, whose ``squared`` is the V-statistic of rows that count as ``counted``.

    ``counted`` has the shape (n,), positive in one sample and negative in the other.
    """
    weights = np.abs(counted)[:, None] * subject.labels
    blocks = kernel.blocks(subject.pooled, subject.pooled)
    sums = weights.T @ subject.plan.matmul(blocks, subject.n, subject.n, weights, symmetric=True)
    first, second = (kernel.diag(subject.pooled) @ weights - np.diagonal(sums)).tolist()
    return Moments(float(np.trace(sums) - 2 * sums[0, 1]), (first, second))


def without_each(pooled: Array, sizes: tuple[int, int], bandwidth: Array) -> Array:
    """Return the unbiased MMD² of the Gaussian kernel on all columns but one, for each of them, shape (d,).

    One tile of squared distances serves all columns: O(n² d) time, O(d + block²) memory.
    """
    points = centered(pooled / (np.sqrt(2.0) * bandwidth))[0]
    labels = np.repeat(np.eye(2), sizes, axis=0)
    norms = np.square(points).sum(axis=1)
    sums = np.zeros((points.shape[1], 2, 2))
    rows = slices(len(points), _TILE)
    with serial_blas:
        for first, i in enumerate(rows):
            for j in rows[first:]:
                distances = norms[i, None] + norms[j] - 2.0 * points[i] @ points[j].T
                for column, x in enumerate(points.T):
                    kept = np.maximum(distances - np.square(x[i, None] - x[j]), 0.0)
                    part = labels[i].T @ np.exp(-kept) @ labels[j]
                    sums[column] += part if i == j else part + part.T
    traces = np.array(sizes, dtype=np.float64)
    return np.array([Moments.from_sums(each, traces, sizes).squared for each in sums])


_FACTOR_FROM = 500
_TOGETHER = 256  # rows of the factor of a product of kernels that are made at a time
_NOTHING = 1e-14  # of k(x, x): what rounding leaves of a variance of 0


@final
@dataclass(frozen=True, eq=False)
class Effect:
    """A vector of feature space, the number that makes its squared length free of units, and a standard error."""

    mean: FeatureMean
    scale: float
    """Mean feature variance within the samples, or √(HSIC(X, X) HSIC(Y, Y)); 0 when it is only rounding."""
    standard_error: float
    """Of ``mean.squared``."""
    defined: bool
    """Whether the ratio to the scale is more than 0/0."""


def difference_of_means(subject: SampleSubject) -> Effect:
    """Return μ_X - μ_Y, and the mean variance of the features within the samples."""
    subject.check_rows(LEAST_FOR_INTERVAL, "an interval")
    sizes, sums = np.array(subject.sizes), subject.row_sums
    moments = Moments.from_sums(subject.labels.T @ sums, subject.diagonal @ subject.labels, subject.sizes)
    nothing = _NOTHING * float(np.abs(subject.diagonal).mean())
    variance = moments.variance if moments.variance > nothing else 0.0
    means = sums / sizes
    influence = subject.diagonal[:, None] / 2 - means
    mean = FeatureMean(
        product=_product(subject),
        sizes=subject.sizes,
        signs=(1.0, -1.0),
        lenders=(1, 0),
        diagonal=subject.diagonal,
        means=means,
        squared=moments.squared,
        scale_influence=influence / variance if variance > 0.0 else np.zeros_like(influence),
    )
    error = _standard_error(mean, _noise_of_means(subject))
    return Effect(mean, variance, error, variance > 0.0 or moments.squared > nothing)


def _product(subject: SampleSubject) -> Operator:
    """Return W ↦ KW, on a verified factor where the rank is below a quarter of the rows."""
    n, points = subject.n, subject.pooled
    factor = _factor(subject.kernel, points)
    if factor is not None:
        return lambda columns: factor.rows.T @ (factor.rows @ columns)
    blocks = subject.blocks
    return lambda columns: subject.plan.matmul(blocks, n, n, columns, symmetric=True)


def _factor(kernel: Kernel, points: Array) -> Factor | None:
    n = len(points)
    return pivoted_cholesky(kernel, points, max_rank=min(n // 4, 500)) if n >= _FACTOR_FROM else None


def _noise_of_means(subject: SampleSubject) -> float:
    r"""Return an unbiased estimate of :math:`\mathrm{tr} C^2`, C = C_X/n + C_Y/m, from centered Gram blocks."""
    n, m = subject.sizes
    parts = [subject.pooled[part] for part in subject.parts]
    kernel, plan = subject.kernel, subject.plan
    own = sum(_covariance_square(kernel.blocks(p, p), kernel.diag(p), plan) / len(p) ** 2 for p in parts)
    raw, rows, columns = kernel.blocks(*parts), subject.row_sums[:n, 1] / m, subject.row_sums[n:, 0] / n

    def squares(i: slice, j: slice) -> Array:
        return np.square(raw(i, j) - columns[j] - (rows[i] - rows.mean())[:, None])

    cross = float(plan.matmul(squares, n, m, np.ones(m)).sum()) / ((n - 1) * (m - 1))  # tr(C_X C_Y)
    return max(own + 2 * cross / (n * m), 0.0)


def _covariance_square(blocks: Blocks, diagonal: Array, plan: Plan) -> float:
    """Return tr C² of the covariance of features with this Gram matrix, unbiased from four rows on."""
    n = len(diagonal)
    centered = CenteredGram.of(blocks, diagonal, plan, unbiased=n >= 4)
    return float(product_rows(centered, centered, plan).sum()) / (n * (n - 3) if n >= 4 else n**2)


def cross_covariance(pairs: PairSubject) -> Effect:
    """Return the cross-covariance operator, and the geometric mean of the squared norms of the two covariances."""
    n = pairs.n
    if n < 4:
        raise ValueError(f"{passed(n, 'pair')}, the unbiased HSIC needs at least 4")
    sides = [(0, 1), (0, 0), (1, 1)]
    squared, first, second = (float(pairs.products(side, unbiased=True).sum()) / (n * (n - 3)) for side in sides)
    rows = [pairs.products(side, unbiased=False) / n for side in sides[1:]]
    nothing = [(_NOTHING * float(np.abs(gram.raw_diagonal).mean())) ** 2 for gram in pairs.centered(unbiased=True)]
    scale = float(np.sqrt(first * second)) if first > nothing[0] and second > nothing[1] else 0.0
    partner = np.random.default_rng(0).permutation(n)
    both = pairs.joined(pairs.repaired(partner))
    grams = both.centered(unbiased=False)
    diagonal = grams[0].diagonal * grams[1].diagonal
    influence = np.zeros((2 * n, 2))
    if scale > 0.0:
        own, other = rows[0] / first, rows[1] / second
        influence[:, 0] = np.concatenate([own + other, own + other[partner]])
    mean = FeatureMean(
        product=_pair_product(both),
        sizes=(n, n),
        signs=(1.0, 0.0),
        lenders=(1,),
        diagonal=diagonal,
        means=pairs.plan.matmul(hadamard(*grams), 2 * n, 2 * n, np.repeat(np.eye(2) / n, n, axis=0), symmetric=True),
        squared=squared,
        scale_influence=influence,
    )
    noise = _covariance_square(hadamard(*pairs.centered(unbiased=False)), diagonal[:n], pairs.plan) / n**2
    varies = all(bool((table != table[0]).any()) for table in pairs.tables)
    return Effect(mean, scale, _standard_error(mean, max(noise, 0.0)), varies)


def _pair_product(pairs: PairSubject) -> Operator:
    """Return W ↦ (K̄ ∘ Z̄) W, on verified factors where the product of their ranks is below half of the rows."""
    n = pairs.n
    factors = [_factor(kernel, table) for kernel, table in zip(pairs.kernels, pairs.tables, strict=True)]
    if factors[0] is None or factors[1] is None or factors[0].rank * factors[1].rank > n / 2:
        blocks = hadamard(*pairs.centered(unbiased=False))
        return lambda columns: pairs.plan.matmul(blocks, n, n, columns, symmetric=True)
    left, right = (f.rows - f.rows.mean(axis=1, keepdims=True) for f in factors if f is not None)

    def product(columns: Array) -> Array:
        out = np.zeros_like(columns)
        for some in slices(len(left), max(1, _TOGETHER // len(right))):
            rows = (left[some, None] * right).reshape(-1, n)
            out += rows.T @ (rows @ columns)
        return out

    return product


def _standard_error(mean: FeatureMean, noise: float) -> float:
    r"""Return :math:`\sqrt{4 (⟨D, CD⟩ - \mathrm{tr} C^2)_+ + 2 \mathrm{tr} C^2}`, the first term with û for u."""
    along = mean.direction_variance() * mean.total if mean.total > 0.0 else 0.0
    return float(np.sqrt(4.0 * max(along - noise, 0.0) + 2.0 * noise))
