"""Are X and Y independent given Z? By what regressions on Z leave of both, or exactly within strata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...conditional.smoothing import StratifiedSmoother
from ...core.array import Array, IntArray, RngLike, as_rng
from ...core.table import Table, as_table
from ...core.validate import check_integer
from ...core.words import count
from ...plan.plan import serial_blas
from ..designs.design import Design
from ..independence import hsic_test
from ..samples import check_one_order_of_all
from .ci_result import ConditionalResult, MemberPvalue
from .products import WEIGHTS, SideResiduals, combined, products, signed_statistics

_FEWEST, _ROUNDING, _NOTHING_LEFT = 20, 1e-10, 1e-6


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
        The variables, row by row.
    Z : array of shape (n, d), data frame or Series, optional
        Continuous columns that are known.
    strata : sequence of n labels, optional
        What is known and discrete. Without Z the test is exact: rows change partners within strata only. With Z, the
        regressions are made in every stratum.
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
        When a table is no finite table of numbers, their rows or the order of their indexes differ, a table or all of
        its columns are constant, Z determines X or Y, has more columns than half the rows (of a stratum), or a stratum
        has fewer than 20 rows.

    Notes
    -----
    With Z the p-value is asymptotic: it holds if the errors of both regressions are small together. No test has both
    level and power for every distribution (Shah & Peters 2020, theorem 2; the guide "Does X still matter once Z is
    known?"). Statistics without w_c look for correlation (the generalized covariance measure, Shah & Peters 2020) and,
    by kernels, for any dependence of residuals (Zhang et al. 2011); signs are those of a wild bootstrap. The order of
    rows and positive units do not matter; without Z, other permutations are drawn for rows in another order.

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
    tables = {name: _varying(data, name) for name, data in {"X": X, "Y": Y}.items()}
    if Z is None:
        if strata is None:
            raise ValueError("neither Z nor strata are given; pass what is known, or write hsic_test(X, Y)")
        if size_runs:
            raise ValueError("strata without Z make the test exact, its size is the level; leave size_runs out")
        return _within_strata(tables["X"], tables["Y"], strata, n_resamples, rng)
    tables["Z"] = _varying(Z, "Z")
    sizes = {name: len(table) for name, table in tables.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(
            f"X, Y and Z have {', '.join(map(str, sizes.values()))} rows; pass three tables of the same rows"
        )
    labels = _labels(strata, sizes["X"])
    order = np.lexsort(np.hstack([table.values for table in reversed(tables.values())]).T[::-1])
    x, y, z = (table.values[order] for table in tables.values())
    members = tuple(np.flatnonzero(labels[order] == label) for label in range(labels.max() + 1))
    for rows in members:
        _check_rows(z[rows], len(members) > 1)
    draws, generator = as_rng(rng).spawn(2)
    with serial_blas:
        return _conditional((x, y, z), members, n_resamples, size_runs, draws, generator)


def _varying(data: Any, name: str) -> Table:
    """Return the columns of a table that vary."""
    table = as_table(data, name)
    varying, constant = table.constant()
    if not len(varying):
        instead = "without Z, write hsic_test(X, Y)" if name == "Z" else "there is nothing to test"
        raise ValueError(f"{name} is constant in {count(len(table), 'row')}: {instead}")
    table = table.columns(varying) if constant else table
    table.deviations()
    return table


def _labels(strata: Sequence[Any] | None, n: int) -> IntArray:
    """Return the numbers of strata, all 0 without any."""
    if strata is None:
        return np.zeros(n, dtype=int)
    listed = np.asarray(strata).ravel().tolist()
    if len(listed) != n:
        raise ValueError(f"strata has {count(len(listed), 'label')} for {count(n, 'row')}; pass one label a row")
    if any(label is None or label != label for label in listed):  # noqa: PLR0124 (NaN is not itself)
        raise ValueError("a label in strata is blank; give every row a label")
    numbers = {label: number for number, label in enumerate(sorted(set(listed), key=repr))}
    return np.array([numbers[label] for label in listed])


def _check_rows(Z: Array, stratified: bool) -> None:
    n, d = Z.shape
    where = "a stratum" if stratified else "the table"
    if n < _FEWEST:
        raise ValueError(f"{where} has {count(n, 'row')}, a regression on Z needs at least {_FEWEST}; pass more rows")
    if d > n / 2:
        raise ValueError(f"Z has {count(d, 'column')} and {where} {count(n, 'row')}; pass at most {n // 2} columns")


def _within_strata(X: Table, Y: Table, strata: Sequence[Any], n_resamples: int, rng: RngLike) -> ConditionalResult:
    """Return the exact test: permutations within strata."""
    labels = _labels(strata, len(X))
    if np.bincount(labels).max() < 2:
        raise ValueError("every stratum has one row, so no rows can change partners; pass coarser strata, or Z")
    result = hsic_test(X, Y, design=Design(strata=labels.tolist()), n_resamples=n_resamples, rng=rng)
    method = "Conditional independence given strata, exact permutations within strata"
    sizes = (len(X), len(X.names), len(Y.names), 0)
    names = "X", "Y", "the stratum"
    return ConditionalResult(
        result.statistic, result.pvalue, method, True, sizes, int(labels.max()) + 1, None, names=names
    )


def _conditional(
    tables: tuple[Array, Array, Array],
    strata: tuple[IntArray, ...],
    n_resamples: int,
    size_runs: int,
    draws: np.random.Generator,
    generator: np.random.Generator,
) -> ConditionalResult:
    """Return the asymptotic test, and its size on simulated tables."""
    x, y, z = tables
    smoother = StratifiedSmoother.of(z, strata)
    sides = tuple(SideResiduals.of(side, smoother) for side in (x, y))
    for name, side in zip("XY", sides, strict=True):
        if not (side.residuals**2).mean(axis=0).max() > _NOTHING_LEFT:
            known = "Z determines" if len(strata) == 1 else "Z and the strata determine"
            raise ValueError(
                f"{known} {name}: regressions on Z leave less than a millionth of the variance to test; leave what "
                f"determines {name} out"
            )
    statistic, pvalue, members = _pvalue(sides, z, n_resamples, draws)
    rejected = 0
    for one in generator.spawn(size_runs):
        redrawn = [_redrawn(columns, side, strata, one) for columns, side in zip((x, y), sides, strict=True)]
        simulated = tuple(SideResiduals.of(columns, smoother) for columns in redrawn)
        rejected += _pvalue(simulated, z, n_resamples, one)[1] <= 0.05
    method = "Conditional independence given Z, residual products with random signs, asymptotic"
    r2 = (float(sides[0].r2.mean()), float(sides[1].r2.mean()))
    size = rejected / size_runs if size_runs else None
    shape = (len(x), x.shape[1], y.shape[1], z.shape[1])
    notes = ("the p-value holds where the errors of both regressions on what is given are small together",)
    return ConditionalResult(
        statistic, pvalue, method, False, shape, len(strata), r2, members, size, size_runs, notes=notes
    )


def _pvalue(
    sides: Sequence[SideResiduals], Z: Array, n_resamples: int, rng: np.random.Generator
) -> tuple[float, float, tuple[MemberPvalue, ...]]:
    """Return the combined statistic with its p-value, and those of the members."""
    statistics = signed_statistics(products(sides[0], sides[1], Z), n_resamples, rng)
    together = combined(statistics)
    slack = _ROUNDING * (1.0 + np.abs(together).max())
    shares = (statistics >= statistics[:, :1] * (1.0 - _ROUNDING)).mean(axis=1)
    members = tuple(MemberPvalue(name, float(share)) for name, share in zip(WEIGHTS, shares, strict=True))
    return float(together[0]), float((together >= together[0] - slack).mean()), members


def _redrawn(columns: Array, side: SideResiduals, strata: Sequence[IntArray], rng: np.random.Generator) -> Array:
    """Return fitted means plus residuals, in units of their fitted deviations, of other rows of the stratum."""
    deviations = columns.std(axis=0)
    rows = np.arange(len(columns))
    for stratum in strata:
        rows[stratum] = rng.permutation(stratum)
    noise = (side.residuals / side.spread)[rows] * side.spread
    return np.asarray(columns + deviations * (noise - side.residuals))
