"""Do two samples come from one distribution? The test on MMD²: of samples, of pairs, and of time series."""

from __future__ import annotations

from typing import Any

from ..core.array import RngLike
from ..core.words import refuse
from ..estimators import KernelMean
from ..estimators.base import KernelLike
from ..plan.plan import Plan, RemotePlan
from .adaptive.many_kernels import Adaptive
from .answering import answer
from .designs.design import AnyDesign, check_design
from .given.adjusted import adjusted_test
from .questions import TwoSamples
from .request import KernelOf, Request, asked
from .result import TestResult
from .statistics import StatisticForm

Estimator = str | KernelMean | KernelOf | Adaptive


def mmd_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike | None = None,
    estimator: Estimator | None = None,
    design: AnyDesign | None = None,
    statistic: StatisticForm | None = None,
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | RemotePlan | None = None,
    given: tuple[Any, Any] | None = None,
) -> TestResult | Any:  # with given an AdjustedResult: readers of either need no cast
    r"""Test whether two samples come from one distribution, by the maximum mean discrepancy and exact permutations.

    .. math:: \widehat{\mathrm{MMD}}^2 = \overline{k(x, x')} + \overline{k(y, y')} - 2 \overline{k(x, y)}

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), data frame, path, or anything else that :func:`kernelmean.read` takes
        Two samples with the same columns. Arrays of torch, or of another library with the array API, stay on their
        device; an adaptive test of up to 20,000 rows copies them from there.
    kernel : Kernel, class, function or str, optional
        Short for ``estimator=KME(kernel)``, in the units of the columns. A rule for the bandwidth, as in
        ``Gaussian("median")``, looks at the pooled sample. A function k(X, Y), or "precomputed" if X and Y are the rows
        of a Gram matrix K, ``mmd_test(K[:n], K[n:], ...)``: see :doc:`/guides/kernels`.
    estimator : str, KernelMean, callable or Adaptive, optional
        "adaptive", the default, combines about 20 kernels, on columns in units of their own spread, into one exact
        p-value. "log-mean-exp", "aggregate" and an :class:`Adaptive` are adaptive too; the others have one kernel.
        "kme" is Gaussian with the median distance. With "mkme", "mmkme", or another KernelMean without filter and
        contraction, noise makes it another kernel (Xia et al. 2021, eq. (31)). "s-kmse" and "f-kmse" find weights
        of each sample, again under every permutation. A function of the pooled rows and the kernel may return the
        kernel of the test and the noise in it.
    design : Design, optional
        Strata, clusters and weights, or pairs, or time series; see :class:`kernelmean.Design`.
    statistic : {"u", "v"}, optional
        The unbiased statistic, the default, or the V-statistic, the only one with strata, clusters, weights or series.
    scheme : {"auto", "exact", "random", "bins"}
        Permutations that are evaluated fast together, all of them, or independent random ones; all are exact. "bins"
        adds up features of the rows in about 1,000 bins, in memory that does not grow with the rows.
    n_resamples : int
        The least number of permutations besides the observed one, or all of them if there are no more.
    rng : int, Generator, or None
        The seed. The same seed gives the same p-value, whatever the plan.
    plan : Plan or DaskPlan, optional
        Threads, by default one (in bins all), and memory; or a cluster, see :class:`kernelmean.DaskPlan`.
    given : pair of arrays (n, e) and (m, e), or data frames, optional
        Known columns of the rows of X and of Y; categories of frames are strata. The test then asks whether X and Y
        differ beyond what these explain: it is :func:`kernelmean.ci_test` of the label of the sample and the columns.
        Of the options above only strata of a design, ``n_resamples`` and ``rng`` go with it; see :doc:`/guides/given`.

    Returns
    -------
    TestResult or AdjustedResult
        Unpacks as ``(statistic, pvalue)``; ``members`` lists the kernels of an adaptive test. With ``given``
        ``differences`` of means as they are and adjusted, ``effective_rows`` and ``weights``.

    Raises
    ------
    ValueError
        When the columns differ, a sample is too small, a value is not finite, or options do not go together.
    TypeError, OSError, ImportError
        As :func:`kernelmean.read`.

    Notes
    -----
    The p-value is exact: under the null hypothesis P(p ≤ α) ≤ α for every n and m, with ties counted. Constant data
    have p = 1. Swapping X and Y changes nothing but rounding; rescaling columns does not change p of "adaptive".

    What changes places are rows, up to 1,024 of them; beyond that bins of rows, which keeps the test exact
    (Domingo-Enrich, Dwivedi & Mackey 2025). One kernel takes one pass over all pairs of rows, O(n² d), or O(n r) on
    factors of rank r if that is low; "adaptive" O(n r (d + r)), r = 64, a tenth of a second for two samples of 1,000
    rows. Beyond 20,000 rows of a sample (100,000 for one kernel) features of the rows are added up in bins, wherever
    they are; see :doc:`/scale`. "f-kmse" takes an eigendecomposition per sample and permutation, up to 1,000 rows.

    References: Gretton et al. (2012), eq. (3) and (5); Hemerik & Goeman (2018); Muandet et al. (2014) for shrinkage.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean import Design
    >>> X, Y = np.arange(4.0)[:, None], np.arange(10.0, 13.0)[:, None]
    >>> result = mmd_test(X, Y)
    >>> result.scheme, result.n_resamples, round(result.pvalue * 35)
    ('exact', 34, 1)

    Three patients against three, two rows each; :doc:`/designs` has more.

    >>> rows, patients = np.arange(12.0)[:, None], np.arange(12) // 2
    >>> mmd_test(rows[:6], rows[6:], design=Design(clusters=(patients[:6], patients[6:]))).n_resamples + 1
    20
    """
    checked = check_design(design)
    if given is not None:
        reason = "given= makes one test of what regressions leave"
        refuse(reason, kernel=(kernel, None), estimator=(estimator, None), statistic=(statistic, None))
        refuse(reason, scheme=(scheme, "auto"), plan=(plan, None))
        return adjusted_test(X, Y, given, design=checked, n_resamples=n_resamples, rng=rng)
    estimators = asked(kernel, estimator, TwoSamples.known(checked), adaptive=not checked.in_series)
    form: StatisticForm = ("v" if checked.says_more or checked.in_series else "u") if statistic is None else statistic
    return answer(TwoSamples, (X, Y), Request(estimators, checked, form, scheme, n_resamples, rng), plan)
