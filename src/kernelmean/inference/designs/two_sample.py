r"""Two samples with strata, clusters or weights: which rows take part, and the permutation distribution of MMD².

With weights ω, labels a, and A_s, B_s the weights of the two samples in stratum s, the difference of kernel means is
the average of the differences within strata, in the proportions :math:`c_s ∝ A_s B_s / (A_s + B_s)` of Cochran, Mantel
and Haenszel. A difference between strata is then no difference between samples:

.. math:: \mathrm{MMD}^2 = \Big| \sum_s c_s (μ_{X,s} - μ_{Y,s}) \Big|^2 , \qquad \sum_s c_s = 1 .

It is one quadratic form, in :math:`v_i = ω_i (a_i - \bar a_{s(i)})`. With one stratum and equal weights it is the usual
MMD².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from ...core.array import Array, BoolArray, IntArray, check_numpy
from ...core.words import listed
from ...kernels import Kernel
from ...plan.plan import serial_blas
from ..null import Null
from ..permutations import within_cells
from ..problem import KernelSide
from ..resampling_options import Resampling, Resources
from ..samples import in_fixed_order
from ..statistics import StatisticForm, named, ties
from .design import (
    Design,
    DesignError,
    Layout,
    check_codes,
    check_nested,
    check_sample_weights,
    codes,
    description,
    effective,
    taken_layout,
    weightless,
)
from .quadratic_forms import Forms, gram_forms

_LEAST_PAIRS = 1e-9
_LEAST_SHARE = 1e-8


@final
@dataclass(frozen=True)
class _Stratum:
    """One stratum: its Gram matrices, and the sums needed to leave out pairs within units."""

    rows: slice
    units: slice
    forms: Forms
    own: Array  # (m, units): Σ ω_i ω_j k_ij over the rows of every unit
    linear: Array  # (m, units): Σ ω_i r_i, r the weighted row means of K
    masses: Array  # (units,): Σ ω_i

    def unbiased_less_plain(self, form: Array, labels: Array) -> Array:
        """Return c_s² times (unbiased minus V-statistic) of the stratum; ``form`` is c_s² times the V-statistic."""
        sides = [self._sample(form, part) for part in (labels[self.units], 1.0 - labels[self.units])]
        (first, means, within), (second, other_means, other_within) = sides
        mean = self.linear.sum(axis=1)[:, None] / self.masses.sum()
        cross = means + other_means - mean - form / (first * second)
        share = first * second / self.masses.sum()
        return np.asarray(share**2 * (within + other_within - 2 * cross) - form)

    def _sample(self, form: Array, chosen: Array) -> tuple[Array, Array, Array]:
        """Return the weight (b,) of a sample, ⟨μ, mean of all⟩, and the mean of k over pairs of its units, (m, b)."""
        mass, squares = self.masses @ chosen, np.square(self.masses) @ chosen
        pairs = np.square(mass) - squares
        if pairs.min() <= _LEAST_PAIRS * (self.masses.mean()) ** 2:
            raise DesignError(
                "one row or cluster holds nearly all the weight of a sample: the unbiased statistic needs pairs; pass "
                "statistic='v'"
            )
        means, total = self.linear @ chosen / mass, self.masses.sum()
        mean = self.linear.sum(axis=1)[:, None] / total
        all_pairs = form + np.square(mass) * (2 * means - mean)
        return mass, means, (all_pairs - self.own @ chosen) / pairs

    @classmethod
    def of(cls, layout: Layout, rows: slice, forms: Forms) -> _Stratum:
        """Prepare a stratum for the unbiased statistic."""
        starts = layout.starts
        units = slice(int(np.searchsorted(starts, rows.start)), int(np.searchsorted(starts, rows.stop)))
        weights = layout.weights[rows]
        total = weights.sum()
        first = starts[units] - rows.start
        means = forms.times(weights[:, None])[:, :, 0] / total
        linear = np.add.reduceat(means * weights, first, axis=1)
        alone = bool((layout.sizes[units] == 1).all())
        own = forms.diagonal * weights**2 if alone else forms.within(weights, layout.sizes[units])
        return cls(rows, units, forms, own, linear, np.add.reduceat(weights, first))


@final
class StratifiedMMD:
    """MMD² as a function of the labels of the units."""

    def __init__(self, side: KernelSide, layout: Layout, kind: StatisticForm, resources: Resources) -> None:
        self.layout, self.kind = layout, kind
        self.forms = gram_forms(side, resources)
        several = len(layout.strata) > 1
        self.parts = [
            _Stratum.of(layout, rows, gram_forms(_rows(side, rows), resources) if several else self.forms)
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
            raise DesignError(
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
        """Return the magnitude for rounding errors, shape (m,)."""
        weights = self.layout.weights
        labels = np.repeat(self.layout.labels, self.layout.sizes)
        mean = self.forms.times(weights[:, None])[:, :, 0] / weights.sum()
        diagonal = self.forms.diagonal - 2 * mean + (mean @ weights / weights.sum())[:, None]
        masses = [weights[labels == label] for label in (0, 1)]
        spread = sum(np.square(mass).sum() / mass.sum() ** 2 for mass in masses)
        return np.asarray(np.abs(diagonal).sum(axis=1) * spread)


def _rows(side: KernelSide, rows: slice) -> KernelSide:
    return KernelSide(side.points[rows], side.kernels, side.shifts)


Pair = tuple[Any, Any]
Samples = tuple[Array, Array]


@final
@dataclass(frozen=True)
class TwoSampleDesign:
    """Two samples with strata, clusters or weights."""

    samples: tuple[Array, Array]
    """The rows that take part, in an order of the samples that does not depend on which came first."""
    layout: Layout
    """The layout of the rows of both samples together."""
    names: tuple[str, ...]
    """The names of the strata; one empty name without strata."""
    notes: tuple[str, ...]
    """Notes for the reader."""

    methods: ClassVar[tuple[str, str]] = (
        "Two-sample permutation test, maximum mean discrepancy",
        "Adaptive two-sample permutation test, maximum mean discrepancies",
    )
    plain_only: ClassVar[str | None] = "groups, clusters or weights"
    pool: ClassVar[str] = "the pooled sample"

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return MMD² of every kernel under the same permutations, on a table of the pooled rows."""
        (pooled,) = tables
        self._check_kind(statistic)
        layout, resources = self.layout, how.resources
        permutations = within_cells(layout.cells, how.n_resamples, how.rng, layout.labels, how.scheme)
        side = KernelSide(pooled[layout.order], tuple(kernels))
        with serial_blas:
            criterion = StratifiedMMD(side, layout, statistic, resources)
            batches = permutations.batches(criterion.forms.batch)
            values = np.concatenate([criterion(layout.labels[batch.T].astype(float)) for batch in batches], axis=1)
            slack = ties(values, criterion.magnitude())
        return Null(values, slack, named("MMD²", statistic), permutations.scheme)

    def _check_kind(self, statistic: StatisticForm) -> None:
        """Raise when the statistic does not work with the design."""
        if statistic not in ("u", "v"):
            raise ValueError(
                f"statistic {statistic!r} does not work with groups, clusters and weights; pass 'u' (unbiased) or 'v', "
                "and an estimator with equal weights, such as 'kme' or 'mkme'"
            )
        alone = self.alone
        if statistic == "v" or alone is None:
            return
        where = f" in stratum {alone}" if len(self.names) > 1 else ""
        raise DesignError(
            f"a sample has one row or cluster{where}: the unbiased statistic needs two in each sample; "
            "pass statistic='v'"
        )

    @property
    def alone(self) -> str | None:
        """The first stratum in which a sample has only one row or cluster, if there is one."""
        layout = self.layout
        stratum = layout.stratum[layout.starts]
        for label in (0, 1):
            few = np.bincount(stratum[layout.labels == label], minlength=len(self.names)) < 2
            if few.any():
                return self.names[int(np.argmax(few))]
        return None


