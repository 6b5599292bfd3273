"""Do two samples come from the same law? The permutation test on MMD²."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from ..core.array import Array, RngLike, as_host, as_rng, joined
from ..estimators import KernelMean
from ..estimators.options import KernelLike
from ..kernels import Kernel
from ..plan.plan import RemotePlan, check_remote
from .adaptive import Adaptive, as_adaptive
from .adaptive_mmd import adaptive_mmd
from .designs.two_sample import two_sample_design
from .engine import permutation_null
from .estimated_mmd import MMD_ESTIMATORS, EstimatedMMD, Fit, two_sample_estimator
from .kernel_choice import KernelOf, choose_kernel, fits_nothing, median_rows
from .null import Null
from .posed import Posed
from .problem import KernelSide, LabelSide, Problem
from .result import TestResult
from .samples import check_samples, in_fixed_order
from .statistics import MMD, Kind, Statistic
from .units import is_default, units_notes


def mmd_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    estimator: str | KernelMean | KernelOf | Adaptive | None = None,
    fit: Fit = "auto",
    statistic: Kind = "u",
    groups: tuple[Any, Any] | None = None,
    clusters: tuple[Any, Any] | None = None,
    weights: tuple[Any, Any] | None = None,
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
    plan: RemotePlan | None = None,
) -> TestResult:
    r"""Test whether two samples come from one law, by the maximum mean discrepancy and exact permutations.

    .. math:: \widehat{\mathrm{MMD}}^2 = \overline{k(x, x')} + \overline{k(y, y')} - 2 \overline{k(x, y)}

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        Two samples of the same columns; n and m may differ. Arrays of torch, or of another library that speaks the
        array API, are compared where they live, such as on a GPU: the same relabelings for the same scheme.
    kernel : str, class or Kernel
        "gaussian", a class of :mod:`kernelmean.kernels` that takes a bandwidth, or a kernel as it is.
    bandwidth : float, array of shape (d,), or str
        θ, in the units of the data; "median" is the squared median of pairwise distances of the pooled sample (of
        1000 rows that the seed draws when there are more), see :func:`kernelmean.median_bandwidth`.
    estimator : str, KernelMean, callable or Adaptive
        "kme", the default; "mkme" or "mmkme", or a KernelMean without filter and contraction, whose noise turns the
        kernel into another kernel, eq. (m_kernel) of Xia et al. (2021): a principled choice of the bandwidth;
        "s-kmse", "f-kmse", "vpmkme" or any other KernelMean, whose weights or parameters are those of each sample, see
        ``fit``; "adaptive", which brings about 20 kernels of its own and is the most powerful of these on average,
        "log-mean-exp" or "aggregate", or an :class:`Adaptive`; or a symmetric function of the pooled rows and the
        kernel that returns the kernel of the test and the noise in it. A KernelMean brings its kernel and bandwidth,
        an adaptive test its kernels: beside them ``kernel`` and ``bandwidth`` raise.
    fit : {"auto", "pooled", "each"}
        Where the parameters of an estimator (noise, contraction, λ of a filter) come from: the pooled rows (1000 that
        the seed draws when there are more), or each sample on its own, anew under every rearrangement. Both are
        exact. "auto" is "each" for "s-kmse" and "f-kmse", and "pooled" for all others. The weights of a spectral
        filter are solved for under every rearrangement either way.
    statistic : {"u", "v"}
        Unbiased, or the V-statistic, which is never negative. With weights b the first leaves out the diagonal,
        n/(n-1) Σ_{i≠j} b_i b_j k(x_i, x_j), which shrinkage keeps from being unbiased.
    groups : (array of shape (n,), array of shape (m,)), optional
        Strata of the rows of X and of Y, such as the center of a study: rows change places within their stratum only,
        and the test asks whether the samples differ within strata. The statistic is
        :math:`|\sum_s c_s (μ_{X,s} - μ_{Y,s})|^2` with c_s in proportion to n_s m_s / (n_s + m_s) and of sum 1, as
        Cochran, Mantel and Haenszel weigh strata: a difference between strata does not enter it. Strata with rows of
        one sample only are left out.
    clusters : (array of shape (n,), array of shape (m,)), optional
        Which rows belong together, such as the visits of a patient: clusters change places as wholes, each with those
        of as many rows only (and of its stratum), so that nothing need be assumed of how the sizes came about. The
        unbiased statistic leaves out the pairs of rows within a cluster.
    weights : (array of shape (n,), array of shape (m,)), optional
        Survey or importance weights, not negative, on one scale for both samples; the means become weighted means. A
        weight moves with its row, so the test is exact where the pairs (row, weight) are exchangeable under the null
        hypothesis: where both samples were weighted by one rule. Rows of weight zero are left out.
    scheme : str
        "auto" or a name of :data:`kernelmean.inference.SCHEMES`; all are exact. With groups, clusters or weights, and
        with an estimator that is solved for under every rearrangement (all but kme, mkme, mmkme and s-kmse), "auto",
        "exact" or "random".
    n_resamples : int
        How many rearrangements besides the observed one, at least; all there are when these are not more.
    rng : int, Generator, or None
        The seed. One seed gives one p-value, whatever ``n_jobs``.
    n_jobs : int, optional
        Threads; None is one, -1 all cores.
    memory : float, optional
        The limit in bytes, 1 GiB by default; see :func:`memory_estimate`.
    plan : DaskPlan, optional
        A cluster, where X and Y are dask arrays, dask data frames or folders of Parquet files; see
        :class:`kernelmean.DaskPlan`.

    Returns
    -------
    TestResult
        Unpacks as ``(statistic, pvalue)``.

    Raises
    ------
    ValueError
        When the columns differ, a sample is too small for the statistic, a value is not finite, a scheme does not fit,
        a weight is negative or all are zero, or groups and clusters leave no two rows that may change places.
    MemoryError
        When the scheme needs more than ``memory``.

    Notes
    -----
    The p-value is exact: under the null hypothesis P(p ≤ α) ≤ α for every n and m, with ties counted. Constant data
    have p = 1. Swapping X and Y changes nothing but rounding; shifting or rescaling the data, with a bandwidth by rule,
    does not change p. O(n²d) time at most, O(n r) on low-rank factors of rank r; memory never O(n²). With groups,
    clusters or weights O(n² (d + P)) for P relabelings, O(n r P) on factors.

    "s-kmse" costs no more than "kme", since λ has a closed form in sums that every scheme delivers. "f-kmse" takes one
    eigendecomposition of a Gram matrix per sample and rearrangement and O(n²) memory, up to 1000 rows a sample, and
    with ``fit="pooled"`` one linear system, up to 3000; 999 rearrangements of two samples of 100 rows take about 3 and
    0.2 seconds. ``fit="each"`` takes up to 500 rows: "mkme" is fitted for many rearrangements at once, 999 of two
    samples of 10 and 100 rows in 0.05 and 2.4 seconds; others one by one, 10 to 150 milliseconds for each sample of
    100 rows.
    Gretton et al. (2012), eq. (3) and (5); Hemerik & Goeman (2018) for groups; Muandet et al. (2014) for shrinkage.

    Examples
    --------
    >>> X, Y = np.arange(4.0)[:, None], np.arange(10.0, 13.0)[:, None]
    >>> result = mmd_test(X, Y)
    >>> result.scheme, result.n_resamples, round(result.pvalue * 35)
    ('exact', 34, 1)

    Weights fitted to each sample, anew under every rearrangement:

    >>> mmd_test(X, Y, estimator="f-kmse").n_resamples
    34

    Two centers, of which one measures 10 more: within centers X and Y differ by 1.

    >>> X, Y = np.array([[0.0], [2.0], [10.0]]), np.array([[1.0], [11.0], [13.0]])
    >>> result = mmd_test(X, Y, groups=([1, 1, 2], [1, 2, 2]), statistic="v")
    >>> result.n_resamples + 1, result.notes[-1]
    (9, 'relabeled within 2 groups only')

    Three patients against three, two rows each:

    >>> rows, patients = np.arange(12.0)[:, None], np.arange(12) // 2
    >>> mmd_test(rows[:6], rows[6:], clusters=(patients[:6], patients[6:])).n_resamples + 1
    20

    Weights:

    >>> weighted = mmd_test(X, Y, weights=([1.0, 1.0, 2.0], [2.0, 1.0, 1.0]), rng=0)
    >>> weighted.n_resamples + 1
    20
    """
    options = {name: value for name, value in locals().items() if name not in ("X", "Y", "plan")}
    options["estimator"] = "kme" if estimator is None else estimator
    if plan is not None:
        return cast("TestResult", check_remote(plan).mmd_test(X, Y, **options))
    posed = pose_mmd(X, Y, mmd_null, **options)
    result = posed if isinstance(posed, TestResult) else posed.result(posed.null)
    notes = units_notes(X, Y) if is_default(kernel, bandwidth, estimator) else ()
    return replace(result, notes=(*result.notes, *notes)) if notes else result


def pose_mmd(
    X: Any,
    Y: Any,
    plain: Callable[..., Any],
    *,
    kernel: KernelLike,
    bandwidth: Any,
    estimator: Any,
    fit: Fit,
    statistic: Kind,
    groups: Any,
    clusters: Any,
    weights: Any,
    scheme: str,
    n_resamples: int,
    rng: RngLike,
    n_jobs: int | None,
    memory: float | None,
) -> Posed | TestResult:
    """Return a test as :func:`mmd_test` poses it, with whatever ``plain`` returns in the place of ``mmd_null``.

    The result itself comes back where the test needs more than one null.
    """
    samples = check_samples(X, Y, anywhere=True)
    design = two_sample_design(samples, groups, clusters, weights)
    X, Y = in_fixed_order(*samples) if design is None else design.samples
    null_of = plain if design is None else design.null
    sizes, notes = (samples[0].shape[0], samples[1].shape[0]), () if design is None else design.notes
    generator = as_rng(rng)
    limits: dict[str, Any] = {"n_resamples": n_resamples, "n_jobs": n_jobs, "memory": memory}
    adaptive = as_adaptive(estimator, kernel, bandwidth, MMD_ESTIMATORS)
    if adaptive is not None:
        fits_nothing(fit, "auto")
        many = mmd_null if design is None else design.null
        found = adaptive_mmd((X, Y), adaptive, partial(many, statistic=statistic, **limits), scheme, generator)
        return replace(found, sizes=sizes, notes=found.notes + notes)
    assert not isinstance(estimator, Adaptive)  # told apart above; for the type checker
    options = {"scheme": scheme, "rng": generator, **limits}
    plain_only = None if design is None else "groups, clusters or weights"
    own = two_sample_estimator(estimator, kernel, bandwidth, fit, plain_only=plain_only)
    if own is None:
        pooled = as_host(joined([X, Y]))
        rows = median_rows(len(pooled), generator)
        chosen = choose_kernel(pooled, kernel, bandwidth, estimator, rows, "the pooled sample")
        null = null_of(X, Y, [chosen.kernel], statistic=statistic, **options)
    else:
        null, chosen = EstimatedMMD(own, fit, statistic, options, plain).null(X, Y)
    return Posed(
        null,
        method="Two-sample permutation test, maximum mean discrepancy",
        kernel=chosen.kernel,
        noise=chosen.noise[::-1] if isinstance(chosen.noise, tuple) and X is not samples[0] else chosen.noise,
        sizes=sizes,
        notes=chosen.notes + notes,
    )


def mmd_null(
    X: Array,
    Y: Array,
    kernels: Sequence[Kernel],
    *,
    statistic: Kind | Statistic = "u",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> Null:
    """Return MMD² of every kernel under the same relabelings, ``values`` of shape (kernels, P), observed first."""
    problem = mmd_problem(X, Y, kernels, statistic)
    return permutation_null(problem, n_resamples, scheme=scheme, rng=rng, n_jobs=n_jobs, memory=memory)


def mmd_problem(X: Array, Y: Array, kernels: Sequence[Kernel], statistic: Kind | Statistic) -> Problem:
    """Return the Gram matrices of the pooled rows, and the labels of the samples."""
    pooled = joined([X, Y])
    labels = np.repeat([1.0, 0.0], [X.shape[0], Y.shape[0]])
    return Problem(
        KernelSide(pooled, tuple(kernels)),
        LabelSide(labels),
        tuple((k, 0) for k in range(len(kernels))),
        statistic if isinstance(statistic, Statistic) else MMD(X.shape[0], Y.shape[0], statistic),
    )
