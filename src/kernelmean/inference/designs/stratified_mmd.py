r"""MMD² of two samples with weights, in strata, of clusters.

With weights ω and labels a, and A_s, B_s the weight of either sample in stratum s, the difference of kernel means is
the average of those within strata, in the proportions :math:`c_s ∝ A_s B_s / (A_s + B_s)` of Cochran, Mantel and
Haenszel, so that a difference between strata is none between samples:

.. math:: \mathrm{MMD}^2 = \Big| \sum_s c_s (μ_{X,s} - μ_{Y,s}) \Big|^2 , \qquad \sum_s c_s = 1 .

It is one quadratic form, of :math:`v_i = ω_i (a_i - \bar a_{s(i)})`. With one stratum and equal weights it is MMD²
as it always is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray, slices
from ..problem import KernelSide
from ..resampling_options import Resources
from ..statistics import StatisticForm
from .layout import Layout
from .quadratic_forms import Forms, gram_forms

_LEAST_PAIRS = 1e-9
_LEAST_SHARE = 1e-8
_BLOCK = 2048


@final
@dataclass(frozen=True)
class _Stratum:
    """One stratum: its Gram matrices, and what leaving out the pairs within units needs."""

    rows: slice
    units: slice
    forms: Forms
    own: Array  # (m, units): Σ ω_i ω_j k_ij over the rows of every unit
    linear: Array  # (m, units): Σ ω_i r_i, r the weighted row means of K
    masses: Array  # (units,): Σ ω_i

    def unbiased_less_plain(self, form: Array, labels: Array) -> Array:
        """Return c_s² times the unbiased less the V-statistic of the stratum, of which ``form`` is c_s² times that."""
        sides = [self._sample(form, part) for part in (labels[self.units], 1.0 - labels[self.units])]
        (first, means, within), (second, other_means, other_within) = sides
        mean = self.linear.sum(axis=1)[:, None] / self.masses.sum()
        cross = means + other_means - mean - form / (first * second)
        share = first * second / self.masses.sum()
        return np.asarray(share**2 * (within + other_within - 2 * cross) - form)

    def _sample(self, form: Array, chosen: Array) -> tuple[Array, Array, Array]:
        """Return of a sample its weight (b,), ⟨μ, mean of all⟩, and the mean of k over pairs of its units, (m, b)."""
        mass, squares = self.masses @ chosen, np.square(self.masses) @ chosen
        pairs = np.square(mass) - squares
        if pairs.min() <= _LEAST_PAIRS * (self.masses.mean()) ** 2:
            raise ValueError(
                "one row or cluster holds nearly all the weight of a sample: the unbiased statistic needs pairs; pass "
                "statistic='v'"
            )
        means, total = self.linear @ chosen / mass, self.masses.sum()
        mean = self.linear.sum(axis=1)[:, None] / total
        all_pairs = form + np.square(mass) * (2 * means - mean)
        return mass, means, (all_pairs - self.own @ chosen) / pairs

    @classmethod
    def of(cls, side: KernelSide, layout: Layout, rows: slice, forms: Forms) -> _Stratum:
        """Prepare a stratum for the unbiased statistic."""
        starts = layout.starts
        units = slice(int(np.searchsorted(starts, rows.start)), int(np.searchsorted(starts, rows.stop)))
        weights = layout.weights[rows]
        total = weights.sum()
        first = starts[units] - rows.start
        means = forms.times(weights[:, None])[:, :, 0] / total
        linear = np.add.reduceat(means * weights, first, axis=1)
        alone = bool((layout.sizes[units] == 1).all())
        own = forms.diagonal * weights**2 if alone else _within_units(_rows(side, rows), weights, layout.sizes[units])
        return cls(rows, units, forms, own, linear, np.add.reduceat(weights, first))


@final
class StratifiedMMD:
    """MMD² as a function of the labels of the units."""

    def __init__(self, side: KernelSide, layout: Layout, kind: StatisticForm, resources: Resources) -> None:
        self.layout, self.kind = layout, kind
        self.forms = gram_forms(side, resources)
        several = len(layout.strata) > 1
        self.parts = [
            _Stratum.of(side, layout, rows, gram_forms(_rows(side, rows), resources) if several else self.forms)
            for rows in (layout.strata if kind == "u" else [])
        ]
        self.starts = np.array([rows.start for rows in layout.strata])

    def __call__(self, labels: Array) -> Array:
        """Return the statistic, shape (m, b), of labels (units, b)."""
        layout, weights = self.layout, self.layout.weights[:, None]
        weighted = weights * np.repeat(labels, layout.sizes, axis=0)
        first = np.add.reduceat(weighted, self.starts, axis=0)
        total = np.add.reduceat(weights, self.starts, axis=0)
        vectors = weighted - weights * (first / total)[layout.stratum]
        share = (first * (total - first) / total).sum(axis=0)
        if share.min() <= _LEAST_SHARE * total.sum():
            raise ValueError(
                "nearly all the weight is on one sample, or would be after a permutation: weights differ by more "
                "than eight orders of magnitude; pass weights on one scale"
            )
        value = self.forms.forms(vectors)
        corrections = [
            part.unbiased_less_plain(value if len(self.parts) == 1 else part.forms.forms(vectors[part.rows]), labels)
            for part in self.parts
        ]
        return np.asarray((value + sum(corrections)) / share**2)

    def magnitude(self) -> Array:
        """Return a size that rounding errors are relative to, shape (m,)."""
        weights = self.layout.weights
        labels = self.layout.row_labels
        mean = self.forms.times(weights[:, None])[:, :, 0] / weights.sum()
        diagonal = self.forms.diagonal - 2 * mean + (mean @ weights / weights.sum())[:, None]
        masses = [weights[labels == label] for label in (0, 1)]
        spread = sum(np.square(mass).sum() / mass.sum() ** 2 for mass in masses)
        return np.asarray(np.abs(diagonal).sum(axis=1) * spread)


def _rows(side: KernelSide, rows: slice) -> KernelSide:
    return KernelSide(side.points[rows], side.kernels, side.shifts)


def _within_units(side: KernelSide, weights: Array, sizes: IntArray) -> Array:
    """Return Σ ω_i ω_j k_ij over the rows of every unit, shape (m, units)."""
    tiles, ends = side.tiles(), np.cumsum(sizes)
    found: Array = np.zeros((side.count, len(sizes)))
    for unit, (stop, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True)):
        for part in slices(size, _BLOCK):
            i = slice(stop - size + part.start, stop - size + part.stop)
            j = slice(stop - size, stop)
            blocks = zip(tiles(i, j), side.shifts, strict=True)
            found[:, unit] += [weights[i] @ (gram - shift) @ weights[j] for gram, shift in blocks]
    return found