def two_sample_design(samples: Samples, design: Design) -> TwoSampleDesign:
    """Return the design of two samples with strata, clusters or weights."""
    groups, clusters, weights = design.groups, design.clusters, design.weights
    check_numpy(samples[0], "groups, clusters and weights")
    sizes = (len(samples[0]), len(samples[1]))
    first = np.repeat([1, 0], sizes)
    strata, names = pooled_codes(groups, sizes, "groups")
    own, clusters_by_name = pooled_codes(clusters, sizes, "clusters")
    check_nested((own, clusters_by_name), (strata, names), first)
    every = np.ones(sum(sizes))
    if weights is not None:
        given = zip(_both(weights, "weights"), sizes, "XY", strict=True)
        every = np.concatenate([check_sample_weights(part, n, f"weights of {own}") for part, n, own in given])
    kept, names, notes = taking_part(every > 0.0, strata, first, names)
    positions = [np.flatnonzero(kept & (first == label)) for label in (1, 0)]
    pooled = np.concatenate(samples)
    taken = [pooled[rows] for rows in positions]
    ordered = in_fixed_order(taken[0], taken[1])
    rows = np.concatenate(positions if ordered[0] is taken[0] else positions[::-1])
    labels = np.repeat([1, 0], [len(sample) for sample in ordered])
    layout = taken_layout(rows, every, strata, own, labels)
    if weights is not None:
        notes = (
            *notes,
            "weights move with their rows: exact where (row, weight) pairs are exchangeable under the null",
            *effective(every[kept & (first == 1)], every[kept & (first == 0)]),
        )
    return TwoSampleDesign(ordered, layout, names, notes + description(layout, names, clusters is not None))


