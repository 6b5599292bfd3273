"""Are two variables independent? The permutation test on HSIC."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .._array import Array, RngLike, as_rng
from ..estimators import KernelMean
from ..estimators.options import KernelLike
from ..kernels import Kernel
from .adaptive import Adaptive, as_adaptive
from .adaptive_hsic import adaptive_hsic
from .engine import permutation_null
from .kernel_choice import KernelOf, choose_kernel, median_rows
from .null import Null
from .problem import KernelSide, Problem
from .result import TestResult
from .samples import check_pairs
from .statistics import HSIC, Kind, Statistic

Pair = tuple[KernelLike, KernelLike]


def hsic_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike | Pair = "gaussian",
    bandwidth: Any = "median",
    estimator: str | KernelMean | KernelOf | Adaptive = "kme",
    statistic: Kind = "v",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> TestResult:
    r"""Test whether two variables are independent, by the Hilbert-Schmidt criterion and exact permutations.

    .. math:: \widehat{\mathrm{HSIC}} = \mathrm{tr}(HKHZ) / n^2

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), or data frame
        Row i of X and row i of Y are one observation.
    kernel : str, class or Kernel, or a tuple of two
        As in :func:`mmd_test`; a tuple is the kernel of X and the kernel of Y.
    bandwidth : float, array, or str, or a tuple of two
        As in :func:`mmd_test`, found for X from X and for Y from Y; a tuple is that of X and that of Y.
    estimator : str, KernelMean, callable or Adaptive
        As in :func:`mmd_test`; a noise is fitted to X for the kernel of X and to Y for that of Y, which no permutation
        of the pairs changes, and a function sees the rows of one variable at a time.
    statistic : {"v", "u"}
        The V-statistic, or the unbiased one, which needs four rows.
    scheme, n_resamples, rng, n_jobs, memory
        As in :func:`mmd_test`.

    Returns
    -------
    TestResult
        Unpacks as ``(statistic, pvalue)``; ``kernel`` and ``noise`` are pairs.

    Raises
    ------
    ValueError
        When the numbers of rows differ, there are too few, a value is not finite, or a scheme does not fit.
    MemoryError
        When the scheme needs more than ``memory``.

    Notes
    -----
    The p-value is exact, with ties counted; a constant variable has HSIC 0 and p = 1. Swapping X and Y changes the
    statistic by rounding only. O(n² (log n + d + e)) time for about a thousand permutations, O(n r²) on low-rank
    factors of rank r; memory never O(n²) beyond 5000 rows.
    Gretton et al. (2005), eq. (9); Song et al. (2012), eq. (5); Koning & Hemerik (2022) for groups.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> result = hsic_test(x, np.cos(6 * x), rng=0)
    >>> result.scheme, result.pvalue < 0.01
    ('cyclic', True)
    """
    X, Y = check_pairs(X, Y)
    generator = as_rng(rng)
    adaptive = as_adaptive(estimator, kernel, bandwidth)
    if adaptive is not None:
        options: dict[str, Any] = {
            "statistic": statistic,
            "n_resamples": n_resamples,
            "n_jobs": n_jobs,
            "memory": memory,
        }
        return adaptive_hsic((X, Y), adaptive, partial(hsic_null, **options), scheme, generator)
    assert not isinstance(estimator, Adaptive)  # told apart above; for the type checker
    rows = median_rows(len(X), generator)
    chosen = [
        choose_kernel(points, own_kernel, own_bandwidth, estimator, rows, name)
        for points, own_kernel, own_bandwidth, name in zip((X, Y), _both(kernel), _both(bandwidth), "XY", strict=True)
    ]
    null = hsic_null(
        X,
        Y,
        [(chosen[0].kernel, chosen[1].kernel)],
        statistic=statistic,
        scheme=scheme,
        n_resamples=n_resamples,
        rng=generator,
        n_jobs=n_jobs,
        memory=memory,
    )
    return TestResult(
        method="Permutation test of independence, Hilbert-Schmidt criterion",
        kernel=tuple(side.kernel for side in chosen),
        noise=tuple(side.noise for side in chosen),
        sizes=(len(X),),
        notes=chosen[0].notes + chosen[1].notes,
        **null.outcome(0),
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
    left, right = (_distinct([pair[side] for pair in kernels]) for side in (0, 1))
    pairs = tuple((left[id(first)][0], right[id(second)][0]) for first, second in kernels)
    sides = [
        KernelSide(points, tuple(kernel for _, kernel in side.values())) for points, side in ((X, left), (Y, right))
    ]
    criterion = statistic if isinstance(statistic, Statistic) else HSIC(len(X), statistic)
    problem = Problem(sides[0], sides[1], pairs, criterion)
    return permutation_null(problem, n_resamples, scheme=scheme, rng=rng, n_jobs=n_jobs, memory=memory)


def _distinct(kernels: Sequence[Kernel]) -> dict[int, tuple[int, Kernel]]:
    """Return the different objects, numbered in the order of their first use."""
    found: dict[int, tuple[int, Kernel]] = {}
    for kernel in kernels:
        found.setdefault(id(kernel), (len(found), kernel))
    return found


def _both(value: Any) -> tuple[Any, Any]:
    """Return what holds for X and for Y."""
    if isinstance(value, tuple):
        if len(value) != 2:
            raise ValueError(
                f"{value!r} is a tuple of {len(value)}; pass one value for both variables, or (for X, for Y)"
            )
        return value
    return value, value
