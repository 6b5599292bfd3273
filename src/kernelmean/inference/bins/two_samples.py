"""Two samples as sums over bins: the statistics of all kernels under permutations of the bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray
from ..adaptive.coordinates import Columns
from ..null import Null
from ..permutations import BINS
from ..resampling_options import Resampling
from ..statistics import MMD, StatisticForm
from ..units.arrangements import arrangements
from ..units.kernel_sums import KernelSums
from ..units.samples import Labelings, plain_null


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
    rest = [own.n - own.size * many for own, many in zip((first, second), bins, strict=True)]
    masses = np.array([*[first.size] * sum(bins), *rest], dtype=float)
    every = np.concatenate([first.full, second.full, [first.rest, second.rest]])
    sums = KernelSums.of(columns.blocks, every[:, : columns.size], every[:, columns.size :], masses)
    labelings = Labelings(sums, listed, first.n + second.n, BINS)
    return plain_null(labelings, MMD(first.n, second.n, statistic))


def _place(own: Bins, columns: Columns) -> tuple[int, list[float]]:
    """Return what puts two samples in an order, in digits that no grouping of sums changes.

    The kernels of categories have the same squares in every row; then the sums of the columns decide.
    """
    return own.n, [float(f"{value:.9e}") for value in np.roll(own.total, -columns.size).tolist()]
