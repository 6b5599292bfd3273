"""The tests of single columns: a few cheap kernels each, of rows in memory or from sums over units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...estimators import KernelMean
from ...inference.adaptive.candidates import UNIT_ROWS
from ...inference.adaptive.columns import AS_IT_IS, put_back, row_order
from ...inference.adaptive.coordinates import Columns
from ...inference.adaptive.many_kernels import Adaptive, combined
from ...inference.adaptive.member import LINEAR, QUADRATIC, SIXTEENTH, Member
from ...inference.adaptive.views import Views, ViewSource
from ...inference.null import Null
from ...inference.questions import Question
from ...inference.request import base_kernel, choose_kernel, representative_rows
from ...inference.resampling import Resampling
from ...inference.statistics import StatisticForm
from ...kernels import Kernel
from ...tables.columns.encoded import groups_of
from ...tables.columns.kinds import Coding
from ..many_tests import OneTest
from ..rows.coordinates import category_weights

LANDMARKS, FEWER = 32, 16
"""For each column, evenly spaced among its sorted rows, and for a kernel as wide as the median distance."""
Kernels = dict[Member, list[Kernel]]


@final
@dataclass(frozen=True, eq=False)
class ColumnTest:
    """The test of one column from sums over units."""

    columns: Columns
    kernels: Kernels
    rule: str
    """How several members are combined."""

    @classmethod
    def of(cls, source: ViewSource, views: Views, rule: str) -> Self:
        """Return the test of a column with some members."""
        return cls(Columns.of(source, views, _listed(views.kernels)), views.kernels, rule)

    def outcome(self, null: Null) -> OneTest:
        """Return the statistic and the p-value from the null of its kernels."""
        return _outcome(null, self.kernels, self.rule)


def column_tests(
    source: ViewSource, codings: Sequence[Coding], estimator: Adaptive | KernelMean, bandwidth: Any
) -> dict[str, ColumnTest]:
    """Return the test of every column, fitted to the rows of a pilot.

    Categories are exact: sums of their coordinates count rows. Shares are compared as they are and, in an adaptive
    test, also in units of their deviations, and one by one.
    """
    made = {}
    for coding, places in zip(codings, groups_of(codings).values(), strict=True):
        chosen = np.array(places)
        points = source.points[:, chosen]
        rule = estimator.combination if isinstance(estimator, Adaptive) else ""
        if coding.category_weight is not None:
            views = _of_categories(source, coding, bandwidth, chosen, several=bool(rule))
        else:
            gaussian = _gaussian(points, coding, bandwidth)
            members = _members(gaussian) if isinstance(estimator, Adaptive) else _alone(points, estimator, coding.name)
            views = _of_numbers(source, members, chosen)
        made[coding.name] = ColumnTest.of(source, views, rule)
    return made


def held_test(question: Question, coding: Coding, rule: str, statistic: StatisticForm, how: Resampling) -> OneTest:
    """Return the adaptive test of one column whose rows, the only ones of a question, are in memory."""
    (points,) = question.tables
    order = row_order(points)
    source, chosen = ViewSource(points[order]), np.arange(points.shape[1])
    if coding.category_weight is not None:
        views = _of_categories(source, coding, "median", chosen, several=True)
    else:
        views = _of_numbers(source, _members(_gaussian(source.points, coding, "median")), chosen)
    table = np.array(views.table)
    put_back(table.T, order)
    null = question.over((table,), _listed(views.kernels), statistic, how)
    return _outcome(null, views.kernels, rule)


def _outcome(null: Null, kernels: Kernels, rule: str) -> OneTest:
    """Return the p-value of all members, and the statistic of the first."""
    counts = [*map(len, kernels.values())]
    pvalue = null.outcome(0)["pvalue"] if len(counts) == 1 else combined(null, rule, [*kernels], counts)["pvalue"]
    return OneTest(float(null.values[0, 0]), pvalue, null.values.shape[1] - 1)


def _listed(kernels: Kernels) -> list[Kernel]:
    return [kernel for group in kernels.values() for kernel in group]


def _of_numbers(source: ViewSource, members: Sequence[Member], chosen: IntArray) -> Views:
    """Return what some members see of a column of numbers."""
    points = source.points[:, chosen]
    landmarks, fewer, units = (representative_rows(points[:, ::-1], many) for many in (LANDMARKS, FEWER, UNIT_ROWS))
    return Views.of(source, members, units, landmarks, {AS_IT_IS: fewer} if len(members) > 1 else None, chosen)


def _gaussian(points: Array, coding: Coding, bandwidth: Any) -> Kernel:
    return base_kernel(points, "gaussian", bandwidth, representative_rows(points), coding.name).kernel


def _members(gaussian: Kernel) -> tuple[Member, ...]:
    """Return what looks at a column of numbers in an adaptive test, with what each member sees best."""
    return (
        Member(AS_IT_IS, gaussian, 2.0),  # large differences of any kind; this is the statistic that is reported
        Member(AS_IT_IS, gaussian, 2.0, ridge=0.01),  # skewness, and two peaks instead of one
        Member("data", QUADRATIC, 1.5),  # spreads, and outliers
        Member("axes", LINEAR, 3.0),  # shifts: the means of normal scores
        Member("square axes", LINEAR, 2.0),  # spreads, whatever the outliers
        Member("ranks", SIXTEENTH),  # a value, or a range of values, that is more frequent
        Member("ranks", SIXTEENTH, 2.0, ridge=0.001),  # many of these, as where values are rounded
    )


def _alone(points: Array, estimator: KernelMean, name: str) -> tuple[Member, ...]:
    """Return the kernel of an estimator, smoothed by the noise that it chose."""
    return (Member(AS_IT_IS, choose_kernel(points, estimator, representative_rows(points), name).kernel),)


def _of_categories(source: ViewSource, coding: Coding, bandwidth: Any, chosen: IntArray, *, several: bool) -> Views:
    """Return the coordinates of categories with the weights of members on them."""
    points = source.points[:, chosen]
    gaussian = _gaussian(points, coding, bandwidth)
    weights = category_weights(coding, points, gaussian, several=several)
    if several and points.shape[1] > 1:
        weights[Member("axes", LINEAR, 0.5)] = np.eye(points.shape[1])  # one category that is more frequent
    return Views.as_they_are(source, weights, chosen)
