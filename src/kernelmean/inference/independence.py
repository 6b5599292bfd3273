"""Are two variables independent? The permutation test on HSIC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from ..core.array import Array, RngLike, as_host, as_rng, check_numpy
from ..estimators import KernelMean
from ..estimators.options import KernelLike
from ..kernels import Kernel
from ..plan.plan import RemotePlan, check_remote
from .adaptive import Adaptive, as_adaptive
from .adaptive_hsic import adaptive_hsic
from .designs.independence import pair_design
from .designs.variables import choose_kernels, notes_of
from .engine import permutation_null
from .estimated_hsic import HSIC_ESTIMATORS, JointFit, pair_estimator
from .kernel_choice import KernelOf, fits_nothing
from .null import Null
from .posed import Posed
from .problem import Problem, distinct_side
from .result import TestResult
from .samples import check_pairs
from .statistics import HSIC, Kind, Statistic
from .units import each_notes, is_default

Pair = tuple[KernelLike, KernelLike]


def hsic_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike | Pair = "gaussian",
    bandwidth: Any = "median",
    estimator: str | KernelMean | KernelOf | Adaptive | None = None,
    fit: JointFit = "separate",
    statistic: Kind = "v",
    groups: Any = None,
    clusters: Any = None,
    weights: Any = None,
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
    plan: RemotePlan | None = None,
) -> TestResult:
    r"""Test whether two variables are independent, by the Hilbert-Schmidt criterion and exact permutations.

    .. math:: \widehat{\mathrm{HSIC}} = \mathrm{tr}(HKHZ) / n^2

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), or data frame
        Row i of X and row i of Y are one observation. Arrays of other libraries as in :func:`mmd_test`.
    kernel : str, class or Kernel, or a tuple of two
        As in :func:`mmd_test`; a tuple is the kernel of X and the kernel of Y.
    bandwidth : float, array, or str, or a tuple of two
        As in :func:`mmd_test`, found for X from X and for Y from Y (beyond 1000 rows from 1000 that are evenly spaced
        among the sorted ones); a tuple is that of X and that of Y.
    estimator : str, KernelMean, callable or Adaptive
        As in :func:`mmd_test`, but a filter shrinks the cross-covariance: "scose" (or "s-kmse") and "fcose" (or
        "f-kmse") are the two shrunk statistics of Ramdas & Wehbe (2015), and a KernelMean with filter="scale" or
        "ridge" is that statistic with the kernels that its noise makes. A function sees the rows of one variable at a
        time.
    fit : {"separate", "joint"}
        Where a searched noise comes from: that of X from X and that of Y from Y, which no permutation changes, or
        both from one fit to the pairs (Gaussian kernels; columns in units of their bandwidths), which is repeated under
        every permutation, since it depends on who is paired with whom.
    statistic : {"v", "u"}
        The V-statistic, or the unbiased one, which needs four rows.
    groups : array of shape (n,), optional
        Strata of the rows: pairs are permuted within their stratum only, and the test asks whether the variables are
        independent given the stratum. The statistic is the squared norm of the mean cross-covariance within strata,
        :math:`|\sum_s p_s C_s|^2`, p_s the share of the rows: dependence between strata does not enter it.
    clusters : array of shape (n,), optional
        Rows that belong together, such as a time series per patient: the rows of Y of a cluster change places as a
        whole, in order, with those of clusters of as many rows only (and of its stratum). Blocks of one series
        (``clusters=np.arange(n) // length``) are exact where blocks are exchangeable; for dependence that goes beyond
        them see :func:`kernelmean.inference.wild_hsic_test`.
    weights : array of shape (n,), optional
        Survey or importance weights, not negative; means become weighted means. A weight stays with its row of X, so
        the test is exact where Y is independent of X and the weight together. Rows of weight zero are left out.
    scheme, n_resamples, rng, n_jobs, memory, plan
        As in :func:`mmd_test`.

    Returns
    -------
    TestResult
        Unpacks as ``(statistic, pvalue)``; ``kernel`` and ``noise`` are pairs.

    Raises
    ------
    ValueError
        When the numbers of rows differ, there are too few, a value is not finite, a scheme does not fit, a weight is
        negative or all are zero, or groups and clusters leave no two rows that may change places.
    MemoryError
        When the scheme needs more than ``memory``.

    Notes
    -----
    The p-value is exact, with ties counted; a constant variable has HSIC 0 and p = 1. Swapping X and Y changes the
    statistic by rounding only. O(n² (log n + d + e)) time for about a thousand permutations, O(n r²) on low-rank
    factors of rank r; memory never O(n²) beyond 5000 rows. With groups, clusters or
    weights O(n² P) for P permutations, O(n r² P) on factors; beyond 5000 rows without factors O(n² d P).

    SCOSE, :math:`(1-α)_+^2 h` with h the V-statistic, δ the mean of the diagonal of :math:`M = \bar K ∘ \bar Z` and
    :math:`α = (δ-h)/((n-2)h+δ/n)`, costs no more than HSIC. FCOSE, :math:`β^⊤Mβ` with :math:`β = (M+λI)^{-1}M1_n` and
    λ by exact leave-one-out on M, takes an eigendecomposition for every permutation and O(n²) memory, up to 1000
    pairs. A joint noise takes one fit for every permutation, up to 500 pairs. Both take the schemes "auto", "exact" and
    "random".
    Gretton et al. (2005), eq. (9); Song et al. (2012), eq. (5); Koning & Hemerik (2022) for groups; Ramdas & Wehbe
    (2015) for shrinkage; Xia et al. (2021) for the noise.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> result = hsic_test(x, np.cos(6 * x), rng=0)
    >>> result.scheme, result.pvalue < 0.01
    ('cyclic', True)

    Shrunk:

    >>> hsic_test(x, np.cos(6 * x), estimator="scose", rng=0).pvalue < 0.01
    True

    Both variables grow from center to center, and within centers there is nothing:

    >>> center = np.arange(40) // 10
    >>> x, y = np.random.default_rng(0).standard_normal((2, 40, 1)) + 5 * center[:, None]
    >>> hsic_test(x, y, rng=0).pvalue < 0.01, hsic_test(x, y, groups=center, rng=0).pvalue > 0.05
    (True, True)

    Four series of ten rows each, exchanged as wholes; and weights:

    >>> hsic_test(x, y, clusters=center).n_resamples + 1
    24
    >>> hsic_test(x, y, weights=1.0 + center, rng=0).pvalue < 0.01
    True
    """
    options = {name: value for name, value in locals().items() if name not in ("X", "Y", "plan")}
    options["estimator"] = "kme" if estimator is None else estimator
    if plan is not None:
        return cast("TestResult", check_remote(plan).hsic_test(X, Y, **options))
    posed = pose_hsic(X, Y, hsic_null, **options)
    result = posed if isinstance(posed, TestResult) else posed.result(posed.null)
    notes = each_notes((X, Y)) if is_default(kernel, bandwidth, estimator) else ()
    return replace(result, notes=(*result.notes, *notes)) if notes else result


def pose_hsic(
    X: Any,
    Y: Any,
    plain: Callable[..., Any],
    *,
    kernel: Any,
    bandwidth: Any,
    estimator: Any,
    fit: JointFit,
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
    """Return a test as :func:`hsic_test` poses it, with whatever ``plain`` returns in the place of ``hsic_null``.

    The result itself comes back where the test needs more than one null.
    """
    X, Y = check_pairs(X, Y, least=2, anywhere=True)
    sizes, design = (X.shape[0],), pair_design(X.shape[0], groups, clusters, weights)
    if design is not None:
        check_numpy(X, "groups, clusters and weights")
        X, Y = X[design.rows], Y[design.rows]
    null_of, notes = (plain, ()) if design is None else (design.null, design.notes)
    generator = as_rng(rng)
    limits: dict[str, Any] = {"n_resamples": n_resamples, "n_jobs": n_jobs, "memory": memory}
    adaptive = as_adaptive(estimator, kernel, bandwidth, HSIC_ESTIMATORS)
    if adaptive is not None:
        fits_nothing(fit, "separate")
        many = hsic_null if design is None else design.null
        found = adaptive_hsic((X, Y), adaptive, partial(many, statistic=statistic, **limits), scheme, generator)
        return replace(found, sizes=sizes, notes=found.notes + notes)
    assert not isinstance(estimator, Adaptive)  # told apart above; for the type checker
    options = {"scheme": scheme, "rng": generator, **limits}
    plain_only = None if design is None else "groups, clusters or weights"
    apart = pair_estimator(estimator, fit, statistic, plain_only=plain_only)
    chosen = choose_kernels((as_host(X), as_host(Y)), "XY", kernel, bandwidth, apart.kernels)
    if apart.plain:
        null = null_of(X, Y, [(chosen[0].kernel, chosen[1].kernel)], statistic=statistic, **options)
    else:
        null, chosen = apart.null(X, Y, chosen, statistic, plain, options)
    return Posed(
        null,
        method="Permutation test of independence, Hilbert-Schmidt criterion",
        kernel=tuple(side.kernel for side in chosen),
        noise=tuple(side.noise for side in chosen),
        sizes=sizes,
        notes=notes_of(chosen) + notes,
    )


def hsic_null(
    X: Array,
    Y: Array,
    kernels: Sequence[tuple[Kernel, Kernel]],
    *,
    statistic: Kind | Statistic = "v",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> Null:
    """Return HSIC of every pair of kernels under the same permutations, ``values`` of shape (pairs, P), observed first.

    A kernel that serves in several pairs, as the same object, is evaluated once.
    """
    problem = hsic_problem(X, Y, kernels, statistic)
    return permutation_null(problem, n_resamples, scheme=scheme, rng=rng, n_jobs=n_jobs, memory=memory)


def hsic_problem(X: Array, Y: Array, kernels: Sequence[tuple[Kernel, Kernel]], statistic: Kind | Statistic) -> Problem:
    """Return the Gram matrices of both variables."""
    sides = [distinct_side(points, [pair[side] for pair in kernels]) for side, points in enumerate((X, Y))]
    pairs = tuple(zip(sides[0][1], sides[1][1], strict=True))
    criterion = statistic if isinstance(statistic, Statistic) else HSIC(X.shape[0], statistic)
    return Problem(sides[0][0], sides[1][0], pairs, criterion)
