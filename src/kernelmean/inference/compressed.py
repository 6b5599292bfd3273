"""Compress Then Test: the two-sample test of many rows, on coresets of blocks of them."""

from __future__ import annotations

from typing import Any

from ..core.array import RngLike
from ..estimators import KernelMean
from ..estimators.options import KernelLike
from ..plan.plan import Plan
from .designs.compressed import CompressedSamples
from .kernel_choice import ESTIMATORS, KernelOf
from .questions import TwoSamples
from .request import asked
from .resampling_options import Resampling
from .result import TestResult
from .samples import named_samples


def compress_then_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike | None = None,
    estimator: str | KernelMean | KernelOf | None = None,
    oversampling: int = 2,
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | None = None,
) -> TestResult:
    r"""Test whether two samples come from one distribution, by coresets of blocks of rows, and permutations of these.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        Two samples of the same columns, at least 16 rows each; n and m may differ.
    kernel, estimator : as in :func:`kernelmean.mmd_test`
        The estimator is one that only changes the kernel: "kme", "mkme", "mmkme", or a function.
    oversampling : int
        A block of s rows becomes at most ``oversampling`` √s points: more are nearer to the exact test; the cost is
        that of the square.
    n_resamples : int
        Random permutations of the blocks.
    rng : int or Generator
        Deals rows to blocks, thins, and permutes.
    plan : Plan, optional
        Threads.

    Returns
    -------
    TestResult
        Its statistic is the MMD² of the weighted coresets, its scheme "compressed blocks".

    Raises
    ------
    ValueError, TypeError
        As :func:`kernelmean.mmd_test`; and when a sample has fewer than 16 rows.

    Notes
    -----
    Rows are dealt at random to blocks of s = min((n + m)/64, min(n, m)/16) rows, each of one sample, and every block is
    thinned by itself in the same way. Without a difference the thinned blocks are exchangeable, so P(p ≤ α) ≤ α: what
    thinning loses costs power, never the level. A block counts with its share s/n or s/m, and the rows that fill none,
    thinned too, stay in their sample with theirs: so the statistic is MMD² for n ≠ m as well. Domingo-Enrich, Dwivedi
    & Mackey (2023; arXiv 2301.05974), who treat equal shares. O((n + m) s) kernel values for blocks of up to 2048
    rows, near-linear time beyond, then O(c²) for the c points of all coresets.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(3000, 2)), rng.normal(size=(1000, 2)) + 0.2
    >>> result = compress_then_test(X, Y, rng=0)
    >>> result.pvalue, result.scheme
    (0.001, 'compressed blocks')
    """
    wanted = asked(kernel, estimator, ESTIMATORS, adaptive=False)
    how = Resampling.of("auto", n_resamples, rng, plan)
    samples, names = named_samples(X, Y, anywhere=False)
    design = CompressedSamples.of(samples, oversampling, plan)
    return TwoSamples(*samples, names, design=design).answered(wanted, "v", how)
