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
from ..statistics import MMD, ROUNDING, RemovedMeans, Statistic, StatisticForm, Sums, check_kind, named, ties
from .arrangements import Arrangements, LabelBatch, OfParts, arrangements
from .kernel_sums import KernelSums
from .layout import DesignError, Units

_LEAST_SHARE = 1e-8


@final
@dataclass(frozen=True)
class Labelings:
    """Units with their kernel sums, and the arrangements of their labels, the observed one first."""

    sums: KernelSums
    arrangements: Arrangements
    units: Units
    scheme: str
    """The name in results."""
    rounding: tuple[float, float] = ROUNDING

    @classmethod
    def of(cls, sums: KernelSums, units: Units, how: Resampling, rounding: tuple[float, float] = ROUNDING) -> Self:
        """Draw arrangements of units, which the numbers of units decide on, or the scheme that you ask for by name."""
        listed = arrangements(units.cells, units.labels, how.n_resamples, how.rng, how.scheme)
        every = listed if units.patterns is None else OfParts(listed, units.patterns)
        return cls(sums, every, units, BINS if units.binned else listed.scheme, rounding)

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


def plain_null(labelings: Labelings, statistic: StatisticForm | Statistic) -> Null:
    """Return a statistic of two samples of rows with equal weights, without strata, for every kernel.

    The first sample has the label 0.
    """
    kernels, n = labelings.sums, labelings.units.n
    first = float(kernels.masses @ (labelings.labels == 0))
    measure = statistic if isinstance(statistic, Statistic) else MMD(round(first), n - round(first), statistic)
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
    values = measure(sums)
    return Null(values, measure.tolerance(values, sums), measure.name, labelings.scheme)


def stratified_null(labelings: Labelings) -> Null:
    """Return MMD² of two samples with strata, clusters or weights, for every kernel."""
    stratified = Stratified(labelings)
    values, magnitude = labelings.values(lambda labels: np.stack(stratified(labels, 0, 1)[:2]))
    return Null(values, ties(values, magnitude.max(axis=1)), named("MMD²", "v"), labelings.scheme)


@final
class Stratified:
    """MMD² of two of the samples as a function of the labels of the units."""

    def __init__(self, labelings: Labelings) -> None:
        self.forms, self.masses = labelings.sums.forms, labelings.sums.masses[:, None]
        self.stratum = labelings.units.stratum
        self.starts = np.flatnonzero(np.diff(self.stratum, prepend=-1))

    def __call__(self, labels: IntArray, g: int, h: int) -> tuple[Array, Array, Array]:
        """Return the statistic of labels (units, b), its magnitude for rounding errors, both (m, b), and the weight.

        The weight (b,) is Σ_s A_s B_s, 0 where no stratum has rows of both samples.
        """
        one, other = (labels == g).astype(np.float64), (labels == h).astype(np.float64)
        first, second = (np.add.reduceat(self.masses * sample, self.starts, axis=0) for sample in (one, other))
        total, products = first + second, first * second
        inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0.0)
        share, weight = (products * inverse).sum(axis=0), products.sum(axis=0)
        if not share.any():
            none = np.zeros((len(self.forms.diagonal), len(weight)))
            return none, none, weight
        if share.min() <= _LEAST_SHARE * self.masses.sum():
            raise DesignError(
                "nearly all the weight is on one sample, or would be after a permutation: weights differ by more "
                "than eight orders of magnitude; pass weights on one scale"
            )
        coefficients = one * (second * inverse)[self.stratum] - other * (first * inverse)[self.stratum]
        values = self.forms.forms(coefficients) / share**2
        diagonal = np.abs(self.forms.diagonal)
        magnitude = diagonal @ one / first.sum(axis=0) + diagonal @ other / second.sum(axis=0)
        return values, magnitude, weight


# -- several samples ---------------------------------------------------------------------------------------------------


def several_null(labelings: Labelings, kind: StatisticForm) -> Null:
    """Return the mean MMD² over all pairs of several samples for every kernel, and the MMD² of the pairs."""
    check_kind(kind)
    between = _Between(labelings, kind)
    if kind == "u" and between.sizes.min() < 2:
        sizes = tuple(between.sizes.round().astype(int).tolist())
        raise ValueError(f"samples of {sizes} rows: the unbiased statistic needs two in each; pass statistic='v'")
    size = max(1, labelings.sums.forms.batch // len(between.pairs))
    values = np.concatenate(list(map(between, labelings.arrangements.parts(size))), axis=-1)
    return _of_pairs(values, ties(values, between.magnitude), between.pairs, between.shares[:, None], kind, labelings)


def several_stratified_null(labelings: Labelings, samples: int) -> Null:
    """Return the same with strata, clusters or weights, the pairs in proportion to Σ_s A_s B_s."""
    pairs = list(combinations(range(samples), 2))
    stratified = Stratified(labelings)

    def both(labels: IntArray) -> Array:
        found = [stratified(labels, g, h) for g, h in pairs]
        return np.stack([np.stack([values, size, np.broadcast_to(own, values.shape)]) for values, size, own in found])

    values, magnitude, weights = labelings.values(both).transpose(1, 2, 0, 3)
    shares = weights[0] / weights[0].sum(axis=0)
    return _of_pairs(values, ties(values, magnitude.max(axis=-1)), pairs, shares, "v", labelings)


def _of_pairs(
    values: Array, slack: Array, pairs: list[tuple[int, int]], shares: Array, kind: StatisticForm, labelings: Labelings
) -> Null:
    """Return the null of statistics (m, pairs, b), and of their mean with shares (pairs, b)."""
    scheme, name = labelings.scheme, named("MMD²", kind)
    parts = {pair: Null(values[:, place], slack[:, place], name, scheme) for place, pair in enumerate(pairs)}
    mean = np.einsum("pb,mpb->mb", np.broadcast_to(shares, values.shape[1:]), values)
    return Null(mean, slack @ shares.max(axis=1), named("mean MMD² of all pairs", kind), scheme, parts)


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
