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
from .quadratic_forms import gram_forms

_LEAST_SHARE = 1e-8


@final
class StratifiedMMD:
    """MMD² as a function of the labels of the units."""

    def __init__(self, side: KernelSide, layout: Layout, resources: Resources) -> None:
        self.layout, self.forms = layout, gram_forms(side, resources)
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
        return np.asarray(self.forms.forms(vectors) / share**2)

    def magnitude(self) -> Array:
        """Return the magnitude for rounding errors, shape (m,)."""
        weights = self.layout.weights
        labels = np.repeat(self.layout.labels, self.layout.sizes)
        mean = self.forms.times(weights[:, None])[:, :, 0] / weights.sum()
        diagonal = self.forms.diagonal - 2 * mean + (mean @ weights / weights.sum())[:, None]
        masses = [weights[labels == label] for label in (0, 1)]
        spread = sum(np.square(mass).sum() / mass.sum() ** 2 for mass in masses)
        return np.asarray(np.abs(diagonal).sum(axis=1) * spread)


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
    plain_only: ClassVar[str | None] = "strata, clusters or weights"
    pool: ClassVar[str] = "the pooled sample"

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return MMD² of every kernel under the same permutations, on a table of the pooled rows."""
        (pooled,) = tables
        if statistic != "v":
            raise ValueError(
                "with strata, clusters or weights MMD² is a V-statistic of equally estimated means; leave statistic= "
                "out, and pass an estimator with equal weights, such as 'kme' or 'mkme'"
            )
        layout, resources = self.layout, how.resources
        permutations = within_cells(layout.cells, how.n_resamples, how.rng, layout.labels, how.scheme)
        side = KernelSide(pooled[layout.order], tuple(kernels))
        with serial_blas:
            criterion = StratifiedMMD(side, layout, resources)
            batches = permutations.batches(criterion.forms.batch)
            values = np.concatenate([criterion(layout.labels[batch.T].astype(float)) for batch in batches], axis=1)
            slack = ties(values, criterion.magnitude())
        return Null(values, slack, named("MMD²", "v"), permutations.scheme)


def two_sample_design(samples: Samples, design: Design) -> TwoSampleDesign:
    """Return the design of two samples with strata, clusters or weights."""
    clusters, weights = design.clusters, design.weights
    check_numpy(samples[0], "strata, clusters and weights")
    sizes = (len(samples[0]), len(samples[1]))
    first = np.repeat([1, 0], sizes)
    strata, names = pooled_codes(design.strata, sizes, "strata")
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
        raise DesignError("no stratum holds rows of both samples, so none can be compared; pass coarser strata")
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
