"""Are X and Y independent given Z? By what regressions on Z leave of both, or exactly within strata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...conditional.smoothing import Smoother
from ...core.array import Array, IntArray, RngLike, as_rng
from ...core.labels import check_codes
from ...core.row_order import check_one_order_of_all
from ...core.validate import check_integer
from ...plan.plan import serial_blas
from ..adaptive.kinds import LEVEL
from ..samples import check_lengths
from .ci_result import ConditionalResult
from .products import SideResiduals, pvalue_of
from .rows import KnownRows, coordinates, known_parts, within_strata

_USELESS = "without Z, write hsic_test(X, Y)"


def ci_test(
    X: Any,
    Y: Any,
    Z: Any = None,
    *,
    strata: Sequence[Any] | None = None,
    n_resamples: int = 999,
    size_runs: int = 0,
    rng: RngLike = None,
) -> ConditionalResult:
    r"""Test whether X and Y are independent given Z: whether X still tells something about Y once Z is known.

    .. math:: T = \sum_{abc} λ_{abc} \Big(\frac{1}{\sqrt n} \sum_i r_{ia} s_{ib} w_c(z_i)\Big)^2

    Here r and s are residuals of features of X and Y on Z, and w functions of Z. Six such statistics are combined.

    Parameters
    ----------
    X, Y : array of shape (n, d), data frame or Series
        The variables, row by row; text, categories and truth values of a frame are encoded.
    Z : array of shape (n, d), data frame or Series, optional
        What is known: numbers, on which X and Y are regressed. Text, categories and truth values of a frame are strata.
    strata : sequence of n labels, optional
        What is known and discrete. Without numbers the test is exact: rows change partners within strata only. With
        them, the regressions are made in every stratum.
    n_resamples : int
        Random signs, or permutations.
    size_runs : int
        On request, the size of the test on data like these: so many tables are drawn from the fitted regressions with
        independent residuals, and the share with p ≤ .05 is told. Each costs a test.
    rng : int, Generator, or None
        The seed.

    Returns
    -------
    ConditionalResult
        Unpacks as ``(statistic, pvalue)``; ``r2`` says how well Z predicts X and Y.

    Raises
    ------
    TypeError, ValueError
        When a table has blank or infinite cells, an array holds anything but numbers, rows or the order of indexes
        differ, a table or all of its columns are constant, Z determines X or Y, has more columns than half the rows
        (of a stratum), or a stratum has fewer than 20 rows.

    Notes
    -----
    With numbers in Z the p-value is asymptotic: it holds if the errors of both regressions are small together. No test
    has both level and power for every distribution (Shah & Peters 2020, theorem 2; the guide "Does X still matter once
    Z is known?"). Statistics without w_c look for correlation (the generalized covariance measure, Shah & Peters 2020)
    and, by kernels, for any dependence of residuals (Zhang et al. 2011); signs are those of a wild bootstrap. The order
    of rows and positive units do not matter; without numbers in Z, other permutations are drawn for rows in another
    order. Columns of which Z leaves less than a millionth of the variance say nothing, and take no part.

    O(n r² + n B p) time for r ≤ 250 functions of Z, B resamples and about 90 products.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=300)
    >>> x, y = np.sin(z) + 0.3 * rng.normal(size=300), z**2 + 0.3 * rng.normal(size=300)
    >>> ci_test(x, y, z, rng=0).pvalue > 0.05, ci_test(x, y + 0.3 * x, z, rng=0).pvalue
    (True, 0.001)
    """
    check_integer(n_resamples, "n_resamples", 1)
    check_integer(size_runs, "size_runs", 0)
    check_one_order_of_all({"X": X, "Y": Y, "Z": Z, "strata": strata})
    if Z is None and strata is None:
        raise ValueError("neither Z nor strata are given; pass what is known, or write hsic_test(X, Y)")
    (x, of_x), (y, of_y) = coordinates(X, "X"), coordinates(Y, "Y")
    check_lengths(len(x), len(y), 1)
    codes = [] if strata is None else [check_codes(strata, len(x), "strata")]
    z, labels, of_z = known_parts({} if Z is None else {"Z": Z}, {"X": len(x)}, codes, _USELESS)
    notes = (*of_x, *of_y, *of_z)
    if z is None:
        if size_runs:
            raise ValueError("strata alone make the test exact, its size is the level; leave size_runs out")
        return replace(within_strata(x, y, labels or (), n_resamples, rng), notes=notes)
    rows = KnownRows.of(x, y, z, labels)
    draws, generator = as_rng(rng).spawn(2)
    with serial_blas:
        smoother = Smoother.of(rows.z, rows.strata)
        sides = rows.sides(smoother)
        result = rows.test(smoother, sides, n_resamples, draws)
        result = replace(result, notes=(*notes, *result.notes))
        hits = 0
        for one in generator.spawn(size_runs):
            pairs = zip((rows.x, rows.y), sides, strict=True)
            simulated = [SideResiduals.of(_redrawn(*pair, rows.strata, one), smoother) for pair in pairs]
            hits += pvalue_of(simulated, rows.z, n_resamples, one)[1] <= LEVEL
    return replace(result, size=hits / size_runs, size_runs=size_runs) if size_runs else result


def _redrawn(columns: Array, side: SideResiduals, strata: Sequence[IntArray], rng: np.random.Generator) -> Array:
    """Return fitted means plus residuals, in units of their fitted deviations, of other rows of the stratum."""
    deviations = columns.std(axis=0)
    rows = np.arange(len(columns))
    for stratum in strata:
        rows[stratum] = rng.permutation(stratum)
    noise = (side.residuals / side.spread)[rows] * side.spread
    return np.asarray(columns + deviations * (noise - side.residuals))
