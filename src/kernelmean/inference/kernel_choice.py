"""The kernel of a test: found from the pooled sample, so that no relabeling changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from .._array import Array, IntArray
from ..estimators.options import KernelLike, make_kernel
from ..kernels import Kernel
from ..kernels.bandwidth import median_bandwidth
from ..noise import Dirac, Noise

MEDIAN_ROWS = 1000

KernelOf = Callable[[Array, Kernel], tuple[Kernel, Noise]]
"""From points (n, d) and a kernel to the kernel that the test uses and the noise in it.

Must be a symmetric function of the rows: for two samples it sees the pooled rows and never who came from where.
"""


def plain(points: Array, kernel: Kernel) -> tuple[Kernel, Noise]:
    """Return the kernel itself: the empirical embedding."""
    del points
    return kernel, Dirac()


ESTIMATORS: dict[str, KernelOf] = {"kme": plain}


@final
@dataclass(frozen=True)
class Chosen:
    """A kernel, the noise in it, and what to tell the reader."""

    kernel: Kernel
    noise: Noise
    notes: tuple[str, ...] = ()


def choose_kernel(
    points: Array, kernel: KernelLike, bandwidth: Any, estimator: str | KernelOf, rows: IntArray, name: str
) -> Chosen:
    """Return the kernel for the points; the median heuristic looks at the given rows only."""
    kernel_of = ESTIMATORS.get(estimator) if isinstance(estimator, str) else estimator
    if kernel_of is None:
        known = ", ".join(map(repr, ESTIMATORS))
        raise ValueError(f"estimator is {estimator!r}; pass one of {known}, or a function (points, kernel) to both")
    if isinstance(kernel, Kernel) or not _is_median(bandwidth):
        notes: tuple[str, ...] = ()
    else:
        bandwidth, notes = _median(points, bandwidth == "median", rows, name)
    return Chosen(*kernel_of(points, make_kernel(kernel, bandwidth, points)), notes)


def median_rows(n: int, rng: np.random.Generator) -> IntArray:
    """Return the rows of which the median distance is taken: all, or 1000 that the seed draws."""
    return np.arange(n) if n <= MEDIAN_ROWS else rng.choice(n, MEDIAN_ROWS, replace=False)


def _is_median(bandwidth: Any) -> bool:
    return isinstance(bandwidth, str) and bandwidth in ("median", "median-unsquared")


def _median(points: Array, squared: bool, rows: IntArray, name: str) -> tuple[float, tuple[str, ...]]:
    """Return the median heuristic, and how it was found; any number where the points are constant."""
    if (points == points[0]).all():
        return 1.0, (f"{name} is constant: every bandwidth gives the same Gram matrix",)
    some, words = points[rows], "" if len(rows) == len(points) else f", over {len(rows)} of {len(points)} rows"
    if (some == some[0]).all():
        some, words = np.unique(points, axis=0)[:MEDIAN_ROWS], ", over distinct rows"
    bandwidth = median_bandwidth(some, squared=squared)
    return float(bandwidth), (f"bandwidth of {name}: {bandwidth.rule}{words}",)
