"""Tests of several samples (one distribution?) and of several variables (jointly independent?)."""

from __future__ import annotations

from typing import Any

from ..core.array import RngLike
from ..core.words import passed
from ..estimators import KernelMean
from ..estimators.base import KernelLike
from ..plan.plan import Plan, RemotePlan
from .adaptive.many_kernels import Adaptive
from .answering import answer
from .designs.design import AnyDesign, check_design
from .questions import JointIndependence, KSamples
from .request import KernelOf, Request, asked
from .result import TestResult
from .statistics import StatisticForm


def k_sample_test(
    *samples: Any,
    kernel: KernelLike | None = None,
    estimator: str | KernelMean | KernelOf | Adaptive | None = None,
    design: AnyDesign | None = None,
    statistic: StatisticForm | None = None,
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | RemotePlan | None = None,
) -> TestResult:
    r"""Test whether several samples come from one distribution, by MMD² of all pairs of them and exact permutations.

    .. math:: T = \frac{\sum_{g<h} n_g n_h \mathrm{MMD}^2_{gh}}{\sum_{g<h} n_g n_h}

    For the V-statistic the numerator is :math:`n \sum_g n_g |μ_g - \bar μ|^2`, the scatter between the samples, which
    is HSIC with the label kernel 1{g = h} / n_g up to a factor. Two samples have T = MMD².

    Parameters
    ----------
    *samples : array of shape (n_g, d), data frame, path, or anything else that :func:`kernelmean.read` takes
        Two or more samples of the same columns; sizes may differ.
    kernel, estimator
        As in :func:`kernelmean.mmd_test`, "adaptive" by default. Kernels are found from all rows together. The adaptive
        test has the members of the two-sample test.
    design : Design, optional
        Strata, clusters and weights, each a tuple with those of every sample; see :class:`kernelmean.Design`. The MMD²
        of a pair is then that of the two-sample test, and pairs count in proportion to Σ_s A_gs A_hs, where A_gs is the
        weight of sample g in stratum s.
    statistic : {"u", "v"}, optional
        The unbiased statistic, the default, or the V-statistic, the only one with a design.
    scheme : {"auto", "exact", "random", "bins"}
        All n! / Π n_g! labelings, or random permutations; "auto" enumerates when there are at most n_resamples + 1.
    n_resamples, rng, plan
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``pairs`` has the statistic and the p-values of every pair of samples, under the same permutations. With two
        samples, ``effect_size``, ``witness`` and the other explanations work as after :func:`mmd_test`.

    Raises
    ------
    ValueError
        When there are fewer than two samples, columns differ, a sample is too small for the statistic, or no rows may
        change places.

    Notes
    -----
    The p-value is exact. The adjusted p-values of the pairs step down from the largest standardized statistic
    (Westfall & Young 1993). All samples are permuted together, so they bound the probability of any false finding only
    when **all** samples come from one distribution. If you know that some samples differ and want to single out pairs,
    test these with :func:`kernelmean.mmd_test`, which permutes two samples only, and adjust by Holm's method.
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
    estimators = asked(kernel, estimator, KSamples.known(checked))
    form: StatisticForm = ("v" if checked.says_more else "u") if statistic is None else statistic
    return answer(KSamples, samples, Request(estimators, checked, form, scheme, n_resamples, rng), plan)


def dhsic_test(
    *variables: Any,
    kernel: KernelLike | tuple[KernelLike, ...] | None = None,
    estimator: Any = None,
    design: AnyDesign | None = None,
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
        As in :func:`kernelmean.hsic_test`: a rule looks at the rows of its own variable.
    estimator : str, KernelMean or callable, or a tuple with one per variable
        "adaptive", the default, has four kernels, the same for all variables: 1 + x·y, and Gaussian ones at 2, 1 and a
        quarter times the median distance, on columns in units of their spread. For one kernel pass "kme", "mkme" or
        "mmkme", or a KernelMean without filter or a function as in :func:`kernelmean.hsic_test`.
    design : Design, optional
        Leave it out: strata, clusters and weights work with two variables only.
    scheme : {"auto", "exact", "random"}
        All (n!)^(k-1) combinations of permutations, or random ones; "auto" enumerates when there are at most
        n_resamples + 1.
    n_resamples, rng, plan
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``kernel`` and ``noise`` have one entry per variable. With two variables, ``effect_size``, ``witness`` and the
        other explanations work as after :func:`hsic_test`.

    Raises
    ------
    ValueError
        When there are fewer than two variables, a design was passed, numbers of rows differ, there are fewer than two
        rows, or a value is not finite.

    Notes
    -----
    The p-value is exact: the rows of every variable but the first are permuted, independently of each
    other; the columns of a variable stay together. For two variables dHSIC is the V-statistic of
    :func:`kernelmean.hsic_test`. With a constant variable dHSIC is 0 and p = 1. O(P k n²) time for P permutations of k
    variables, four times that with "adaptive" (three variables of 200 rows take less than a second, of 1,000 rows 12
    seconds). Beyond 5,000 rows the kernels are evaluated again in each permutation, and memory is never O(n²). Pfister
    et al. (2018), definition 2.6 and section 3.2.2.

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
    estimators = asked(kernel, estimator, JointIndependence.known(checked), len(variables))
    return answer(JointIndependence, variables, Request(estimators, checked, "v", scheme, n_resamples, rng), plan)


def _check_several(data: tuple[Any, ...], noun: str, test: str) -> None:
    """Raise when there are fewer than two tables, such as when they were passed as one list."""
    if len(data) < 2:
        packed = "*samples.values()" if isinstance(data[0] if data else None, dict) else "*samples"
        mend = f"{test}(X, Y, Z), or {test}({packed.replace('samples', f'{noun}s')}) of several in one object"
        raise ValueError(f"{passed(len(data), noun)}, at least two are needed: {mend}")
