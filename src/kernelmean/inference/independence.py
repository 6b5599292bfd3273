"""Are two variables independent? The test on HSIC: of pairs, and of time series."""

from __future__ import annotations

from typing import Any

from ..core.array import RngLike
from ..estimators.base import KernelLike
from ..plan.plan import Plan, RemotePlan
from .answering import answer
from .designs.design import Design, check_design
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
    design: Design | None = None,
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
        Row i of X and row i of Y are one observation. You may pass one file twice, with different ``columns`` of
        :func:`kernelmean.read`. Arrays of other libraries and long tables work as in :func:`mmd_test`.
    kernel : Kernel, class or str, or a tuple of two, optional
        As in :func:`mmd_test`; a tuple has the kernel of X and the kernel of Y. A rule for the bandwidth looks at the
        rows of its own variable (if there are more than 1000, at 1000 evenly spaced ones of the sorted rows).
    estimator : str, KernelMean, callable or Adaptive, or a tuple of two, optional
        As in :func:`mmd_test`: by default "adaptive", with pairs of kernels. But here a filter shrinks the
        cross-covariance: "scose" (or "s-kmse") and "fcose" (or "f-kmse") are the two shrunk statistics of Ramdas &
        Wehbe (2015), and a KernelMean with filter="scale" or "ridge" is that statistic with the kernels of its noise.
        A noise that is fitted to data is fitted to X for X and to Y for Y, which no permutation changes. A function
        gets the rows of one variable at a time. A tuple has the estimator of X and that of Y.
    design : Design, optional
        Strata, clusters and weights, one label or number for every pair; see :class:`kernelmean.Design`. Within strata
        the test asks whether the variables are independent given the stratum: the statistic is the squared norm of the
        mean cross-covariance within strata, :math:`|\sum_s p_s C_s|^2`, with p_s the share of the rows. The rows of Y
        in a cluster move together, in order. Blocks of one series, ``clusters=np.arange(n) // length``, are exact if
        blocks are exchangeable; for dependence that reaches further pass ``series=``.
    statistic : {"v", "u"}
        The V-statistic, or the unbiased one, which needs four rows.
    scheme, n_resamples, rng, plan
        As in :func:`mmd_test`. In bins there is only the V-statistic.

    Returns
    -------
    TestResult
        Unpacks as ``(statistic, pvalue)``, as from :func:`mmd_test`; ``kernel`` and ``noise`` are pairs.

    Raises
    ------
    ValueError
        When the numbers of rows differ, there are too few, a value is not finite, a scheme does not fit, a weight is
        negative or all are zero, or strata and clusters leave no two rows that may be exchanged; when bins do not
        work with an option.
    TypeError, OSError, ImportError
        As :func:`kernelmean.read`.

    Notes
    -----
    The p-value is exact, with ties counted. With a constant variable HSIC is 0 and p = 1. Swapping X and Y changes the
    statistic by rounding only. O(n² (log n + d + e)) time for about a thousand permutations, O(n r²) on low-rank
    factors of rank r; memory never O(n²) beyond 5000 rows. With strata, clusters or weights O(n² P) for P permutations,
    O(n r² P) on factors; beyond 5000 rows without factors O(n² d P).

    SCOSE, :math:`(1-α)_+^2 h` with h the V-statistic, δ the mean of the diagonal of :math:`M = \bar K ∘ \bar Z` and
    :math:`α = (δ-h)/((n-2)h+δ/n)`, costs no more than HSIC. FCOSE, :math:`β^⊤Mβ` with :math:`β = (M+λI)^{-1}M1_n` and
    λ by exact leave-one-out on M, takes an eigendecomposition for every permutation and O(n²) memory, up to 1000
    pairs.

    *In bins* the rows are cut into stripes, each with as many pairs as there are permutations. Rotation k pairs x
    number i of every stripe with y number i + k. The rotations form a group, so the p-value is exact. Rows are first
    shuffled within windows of 64 stripes; rows that are sorted over much longer stretches cost power, but the level
    holds. Features are fitted to whole stripes, which rotations keep together.
    O(n r (d + r)) time for every view and O(n r s) for every pair of views of r and s features; memory O(1), some
    200 MB for the default.

    Gretton et al. (2005), eq. (9); Song et al. (2012), eq. (5); Koning & Hemerik (2022) for groups of permutations;
    Ramdas & Wehbe (2015) for shrinkage; Xia et al. (2021) for the noise.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> result = hsic_test(x, np.cos(6 * x), rng=0)
    >>> result.scheme, result.pvalue < 0.01
    ('rotations', True)

    Shrunk:

    >>> hsic_test(x, np.cos(6 * x), estimator="scose", rng=0).pvalue < 0.01
    True

    Both variables grow from center to center, but within centers they are independent:

    >>> center = np.arange(40) // 10
    >>> x, y = np.random.default_rng(0).standard_normal((2, 40, 1)) + 5 * center[:, None]
    >>> hsic_test(x, y, rng=0).pvalue < 0.01
    True
    >>> hsic_test(x, y, design=Design(strata=center), rng=0).pvalue > 0.05
    True

    Four series of ten rows each, exchanged whole; and weights:

    >>> hsic_test(x, y, design=Design(clusters=center)).n_resamples + 1
    24
    >>> hsic_test(x, y, design=Design(weights=1.0 + center), rng=0).pvalue < 0.01
    True

    Rows read batch by batch, in memory that does not grow with them:

    >>> x = np.random.default_rng(0).normal(size=(2000, 1))
    >>> hsic_test(x, x**2, scheme="bins", rng=0).scheme
    'bins'
    """
    checked = check_design(design)
    known, adaptive = Pairs.known(checked), not checked.in_series
    wanted = asked(kernel, estimator, known, Pairs.kernel_sides, adaptive=adaptive)
    return answer(Pairs, (X, Y), Request(wanted, checked, statistic, scheme, n_resamples, rng), plan)
