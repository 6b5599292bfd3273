"""What must be known before a pass: the kernel and the features, from a few rows that the test then leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .._array import Array
from .._validate import check_integer
from ..estimators.options import KernelLike, make_kernel
from ..features import Fourier, fourier
from ..inference.kernel_choice import base_kernel
from ..kernels.base import Kernel
from ..kernels.compose import TensorProduct


@final
@dataclass(frozen=True)
class Recipe:
    """How features come about.

    Parameters
    ----------
    kernel : str, class or Kernel
    bandwidth : float, array of shape (d,), or str
    n_frequencies : int
    design : {"plain", "orthogonal", "quasi"}
    dtype : {"float64", "float32"}
    seed : int
    """

    kernel: KernelLike
    bandwidth: Any
    n_frequencies: int
    design: Any
    dtype: Any
    seed: int

    def __post_init__(self) -> None:
        check_integer(self.n_frequencies, "n_frequencies", 1)
        check_integer(self.seed, "seed", 0)

    @property
    def looks(self) -> bool:
        """Whether a rule looks at rows to find the bandwidth."""
        return not isinstance(self.kernel, Kernel) and isinstance(self.bandwidth, str)

    def chosen(self, rows: Array, name: str) -> tuple[Kernel, tuple[str, ...]]:
        """Return the kernel for rows like these, and what to tell the reader; without a rule no row is looked at."""
        if not self.looks:
            return make_kernel(self.kernel, self.bandwidth, rows), ()
        found = base_kernel(rows, self.kernel, self.bandwidth, np.arange(len(rows)), name)
        return found.kernel, found.notes

    def features(self, rows: Array) -> tuple[Fourier, tuple[str, ...]]:
        """Return features made for rows like these, and what to tell the reader."""
        kernel, notes = self.chosen(rows, "the first rows")
        return self._made(kernel, rows), notes

    def product(self, other: Recipe, X: Array, Y: Array) -> tuple[Fourier, tuple[str, ...]]:
        """Return features of the product of this kernel on X and another one on Y."""
        (k, notes), (second, more) = self.chosen(X, "the first rows of X"), other.chosen(Y, "the first rows of Y")
        split, dim = X.shape[1], X.shape[1] + Y.shape[1]
        kernel = TensorProduct((k, second), (range(split), range(split, dim)))
        return self._made(kernel, np.hstack([X, Y])), notes + more

    def _made(self, kernel: Kernel, rows: Array) -> Fourier:
        """Return features with an origin amid the rows."""
        dim, origin = rows.shape[1], np.median(rows, axis=0)
        rng = np.random.default_rng([self.seed, dim])
        return fourier(kernel, dim, self.n_frequencies, design=self.design, origin=origin, dtype=self.dtype, rng=rng)


def pilot_rows(lengths: Sequence[int | None], pilot: int) -> list[int]:
    """Return how many first rows of every sample a rule looks at: ``pilot`` each where lengths are unknown.

    Where they are known so many on average, a tenth of all rows at most, and the same share of every sample, so that
    leaving them out of files that are sorted leaves samples that are cut alike.
    """
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return [pilot] * len(lengths)
    share = min(pilot * len(known) / max(sum(known), 1), 0.1)
    return [max(1, round(share * length)) for length in known]
