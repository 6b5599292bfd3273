"""Are two variables independent? The test on HSIC: of pairs, and of time series."""

from __future__ import annotations

from typing import Any

from ..core.array import RngLike
from ..estimators.base import KernelLike
from ..plan.plan import Plan, RemotePlan
from .answering import answer
from .designs.design import AnyDesign, check_design
from .questions import Pairs
from .request import Request, asked
from .result import TestResult
from .statistics import StatisticForm

Pair = tuple[KernelLike, KernelLike]


def hsic_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike | Pair | None = None,
    estimator: Any = None,
    design: AnyDesign | None = None,
    statistic: StatisticForm = "v",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | RemotePlan | None = None,
) -> TestResult:
    r"""Test whether two variables are independent, by the Hilbert-Schmidt criterion and exact permutations.

    .. math:: \widehat{\mathrm{HSIC}} = \mathrm{tr}(HKHZ) / n^2

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), data frame, path, or anything else that :func:`kernelmean.read` takes
        Row i of X and row i of Y are one observation. You may pass one file twice, with different ``columns``.
    kernel : Kernel, class, function or str, or a tuple of two, optional
        As in :func:`mmd_test`, for both or for each. A rule for the bandwidth looks at the rows of its own variable.
        With "precomputed" X and Y are Gram matrices, (n, n) each.
    estimator : str, KernelMean, callable or Adaptive, or a tuple of two, optional
        As in :func:`mmd_test`: by default "adaptive", with pairs of kernels. But a filter shrinks the cross-covariance:
        "scose" and "fcose" are the statistics of Ramdas & Wehbe (2015), see :doc:`/theory/theory`.
    design : Design, optional
        Strata, clusters and weights, or time series, one label or number for every pair; see :doc:`/designs`.
    statistic : {"v", "u"}
        The V-statistic, or the unbiased one, which needs four rows and no design.
    scheme, n_resamples, rng, plan
        As in :func:`mmd_test`. In bins there is only the V-statistic.

    Returns
    -------
    TestResult
        Unpacks as ``(statistic, pvalue)``; ``kernel`` and ``noise`` are pairs.

    Raises
    ------
    ValueError
        When the numbers of rows differ, there are too few, a value is not finite, or options do not go together.
    TypeError, OSError, ImportError
        As :func:`kernelmean.read`.

    Notes
    -----
    The p-value is exact, with ties counted. With a constant variable p = 1. Swapping X and Y changes the statistic of
    one kernel by rounding only; adaptive tests draw rows of each to stand for kernels. Rows of Y turn against those of
    X within stripes, which gives about a thousand permutations in O(n² (log n + d + e)) time, or O(n r²) on features or
    factors of rank r; memory never O(n²) beyond 5,000 rows. Beyond 20,000 rows (100,000 for one kernel, 5,000 with a
    design) kernels become features; see :doc:`/scale`.

    References: Gretton et al. (2005), eq. (9), with n² for (n - 1)²; Song et al. (2012), eq. (5); Koning & Hemerik
    (2022) for groups of permutations; Xia et al. (2021) for the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean import Design
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> result = hsic_test(x, np.cos(6 * x), rng=0)
    >>> result.scheme, result.pvalue < 0.01
    ('rotations', True)

    Both grow from center to center, but within centers they are independent:

    >>> center = np.arange(40) // 10
    >>> x, y = np.random.default_rng(0).standard_normal((2, 40, 1)) + 5 * center[:, None]
    >>> hsic_test(x, y, rng=0).pvalue < 0.01, hsic_test(x, y, design=Design(strata=center), rng=0).pvalue > 0.05
    (True, True)
    """
    checked = check_design(design)
    known, adaptive = Pairs.known(checked), not checked.in_series
    estimators = asked(kernel, estimator, known, Pairs.kernel_sides, adaptive=adaptive)
    return answer(Pairs, (X, Y), Request(estimators, checked, statistic, scheme, n_resamples, rng), plan)
