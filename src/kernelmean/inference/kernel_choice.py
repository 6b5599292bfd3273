"""The kernel of a test: found from the pooled sample, so that no permutation changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.base import clone

from ..core.array import Array, IntArray
from ..estimators import NAMED, KernelMean
from ..estimators.options import KernelLike, make_kernel
from ..expected import difference, smoothed
from ..kernels import Kernel
from ..kernels.bandwidth import bandwidth_from, median_bandwidth
from ..noise import Dirac, Noise

MEDIAN_ROWS = 1000
_MEDIANS = "median", "median-unsquared"

KernelOf = Callable[[Array, Kernel], tuple[Kernel, Noise]]
"""From points (n, d) and a kernel to the kernel that the test uses and the noise in it.

Must be a symmetric function of the rows: for two samples it sees the pooled rows and never who came from where.
"""


ESTIMATORS = {name: NAMED[name] for name in ("kme", "mkme", "mmkme")}
"""The estimators whose test statistic is MMD or HSIC with another kernel: equal weights, and a noise or none."""

MMD_ESTIMATORS = dict(NAMED)
"""The estimators of the two-sample test by name, besides the adaptive ones."""

HSIC_ESTIMATORS = {
    **ESTIMATORS,
    **{name: NAMED[name] for name in ("s-kmse", "f-kmse")},
    "scose": NAMED["s-kmse"],
    "fcose": NAMED["f-kmse"],
}
"""The estimators of the independence test by name, besides the adaptive ones."""


@final
@dataclass(frozen=True)
class Chosen:
    """A kernel, the noise in it, what to tell the reader, and the estimator with what was found of all rows."""

    kernel: Kernel
    noise: Noise | tuple[Noise, Noise]
    notes: tuple[str, ...] = ()
    estimator: KernelMean | None = None


def unknown_estimator(estimator: Any, known: Iterable[str]) -> ValueError:
    """Return what to raise for a name that none of the known estimators has."""
    return ValueError(
        f"estimator is {estimator!r}; pass one of {', '.join(map(repr, known))}, a KernelMean without filter and "
        "contraction (tests say where others may be passed), or a function (points, kernel) to both"
    )


def is_plain(estimator: Any) -> bool:
    """Say whether an estimator makes nothing but another kernel: it has neither filter nor contraction."""
    return not isinstance(estimator, KernelMean) or (estimator.filter is None and estimator.contraction is None)


def choose_kernel(points: Array, estimator: KernelMean | KernelOf, rows: IntArray, name: str) -> Chosen:
    """Return the kernel for the points; the median heuristic looks at the given rows only."""
    if not isinstance(estimator, KernelMean):
        made = base_kernel(points, "gaussian", "median", rows, name)
        kernel, noise = estimator(points, made.kernel)
        return Chosen(kernel, noise, made.notes, KernelMean(kernel, noise=Dirac()))
    if not is_plain(estimator):
        raise ValueError(
            f"{estimator!r} has a filter or a contraction; pass a KernelMean without them here, whose noise makes "
            "another kernel of the kernel"
        )
    made = base_kernel(points, estimator.kernel, estimator.bandwidth, rows, name)
    some, noise = points[rows], Dirac()  # a noise that is fitted is a symmetric function of the rows
    if estimator.noise is not None and not is_constant(some):
        noise = fitted(estimator, made.kernel, some).noise_
    return replace(with_noise(made, noise, points, rows, name), estimator=settled(estimator, made.kernel, noise=noise))


def base_kernel(points: Array, kernel: KernelLike, bandwidth: Any, rows: IntArray, name: str) -> Chosen:
    """Return the kernel without noise; the median heuristic looks at the given rows only."""
    notes: list[str] = []

    def bandwidth_of(own: Array, rule: Any) -> Any:
        if not (isinstance(rule, str) and rule in _MEDIANS):
            return bandwidth_from(own, rule)
        found, told = _median(own, rule == "median", rows, name)
        notes.extend(told)
        return found

    if isinstance(kernel, Kernel):
        kernel = make_kernel(kernel, bandwidth, points, bandwidth_of)
    else:
        kernel = make_kernel(kernel, bandwidth_of(points, bandwidth), points)
    return Chosen(kernel, Dirac(), tuple(notes))


def with_noise(made: Chosen, noise: Noise, points: Array, rows: IntArray, name: str) -> Chosen:
    """Return the kernel smoothed with the difference of two draws of a noise that was fitted to the given rows."""
    notes = made.notes
    if isinstance(noise, Dirac):
        return Chosen(made.kernel, noise, notes)
    if len(rows) < len(points):
        notes = (*notes, f"noise of {name}: fitted to {len(rows)} of {len(points)} rows")
    return Chosen(smoothed(made.kernel, difference(noise, noise), points.shape[1]), noise, notes)


def fitted(estimator: KernelMean, kernel: Kernel, points: Array) -> KernelMean:
    """Fit a copy of the estimator with this kernel; the estimator itself stays as it is."""
    found = settled(estimator, kernel, features=0).fit(points)  # no landmarks, however many points there are
    return found.set_params(features=None)


def settled(estimator: KernelMean, kernel: Kernel, **found: Any) -> KernelMean:
    """Return a copy of the estimator with this kernel, and with parameters that need not be found again."""
    copy: KernelMean = clone(estimator).set_params(kernel=kernel, bandwidth="median", **found)
    return copy


def is_constant(points: Array) -> bool:
    """Say whether all rows are equal."""
    return bool((points == points[0]).all())


def median_rows(n: int, rng: np.random.Generator) -> IntArray:
    """Return the rows of which the median distance is taken: all, or 1000 that the seed draws."""
    return np.arange(n) if n <= MEDIAN_ROWS else rng.choice(n, MEDIAN_ROWS, replace=False)


def representative_rows(points: Array, most: int = MEDIAN_ROWS) -> IntArray:
    """Return all rows, or so many that are evenly spaced among the sorted ones, the same in any order of rows."""
    n = len(points)
    if n <= most:
        return np.arange(n)
    return np.lexsort(points.T[::-1])[np.linspace(0, n - 1, most).round().astype(np.intp)]


def _median(points: Array, squared: bool, rows: IntArray, name: str) -> tuple[float, tuple[str, ...]]:
    """Return the median heuristic, and how it was found; any number where the points are constant."""
    if is_constant(points):
        return 1.0, (f"{name} is constant: every bandwidth gives the same Gram matrix",)
    some, words = points[rows], "" if len(rows) == len(points) else f", over {len(rows)} of {len(points)} rows"
    if is_constant(some):
        some, words = np.unique(points, axis=0)[:MEDIAN_ROWS], ", over distinct rows"
    bandwidth = median_bandwidth(some, squared=squared)
    return float(bandwidth), (f"bandwidth of {name}: {bandwidth.rule}{words}",)
