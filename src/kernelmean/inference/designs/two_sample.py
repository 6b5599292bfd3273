"""Two samples with strata, clusters or weights: which rows take part, and which of them may change places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from ...core.array import Array, BoolArray, IntArray, check_numpy
from ...core.words import listed
from ..null import Null
from ..resampling_options import Resampling
from ..samples import in_fixed_order
from ..units.layout import DesignError, Layout
from ..units.samples import Summing, stratified_null
from .design import (
    Design,
    check_codes,
    check_nested,
    check_sample_weights,
    codes,
    description,
    effective,
    taken_layout,
    weightless,
)

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

    def null(self, summed: Summing, statistic: Any, how: Resampling) -> Null:
        """Return MMD² of every kernel under the same permutations, from sums over units of the pooled rows."""
        if statistic != "v":
            raise ValueError(
                "with strata, clusters or weights MMD² is a V-statistic of equally estimated means; leave statistic= "
                "out, and pass an estimator with equal weights, such as 'kme' or 'mkme'"
            )
        return stratified_null(summed, self.layout, how)


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
    layout = taken_layout(rows, every, strata, own, labels, equal_sizes=design.equal_sizes)
    if weights is not None:
        notes = (
            *notes,
            "weights move with their rows: exact where (row, weight) pairs are exchangeable under the null",
            *effective(every[kept & (first == 1)], every[kept & (first == 0)]),
        )
    return TwoSampleDesign(
        ordered, layout, names, notes + description(layout, names, clusters is not None, equal_sizes=design.equal_sizes)
    )


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
