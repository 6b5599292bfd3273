"""Do two samples come from the same law? The permutation test on MMD²."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .._array import Array, RngLike, as_rng
from ..estimators import KernelMean
from ..estimators.options import KernelLike
from ..kernels import Kernel
from .adaptive import Adaptive, as_adaptive
from .adaptive_mmd import adaptive_mmd
from .engine import permutation_null
from .kernel_choice import KernelOf, choose_kernel, median_rows
from .null import Null
from .problem import KernelSide, LabelSide, Problem
from .result import TestResult
from .samples import check_samples, in_fixed_order
from .statistics import MMD, Kind, Statistic


def mmd_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    estimator: str | KernelMean | KernelOf | Adaptive = "kme",
    statistic: Kind = "u",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> TestResult:
    r"""Test whether two samples come from one law, by the maximum mean discrepancy and exact permutations.

    .. math:: \widehat{\mathrm{MMD}}^2 = \overline{k(x, x')} + \overline{k(y, y')} - 2 \overline{k(x, y)}

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        Two samples of the same columns; n and m may differ.
    kernel : str, class or Kernel
        "gaussian", a class of :mod:`kernelmean.kernels` that takes a bandwidth, or a kernel as it is.
    bandwidth : float, array of shape (d,), or str
        θ, in the units of the data; "median" is the squared median of pairwise distances of the pooled sample (of
        1000 rows that the seed draws when there are more), see :func:`kernelmean.median_bandwidth`.
    estimator : str, KernelMean, callable or Adaptive
        "kme"; "mkme" or "mmkme", or a KernelMean without filter and contraction, whose noise is fitted to the pooled
        rows (1000 that the seed draws when there are more) and turns the kernel into another kernel, eq. (m_kernel) of
        Xia et al. (2021): a principled choice of the bandwidth; "adaptive", which brings about 20 kernels of its own
        and is the most powerful on average, "fuse" or "aggregate", or an :class:`Adaptive`; or a symmetric function
        of the pooled rows and the kernel that returns the kernel of the test and the noise in it.
    statistic : {"u", "v"}
        Unbiased, or the V-statistic, which is never negative.
    scheme : str
        "auto" or a name of :data:`kernelmean.inference.SCHEMES`; all are exact.
    n_resamples : int
        How many rearrangements besides the observed one, at least; all there are when these are not more.
    rng : int, Generator, or None
        The seed. One seed gives one p-value, whatever ``n_jobs``.
    n_jobs : int, optional
        Threads; None is one, -1 all cores.
    memory : float, optional
        The limit in bytes, 1 GiB by default; see :func:`memory_estimate`.

    Returns
    -------
    TestResult
        Unpacks as ``(statistic, pvalue)``.

    Raises
    ------
    ValueError
        When the columns differ, a sample is too small for the statistic, a value is not finite, or a scheme does not
        fit.
    MemoryError
        When the scheme needs more than ``memory``.

    Notes
    -----
    The p-value is exact: under the null hypothesis P(p ≤ α) ≤ α for every n and m, with ties counted. Constant data
    have p = 1. Swapping X and Y changes nothing but rounding; shifting or rescaling the data, with a bandwidth by rule,
    does not change p. O(n²d) time at most, O(n r) on low-rank factors of rank r; memory never O(n²).
    Gretton et al. (2012), eq. (3) and (5); Hemerik & Goeman (2018) for groups.

    Examples
    --------
    >>> X, Y = np.arange(4.0)[:, None], np.arange(10.0, 13.0)[:, None]
    >>> result = mmd_test(X, Y)
    >>> result.scheme, result.n_resamples, round(result.pvalue * 35)
    ('exact', 34, 1)
    """
    samples = check_samples(X, Y)
    X, Y = in_fixed_order(*samples)
    generator = as_rng(rng)
    adaptive = as_adaptive(estimator, kernel, bandwidth)
    if adaptive is not None:
        options: dict[str, Any] = {
            "statistic": statistic,
            "n_resamples": n_resamples,
            "n_jobs": n_jobs,
            "memory": memory,
        }
        return adaptive_mmd(samples, adaptive, partial(mmd_null, **options), scheme, generator)
    assert not isinstance(estimator, Adaptive)  # told apart above; for the type checker
    pooled = np.concatenate([X, Y])
    chosen = choose_kernel(
        pooled, kernel, bandwidth, estimator, median_rows(len(pooled), generator), "the pooled sample"
    )
    null = mmd_null(
        X,
        Y,
        [chosen.kernel],
        statistic=statistic,
        scheme=scheme,
        n_resamples=n_resamples,
        rng=generator,
        n_jobs=n_jobs,
        memory=memory,
    )
    return TestResult(
        method="Two-sample permutation test, maximum mean discrepancy",
        kernel=chosen.kernel,
        noise=chosen.noise,
        sizes=(len(samples[0]), len(samples[1])),
        notes=chosen.notes,
        **null.outcome(0),
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
    pooled = np.concatenate([X, Y])
    labels = np.repeat([1.0, 0.0], [len(X), len(Y)])
    problem = Problem(
        KernelSide(pooled, tuple(kernels)),
        LabelSide(labels),
        tuple((k, 0) for k in range(len(kernels))),
        statistic if isinstance(statistic, Statistic) else MMD(len(X), len(Y), statistic),
    )
    return permutation_null(problem, n_resamples, scheme=scheme, rng=rng, n_jobs=n_jobs, memory=memory)
