"""How strongly two columns depend on each other: unbiased HSIC over that of either column with itself."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..core.array import Array
from ..estimators import KME
from ..inference import Pairs, Resampling
from ..inference.kernel_choice import choose_kernel, representative_rows
from ..kernels import Gaussian, Kernel
from ..tables.columns import Encoded


class Strengths:
    """Unbiased, normalised HSIC of pairs of columns; what belongs to one column is found once."""

    def __init__(self, encoded: Encoded) -> None:
        self._encoded = encoded
        self._known: dict[str, tuple[Array, Kernel, float]] = {}

    def of(self, a: str, b: str) -> float:
        """Return HSIC(a, b) / √(HSIC(a, a) HSIC(b, b)), all three unbiased; 0 where a column varies too little."""
        first, second = sorted((a, b), key=self._encoded.names.index)
        (x, k, xx), (y, h, yy) = self._column(first), self._column(second)
        scale = float(np.sqrt(max(xx, 0.0) * max(yy, 0.0)))
        return min(_unbiased_hsic(x, y, k, h) / scale, 1.0) if scale > 0.0 else 0.0

    def _column(self, name: str) -> tuple[Array, Kernel, float]:
        if name not in self._known:
            (x,) = self._encoded.points((name,))
            kernel = gaussian_of(self._encoded, (name,))
            self._known[name] = x, kernel, _unbiased_hsic(x, x, kernel, kernel)
        return self._known[name]


def gaussian_of(encoded: Encoded, columns: Iterable[str]) -> Kernel:
    """Return the Gaussian kernel at the median distance of some columns, or its expectation where cells are noisy."""
    (points,) = encoded.coordinates(columns)
    found = choose_kernel(points, KME(), representative_rows(points), "the table").kernel
    assert isinstance(found, Gaussian), "that is what was asked for"
    return encoded.kernel(found)


def _unbiased_hsic(X: Array, Y: Array, kernel: Kernel, other: Kernel) -> float:
    """Return the observed statistic only, by the scheme that suits the size."""
    return float(Pairs(X, Y).null([(kernel, other)], "u", Resampling.of(n_resamples=1, rng=0)).values[0, 0])
