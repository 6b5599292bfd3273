"""What the tests of pairs of columns see of each column of a long table: features that are fitted to a pilot once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...estimators import KernelMean
from ...inference.adaptive.many_kernels import Adaptive
from ...inference.adaptive.members import EIGHTH, ENERGY, LINEAR, MEDIAN, Member, PairMember
from ...inference.adaptive.row_order import row_order
from ...inference.adaptive.units import AS_IT_IS
from ...inference.adaptive.views import Views, ViewSource
from ...inference.bins.columns import Columns
from ...inference.bins.pairs import BlockPair
from ...inference.coordinates import Coordinates
from ...inference.kernel_choice import base_kernel, choose_kernel, representative_rows
from ...kernels import Kernel
from ...tables.columns.column_codings import Categories, Coding
from ..comparison.column_tests import LANDMARKS, UNIT_ROWS, category_weights

SMOOTH = Member("data", MEDIAN)
"""The Gaussian kernel at the median distance, which the strength of a pair is of."""
_VALUES, _SCORES, _SQUARES = (Member(view, LINEAR) for view in ("data", "scores", "squares"))
_SMOOTHER, _FINER = (Member("data", MEDIAN, ridge=ridge) for ridge in (0.1, 0.01))
_RANKS, _TURNS, _FAST_TURNS = (Member("ranks", ENERGY, ridge=ridge) for ridge in (None, 0.01, 0.001))
_NARROW = Member("ranks", EIGHTH)
_LOCAL = _FINER, _TURNS, _FAST_TURNS, _NARROW


def _same(weight: float, member: Member) -> tuple[PairMember, ...]:
    return (PairMember(member, member, weight),)


def _mirrored(weight: float, one: Member, other: Member) -> tuple[PairMember, ...]:
    return PairMember(one, other, weight / 2), PairMember(other, one, weight / 2)


MEMBERS: tuple[PairMember, ...] = (
    *_same(6, _VALUES),
    *_same(7, _SCORES),
    *_same(4, _RANKS),
    *_same(9, _SMOOTHER),
    *_mirrored(4, _SMOOTHER, _FINER),
    *_mirrored(26, _FAST_TURNS, _RANKS),
    *_mirrored(8, _TURNS, _RANKS),
    *_same(4, _SQUARES),
    *_mirrored(4, _SQUARES, _RANKS),
    *_same(8, _NARROW),
    *_same(6, _FAST_TURNS),
    *_same(6, _TURNS),
)
"""What an adaptive test of two columns of numbers sees: as in memory where rows are many, on few features."""


SIDES = tuple(dict.fromkeys(side for pair in MEMBERS for side in pair.sides))
"""What they see of one column."""


@final
@dataclass(frozen=True, eq=False)
class ColumnFeatures:
    """The features of one column, and how much each member weighs them."""

    name: str
    places: IntArray
    """Its coordinates among those of the table."""
    columns: Columns
    weights: Mapping[Member, Array]
    moments: Array
    """The covariances of the features over the pilot."""

    @classmethod
    def of(cls, coding: Coding, places: IntArray, pilot: Array, estimator: Adaptive | KernelMean) -> Self:
        """Fit the features of a column to the coordinates of a pilot; they do not know the order of its rows."""
        own = pilot[:, places]
        points = own[row_order(own)]
        source = ViewSource(points)
        if isinstance(coding, Categories):
            gaussian = base_kernel(points, "gaussian", "median", representative_rows(points), coding.name).kernel
            weights = category_weights(coding, points, gaussian, several=isinstance(estimator, Adaptive))
            views = Views.as_they_are(source, weights, np.arange(len(places)))
        else:
            members = SIDES if isinstance(estimator, Adaptive) else (_alone(points, estimator, coding),)
            landmarks, units = (representative_rows(points[:, ::-1], many) for many in (LANDMARKS, UNIT_ROWS))
            views = Views.of(source, [SMOOTH, *members], units, landmarks)
        found = {member: _placed(kernels, views.table.shape[1]) for member, kernels in views.kernels.items()}
        columns = Columns.of(source, views, [])
        return cls(coding.name, places, columns, found, np.atleast_2d(np.cov(views.table.T, bias=True)))

    def seen_by(self, member: Member) -> Member:
        """Return what stands for a member here: of categories, shares, in their deviations where it is local."""
        if member in self.weights:
            return member
        shares = list(self.weights)
        return shares[-1] if member in _LOCAL else shares[0]

    @property
    def smooth(self) -> Array:
        """The weights of the Gaussian kernel at the median distance."""
        return self.weights[SMOOTH] if SMOOTH in self.weights else next(iter(self.weights.values()))


def members_of(x: ColumnFeatures, y: ColumnFeatures, estimator: Any) -> tuple[PairMember, ...]:
    """Return the members of the test of two columns."""
    if not isinstance(estimator, Adaptive):
        first, second = (next(member for member in own.weights if member is not SMOOTH) for own in (x, y))
        return (PairMember(first, second),)
    found: dict[tuple[Member, Member], float] = {}
    for pair in MEMBERS:
        sides = x.seen_by(pair.x), y.seen_by(pair.y)
        found[sides] = found.get(sides, 0.0) + pair.weight
    return tuple(PairMember(*sides, weight) for sides, weight in found.items())


def block_pair(
    x: ColumnFeatures, y: ColumnFeatures, sides: tuple[int, int], members: Sequence[PairMember]
) -> BlockPair:
    """Return which products are needed of two columns, whose features are blocks of these numbers."""
    weights = np.stack([x.weights[own.x] for own in members]), np.stack([y.weights[own.y] for own in members])
    return BlockPair(*sides, np.arange(len(members)), weights)


def strength(x: ColumnFeatures, y: ColumnFeatures, covariances: Array, rows: int) -> float:
    """Return HSIC less its mean over all permutations, over the geometric mean of that of either column with itself."""
    v, w = x.smooth, y.smooth
    found = v @ np.square(covariances) @ w - (v @ np.diag(x.moments)) * (w @ np.diag(y.moments)) / max(rows - 1, 1)
    scale = float(np.sqrt((v @ np.square(x.moments) @ v) * (w @ np.square(y.moments) @ w)))
    return min(float(found) / scale, 1.0) if scale > 0.0 else 0.0


def _placed(kernels: Sequence[Kernel], size: int) -> Array:
    """Return the weights of all features in the only kernel of a member."""
    (kernel,) = kernels
    assert isinstance(kernel, Coordinates), "features are columns"
    found = np.zeros(size)
    found[list(kernel.columns)] = kernel.weights
    return found


def _alone(points: Array, estimator: KernelMean, coding: Coding) -> Member:
    """Return the kernel of an estimator, smoothed with the noise that it finds."""
    return Member(AS_IT_IS, choose_kernel(points, estimator, representative_rows(points), coding.name).kernel)
