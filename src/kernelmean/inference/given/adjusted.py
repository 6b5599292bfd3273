r"""Do two samples differ beyond what other columns explain? Their label and their columns, given the others.

With r = T - ê(z) what Z leaves of the label T (1 in X, 0 in Y) and s = y - m̂(z) what it leaves of a column, the
products r s are those of :func:`kernelmean.ci_test`, and the adjusted difference is

.. math:: θ = \sum_i r_i s_i / \sum_i r_i^2.

It is the difference between X and Y at equal z, averaged over z with weights e (1 - e): most where both samples are
found, nothing where only one is (overlap weights; Li, Morgan & Zaslavsky 2018). No propensity is divided by. Its error
is a product of the errors of both regressions (Robinson 1988), so it is right if either is (doubly robust). Within
strata it is the difference with weights :math:`A_s B_s / (A_s + B_s)` of :class:`kernelmean.Design`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...conditional.smoothing import Smoothed, Smoother, gaussian_features, scaled, typical_distance
from ...core.array import Array, IntArray, RngLike, as_rng
from ...core.row_order import check_one_order
from ...core.table import Table
from ...core.validate import check_integer
from ...plan.plan import serial_blas
from ...tables.columns.summaries import interval
from ..designs.design import AnyDesign, Design
from ..designs.samples import pooled_codes
from ..samples import matched
from .adjusted_result import AdjustedDifference, AdjustedResult
from .ci_result import ConditionalResult
from .products import widening
from .rows import KnownRows, known_parts, members_of, pooled, stratum_numbers, varying_columns, within_strata

_FEATURES, _FEW = 100, 20
_USELESS = "there is nothing to adjust for; leave it out"
_SHORT = f"a sample has fewer than {_FEW} effective rows: 95 % intervals then hold the difference in 85 to 90 % only"


def adjusted_test(
    X: Any, Y: Any, given: Sequence[Any] | None, *, design: AnyDesign, n_resamples: int = 999, rng: RngLike = None
) -> AdjustedResult:
    """Test whether X and Y differ beyond what ``given`` and the strata explain; see :func:`kernelmean.mmd_test`.

    ``given`` holds the known columns of the rows of X and of Y, categories of data frames among them, which are strata;
    None where the strata of the design are all that is known.
    """
    check_integer(n_resamples, "n_resamples", 1)
    samples = matched(X, Y)
    sizes = len(samples[0]), len(samples[1])
    labels = _strata(design, sizes)
    known, strata, notes = known_parts(_known((X, Y), given), dict(zip("XY", sizes, strict=True)), labels, _USELESS)
    label = Table(np.repeat([1.0, 0.0], sizes)[:, None], ("sample",), named=False)
    columns = varying_columns(pooled(samples), "X and Y together")
    order: IntArray
    with serial_blas:
        if known is None:  # means of strata, which no column smooths any further
            members = members_of(stratum_numbers(strata, sum(sizes))[0])
            order, remove = np.arange(sum(sizes)), Smoother(members, ((),) * len(members))
            left = remove(label.values)
            _check_overlap(label.values - left.residuals, label.values)
            test = within_strata(label, columns, strata or (), n_resamples, rng)
        else:
            rows = KnownRows.of(label, columns, known, strata, ("the label of the sample", "the columns", "Z"))
            order, remove = rows.order, Smoother.of(rows.z, rows.strata)
            left = remove(rows.x)
            _check_overlap(rows.x - left.residuals, rows.x)
            test = rows.test(remove, rows.sides(remove), n_resamples, as_rng(rng).spawn(1)[0])
        test = replace(test, names=("the label of the sample", "the columns", "Z"), notes=(*notes, *test.notes))
        return _with_differences(test, sizes, columns, order, left, remove)


def _strata(design: AnyDesign, sizes: Sequence[int]) -> list[list[Any]]:
    """Return the strata of the rows of both samples, or raise for a design that says anything else."""
    more = (design.clusters, design.weights, design.series) if isinstance(design, Design) else (design,)
    if not isinstance(design, Design) or design.paired or any(part is not None for part in more):
        raise ValueError(f"given= goes with independent rows and their strata only; leave the rest of {design!r} out")
    pooled_codes(design.strata, sizes, "strata")  # raises if they are not those of both samples
    return [] if design.strata is None else [[label for part in design.strata for label in part]]


def _known(samples: tuple[Any, Any], given: Any) -> dict[str, Any]:
    """Return the known columns of both samples by their names in errors."""
    if given is None:
        return {}
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError(f"given is {type(given).__name__}; pass the known columns of both samples, given=(Zx, Zy)")
    known = {"given[0]": given[0], "given[1]": given[1]}
    for sample, (name, of_sample), called in zip(samples, known.items(), "XY", strict=True):
        check_one_order(sample, of_sample, (called, name))
    return known


def _check_overlap(predicted: Array, label: Array) -> None:
    """Raise where predictions tell all rows of X from all of Y."""
    if predicted[label == 1.0].min() > predicted[label == 0.0].max():
        raise ValueError(
            "there is no overlap: what is given tells every row of X from every row of Y, so that no rows of both are "
            "alike in it; leave out what the samples were chosen by, or compare rows from where both are found"
        )


def _difference(label: Array, columns: Array) -> tuple[Array, Array]:
    """Return Σ r s / Σ r² of columns s, and their errors (s - θ r) r / Σ r², of what is left of a label r."""
    mass = float(label @ label)
    gaps = label @ columns / mass
    return gaps, (columns - label[:, None] * gaps) * (label / mass)[:, None]


def _with_differences(
    test: ConditionalResult, sizes: tuple[int, int], columns: Table, order: IntArray, left: Smoothed, remove: Smoother
) -> AdjustedResult:
    """Return the result: differences of means and of kernel means, as they are and adjusted."""
    n, values, label = len(order), columns.values[order], left.residuals[:, 0]
    first = order < sizes[0]
    weights = np.where(first, label, -label) / np.where(first, label[first].sum(), -label[~first].sum())
    effective = np.array([1.0 / np.square(weights[sample]).sum() for sample in (first, ~first)])
    smoothed, plain = remove(values), first - sizes[0] / n
    raw, _ = _difference(plain, values - values.mean(axis=0))
    gaps, errors = _difference(label, smoothed.residuals)
    parts = np.stack([np.square(errors[sample]).sum(axis=0) for sample in (first, ~first)], axis=1)
    parts *= np.square(widening(np.minimum(left.freedom, smoothed.freedom), n))[:, None]
    parts *= effective / np.maximum(effective - 1.0, 1e-9)
    per_column = zip(columns.names, raw.tolist(), gaps.tolist(), parts, values.std(axis=0).tolist(), strict=True)
    differences = tuple(
        AdjustedDifference(name, one, gap, *interval(gap, variances, effective - 1.0), deviation)
        for name, one, gap, variances, deviation in per_column
    )
    if effective.min() < _FEW:
        test = replace(test, notes=(*test.notes, _SHORT))
    spread = scaled(values)
    features = gaussian_features(spread, typical_distance(spread), _FEATURES)(spread)
    pairs = (plain, features - features.mean(axis=0)), (label, remove(features).residuals)
    mmd2 = [float(np.square(gap).sum() - np.square(left).sum()) for gap, left in (_difference(*pair) for pair in pairs)]
    of_rows = np.empty(n)
    of_rows[order] = weights
    return AdjustedResult(test, sizes, differences, of_rows, (mmd2[0], mmd2[1]))
