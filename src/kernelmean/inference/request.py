"""What a caller asks of a test: ``kernel=`` and ``estimator=`` become estimators, one per side, and kernels.

The kernel of a test is found from the pooled sample, so that no permutation changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.base import clone

from ..core.array import Array, IntArray, RngLike, to_numpy
from ..estimators import KME, KernelMean
from ..estimators import NAMED as ESTIMATORS_BY_NAME
from ..estimators.base import KernelLike, is_precomputed, make_kernel
from ..expected import difference, smoothed
from ..kernels import Kernel
from ..kernels.bandwidth import bandwidth_from
from ..noise import Dirac, Noise
from ..plan.plan import Plan
from ..tables.limits import ADAPTIVE_LIMIT
from .adaptive.many_kernels import NAMED, Adaptive
from .designs.design import AnyDesign
from .permutations import BINS, check_scheme
from .resampling import Resampling
from .statistics import StatisticForm

MEDIAN_ROWS = 1000
_MEDIANS = "median", "median-unsquared"

KernelOf = Callable[[Array, Kernel], tuple[Kernel, Noise]]
"""From points (n, d) and a kernel to the kernel that the test uses and the noise in it.

Must be a symmetric function of the rows: for two samples it sees the pooled rows, not which sample each is from.
"""


ESTIMATORS = {name: ESTIMATORS_BY_NAME[name] for name in ("kme", "mkme", "mmkme")}
"""The estimators whose test statistic is MMD or HSIC with another kernel: equal weights, and a noise or none."""

MMD_ESTIMATORS = {name: maker for name, maker in ESTIMATORS_BY_NAME.items() if name != "vpmkme"}
"""The estimators of the two-sample test by name, besides the adaptive ones."""

HSIC_ESTIMATORS = {
    **ESTIMATORS,
    **{name: ESTIMATORS_BY_NAME[name] for name in ("s-kmse", "f-kmse")},
    "scose": ESTIMATORS_BY_NAME["s-kmse"],
    "fcose": ESTIMATORS_BY_NAME["f-kmse"],
}
"""The estimators of the independence test by name, besides the adaptive ones."""


@final
@dataclass(frozen=True)
class Chosen:
    """A kernel, the noise in it, notes for the reader, and the estimator with what was found in all rows."""

    kernel: Kernel
    noise: Noise | tuple[Noise, Noise]
    notes: tuple[str, ...] = ()
    estimator: KernelMean | None = None


def unknown_estimator(estimator: Any, known: Iterable[str]) -> ValueError:
    """Return the error for a name that is none of the known estimators."""
    return ValueError(
        f"estimator is {estimator!r}; pass one of {', '.join(map(repr, known))}, a KernelMean without filter and "
        "contraction (tests say where others may be passed), or a function of (points, kernel) that returns both the "
        "kernel of the test and the noise in it"
    )


def is_plain(estimator: Any) -> bool:
    """Say whether an estimator makes nothing but another kernel: it has neither filter nor contraction."""
    return not isinstance(estimator, KernelMean) or (estimator.filter is None and estimator.contraction is None)


def choose_kernel(points: Array, estimator: KernelMean | KernelOf, rows: IntArray, name: str) -> Chosen:
    """Return the kernel for the points; the median heuristic looks at the given rows only.

    A function gets the points in sorted order: that in which they came would tell it which sample they are of.
    """
    if not isinstance(estimator, KernelMean):
        made = base_kernel(points, "gaussian", "median", rows, name)
        kernel, noise = estimator(points[np.lexsort(to_numpy(points).T[::-1])], made.kernel)
        return Chosen(kernel, noise, made.notes, KernelMean(kernel, noise=Dirac()))
    if not is_plain(estimator):
        raise ValueError(
            f"{estimator!r} has a filter or a contraction; pass a KernelMean without them here (its noise "
            "turns the kernel into another one)"
        )
    made = base_kernel(points, estimator.kernel, estimator.bandwidth, rows, name)
    if estimator.noise is None or is_constant(points[rows]):
        return replace(made, estimator=settled(estimator, made.kernel, noise=made.noise))
    noise = fitted(estimator, made.kernel, points[rows]).noise_  # a symmetric function of the rows
    return replace(with_noise(made, noise, points, rows, name), estimator=settled(estimator, made.kernel, noise=noise))


def base_kernel(points: Array, kernel: KernelLike, bandwidth: Any, rows: IntArray, name: str) -> Chosen:
    """Return the kernel without noise; the median heuristic looks at the given rows only."""
    notes: list[str] = []

    def bandwidth_of(columns: Array, rule: Any) -> Any:
        if not (isinstance(rule, str) and rule in _MEDIANS):
            return bandwidth_from(columns, rule)
        median, words = _median(columns, rule, rows, name)
        notes.extend(words)
        return median

    return Chosen(make_kernel(kernel, bandwidth, points, bandwidth_of), Dirac(), tuple(notes))


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
    copy = settled(estimator, kernel, features=0).fit(points)  # no landmarks, however many points there are
    return copy.set_params(features=None)


def settled(estimator: KernelMean, kernel: Kernel, **parameters: Any) -> KernelMean:
    """Return a copy of the estimator with this kernel, and with parameters that need not be found again."""
    copy: KernelMean = clone(estimator).set_params(kernel=kernel, bandwidth="median", **parameters)
    return copy


def is_constant(points: Array) -> bool:
    """Say whether all rows are equal."""
    return bool((points == points[0]).all())


def median_rows(n: int, rng: np.random.Generator) -> IntArray:
    """Return the rows whose median distance is used: all, or 1,000 that the seed draws."""
    return np.arange(n) if n <= MEDIAN_ROWS else rng.choice(n, MEDIAN_ROWS, replace=False)


def representative_rows(points: Array, most: int = MEDIAN_ROWS) -> IntArray:
    """Return all rows, or ``most`` evenly spaced ones of the sorted rows: the same in any order of rows."""
    n = len(points)
    if n <= most:
        return np.arange(n)
    return np.lexsort(points.T[::-1])[np.linspace(0, n - 1, most).round().astype(np.intp)]


def _median(points: Array, rule: str, rows: IntArray, name: str) -> tuple[float, tuple[str, ...]]:
    """Return the median heuristic, and how it was found; any number where the points are constant."""
    if is_constant(points):
        return 1.0, (f"{name} is constant: every bandwidth gives the same Gram matrix",)
    some, words = points[rows], "" if len(rows) == len(points) else f", over {len(rows)} of {len(points)} rows"
    if is_constant(some):
        some, words = np.unique(points, axis=0)[:MEDIAN_ROWS], ", over distinct rows"
    bandwidth = bandwidth_from(some, rule)
    return float(bandwidth), (f"bandwidth of {name}: {bandwidth.rule}{words}",)


# -- what is asked -----------------------------------------------------------------------------------------------------

ONE_KERNEL = (
    f"tested with one kernel (kme): the adaptive test, the default of up to {ADAPTIVE_LIMIT:,} rows, was not run; "
    "estimator='adaptive' runs it on these rows"
)
"""A note for too many rows for the adaptive test, when the caller chose no test."""
Known = Mapping[str, Callable[..., KernelMean]]
"""From the names that a test knows to estimators."""


@final
@dataclass(frozen=True)
class Estimators:
    """The estimators of a test."""

    sides: tuple[KernelMean | KernelOf, ...]
    """One per side that has a kernel; empty for an adaptive test that the caller chose."""
    adaptive: Adaptive | None = None
    """The adaptive test, which has kernels of its own; None without one."""
    default: bool = False
    """Whether the caller chose neither kernel nor estimator: the test is adaptive where it can be, else plain."""
    found: tuple[KernelMean | None, ...] = ()
    """The estimators of the sides, with the kernels, noises and strengths that a test found in all rows."""

    @property
    def one(self) -> KernelMean | KernelOf:
        """Return the estimator of the first side."""
        return self.sides[0]

    @property
    def of_matrices(self) -> list[bool]:
        """For every side, whether its kernel is a Gram matrix."""
        return [isinstance(side, KernelMean) and is_precomputed(side.kernel) for side in self.sides]

    @property
    def plain(self) -> Estimators:
        """Return the estimators of the sides, without the adaptive test."""
        return replace(self, adaptive=None)

    @property
    def many(self) -> Estimators:
        """Return the adaptive test, without the estimators of the sides."""
        return replace(self, sides=())

    def settled(self, estimators: Iterable[KernelMean | None]) -> Estimators:
        """Return the same with what was found; it replaces functions, which cannot be pickled."""
        known = tuple(estimators)
        pairs = zip(self.sides, known, strict=True)
        sides = tuple(side if isinstance(side, KernelMean) or new is None else new for side, new in pairs)
        return replace(self, sides=sides, found=known)


@final
@dataclass(frozen=True, eq=False)
class Request:
    """All that a caller asks of a test, besides the data and the plan."""

    wanted: Estimators
    design: AnyDesign
    statistic: StatisticForm
    scheme: str
    """One of ``OFFERED``, or "bins"."""
    n_resamples: int
    rng: RngLike
    """As of :class:`~kernelmean.inference.resampling.Resampling`."""

    @property
    def in_bins(self) -> bool:
        """Whether the caller asks for bins."""
        return self.scheme == BINS

    def resampling(self, plan: Plan | None) -> Resampling:
        """Return how the null distribution is found."""
        check_scheme(self.scheme)
        return Resampling.of(self.scheme, self.n_resamples, self.rng, plan)


def asked(kernel: Any, estimator: Any, known: Known, sides: int = 1, *, adaptive: bool = True) -> Estimators:
    """Return the estimators that a caller asks for.

    Parameters
    ----------
    kernel : Kernel, str, class, tuple of such, or None
        Alone it stands for the plain estimator of that kernel.
    estimator : str, KernelMean, callable, Adaptive, tuple of such, or None
    known : mapping
        The names of this test, besides the adaptive ones.
    sides : int
        The number of kernels; a tuple has one entry for each.
    adaptive : bool
        Whether the test has adaptive forms.

    Raises
    ------
    TypeError, ValueError
        When both were passed, there is no such estimator, or a tuple has another length.
    """
    if kernel is not None and estimator is not None:
        if isinstance(estimator, Adaptive) or (isinstance(estimator, str) and estimator in NAMED):
            raise ValueError(
                f"estimator={estimator!r} brings its own kernels; leave kernel= out, or name the kernels in "
                "Adaptive(members=...)"
            )
        raise ValueError(
            f"kernel={kernel!r} beside estimator={estimator!r}: an estimator brings its kernel; pass it there, such as "
            "estimator=MKME(kernel), or leave one of the two out"
        )
    if kernel is not None:
        return Estimators(tuple(map(KME, _each(kernel, sides))))
    if estimator is None:
        return Estimators((KME(),) * sides, NAMED["adaptive"] if adaptive else None, default=True)
    estimators = [_one(each, known, adaptive) for each in _each(estimator, sides)]
    if isinstance(estimators[0], Adaptive):
        return Estimators((), estimators[0])
    return Estimators(tuple(estimators))  # type: ignore[arg-type]  # adaptive tests come alone


def _one(estimator: Any, known: Known, adaptive: bool) -> KernelMean | KernelOf | Adaptive:
    names = (*known, *NAMED) if adaptive else tuple(known)
    if isinstance(estimator, str):
        if estimator not in names:
            raise unknown_estimator(estimator, names)
        return known[estimator]() if estimator in known else NAMED[estimator]
    if isinstance(estimator, KernelMean) and estimator.features not in (None, 0):
        raise ValueError(
            f"{estimator!r} is fitted to sums of features, and a test looks at the rows; leave features= out "
            "(scheme='bins' tests sums of features)"
        )
    if isinstance(estimator, KernelMean) or (adaptive and isinstance(estimator, Adaptive)):
        return estimator
    if any(estimator is maker for maker in (KernelMean, *ESTIMATORS_BY_NAME.values())):
        name = estimator.__name__
        raise TypeError(f"estimator is {name}, which makes estimators; call it: estimator={name}()")
    if not callable(estimator) or isinstance(estimator, type):
        raise unknown_estimator(estimator, names)
    function: KernelOf = estimator
    return function


def _each(value: Any, sides: int) -> tuple[Any, ...]:
    """Return one value per side: those of a tuple, or one that holds for all."""
    if not isinstance(value, tuple):
        return (value,) * sides
    if sides == 1 or len(value) != sides:
        raise ValueError(
            f"{value!r} is a tuple of {len(value)}; pass one value for all"
            + ("" if sides == 1 else f" {sides} variables, or a tuple with one for each")
        )
    if any(isinstance(each, Adaptive) or each in NAMED for each in value if isinstance(each, str | Adaptive)):
        raise ValueError(f"{value!r}: an adaptive test has kernels for all variables; pass it alone, not in a tuple")
    return value


def two_sample_estimator(estimator: KernelMean | KernelOf, *, plain_only: str | None = None) -> KernelMean | None:
    """Return the estimator when it needs more than another kernel, None when it does not.

    Raises
    ------
    ValueError
        When the estimator has a contraction, or needs more than another kernel and ``plain_only`` names what that does
        not work with.
    """
    if not isinstance(estimator, KernelMean) or is_plain(estimator):
        return None
    if estimator.contraction is not None:
        raise ValueError(f"{estimator!r} has a contraction, and tests have none; pass MKME, or another KernelMean")
    if plain_only:
        raise ValueError(
            f"{estimator!r} has weights of its own, which do not go with {plain_only}; pass a KernelMean without filter"
        )
    return estimator
