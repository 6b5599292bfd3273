"""Two files of any length: the two-sample test in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from .._array import Array
from .._table import count, listed
from .._validate import check_integer
from ..estimators.options import KernelLike
from ..features import FeatureMap
from ..features.draws import Design
from ..inference.result import TestResult
from ..inference.statistics import Kind
from ..plan import DEFAULT, Plan
from .batches import Batches, read_batches, split_rows
from .mean import Estimator
from .pilot import Recipe, pilot_rows
from .two_sample import two_sample_stream


def mmd_stream_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    features: FeatureMap | None = None,
    n_frequencies: int = 512,
    design: Design = "orthogonal",
    dtype: str = "float32",
    estimator: Estimator = "kme",
    statistic: Kind = "u",
    n_resamples: int = 999,
    pilot: int = 500,
    seed: int = 0,
    plan: Plan = DEFAULT,
) -> TestResult:
    r"""Test whether two samples of any length come from one law: one pass, constant memory, linear time.

    Parameters
    ----------
    X, Y : whatever :func:`read_batches` takes
        Two samples of the same columns, of different lengths if need be; files of CSV or Parquet, say.
    kernel, bandwidth : as in :func:`kernelmean.mmd_test`
        A rule such as "median" looks at the first ``pilot`` rows of both samples, which the test then leaves out, so
        that no permutation moves a row that the kernel was chosen by.
    features : FeatureMap, optional
        Instead of kernel, bandwidth, n_frequencies, design and dtype.
    n_frequencies, design, dtype : as in :func:`kernelmean.features.fourier`
        In float32 a feature has an error of 1e-7, far below that of the number of features.
    estimator : {"kme", "mkme", "mmkme"}
        The last two smooth the kernel by the noise that leaving one out chooses for all rows of both samples together.
    statistic : {"u", "v"}
    n_resamples : int
    pilot : int
        Rows of each sample for a rule, on average and a tenth at most where the lengths are known; the same share of
        both samples then. They are the first ones: pass a bandwidth where rows are sorted and samples are unequal.
    seed : int
        Of the features, of the deal of rows to bins, and of the permutations. Equal seeds give equal results, to
        rounding, whatever the batches; bitwise where the batches are equal.
    plan : Plan, optional
        Threads.

    Returns
    -------
    TestResult
        Notes say which features and bins there were, and the standard error of the statistic over the features.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`read_batches`; and when the columns differ, or a sample is too small for the pilot and the test.

    Notes
    -----
    O((n + m) M d) time, O(M B) memory for M frequencies and B bins. The p-value is exact for the permutations of bins,
    whatever the number of features; with more features the test is nearer to that of the kernel. Rows of files whose
    length is known beforehand (Parquet, arrays) are dealt to bins at random. Of others, bins are runs of rows.
    Rahimi & Recht (2007); Domingo-Enrich, Dwivedi & Mackey (2025).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> result = mmd_stream_test(rng.normal(size=(3000, 2)), rng.normal(size=(2000, 2)) + 0.2, n_frequencies=64)
    >>> result.pvalue, result.sizes
    (0.001, (2700, 1800))
    """
    check_integer(pilot, "pilot", 2)
    first, second = matched(read_batches(X), read_batches(Y))
    recipe = Recipe(kernel, bandwidth, n_frequencies, design, dtype, seed)
    looked = features is None and recipe.looks
    sizes = None if first.n_rows is None or second.n_rows is None else (first.n_rows, second.n_rows)
    taken = pilot_rows((first.n_rows, second.n_rows), pilot)
    heads, rests = zip(*(split_rows(iter(b), k) for b, k in zip((first, second), taken, strict=True)), strict=True)
    for batches, head in zip((first, second), heads, strict=True):
        if head is None:
            raise ValueError(f"{batches.source} has no rows")
    pooled = np.concatenate(heads)
    notes: tuple[str, ...] = ()
    if features is None:
        features, notes = recipe.features(pooled)
    if looked:
        notes = (*notes, f"{count(len(pooled), 'row')} that the bandwidth was chosen by left out")
        sizes = None if sizes is None else (sizes[0] - len(heads[0]), sizes[1] - len(heads[1]))
        heads = (None, None)
        if sizes is not None and min(sizes) < 1:
            raise ValueError(f"no rows are left of one sample ({sizes}) beside those for the bandwidth; pass a number")
    stream = two_sample_stream(features, sizes=sizes, seed=seed)
    for left, right in zip_longest(_joined(heads[0], rests[0]), _joined(heads[1], rests[1])):
        stream.partial_fit(left, right, plan=plan)
    return stream.test(estimator=estimator, statistic=statistic, n_resamples=n_resamples, rng=seed, notes=notes)


def matched(first: Batches, second: Batches) -> tuple[Batches, Batches]:
    """Return two tables of the same variables; columns with names are matched by name."""
    if first.names == second.names:
        return first, second
    numbered = any(b.names == tuple(f"x{j}" for j in range(len(b.names))) for b in (first, second))
    if numbered and len(first.names) == len(second.names):
        return first, second
    if sorted(first.names) != sorted(second.names):
        raise ValueError(
            f"the samples have different columns: {first.source} has {listed(first.names)}, {second.source} has "
            f"{listed(second.names)}; choose the same ones with read_batches(..., columns=...)"
        )
    return first, second.reordered(first.names)


def _joined(head: Array | None, rest: Iterator[Array]) -> Iterator[Array]:
    if head is not None:
        yield head
    yield from rest
