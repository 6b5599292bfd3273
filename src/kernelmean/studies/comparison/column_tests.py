"""The tests of single columns of long tables: a few cheap kernels each, summed along with the joint test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from ...core.array import Array
from ...estimators import KernelMean
from ...inference.adaptive.columns import AS_IT_IS
from ...inference.adaptive.coordinates import Columns
from ...inference.adaptive.many_kernels import Adaptive, combined
from ...inference.adaptive.member import EIGHTH, LINEAR, Member
from ...inference.adaptive.views import Views, ViewSource
from ...inference.request import base_kernel, choose_kernel, representative_rows
from ...inference.resampling_options import Resampling
from ...inference.units.layout import Units
from ...inference.units.unit_sums import null_of_sums
from ...kernels import Kernel
from ...tables.columns.column_codings import Categories, Coding
from ...tables.columns.encoded import groups_of
from ..many_tests import OneTest

LANDMARKS = 24
"""For each column, evenly spaced among its sorted rows."""
UNIT_ROWS = 256


@final
@dataclass(frozen=True, eq=False)
class ColumnTest:
    """The test of one column."""

    columns: Columns
    members: tuple[Member, ...]
    counts: tuple[int, ...]
    """The number of kernels of every member."""
    reported: int
    """The kernel whose statistic is reported: the Gaussian at the median bandwidth, or the only one."""
    rule: str
    """How several members are combined."""

    @classmethod
    def of(cls, source: ViewSource, views: Views, rule: str) -> Self:
        """Return the test of a column with some members."""
        kernels = list(views.kernels.items())
        columns = Columns.of(source, views, [kernel for _, own in kernels for kernel in own])
        members, counts = tuple(views.kernels), tuple(len(own) for _, own in kernels)
        shown = next(place for place, member in enumerate(members) if member.view == AS_IT_IS)
        return cls(columns, members, counts, sum(counts[:shown]), rule)

    def __call__(self, sums: Array, units: Units, how: Resampling) -> OneTest:
        """Return the statistic and the p-value from the sums over the units of both tables."""
        null = null_of_sums(self.columns, sums, units, "u", how)
        alone = len(self.members) == 1
        found = null.outcome(0) if alone else combined(null, self.rule, self.members, self.counts)
        return OneTest(float(null.values[self.reported, 0]), found["pvalue"], how.n_resamples)


def column_tests(
    source: ViewSource, codings: Sequence[Coding], estimator: Adaptive | KernelMean, bandwidth: Any
) -> dict[str, ColumnTest]:
    """Return the test of every column, fitted to the rows of a pilot.

    An adaptive test of a column of numbers has five members: the mean and the spread of its normal scores, the Gaussian
    kernel at the median bandwidth, and a narrow kernel on ranks, plain and regularized. Categories are exact: sums of
    their coordinates count rows. Shares are compared as they are and, in an adaptive test, also in units of their
    deviations.
    """
    made = {}
    for coding, places in zip(codings, groups_of(codings).values(), strict=True):
        chosen = np.array(places)
        points = source.points[:, chosen]
        gaussian = base_kernel(points, "gaussian", bandwidth, representative_rows(points), coding.name).kernel
        rule = estimator.combination if isinstance(estimator, Adaptive) else ""
        if isinstance(coding, Categories):
            views = Views.as_they_are(source, category_weights(coding, points, gaussian, several=bool(rule)), chosen)
        else:
            members = _members(gaussian) if isinstance(estimator, Adaptive) else _alone(points, estimator, coding.name)
            landmarks, units = (representative_rows(points[:, ::-1], many) for many in (LANDMARKS, UNIT_ROWS))
            views = Views.of(source, members, units, landmarks, chosen)
        made[coding.name] = ColumnTest.of(source, views, rule)
    return made


def _members(gaussian: Kernel) -> tuple[Member, ...]:
    """Return the members of an adaptive test of a column of numbers."""
    return (
        Member("axes", LINEAR, 3.0),
        Member("square axes", LINEAR, 2.0),
        Member(AS_IT_IS, gaussian, 2.0),
        Member("ranks", EIGHTH),
        Member("ranks", EIGHTH, 2.0, ridge=0.01),
    )


def _alone(points: Array, estimator: KernelMean, name: str) -> tuple[Member, ...]:
    """Return the kernel of an estimator, smoothed by the noise that it chose."""
    return (Member(AS_IT_IS, choose_kernel(points, estimator, representative_rows(points), name).kernel),)


def category_weights(coding: Categories, points: Array, gaussian: Kernel, *, several: bool) -> dict[Member, Array]:
    """Return weights of the coordinates of categories that reproduce the Gaussian kernel.

    k = e + (1 - e) [x = y], and coordinates are c [x = y]: noise would change the kernel only by a factor.
    """
    height = np.sqrt(2.0) * coding.weight
    near, far = gaussian(np.zeros((1, 1)), np.array([[0.0], [height]]))[0]
    same = np.full(points.shape[1], (near - far) / coding.weight**2)
    found = {Member(AS_IT_IS, gaussian): same}
    if several and points.shape[1] > 1:
        shares = (np.count_nonzero(points, axis=0) + 1.0) / (len(points) + points.shape[1])
        found[Member(AS_IT_IS, LINEAR)] = 1.0 / shares
    return found
