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
from ..resampling import Resampling
from ..statistics import MMD, ROUNDING, RemovedMeans, Statistic, StatisticForm, Sums, check_kind, named, ties
from .kernel_sums import KernelSums
from .layout import DesignError, Units
from .permuted_labels import Arrangements, LabelBatch, OfParts, arrangements

_LEAST_SHARE = 1e-8
_ROUNDED = 1e-9
"""What is rounding in sums of coefficients, relative to their sizes."""


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
    trace = kernels.forms.diagonal.sum(axis=1)
    traces = trace, np.full(len(trace), first * (1 - first / n))
    pairs, diagonal, rows = [], [], []
    for part in labelings.arrangements.parts(kernels.forms.batch):
        pairs.append(kernels.forms.under(part))
        diagonal.append(part.products(kernels.forms.diagonal, 0))
        if measure.of_uncentered:
            rows.append(part.products(kernels.means, 0))
    level = RemovedMeans(np.concatenate(rows, axis=1), kernels.mean) if rows else None
    sums = Sums(np.concatenate(pairs, axis=1), np.concatenate(diagonal, axis=1), *traces, level, labelings.rounding)
    values = measure(sums)
    return Null(values, measure.tolerance(values, sums), measure.name, labelings.scheme)


Differences = Callable[[IntArray, int, int], tuple[Array, Array]]
"""From the labels of units (units, b) and two samples g and h to what every unit counts, c of shape (units, b).

Σ_u c_u S_u is the difference of their kernel means: c is 1/A on g and -1/B on h where these are means of all rows, of
weights A and B. Σ_u c_u B_u is 0 for the masses B_u of units. The second array, (b,), is the weight of this pair among
those of several samples.
"""


def designed_null(labelings: Labelings, differences: Differences) -> Null:
    """Return MMD² of two samples from what units count, for every kernel."""
    values, magnitude = labelings.values(lambda labels: np.stack(_squared(labelings, *differences(labels, 0, 1))[:2]))
    return Null(values, ties(values, magnitude.max(axis=1)), named("MMD²", "v"), labelings.scheme)


def _squared(labelings: Labelings, coefficients: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Return |Σ_u c_u S_u|² and its magnitude for rounding errors, both (m, b), and the weight, also (m, b).

    Raises
    ------
    ValueError
        When the coefficients of a design do not add up to 0: kernel sums are known but for their means.
    """
    forms, masses = labelings.sums.forms, labelings.sums.masses
    size = np.abs(coefficients)
    if (np.abs(masses @ coefficients) > _ROUNDED * (masses @ size)).any():
        raise ValueError(
            "what the units of a design count must add up to 0 when multiplied by their masses, as in a difference of "
            "two means; correct its differences()"
        )
    values = forms.forms(coefficients)
    return values, np.abs(forms.diagonal) @ size, np.broadcast_to(weight, values.shape)


def within_strata(units: Units) -> Differences:
    """Return the mean difference within strata, in the proportions of Cochran, Mantel and Haenszel.

    The weight of a pair of samples is Σ_s A_s B_s, 0 where no stratum has rows of both.
    """
    masses, starts = units.masses[:, None], np.flatnonzero(np.diff(units.stratum, prepend=-1))
    together = np.ones((1, 1)) if units.together is None else units.together[starts, None]

    def differences(labels: IntArray, g: int, h: int) -> tuple[Array, Array]:
        one, other = (labels == g).astype(np.float64), (labels == h).astype(np.float64)
        first, second = (np.add.reduceat(masses * sample, starts, axis=0) for sample in (one, other))
        total, products = first + second, first * second
        inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0.0)
        share, weight = (products * inverse).sum(axis=0), (products / together).sum(axis=0)
        if not share.any():
            return np.zeros_like(one), weight
        if share.min() <= _LEAST_SHARE * masses.sum():
            raise DesignError(
                "nearly all the weight is on one sample, or would be after a permutation: weights differ by more "
                "than eight orders of magnitude; pass weights on one scale"
            )
        inverse /= share
        return one * (second * inverse)[units.stratum] - other * (first * inverse)[units.stratum], weight

    return differences


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


def several_designed_null(labelings: Labelings, differences: Differences, samples: int) -> Null:
    """Return the same from what units count, the pairs in proportion to their weights."""
    pairs = list(combinations(range(samples), 2))

    def both(labels: IntArray) -> Array:
        return np.stack([np.stack(_squared(labelings, *differences(labels, g, h))) for g, h in pairs])

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
    return Null(mean, slack @ shares.max(axis=1), named("weighted mean MMD² of all pairs", kind), scheme, parts)


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
