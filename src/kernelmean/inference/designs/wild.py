r"""Tests for time series by the wild bootstrap: multipliers that depend on one another as the data may.

The multipliers of Chwialkowski, Sejdinovic & Gretton (2014) are a stationary Gaussian autoregression,
:math:`W_t = e^{-1/l} W_{t-1} + \sqrt{1 - e^{-2/l}} ε_t`, of which the mean is subtracted. That takes variance away, a
share :math:`\frac{1}{n^2} \sum_{st} e^{-|s-t|/l}`, which is given back here: without it the tests reject too often in
short series, the more so the longer l. These p-values are asymptotic: unlike those of permutations they are not exact
at any size, and the results say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.array import Array, RngLike, as_rng
from ...core.validate import check_positive
from ...estimators import KernelMean
from ...estimators.options import KernelLike
from ...plan.tiles import serial_blas
from ..engine import check_memory, check_n_resamples, check_resources
from ..kernel_choice import KernelOf, choose_kernel, median_rows
from ..null import Null
from ..problem import KernelSide
from ..result import WILD, TestResult
from ..samples import check_pairs, check_samples
from ..statistics import ties
from ..units import each_notes, is_default, units_notes
from .forms import TiledForms, forms_bytes, gram_forms
from .layout import plain_layout
from .stratified_hsic import CenteredTiles
from .variables import choose_kernels, notes_of

_LEAST_ROWS = 4


def wild_mmd_test(
    X: Any,
    Y: Any,
    *,
    block_length: float,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    estimator: str | KernelMean | KernelOf | None = None,
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> TestResult:
    r"""Test whether two independent time series have one marginal law, by MMD² and the wild bootstrap.

    .. math:: T_b = \Big| \frac1n \sum_t \tilde W_t k(x_t, ·) - \frac1m \sum_t \tilde W'_t k(y_t, ·) \Big|^2

    against the V-statistic MMD².

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        Two stationary series, rows in the order of time.
    block_length : float
        l, in rows: how far the dependence reaches. Multipliers l rows apart have correlation 1/e. Results depend on it;
        try several. It must grow with the series, but more slowly.
    kernel, bandwidth, estimator
        As in :func:`kernelmean.mmd_test`.
    n_resamples : int
        Draws of the multipliers.
    rng, n_jobs, memory
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``scheme`` is "wild bootstrap", the one scheme whose p-value is asymptotic and not exact.

    Raises
    ------
    ValueError
        When the columns differ, a series has fewer than four rows or ``block_length`` ones, or a value is not finite.
    MemoryError
        When more than ``memory`` is needed.

    Notes
    -----
    O(n² d) time and one matrix product for all draws; memory never O(n²). Chwialkowski, Sejdinovic & Gretton (2014),
    section 4.1, with the centered multipliers, rescaled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = (multipliers(200, 5.0, 1, rng) for _ in range(2))
    >>> result = wild_mmd_test(X, Y + 2.0, block_length=10, rng=0)
    >>> result.scheme, result.pvalue < 0.05
    ('wild bootstrap', True)
    """
    default = is_default(kernel, bandwidth, estimator)
    notes = units_notes(X, Y, adaptive=False) if default else ()
    estimator = "kme" if estimator is None else estimator
    X, Y = check_samples(X, Y)
    for series, name in ((X, "X"), (Y, "Y")):
        _check_length(len(series), block_length, name)
    generator, resources = as_rng(rng), check_resources(n_jobs, memory)
    pooled = np.concatenate([X, Y])
    chosen = choose_kernel(pooled, kernel, bandwidth, estimator, median_rows(len(pooled), generator), "both series")
    count = check_n_resamples(n_resamples)
    needed = forms_bytes(len(pooled), pooled.shape[1], count, 1, resources)
    check_memory(needed, resources, "the wild bootstrap", len(pooled))
    signs = np.repeat([1 / len(X), -1 / len(Y)], [len(X), len(Y)])[:, None]
    with serial_blas:
        forms = gram_forms(KernelSide(pooled, (chosen.kernel,)), resources)
        drawn = centered_multipliers((len(X), len(Y)), block_length, count, generator, forms.batch)
        values = np.concatenate([forms.forms(signs * part) for part in drawn], axis=1)
    magnitude = np.abs(forms.diagonal).sum(axis=1) * (1 / len(X) + 1 / len(Y))
    return TestResult(
        method="Wild bootstrap two-sample test for time series, maximum mean discrepancy",
        kernel=chosen.kernel,
        noise=chosen.noise,
        sizes=(len(X), len(Y)),
        notes=chosen.notes + _caution(block_length) + notes,
        **Null(values, ties(values, magnitude), "MMD² (V-statistic)", WILD, needed).outcome(0),
    )


def wild_hsic_test(
    X: Any,
    Y: Any,
    *,
    block_length: float,
    kernel: KernelLike | tuple[KernelLike, KernelLike] = "gaussian",
    bandwidth: Any = "median",
    estimator: str | KernelMean | KernelOf | None = None,
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> TestResult:
    r"""Test whether two time series are independent at the same time, by HSIC and the wild bootstrap.

    .. math:: T_b = \frac{1}{n^2} \sum_{st} \tilde W_s \tilde W_t \bar K_{st} \bar Z_{st}

    against HSIC = tr(HKHZ)/n², K̄ = HKH and Z̄ = HZH.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), or data frame
        Two stationary series over the same times. To look for dependence at a lag, shift one of them.
    block_length : float
        l, in rows, as in :func:`wild_mmd_test`.
    kernel, bandwidth, estimator
        As in :func:`kernelmean.hsic_test`.
    n_resamples : int
        Draws of the multipliers.
    rng, n_jobs, memory
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``scheme`` is "wild bootstrap", the one scheme whose p-value is asymptotic and not exact.

    Raises
    ------
    ValueError
        When the numbers of rows differ, there are fewer than four rows or ``block_length`` ones, or a value is not
        finite.
    MemoryError
        When more than ``memory`` is needed.

    Notes
    -----
    O(n² (d + e)) time and one matrix product for all draws; memory never O(n²). Chwialkowski, Sejdinovic & Gretton
    (2014), section 4.2, with the centered multipliers, rescaled.

    Examples
    --------
    >>> x = multipliers(200, 5.0, 1, np.random.default_rng(0))
    >>> result = wild_hsic_test(x, x**2, block_length=10, rng=0)
    >>> result.scheme, result.pvalue < 0.05
    ('wild bootstrap', True)
    """
    default = is_default(kernel, bandwidth, estimator)
    notes = each_notes((X, Y), adaptive=False) if default else ()
    estimator = "kme" if estimator is None else estimator
    X, Y = check_pairs(X, Y)
    n = len(X)
    _check_length(n, block_length, "X")
    generator, resources = as_rng(rng), check_resources(n_jobs, memory)
    chosen = choose_kernels((X, Y), "XY", kernel, bandwidth, estimator)
    count = check_n_resamples(n_resamples)
    needed = forms_bytes(n, X.shape[1] + Y.shape[1], count, 2, resources)
    check_memory(needed, resources, "the wild bootstrap", n)
    with serial_blas:
        left, right = (
            CenteredTiles(KernelSide(points, (own.kernel,)), plain_layout(n), resources)
            for points, own in zip((X, Y), chosen, strict=True)
        )
        forms = TiledForms(lambda i, j: [left(i, j)[0] * right(i, j)[0]], np.zeros((1, n)), resources.n_jobs)
        drawn = centered_multipliers((n,), block_length, count, generator, forms.batch)
        values = n**2 * np.concatenate([forms.forms(part) for part in drawn], axis=1)
    magnitude = n**2 * left.magnitude() * right.magnitude()
    return TestResult(
        method="Wild bootstrap test of independence for time series, Hilbert-Schmidt criterion",
        kernel=tuple(own.kernel for own in chosen),
        noise=tuple(own.noise for own in chosen),
        sizes=(n,),
        notes=notes_of(chosen) + _caution(block_length) + notes,
        **Null(values, ties(values, magnitude), "HSIC (V-statistic)", WILD, needed).outcome(0),
    )


def multipliers(n: int, block_length: float, count: int, rng: np.random.Generator) -> Array:
    """Return ``count`` stationary autoregressions of n steps, mean 0, variance 1, correlation e^{-t/l}; (n, count)."""
    return autoregressions(rng.standard_normal((count, n)).T, block_length)


def autoregressions(noise: Array, block_length: float) -> Array:
    """Return the stationary autoregressions that independent standard noise (n, count) drives."""
    from scipy.signal import lfilter  # a tenth of a second, which only these tests need

    decay = float(np.exp(-1 / block_length))
    steps = noise * np.sqrt(1 - decay**2)
    steps[0] = noise[0]
    return np.asarray(lfilter([1.0], [1.0, -decay], steps, axis=0))


def centered_multipliers(
    sizes: tuple[int, ...], block_length: float, count: int, rng: np.random.Generator, batch: int
) -> Iterator[Array]:
    """Yield multipliers of independent series one below the other: arrays (Σ n, b ≤ ``batch``).

    Each series less its mean and divided by the deviation that this leaves on average. The very first column are ones,
    which give the observed statistic; ``count`` draws follow.
    """
    ends = np.cumsum(sizes)
    for start in range(0, count + 1, batch):
        noise = rng.standard_normal((min(batch, count + 1 - start) - (start == 0), int(ends[-1]))).T
        drawn = [autoregressions(part, block_length) for part in np.split(noise, ends[:-1])]
        part = np.concatenate([_centered(series, block_length) for series in drawn])
        yield np.concatenate([np.ones((len(part), 1)), part], axis=1) if start == 0 else part


def _centered(series: Array, block_length: float) -> Array:
    """Return multipliers less their mean, with an expected mean square of 1 again."""
    n = len(series)
    lags = np.arange(1, n)
    of_mean = (n + 2 * ((n - lags) @ np.exp(-lags / block_length))) / n**2
    return np.asarray((series - series.mean(axis=0)) / np.sqrt(1 - of_mean))


def _check_length(n: int, block_length: float, name: str) -> None:
    """Raise when a series is too short for the reach of its dependence."""
    length = float(check_positive(block_length, "block_length"))
    if n < max(_LEAST_ROWS, length):
        raise ValueError(
            f"{name} has {n} rows for block_length={length:g}; the wild bootstrap rests on many blocks: pass a longer "
            "series or a shorter length"
        )


def _caution(block_length: float) -> tuple[str, ...]:
    return (
        f"the p-value is asymptotic, not exact: it holds for long stationary series whose dependence fades within "
        f"block_length={float(block_length):g} rows",
    )
