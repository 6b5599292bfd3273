"""Pairs of any number: the test of independence in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from ...core.array import Array
from ...embedding.features import Fourier
from ...embedding.features.draws import Design
from ...estimators.options import KernelLike
from ...plan.plan import DEFAULT, Plan, RemotePlan
from ...tables.read import read
from ...tables.source import Source, split_rows
from ..result import TestResult
from .mean import Estimator
from .pilot import PILOT, Recipe, check_asked, left_out_note, pilot_rows, units_of
from .shifts import pair_stream


def hsic_stream_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike | tuple[KernelLike, KernelLike] = "gaussian",
    bandwidth: Any = "median",
    features: Fourier | None = None,
    n_frequencies: int | None = None,
    design: Design = "orthogonal",
    dtype: str = "float32",
    estimator: Estimator | None = None,
    n_resamples: int = 999,
    pilot: int = PILOT,
    seed: int = 0,
    plan: Plan | RemotePlan = DEFAULT,
) -> TestResult:
    """Test whether row i of X and row i of Y are independent: one pass, constant memory, linear time.

    Parameters
    ----------
    X, Y : whatever :func:`kernelmean.read` takes
        Equally many rows; one file twice, with different ``columns``, say.
    kernel, bandwidth : as in :func:`kernelmean.hsic_test`
        One for both sides, or two in a tuple. A rule looks at the first ``pilot`` pairs, which the test leaves out.
    features : Fourier, optional
        Instead, as :func:`kernelmean.inference.streaming.pair_stream` takes them.
    n_frequencies : int, optional
        Of (x, y) together. By default 256 for every column of X and Y, 512 at least and 4096 at most: the null
        distribution is wider the fewer there are, and the more columns the more it takes.
    design, dtype, estimator, n_resamples, pilot, seed, plan
        As in :func:`kernelmean.inference.streaming.mmd_stream_test`.

    Returns
    -------
    TestResult
        Notes say which features there were, and the standard error of the statistic over their draw.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`kernelmean.read`; and when the numbers of rows differ, or are too small.

    Notes
    -----
    O(n M d) time for M frequencies, O(M) memory, 33 kB for each. The p-value is exact for pairs in random order, see
    :meth:`kernelmean.inference.streaming.shifts.PairStream.test`.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(2000, 1))
    >>> result = hsic_stream_test(x, x**2, n_frequencies=64)
    >>> result.pvalue, result.sizes
    (0.001, (1800,))
    """
    own = {"kernel": kernel, "bandwidth": bandwidth, "n_frequencies": n_frequencies, "design": design, "dtype": dtype}
    default = check_asked(features, estimator, None, **own, pilot=pilot)
    recipes = [
        Recipe(one, width, n_frequencies, design, dtype, seed)
        for one, width in zip(_both(kernel), _both(bandwidth), strict=True)
    ]
    estimator = "kme" if estimator is None else estimator
    test: dict[str, Any] = {"estimator": estimator, "n_resamples": n_resamples, "rng": seed}
    if isinstance(plan, RemotePlan):
        asked = recipes if features is None else features
        return cast("TestResult", plan.hsic_stream_test(X, Y, asked=asked, pilot=pilot, test=test))
    first, second = read(X).in_one_pass(), read(Y).in_one_pass()
    if None not in (first.n_rows, second.n_rows) and first.n_rows != second.n_rows:
        raise _unequal(first, second)
    (taken,) = pilot_rows((first.n_rows,), pilot)
    pairs = _paired(first, second)
    head, rest = split_rows(pairs, taken)
    if head is None:
        raise ValueError(f"{first.source} has no rows")
    split, looked = len(first.names), False
    notes: tuple[str, ...] = ()
    if features is None:
        looked = any(recipe.looks for recipe in recipes)
        features, notes = recipes[0].product(recipes[1], head[:, :split], head[:, split:])
    if default:
        notes += units_of((head[:, :split],), first.names, "dependence")
        notes += units_of((head[:, split:],), second.names, "dependence")
    stream = pair_stream(features)
    if looked:
        notes = (*notes, left_out_note(len(head)))
    else:
        stream.partial_fit(head[:, :split], head[:, split:], plan=plan)
    for batch in rest:
        stream.partial_fit(batch[:, :split], batch[:, split:], plan=plan)
    return stream.test(notes=notes, **test)


def _both(option: Any) -> tuple[Any, Any]:
    """Return one option for each side: a tuple of two is one of each, whatever else is for both."""
    return option if isinstance(option, tuple) and len(option) == 2 else (option, option)


def _paired(first: Source, second: Source) -> Iterator[Array]:
    """Yield the columns of both side by side, in batches of whatever size both can give."""
    others = iter(second)
    for batch in first:
        head, others = split_rows(others, len(batch))
        if head is None or len(head) < len(batch):
            raise _unequal(first, second)
        yield np.hstack([batch, head])
    if next(others, None) is not None:
        raise _unequal(first, second)


def _unequal(first: Source, second: Source) -> ValueError:
    return ValueError(
        f"{first.source} and {second.source} have different numbers of rows; row i of X and row i of Y must be one "
        "observation"
    )
