"""Samples with strata, clusters or weights: which rows take part, and which of them may change places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array, BoolArray, IntArray
from ...core.labels import check_codes, codes
from ...core.words import listed
from ..units.layout import DesignError, Layout, Units
from ..units.samples import Differences, within_strata
from .labelled import LabelDesign
from .labels import (
    check_nested,
    check_sample_weights,
    description,
    effective,
    taken_layout,
    weightless,
)


@final
@dataclass(frozen=True, eq=False)
class SampleDesign(LabelDesign):
    """Two or more samples with strata, clusters or weights."""

    sizes: tuple[int, ...]
    rows: tuple[IntArray, ...]
    codes: tuple[IntArray | None, IntArray | None, Array]
    """The strata, the clusters and the weights of all rows."""
    notes: tuple[str, ...]
    equal_sizes: bool = False
    """Whether clusters change places only with clusters of the same size."""

    plain_only: ClassVar[str | None] = "strata, clusters or weights"

    @classmethod
    def of(cls, sizes: Sequence[int], strata: Any, clusters: Any, weights: Any, *, equal_sizes: bool = False) -> Self:
        """Check labels and weights of samples with so many rows, a tuple with those of each, or None."""
        sample = np.repeat(np.arange(len(sizes)), sizes)
        of_strata, names = pooled_codes(strata, sizes, "strata")
        of_clusters, clusters_by_name = pooled_codes(clusters, sizes, "clusters")
        check_nested((of_clusters, clusters_by_name), (of_strata, names), sample if len(sizes) == 2 else None)
        every = np.ones(sum(sizes))
        if weights is not None:
            parts = zip(_each(weights, sizes, "weights"), sizes, sample_names(len(sizes)), strict=True)
            every = np.concatenate([check_sample_weights(part, n, f"weights of {name}") for part, n, name in parts])
        kept, names, notes = taking_part(every > 0.0, of_strata, sample, names)
        rows = tuple(np.flatnonzero(kept & (sample == label)) for label in range(len(sizes)))
        alone = [name for numbers, name in zip(rows, sample_names(len(sizes)), strict=True) if not len(numbers)]
        if alone:
            notes = (*notes, f"not compared, as no stratum holds rows of another sample too: {listed(alone)}")
        if weights is not None:
            notes = (
                *notes,
                "weights move with their rows: exact where (row, weight) pairs are exchangeable under the null",
                *effective(*(every[numbers] for numbers in rows if len(numbers))),
            )
        design = cls(tuple(sizes), rows, (of_strata, of_clusters, every), notes, equal_sizes)
        layout = design.layout(range(len(sizes)))
        alike = equal_sizes or bool(layout.patterns)
        return replace(design, notes=notes + description(layout, names, of_clusters is not None, equal_sizes=alike))

    def drawn(self, most: int, rng: np.random.Generator) -> tuple[SampleDesign, list[IntArray]]:
        """Draw at most so many rows of each sample, whole clusters; return their design and their numbers.

        Raises
        ------
        DesignError
            When none of these rows can change places.
        """
        clusters = np.arange(sum(self.sizes)) if self.codes[1] is None else self.codes[1]
        kept = [_drawn_whole(rows, clusters[rows], most, rng) for rows in self.rows]
        parts = [None if part is None else tuple(part[rows] for rows in kept) for part in self.codes]
        sizes, starts = tuple(map(len, kept)), np.cumsum([0, *self.sizes])
        design = SampleDesign.of(sizes, *parts, equal_sizes=self.equal_sizes)
        return design, [rows - start for rows, start in zip(kept, starts, strict=False)]

    def layout(self, order: Sequence[int]) -> Layout:
        """Return the layout of the rows that take part, for the samples in an order, which numbers their labels."""
        strata, clusters, weights = self.codes
        rows = [self.rows[sample] for sample in order]
        labels = np.repeat(np.arange(len(rows)), [*map(len, rows)])
        layout = taken_layout(np.concatenate(rows), weights, strata, clusters, labels, equal_sizes=self.equal_sizes)
        return replace(layout, joins=True)

    def differences(self, units: Units) -> Differences:
        """Return what every unit counts: its share of the mean difference within strata."""
        return within_strata(units)

    @property
    def typical_sizes(self) -> tuple[float, ...]:
        """Return the rows of the samples; of clusters, which may change places with larger ones, on average."""
        if self.codes[1] is None:
            return self.sizes
        layout = self.layout(range(len(self.sizes)))
        if layout.patterns:  # which change places among clusters of one size
            return self.sizes
        labels = layout.labels
        return tuple((sum(self.sizes) * np.bincount(labels) / len(labels)).tolist())

    @property
    def in_outline(self) -> Self:
        """Return the same without its rows, for the result of a test that did not hold them."""
        none = np.arange(0)
        return replace(self, rows=(none,) * len(self.rows), codes=(None, None, none.astype(float)))


def _drawn_whole(rows: IntArray, clusters: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """Return at most so many rows in order, of clusters that are drawn at random."""
    names, numbers, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    order = rng.permutation(len(names))
    taken = order[np.cumsum(sizes[order]) <= most]
    return rows[np.isin(numbers, taken)]


def sample_names(many: int) -> list[str]:
    """Return what to call samples in errors."""
    return ["X", "Y"] if many == 2 else [f"sample {k + 1}" for k in range(many)]


def taking_part(
    weighted: BoolArray, strata: IntArray | None, sample: IntArray, names: tuple[str, ...]
) -> tuple[BoolArray, tuple[str, ...], tuple[str, ...]]:
    """Leave out rows without weight, and strata with rows of only one sample; return the strata left, and notes."""
    notes = weightless(weighted)
    if strata is None:
        return weighted, names, notes
    samples = range(int(sample.max()) + 1)
    present = [np.bincount(strata[weighted & (sample == label)], minlength=len(names)) > 0 for label in samples]
    several = np.sum(present, axis=0) > 1
    if not several.any():
        rows = "rows of both samples" if len(present) == 2 else "rows of several samples"
        raise DesignError(f"no stratum holds {rows}, so none can be compared; pass coarser strata")
    kept = weighted & several[strata]
    if not several.all():
        alone = listed(name for name, shared in zip(names, several, strict=True) if not shared)
        left, every = int(kept.sum()), int(weighted.sum())
        few, coarser = ("only ", "; pass coarser strata, such as ranges of a number") if 2 * left < every else ("", "")
        notes = (
            *notes,
            f"{few}{left:,} of {every:,} rows take part: the others are in strata of one sample only, {alone}{coarser}",
        )
    return kept, tuple(name for name, shared in zip(names, several, strict=True) if shared), notes


def pooled_codes(parts: Any, sizes: Sequence[int], name: str) -> tuple[IntArray | None, tuple[str, ...]]:
    """Return the labels of the rows of all samples as whole numbers, and their names."""
    if parts is None:
        return None, ("",)
    samples = zip(_each(parts, sizes, name), sizes, sample_names(len(sizes)), strict=True)
    columns = [check_codes(part, n, f"{name} of {sample}") for part, n, sample in samples]
    kinds = {"text" if part.dtype.kind in "SU" else "numbers" for part in columns if part.dtype.kind != "O"}
    if len(kinds) > 1:
        raise TypeError(f"{name} are text for one sample and numbers for the other; use one type")
    return codes(np.concatenate(columns), name)


def _each(parts: Any, sizes: Sequence[int], name: str) -> Sequence[Any]:
    """Return the value for every sample."""
    if not isinstance(parts, tuple | list) or len(parts) != len(sizes):
        some = "(those of X, those of Y)" if len(sizes) == 2 else "(those of the first sample, …)"
        pair = "a pair" if len(sizes) == 2 else f"a tuple of {len(sizes)}"
        raise TypeError(f"{name} is {type(parts).__name__}; pass {pair}, {name}={some}")
    return parts
