"""Two samples as sums over bins: the statistics of all kernels under permutations of the bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray
from ..low_rank import Factor
from ..null import Null
from ..permutations import BINS
from ..resampling_options import Resampling
from ..statistics import MMD, StatisticForm
from ..units.arrangements import arrangements
from ..units.forms import FactorForms
from ..units.kernel_sums import KernelSums
from ..units.samples import Labelings, plain_null
from .columns import Columns


@final
@dataclass(frozen=True)
class Bins:
    """The sums of a sample: over bins of equal size, and over the rows that stay in the sample."""

    size: int
    full: Array
    """The sums of the bins, shape (B, columns + kernels)."""
    rest: Array
    """The sums of the rows outside all bins, shape (columns + kernels,)."""
    n: int
    """The rows of the sample."""

    def of(self, places: IntArray) -> Bins:
        """Return some of the sums, such as those of one test among several."""
        return Bins(self.size, self.full[:, places], self.rest[places], self.n)

    @property
    def total(self) -> Array:
        """The sums over all rows."""
        return np.asarray(self.full.sum(axis=0) + self.rest)


def binned_null(columns: Columns, samples: tuple[Bins, Bins], statistic: StatisticForm, how: Resampling) -> Null:
    """Return the statistics of all kernels under permutations of the bins, the observed arrangement first.

    Bins hold equally many rows, each bin from one sample. Permuting bins is a group of permutations of the rows, so the
    p-value is exact. Rows outside all bins stay in their sample. Which sample comes first changes nothing.
    Domingo-Enrich, Dwivedi & Mackey (2025), section 3.
    """
    first, second = sorted(samples, key=lambda own: _place(own, columns))
    bins = len(first.full), len(second.full)
    cells, labels = np.repeat([0, 1, 2], [sum(bins), 1, 1]), np.repeat([0, 1, 0, 1], [*bins, 1, 1])
    listed = arrangements(cells, labels, how.n_resamples, how.rng)
    labelings = Labelings(_kernel_sums(columns, first, second), listed, first.n + second.n, BINS)
    return plain_null(labelings, MMD(first.n, second.n, statistic))


def _place(own: Bins, columns: Columns) -> tuple[int, list[float]]:
    """Return what puts two samples in an order, in digits that no grouping of sums changes.

    The kernels of categories have the same squares in every row; then the sums of the columns decide.
    """
    return own.n, [float(f"{value:.9e}") for value in np.roll(own.total, -columns.size).tolist()]


def _kernel_sums(columns: Columns, first: Bins, second: Bins) -> KernelSums:
    """Return the sums over the bins, and over what is left of both samples, centered at the mean of all rows."""
    bins, split = (len(first.full), len(second.full)), columns.size
    rest = [own.n - first.size * many for own, many in zip((first, second), bins, strict=True)]
    masses = np.array([*[first.size] * sum(bins), *rest], dtype=float)
    sums = np.concatenate([first.full, second.full, [first.rest, second.rest]])
    centre = sums[:, :split].sum(axis=0) / masses.sum()
    factors: list[Factor | None] = [None] * columns.n_kernels
    diagonal, means = np.empty((2, columns.n_kernels, len(masses)))
    mean = np.empty(columns.n_kernels)
    for block in columns.blocks:
        numbers, own = block.numbers, centre[block.place]
        raw = sums[:, block.place]
        rows = (raw - masses[:, None] * own).T.copy()
        along, mean[numbers] = block.weights * own, block.weights @ own**2
        diagonal[numbers] = sums[:, split + numbers].T - 2 * along @ raw.T + masses * mean[numbers, None]
        means[numbers] = along @ rows + masses * mean[numbers, None]
        for number, weights in zip(numbers.tolist(), block.weights, strict=True):
            factors[number] = Factor(rows, 0.0, weights)
    known = tuple(factor for factor in factors if factor is not None)
    return KernelSums(FactorForms(known, diagonal), masses, means, mean)
