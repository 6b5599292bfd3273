r"""Two samples with strata, clusters or weights, or in pairs: their means, and what these are under permutations.

The statistic of such a test is :math:`|\sum_i a_i φ(z_i)|^2` with what every row counts, a: positive in one sample and
negative in the other (:mod:`kernelmean.inference.units.samples`). The witness :math:`\sum_i a_i k(z_i, ·)` and what
every row adds to the statistic follow from a; a permutation of the units changes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...core.array import Array, slices
from ...core.points import Names
from ...embedding.embedding import Embedding, embed
from ...estimators import KME
from ...kernels import Kernel
from ...plan.plan import DEFAULT, Plan
from ..designs.paired import PairedDesign
from ..permutations import SignFlips
from ..questions import TwoSamples
from ..resampling import Resampling
from ..units.layout import Layout
from ..units.permuted_labels import Arrangements, OfParts, arrangements
from .subject import check_explained, kernel_for, reference_kernel

_CELLS, _BATCH = 2**22, 256


@final
@dataclass(frozen=True, eq=False)
class DesignedSubject:
    """Two samples with a design, and the kernel that compares them."""

    question: TwoSamples
    kernel: Kernel
    plan: Plan

    @classmethod
    def gaussian(cls, question: TwoSamples, X: Array, Y: Array) -> DesignedSubject:
        """Take other columns of the same rows, and the Gaussian kernel with the median distance."""
        design = PairedDesign.of((X, Y)) if isinstance(question.design, PairedDesign) else question.design
        other = replace(question, X=X, Y=Y, names=None, design=design)
        return cls(other, kernel_for(other.tables[0], KME(), "the pooled sample"), DEFAULT)

    @property
    def pooled(self) -> Array:
        """Return the rows that take part."""
        return self.question.tables[0]

    @property
    def names(self) -> Names:
        """Return the names of the columns."""
        return self.question.names

    @property
    def means(self) -> tuple[Embedding, Embedding]:
        """Return the means of both samples that the test compares; rows that take no part have weight 0."""
        counted = np.split(self.question.counted, [len(self.question.X)])
        samples = zip((self.question.X, self.question.Y), counted, (1.0, -1.0), strict=True)
        first, second = (
            replace(embed(rows, self.kernel, weights=sign * weights, plan=self.plan), names=self.names)
            for rows, weights, sign in samples
        )
        return first, second

    def under_permutations(self, places: Array, how: Resampling) -> Array:
        """Return the difference of the means at places under permutations of the design, shape (p, P), observed first.

        O(p n) time for the sums of units, O(p units P) for the rest; of many units, bins of them are permuted.
        """
        question, pooled = self.question, self.pooled
        sign = 1.0 if question.places[0] < len(question.X) else -1.0  # pooled rows are in an order of their own
        if isinstance(question.design, PairedDesign):
            n = len(question.X)
            paired = Layout.of(np.zeros(n, dtype=np.intp), np.ones(n))
            first, second = (self._sums(places, rows, paired) for rows in np.split(pooled, 2))
            flips = SignFlips.choose(n, how.n_resamples, how.rng, how.scheme)
            return np.concatenate([(first - second) @ signs * (sign / n) for signs in flips.batches(_BATCH)], axis=1)
        layout = question.layout.in_bins(how.rng)
        sums = self._sums(places, pooled, layout.in_parts)
        return np.concatenate([sign * sums @ counts for counts in _coefficients(question.design, layout, how)], axis=1)

    def _sums(self, places: Array, rows: Array, layout: Layout) -> Array:
        """Return the kernel sums of units of rows at places, shape (p, units)."""
        ordered = rows[layout.order]
        tiles = (
            self.kernel(places[some], ordered) * layout.weights
            for some in slices(len(places), max(1, _CELLS // len(ordered)))
        )
        return np.concatenate([np.add.reduceat(tile, layout.starts, axis=1) for tile in tiles])


def designed_of(result: Any, plan: Plan) -> DesignedSubject | None:
    """Return the samples of a test with a design, and the kernel that explains it; None for other tests."""
    question = check_explained(result.question)
    if not isinstance(question, TwoSamples) or question.design is None:
        return None
    kernel = reference_kernel(question.tables[0]) if result.members else result.kernel
    return DesignedSubject(question, kernel, plan)


def _coefficients(design: Any, layout: Layout, how: Resampling) -> Iterator[Array]:
    """Yield what the parts of units count under permutations of their labels, shape (parts, b), the observed first."""
    units = layout.units
    listed: Arrangements = arrangements(units.cells, units.labels, how.n_resamples, how.rng, how.scheme)
    every = listed if units.patterns is None else OfParts(listed, units.patterns)
    differences = design.differences(units)
    for part in every.parts(_BATCH):
        for some in slices(len(part.labels), _BATCH):
            yield differences(part.labels[some].T, 0, 1)[0]
