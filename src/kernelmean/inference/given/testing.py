"""The test of checked rows: by products of residuals, or exactly within strata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array, RngLike
from ...core.table import Table
from ..designs.design import Design
from ..independence import hsic_test
from .ci_result import ConditionalResult, MemberPvalue
from .products import WEIGHTS, SideResiduals, combined, products, signed_statistics
from .rows import KnownRows, stratum_numbers

_ROUNDING = 1e-10


def within_strata(X: Table, Y: Table, strata: Sequence[Any], n_resamples: int, rng: RngLike) -> ConditionalResult:
    """Return the exact test: permutations within strata."""
    labels = stratum_numbers(strata, len(X))
    if np.bincount(labels).max() < 2:
        raise ValueError("every stratum has one row, so no rows can change partners; pass coarser strata, or Z")
    result = hsic_test(X, Y, design=Design(strata=labels.tolist()), n_resamples=n_resamples, rng=rng)
    method = "Conditional independence given strata, exact permutations within strata"
    sizes = (len(X), len(X.names), len(Y.names), 0)
    names = "X", "Y", "the stratum"
    return ConditionalResult(
        result.statistic, result.pvalue, method, True, sizes, int(labels.max()) + 1, None, names=names
    )


def residual_test(
    rows: KnownRows, sides: Sequence[SideResiduals], n_resamples: int, rng: np.random.Generator
) -> ConditionalResult:
    """Return the asymptotic test of what Z leaves of both sides."""
    statistic, pvalue, members = pvalue_of(sides, rows.z, n_resamples, rng)
    return ConditionalResult(
        statistic,
        pvalue,
        "Conditional independence given Z, residual products with random signs, asymptotic",
        False,
        (len(rows.x), rows.x.shape[1], rows.y.shape[1], rows.z.shape[1]),
        len(rows.strata),
        (float(sides[0].r2.mean()), float(sides[1].r2.mean())),
        members,
        notes=("the p-value holds where the errors of both regressions on what is given are small together",),
    )


def pvalue_of(
    sides: Sequence[SideResiduals], Z: Array, n_resamples: int, rng: np.random.Generator
) -> tuple[float, float, tuple[MemberPvalue, ...]]:
    """Return the combined statistic with its p-value, and those of the members."""
    statistics = signed_statistics(products(sides[0], sides[1], Z), n_resamples, rng)
    together = combined(statistics)
    slack = _ROUNDING * (1.0 + np.abs(together).max())
    shares = (statistics >= statistics[:, :1] * (1.0 - _ROUNDING)).mean(axis=1)
    members = tuple(MemberPvalue(name, float(share)) for name, share in zip(WEIGHTS, shares, strict=True))
    return float(together[0]), float((together >= together[0] - slack).mean()), members
