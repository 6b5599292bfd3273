"""Tests of more than two: several samples that may come from one distribution, variables that may be independent."""

from __future__ import annotations

from typing import Any

from ..core.array import RngLike
from ..core.words import passed
from ..estimators import KernelMean
from ..estimators.base import KernelLike
from ..plan.plan import Plan
from .adaptive.many_kernels import Adaptive
from .answering import answer
from .designs.design import Design, check_design
from .questions import JointIndependence, KSamples
from .request import KernelOf, Request, asked
from .result import TestResult
from .statistics import StatisticForm


def k_sample_test(
    *samples: Any,
    kernel: KernelLike | None = None,
    estimator: str | KernelMean | KernelOf | Adaptive | None = None,
    design: Design | None = None,
    statistic: StatisticForm = "u",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | None = None,
) -> TestResult:
    r"""Test whether several samples come from one distribution, by MMD² of all pairs of them and exact permutations.

    .. math:: T = \frac{\sum_{g<h} n_g n_h \mathrm{MMD}^2_{gh}}{\sum_{g<h} n_g n_h}

    For the V-statistic the numerator is :math:`n \sum_g n_g |μ_g - \bar μ|^2`, the scatter between the samples, which
    is HSIC with the label kernel 1{g = h} / n_g up to a factor. Two samples have T = MMD².

    Parameters
    ----------
    *samples : array of shape (n_g, d), data frame, path, or anything else that :func:`kernelmean.read` takes
        Two or more samples of the same columns; sizes may differ. They are held in memory.
    kernel, estimator
        As in :func:`kernelmean.mmd_test`, "adaptive" by default, found from all rows together; the adaptive test has
        the members of two samples, without volumes.
    design : Design, optional
        None: strata, clusters, weights and pairs are for two samples, and refused.
    statistic : {"u", "v"}
        Unbiased, or the V-statistic, which is never negative.
    scheme : {"auto", "exact", "random"}
        All n! / Π n_g! labelings, or random permutations; "auto" enumerates when there are at most n_resamples + 1.
    n_resamples, rng, plan
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``pairs`` tells of every pair of samples its statistic and its p-values under the same permutations. It explains
        itself where there are two samples, as :func:`mmd_test` does.

    Raises
    ------
    ValueError
        When there are fewer than two samples, a design was passed, columns differ, or a sample is too small for the
        statistic.
    MemoryError
        When more memory is needed than the plan allows.

    Notes
    -----
    The p-value is exact. The adjusted p-values of the pairs step down from the largest standardized statistic
    (Westfall & Young 1993); as all samples are permuted together, they bound the probability of any false finding
    when **all** samples come from one distribution. To single out pairs where some samples are known to differ, test
    these by :func:`kernelmean.mmd_test`, which permutes two samples only, and adjust by Holm's method.
    O(n² (d + k² P)) time for P permutations, O(n r k² P) on factors of rank r; memory never O(n²).
    Gretton et al. (2012), eq. (3) and (5); Székely & Rizzo (2004) for the sum over pairs.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(6.0)[:, None]
    >>> result = k_sample_test(x[:2], x[2:4], x[4:] + 10)
    >>> result.scheme, result.n_resamples + 1, result.pvalue * 90
    ('exact', 90, 6.0)
    >>> [(pair.first, pair.second) for pair in result.pairs]
    [(0, 1), (0, 2), (1, 2)]
    """
    _check_several(samples, "sample", "k_sample_test")
    checked = check_design(design)
    wanted = asked(kernel, estimator, KSamples.known(checked))
    return answer(KSamples, samples, Request(wanted, checked, statistic, scheme, n_resamples, rng), plan)


def dhsic_test(
    *variables: Any,
    kernel: KernelLike | tuple[KernelLike, ...] | None = None,
    estimator: Any = None,
    design: Design | None = None,
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | None = None,
) -> TestResult:
    r"""Test whether two or more variables are jointly independent, by dHSIC and exact permutations.

    .. math:: \mathrm{dHSIC} = \frac{1}{n^2} \sum_{ij} \prod_l K^l_{ij} + \prod_l \overline{K^l}
        - \frac{2}{n} \sum_i \prod_l \overline{K^l_{i \cdot}}

    Parameters
    ----------
    *variables : array of shape (n, d_l), data frame, path, or anything else that :func:`kernelmean.read` takes
        Two or more variables of any widths; row i of each is one observation. They are held in memory.
    kernel : Kernel, class or str, or a tuple with one per variable
        As in :func:`kernelmean.hsic_test`: rules look at the rows of their own variable.
    estimator : str, KernelMean or callable, or a tuple with one per variable
        "adaptive", the default, has four kernels, the same for all variables: 1 + x·y, and Gaussian ones of 2, 1 and a
        quarter times the median distance, on columns in units of their spread. Of one kernel "kme", "mkme" or "mmkme",
        or as in :func:`kernelmean.hsic_test`.
    design : Design, optional
        None: strata, clusters and weights are for two variables, and refused.
    scheme : {"auto", "exact", "random"}
        All (n!)^(k-1) combinations of permutations, or random ones; "auto" enumerates when there are at most
        n_resamples + 1.
    n_resamples, rng, plan
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``kernel`` and ``noise`` have one entry per variable. It explains itself where there are two, as
        :func:`hsic_test` does.

    Raises
    ------
    ValueError
        When there are fewer than two variables, a design was passed, numbers of rows differ, there are fewer than two
        rows, or a value is not finite.
    MemoryError
        When more memory is needed than the plan allows.

    Notes
    -----
    The p-value is exact: the rows of all variables but the first are permuted, independently of one another, and never
    the columns of a variable. Two variables have the V-statistic of :func:`kernelmean.hsic_test`. A constant variable
    has dHSIC 0 and p = 1. O(P k n²) time for P permutations of k variables, four times that with "adaptive"
    (three variables of 200 rows take half a second, of 1000 rows 15 seconds), with the kernels evaluated again in each
    permutation beyond 5000 rows; memory never O(n²) there. Pfister et al. (2018), definition 2.6 and section 3.2.2.

    Examples
    --------
    Any two of these are independent, all three are not:

    >>> import numpy as np
    >>> x, y = np.random.default_rng(0).standard_normal((2, 80, 1))
    >>> z = np.sign(x * y) * np.random.default_rng(1).exponential(size=(80, 1))
    >>> dhsic_test(x, y, z, rng=0).pvalue < 0.01
    True
    """
    _check_several(variables, "variable", "dhsic_test")
    checked = check_design(design)
    wanted = asked(kernel, estimator, JointIndependence.known(checked), len(variables))
    return answer(JointIndependence, variables, Request(wanted, checked, "v", scheme, n_resamples, rng), plan)


def _check_several(data: tuple[Any, ...], noun: str, test: str) -> None:
    """Raise when there are fewer than two tables, as where they were passed as one list."""
    if len(data) < 2:
        raise ValueError(f"{passed(len(data), noun)}, two at least are needed: {test}(X, Y, Z)")
