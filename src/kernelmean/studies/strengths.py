"""How strongly two columns depend on each other: unbiased HSIC, normalised by that of each column with itself.

Within strata, and of rows with weights, it is what the tests look at: the length of the covariance within strata.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..core.array import RngLike
from ..estimators import KME
from ..inference.designs.independence import PairDesign
from ..inference.explain import DependenceSize, PairSubject, effect_size
from ..inference.problem import KernelSide
from ..inference.products import Within, alignments
from ..inference.request import choose_kernel, representative_rows
from ..kernels import Gaussian, Kernel, TensorProduct
from ..plan.plan import DEFAULT
from ..tables.columns import Encoded

MOST_ROWS = 2000
"""At most so many rows of each table or group enter effect sizes and strengths, witnesses and contributions."""
_DRAWS = 199
"""The number of random draws behind an interval."""


class Strengths:
    """Unbiased, normalised HSIC of pairs of columns; what concerns one column is computed once for all pairs."""

    def __init__(self, encoded: Encoded, design: PairDesign | None = None) -> None:
        self._encoded, self._design = encoded, design

    def of(self, a: str, b: str) -> float:
        """Return HSIC(a, b) / √(HSIC(a, a) HSIC(b, b)), all three unbiased; 0 if a column varies too little."""
        return self.of_pairs([(a, b)])[0]

    def of_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the strengths of several pairs."""
        places = {name: place for place, name in enumerate(dict.fromkeys(name for pair in pairs for name in pair))}
        (points,), design = self._encoded.points(), self._design
        kernels = tuple(self._kernel(name, points.shape[1]) for name in places)
        within = Within.all(len(points)) if design is None else Within.of(design.layout)
        values = alignments(KernelSide(points if design is None else points[design.rows], kernels), within)
        return [float(values[places[a], places[b]]) for a, b in pairs]

    def interval(self, a: str, b: str, rng: RngLike) -> tuple[float, float] | None:
        """Return an approximate 95 % confidence interval for the strength of a pair; None if a column hardly varies.

        O(n²) time.
        """
        (points,) = self._encoded.points()
        first, second = (self._kernel(name, points.shape[1]) for name in sorted((a, b), key=self._encoded.names.index))
        subject = PairSubject((points, points), (first, second), DEFAULT)
        size = effect_size(subject, n_resamples=_DRAWS, rng=rng)
        assert isinstance(size, DependenceSize), "that is what pairs have"
        return size.alignment.low, size.alignment.high

    def _kernel(self, name: str, width: int) -> Kernel:
        """Return the kernel of a column on rows of all columns, which variances of noisy cells may follow."""
        places = self._encoded.groups[name]
        noisy = () if self._encoded.variances is None else tuple(width // 2 + j for j in places)
        return TensorProduct((gaussian_of(self._encoded, (name,)),), ((*places, *noisy),))


def gaussian_of(encoded: Encoded, columns: Iterable[str], name: str = "the table") -> Kernel:
    """Return the Gaussian kernel at the median distance of the rows of all tables, or its expectation for noisy cells.

    ``name`` is what errors call the rows.
    """
    points = np.concatenate(encoded.coordinates(columns))
    kernel = choose_kernel(points, KME(), representative_rows(points), name).kernel
    assert isinstance(kernel, Gaussian), "that is what was asked for"
    return encoded.kernel(kernel)
