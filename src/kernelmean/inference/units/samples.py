r"""Samples as coefficients of units: the statistics of all kernels under permutations of the labels of the units.

The kernel mean of a sample is Σ_u c_u S_u, where S_u is the kernel sum of a unit; a labeling of the units decides the
coefficients c. With masses B_u, labels a, and the masses A_s, B_s of the two samples in stratum s, the difference of
kernel means is the average of the differences within strata, in the proportions :math:`c_s ∝ A_s B_s / (A_s + B_s)` of
Cochran, Mantel and Haenszel:

.. math:: \mathrm{MMD}^2 = \Big| \sum_s c_s (μ_{X,s} - μ_{Y,s}) \Big|^2 , \qquad \sum_s c_s = 1 .

It is one quadratic form, in :math:`v_u = a_u - \bar a_{s(u)}`. With one stratum and equal weights it is the usual MMD².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ..null import Null
from ..permutations import BINS
from ..resampling_options import Resampling
from ..statistics import ROUNDING, RemovedMeans, Statistic, StatisticForm, Sums, check_kind, named, ties
from .arrangements import Arrangements, LabelBatch, arrangements
from .kernel_sums import KernelSums
from .layout import DesignError, Layout

_LEAST_SHARE = 1e-8


Summing = Callable[[Layout], KernelSums]
"""From units to the sums of all kernels over them."""


@final
@dataclass(frozen=True)
class Labelings:
    """Units with their kernel sums, and the arrangements of their labels, the observed one first."""

    sums: KernelSums
    arrangements: Arrangements
    n: int
    """The number of rows."""
    scheme: str
    """The name in results."""
    rounding: tuple[float, float] = ROUNDING
    stratum: IntArray | None = None
    """Of every unit, whole numbers from 0, ascending; None for one stratum."""

    @classmethod
    def of(cls, summed: Summing, layout: Layout, how: Resampling, rounding: tuple[float, float] = ROUNDING) -> Self:
        """Draw bins if there are many units, then arrangements; add up the units.

        Which arrangements there are is decided by the numbers of units alone. Those that you ask for by name, all or
        independent random ones, are of units as they are.
        """
        units = layout.in_bins(how.rng) if how.scheme == "auto" else layout
        listed = arrangements(units.cells, units.labels, how.n_resamples, how.rng, how.scheme)
        return cls(
            summed(units),
            listed,
            layout.n,
            BINS if units.binned else listed.scheme,
            rounding,
            units.stratum[units.starts],
        )

    @property
    def labels(self) -> IntArray:
        """Return the observed labels of the units."""
        return self.arrangements.labels

    def values(self, statistic: Callable[[IntArray], Array]) -> Array:
        """Return a statistic of labels (units, b), whose last axis is b, under all arrangements."""
        size = self.sums.forms.batch
        parts = (part.labels for part in self.arrangements.parts(size))
        batches = (labels[some].T for labels in parts for some in slices(len(labels), size))
        return np.concatenate(list(map(statistic, batches)), axis=-1)


# -- two samples -------------------------------------------------------------------------------------------------------


def plain_null(labelings: Labelings, statistic: Statistic) -> Null:
    """Return a statistic of two samples of rows with equal weights, without strata, for every kernel.

    The first sample has the label 0.
    """
    kernels, n = labelings.sums, labelings.n
    first = float(kernels.masses @ (labelings.labels == 0))
    linear = np.concatenate([kernels.forms.diagonal, kernels.means])
    totals = linear.sum(axis=1, keepdims=True)
    trace = kernels.forms.diagonal.sum(axis=1)
    traces = trace, np.full(len(trace), first * (1 - first / n))
    parts = []
    for part in labelings.arrangements.parts(kernels.forms.batch):
        diagonal, rows = np.split(totals - part.products(linear), 2)
        level = RemovedMeans(rows, kernels.mean)
        parts.append(Sums(kernels.forms.under(part), diagonal, *traces, level, labelings.rounding))
    sums = Sums.joined(parts, axis=1)
    values = statistic(sums)
    return Null(values, statistic.tolerance(values, sums), statistic.name, labelings.scheme)


def stratified_null(summed: Summing, layout: Layout, how: Resampling) -> Null:
    """Return MMD² of two samples with strata, clusters or weights, for every kernel."""
    labelings = Labelings.of(summed, layout, how)
    values, magnitude = np.split(labelings.values(_Stratified(labelings)), 2)
    return Null(values, ties(values, magnitude.max(axis=1)), named("MMD²", "v"), labelings.scheme)


@final
class _Stratified:
    """MMD² as a function of the labels of the units."""

    def __init__(self, labelings: Labelings) -> None:
        self.forms, self.masses = labelings.sums.forms, labelings.sums.masses[:, None]
        self.stratum = np.zeros_like(labelings.labels) if labelings.stratum is None else labelings.stratum
        self.starts = np.flatnonzero(np.diff(self.stratum, prepend=-1))

    def __call__(self, labels: IntArray) -> Array:
        """Return the statistic of labels (units, b), and below it its magnitude for rounding errors, shape (2m, b)."""
        one, other = labels.astype(np.float64), 1.0 - labels
        first, second = (np.add.reduceat(self.masses * sample, self.starts, axis=0) for sample in (one, other))
        share = (first * second / (first + second)).sum(axis=0)
        if share.min() <= _LEAST_SHARE * self.masses.sum():
            raise DesignError(
                "nearly all the weight is on one sample, or would be after a permutation: weights differ by more "
                "than eight orders of magnitude; pass weights on one scale"
            )
        total = first + second
        coefficients = one * (second / total)[self.stratum] - other * (first / total)[self.stratum]
        values = self.forms.forms(coefficients) / share**2
        diagonal = np.abs(self.forms.diagonal)
        magnitude = diagonal @ one / first.sum(axis=0) + diagonal @ other / second.sum(axis=0)
        return np.concatenate([values, magnitude])


# -- several samples ---------------------------------------------------------------------------------------------------


def several_null(summed: Summing, layout: Layout, kind: StatisticForm, how: Resampling) -> Null:
    """Return the mean MMD² over all pairs of several samples for every kernel, and the MMD² of the pairs."""
    check_kind(kind)
    labelings = Labelings.of(summed, layout, how)
    between = _Between(labelings, kind)
    size = max(1, labelings.sums.forms.batch // len(between.pairs))
    values = np.concatenate(list(map(between, labelings.arrangements.parts(size))), axis=-1)
    slack = ties(values, between.magnitude)
    scheme, name = labelings.scheme, named("MMD²", kind)
    parts = {pair: Null(values[:, place], slack[:, place], name, scheme) for place, pair in enumerate(between.pairs)}
    mean = np.einsum("p,mpb->mb", between.shares, values)
    return Null(mean, slack @ between.shares, named("mean MMD² of all pairs", kind), scheme, parts)


@final
class _Between:
    """MMD² of all pairs of samples, of m kernels, as a function of the labels of the units."""

    def __init__(self, labelings: Labelings, kind: StatisticForm) -> None:
        self.forms, self.kind = labelings.sums.forms, kind
        self.sizes: Array = np.bincount(labelings.labels, labelings.sums.masses).astype(np.float64)
        self.pairs = list(combinations(range(len(self.sizes)), 2))
        products = np.array([self.sizes[g] * self.sizes[h] for g, h in self.pairs])
        self.shares: Array = products / products.sum()

    @property
    def magnitude(self) -> Array:
        """Return the magnitude for rounding errors, shape (m, pairs)."""
        inverse = 1 / self.sizes
        sizes = np.array([(inverse[g] + inverse[h]) for g, h in self.pairs])
        return np.asarray(np.abs(self.forms.diagonal).sum(axis=1)[:, None] * sizes)

    def __call__(self, labels: LabelBatch) -> Array:
        """Return the statistics, shape (m, pairs, b)."""
        values = self.forms.between(labels, self.sizes)
        if self.kind == "v":
            return values
        excess = self._excess(values, labels)
        return values + np.stack([excess[:, g] + excess[:, h] for g, h in self.pairs], axis=1)

    def _excess(self, values: Array, labels: LabelBatch) -> Array:
        """Return for every sample its mean over pairs of different rows minus that over all pairs, shape (m, k, b).

        The distances of the kernel means from their common mean follow from those between them.
        """
        weights = self.sizes / self.sizes.sum()
        distances = np.zeros((len(values), len(weights), len(weights), values.shape[-1]))
        for place, (g, h) in enumerate(self.pairs):
            distances[:, g, h] = distances[:, h, g] = values[:, place]
        toward = np.einsum("h,mghb->mgb", weights, distances)
        norms = toward - np.einsum("g,mgb->mb", weights, toward)[:, None] / 2
        sums = [labels.products(self.forms.diagonal, g) / size for g, size in enumerate(self.sizes)]
        return np.asarray((norms - np.stack(sums, axis=1)) / (self.sizes - 1)[:, None])
