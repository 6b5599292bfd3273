"""Do two samples come from one distribution? The test on MMD²: of samples, of pairs, and of time series."""

from __future__ import annotations

from typing import Any

from ..core.array import RngLike
from ..estimators import KernelMean
from ..estimators.base import KernelLike
from ..plan.plan import Plan, RemotePlan
from .adaptive.many_kernels import Adaptive
from .answering import answer
from .designs.design import Design, check_design
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
    design: Design | None = None,
    statistic: StatisticForm | None = None,
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | RemotePlan | None = None,
) -> TestResult:
    r"""Test whether two samples come from one distribution, by the maximum mean discrepancy and exact permutations.

    .. math:: \widehat{\mathrm{MMD}}^2 = \overline{k(x, x')} + \overline{k(y, y')} - 2 \overline{k(x, y)}

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), data frame, path, or anything else that :func:`kernelmean.read` takes
        Two samples with the same columns; n and m may differ. Arrays of torch, or of another library with the array
        API, are compared on their device, such as a GPU, with the same permutations for the same scheme; an adaptive
        test of up to 20 000 rows copies them from there. Files, folders of Parquet files, dask tables and iterables of
        batches give the same result as the table in memory. An adaptive test of more than 20 000 rows of a sample,
        wherever they are, adds up features of the rows in bins. So does a test of one kernel on files of more than 100
        000 rows. The result says so. To ask for bins with fewer rows, pass ``kernelmean.read(path, in_memory=False)``.
    kernel : Kernel, class or str, optional
        A kernel, short for its plain estimator ``KME(kernel)``, in the units of the columns. If the bandwidth is a
        rule, as in ``Gaussian("median")``, it is found in the pooled sample (in 1000 rows drawn by the seed if there
        are more); see :func:`kernelmean.median_bandwidth`. A class of :mod:`kernelmean.kernels` uses the median too.
    estimator : str, KernelMean, callable or Adaptive, optional
        "adaptive", the default, needs no choice of kernel or bandwidth. It has about 20 kernels, on columns in units of
        their own spread, and combines them into one exact p-value. On average it is the most powerful of these tests,
        at any number of rows. (With a design and more than 20 000 rows the default has one kernel, "kme", and says
        so.) "log-mean-exp", "aggregate" and an :class:`Adaptive` are adaptive tests too. The others have one kernel.
        "kme" is the plain test, with a Gaussian kernel at the median distance of the rows as they are. With "mkme",
        "mmkme", or a KernelMean without filter and contraction, noise turns the kernel into another kernel, eq.
        (m_kernel) of Xia et al. (2021), which is a principled choice of the bandwidth. "s-kmse" and "f-kmse" find the
        weights of each sample, again under every permutation; the strength of any other filter, or beside a noise, is
        that of the pooled rows. You may also pass a symmetric function of the pooled rows and the kernel that returns
        the kernel of the test and the noise in it. An estimator has its own kernel, so do not pass ``kernel`` as well;
        write ``estimator=MKME(kernel)``.
    design : Design, optional
        Strata, clusters and weights, or pairs, or time series; see :class:`kernelmean.Design`.
    statistic : {"u", "v"}, optional
        The unbiased statistic, the default, or the V-statistic, which is never negative and the only one with strata,
        clusters, weights or series. Of an estimator with weights b, "u" leaves out the diagonal,
        n/(n-1) Σ_{i≠j} b_i b_j k(x_i, x_j); shrinkage makes it biased.
    scheme : {"auto", "exact", "random", "bins"}
        Permutations that are evaluated fast together, all of them, or independent random ones; all are exact. "bins"
        adds up features of the rows in about 1000 bins, wherever the rows are, in memory that does not grow with them.
        It serves adaptive tests, kme, mkme and mmkme, without designs.
    n_resamples : int
        The least number of permutations besides the observed one, or all of them if there are no more.
    rng : int, Generator, or None
        The seed. The same seed gives the same p-value, whatever the plan.
    plan : Plan or DaskPlan, optional
        The number of threads, by default one (in bins all), and the memory of batches. Or a cluster, if X and Y are
        dask arrays, dask data frames or folders of Parquet files; see :class:`kernelmean.DaskPlan`.

    Returns
    -------
    TestResult
        Unpacks as ``(statistic, pvalue)``. In an adaptive test the statistic combines those of its kernels, which
        ``members`` lists.

    Raises
    ------
    ValueError
        When the columns differ, a sample is too small for the statistic, a value is not finite, a scheme does not fit,
        a weight is negative or all are zero, or strata and clusters leave no two rows that may be exchanged; when
        bins do not work with an option.
    TypeError, OSError, ImportError
        As :func:`kernelmean.read`.

    Notes
    -----
    The p-value is exact: under the null hypothesis P(p ≤ α) ≤ α for every n and m, with ties counted. Constant data
    have p = 1. Swapping X and Y changes nothing but rounding; shifting or rescaling the data, with a bandwidth by rule,
    does not change p, and with "adaptive" rescaling single columns does not. O(n²d) time at most, O(n r) on low-rank
    factors of rank r; memory never O(n²). With strata, clusters or weights O(n² (d + P)) for P permutations, O(n r P)
    on factors. "adaptive" takes O(n r (d + r)) time for every view of the rows, r = 64, and has about the cost of
    twenty kernels on factors: a tenth of a second for two samples of 1000 rows.

    "s-kmse" costs no more than "kme", since λ has a closed form in sums that every scheme delivers. "f-kmse" takes one
    eigendecomposition of a Gram matrix per sample and permutation and O(n²) memory, up to 1000 rows a sample, and
    with a number as strength one linear system, up to 3000; 999 permutations of two samples of 100 rows take about 3
    and 0.2 seconds.

    *In bins.* Row numbers are dealt at random to bins of equal size, about 1000 for both samples together. Permutations
    exchange bins; leftover rows that do not fill a bin stay in their sample. What the features need (units, ranks,
    landmarks, directions) is fitted to a pilot of about 4000 rows, equally many from every bin. Permutations exchange
    these as well, so the p-value is exact, whatever the order of the rows. A first pass over a file finds the pilot; if
    the length of the file is unknown, another pass counts the rows. Rows of iterators, which can be read only once, are
    put into a temporary file. O((n + m) r (d + r)) time for every view, O(1) memory.
    Effect sizes, witnesses and attributions of such a result are computed from the pilot. Domingo-Enrich, Dwivedi &
    Mackey (2025).
    Gretton et al. (2012), eq. (3) and (5); Hemerik & Goeman (2018) for groups of permutations; Muandet et al.
    (2014) for shrinkage.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.arange(4.0)[:, None], np.arange(10.0, 13.0)[:, None]
    >>> result = mmd_test(X, Y)
    >>> result.scheme, result.n_resamples, round(result.pvalue * 35)
    ('exact', 34, 1)

    Weights fitted to each sample, again under every permutation:

    >>> mmd_test(X, Y, estimator="f-kmse").n_resamples
    34

    Two centers, one of which measures 10 more; within centers X and Y differ by 1.

    >>> X, Y = np.array([[0.0], [2.0], [10.0]]), np.array([[1.0], [11.0], [13.0]])
    >>> result = mmd_test(X, Y, design=Design(strata=([1, 1, 2], [1, 2, 2])), statistic="v")
    >>> result.n_resamples + 1, result.notes[-1]
    (9, 'rows are permuted only within their stratum (2 strata of 3 rows each)')

    Three patients against three, two rows each:

    >>> rows, patients = np.arange(12.0)[:, None], np.arange(12) // 2
    >>> mmd_test(rows[:6], rows[6:], design=Design(clusters=(patients[:6], patients[6:]))).n_resamples + 1
    20

    Weights:

    >>> weighted = mmd_test(X, Y, design=Design(weights=([1.0, 1.0, 2.0], [2.0, 1.0, 1.0])), rng=0)
    >>> weighted.n_resamples + 1
    20

    Batches of rows (few here), and features of the rows added up in bins, which work for any number of rows:

    >>> X, Y = np.random.default_rng(0).normal(size=(2, 500, 1))
    >>> result = mmd_test(iter([X[:300], X[300:]]), Y, rng=0)
    >>> result.pvalue == mmd_test(X, Y, rng=0).pvalue
    True
    >>> mmd_test(X, Y, scheme="bins", rng=0).scheme
    'bins'
    """
    checked = check_design(design)
    wanted = asked(kernel, estimator, TwoSamples.known(checked), adaptive=not checked.in_series)
    form: StatisticForm = ("v" if checked.says_more or checked.in_series else "u") if statistic is None else statistic
    return answer(TwoSamples, (X, Y), Request(wanted, checked, form, scheme, n_resamples, rng), plan)
