"""Moments of two samples in feature space: MMD² and variances, with all columns and without each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, centered, slices
from ...kernels import Kernel
from ...plan.plan import DEFAULT, Plan, serial_blas
from ..designs.labelled import LabelDesign
from ..low_rank import pivoted_cholesky
from ..products import Within
from ..questions import TwoSamples
from .samples import SampleSubject

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


def moments_within(question: TwoSamples, kernel: Kernel, plan: Plan = DEFAULT) -> Moments:
    r"""Return the moments of two samples with strata or weights: what differs, and varies, within strata.

    With shares p and labels g less their means over strata, :math:`|\sum_i p_i g_i φ_i|^2` less its mean over
    permutations within strata, over :math:`(\sum_i p_i g_i^2)^2`. O(n² + n strata) time.
    """
    assert isinstance(question.design, LabelDesign), "there are strata or weights"
    layout = question.design.layout((0, 1))
    rows, within = np.concatenate(question.design.rows)[layout.order], Within.of(layout)
    points = np.concatenate([question.X, question.Y])[rows]
    labels = within.centered((rows < len(question.X)).astype(np.float64))
    columns = np.column_stack([within.inside, within.shares * labels])
    sums = plan.matmul(kernel.blocks(points, points), len(points), len(points), columns, symmetric=True)
    lengths = kernel.diag(points) - 2.0 * sums[np.arange(len(points)), within.stratum]
    traces = within.means(lengths) + np.einsum("is,is->s", within.inside, sums[:, :-1])
    spread, total = within.means(labels**2), float(within.shares @ labels**2)
    _, _, chance = within.chance()
    squared = float(columns[:, -1] @ sums[:, -1] - chance @ (traces * spread)) / total**2
    left = 1.0 - within.second
    kept = np.divide(within.masses, left, out=np.zeros_like(left), where=left > 0.0)
    varies = float(kept @ (traces - squared * spread) / within.masses[left > 0.0].sum())
    return Moments(squared, (varies, varies))


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