def taking_part(
    weighted: BoolArray, strata: IntArray | None, first: IntArray, names: tuple[str, ...]
) -> tuple[BoolArray, tuple[str, ...], tuple[str, ...]]:
    """Leave out rows without weight, and strata with rows of only one sample; return the strata left, and notes."""
    notes = weightless(weighted)
    if strata is None:
        return weighted, names, notes
    both = np.ones(len(names), dtype=bool)
    for label in (0, 1):
        both &= np.bincount(strata[weighted & (first == label)], minlength=len(names)) > 0
    if not both.any():
        raise DesignError("no stratum holds rows of both samples, so none can be compared; pass coarser groups")
    kept = weighted & both[strata]
    if not both.all():
        alone = listed(name for name, present in zip(names, both, strict=True) if not present)
        left, every = int(kept.sum()), int(weighted.sum())
        few, coarser = ("only ", "; pass coarser strata, such as ranges of a number") if 2 * left < every else ("", "")
        notes = (
            *notes,
            f"{few}{left:,} of {every:,} rows take part: the others are in strata of one sample only, {alone}{coarser}",
        )
    return kept, tuple(name for name, present in zip(names, both, strict=True) if present), notes


def pooled_codes(pair: Pair | None, sizes: tuple[int, int], name: str) -> tuple[IntArray | None, tuple[str, ...]]:
    """Return the labels of the pooled rows as whole numbers, and their names."""
    if pair is None:
        return None, ("",)
    parts = [
        check_codes(part, n, f"{name} of {own}") for part, n, own in zip(_both(pair, name), sizes, "XY", strict=True)
    ]
    kinds = {"text" if part.dtype.kind in "SU" else "numbers" for part in parts if part.dtype.kind != "O"}
    if len(kinds) > 1:
        raise TypeError(f"{name} are text for one sample and numbers for the other; use one type")
    return codes(np.concatenate(parts), name)


def _both(pair: Any, name: str) -> Pair:
    """Return the value for X and that for Y."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"{name} is {type(pair).__name__}; pass a pair, {name}=(those of X, those of Y)")
    return pair[0], pair[1]
