"""The kernel of a test: found from the pooled sample, so that no relabeling changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone

from .._array import Array, IntArray
from ..estimators import KME, MKME, MMKME, KernelMean
from ..estimators.options import KernelLike, make_kernel
from ..expected import difference, smoothed
from ..kernels import Kernel
from ..kernels.bandwidth import median_bandwidth
from ..noise import Dirac, Noise

MEDIAN_ROWS = 1000

KernelOf = Callable[[Array, Kernel], tuple[Kernel, Noise]]
"""From points (n, d) and a kernel to the kernel that the test uses and the noise in it.

Must be a symmetric function of the rows: for two samples it sees the pooled rows and never who came from where.
"""


ESTIMATORS: dict[str, Callable[[], KernelMean]] = {"kme": KME, "mkme": MKME, "mmkme": MMKME}
"""The estimators whose test statistic is MMD or HSIC with another kernel: equal weights, and a noise or none."""


@final
@dataclass(frozen=True)
class Chosen:
    """A kernel, the noise in it, and what to tell the reader."""

    kernel: Kernel
    noise: Noise
    notes: tuple[str, ...] = ()


def choose_kernel(
    points: Array, kernel: KernelLike, bandwidth: Any, estimator: str | KernelMean | KernelOf, rows: IntArray, name: str
) -> Chosen:
    """Return the kernel for the points; the median heuristic looks at the given rows only."""
    if isinstance(estimator, KernelMean):
        kernel, bandwidth = estimator.kernel, estimator.bandwidth
    if isinstance(kernel, Kernel) or not _is_median(bandwidth):
        notes: tuple[str, ...] = ()
    else:
        bandwidth, notes = _median(points, bandwidth == "median", rows, name)
    made = make_kernel(kernel, bandwidth, points)
    if not isinstance(estimator, str | KernelMean):
        return Chosen(*estimator(points, made), notes)
    noise = _fitted_noise(_estimator(estimator), made, points[rows])
    if len(rows) < len(points) and not isinstance(noise, Dirac):
        notes = (*notes, f"noise of {name}: fitted to {len(rows)} of {len(points)} rows")
    return Chosen(smoothed(made, difference(noise, noise), points.shape[1]), noise, notes)


def _estimator(estimator: str | KernelMean) -> KernelMean:
    """Return the estimator of that name, or the one given; its weights must be equal and its points the data."""
    if isinstance(estimator, str):
        if estimator not in ESTIMATORS:
            known = ", ".join(map(repr, ESTIMATORS))
            raise ValueError(
                f"estimator is {estimator!r}; pass one of {known}, a KernelMean without filter and contraction, "
                "or a function (points, kernel) to both"
            )
        return ESTIMATORS[estimator]()
    if estimator.filter is not None or estimator.contraction is not None:
        raise ValueError(
            f"{estimator!r} has a filter or a contraction; a test takes a KernelMean without them, whose noise makes "
            "another kernel of the kernel"
        )
    return estimator


def _fitted_noise(estimator: KernelMean, kernel: Kernel, points: Array) -> Noise:
    """Return the noise that the estimator chooses for the points: a symmetric function of the rows."""
    if estimator.noise is None or (points == points[0]).all():
        return Dirac()
    fitted: KernelMean = clone(estimator).set_params(kernel=kernel).fit(points)
    return fitted.noise_


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
