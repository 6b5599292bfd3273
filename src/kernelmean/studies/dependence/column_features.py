"""The features of each column of a long table for the tests of pairs, fitted once to a pilot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...estimators import KernelMean
from ...inference.adaptive.candidates import UNIT_ROWS
from ...inference.adaptive.columns import AS_IT_IS, row_order
from ...inference.adaptive.coordinates import Columns, OwnColumns
from ...inference.adaptive.many_kernels import Adaptive
from ...inference.adaptive.member import ENERGY, LINEAR, MEDIAN, Member, PairMember
from ...inference.adaptive.views import Views, ViewSource
from ...inference.low_rank import Coordinates
from ...inference.request import base_kernel, choose_kernel, representative_rows
from ...inference.rotations.stripes import BlockPair
from ...kernels import Kernel
from ...tables.columns.kinds import Coding
from ..rows.coordinates import category_weights

LANDMARKS = 48
"""For each column, evenly spaced among its sorted rows."""
_VALUES, _SCORES, _SQUARES = (Member(view, LINEAR) for view in ("data", "scores", "squares"))
_SMOOTH, _SMOOTHER, _FINER = (Member("data", MEDIAN, ridge=ridge) for ridge in (None, 0.1, 0.01))
_RANKS, _TURNS, _FAST_TURNS = (Member("ranks", ENERGY, ridge=ridge) for ridge in (None, 0.01, 0.001))
_COARSE, _LOCAL = (_SCORES, _SQUARES, _RANKS), (_FINER, _TURNS, _FAST_TURNS)


def _same(weight: float, member: Member) -> tuple[PairMember, ...]:
    return (PairMember(member, member, weight),)


def _mirrored(weight: float, one: Member, other: Member) -> tuple[PairMember, ...]:
    return PairMember(one, other, weight / 2), PairMember(other, one, weight / 2)


MEMBERS: tuple[PairMember, ...] = (
    *_same(6, _VALUES),
    *_same(8, _SCORES),
    *_same(4, _RANKS),
    *_same(14, _SMOOTHER),
    *_mirrored(5, _SMOOTHER, _FINER),
    *_same(8, _FINER),
    *_mirrored(16, _FAST_TURNS, _RANKS),
    *_mirrored(9, _FAST_TURNS, _SCORES),
    *_mirrored(7, _TURNS, _RANKS),
    *_same(5, _SQUARES),
    *_mirrored(4, _SQUARES, _RANKS),
    *_same(6, _FAST_TURNS),
    *_same(8, _TURNS),
)
"""The members of an adaptive test of two columns of numbers: as for many rows in memory, on few features."""
SIDES = tuple(dict.fromkeys(side for pair in MEMBERS for side in pair.sides))
"""The members for one column."""
_SMOOTH_BLOCK, _COARSE_BLOCK, _FINE_BLOCK = range(3)
_BOTH_FINE = 18
"""How many fine features, the coarsest ones, are multiplied with fine ones of the other column."""


@final
@dataclass(frozen=True, eq=False)
class ColumnFeatures:
    """The features of one column, in smooth, coarse and fine blocks, and their weights in each member."""

    name: str
    features: OwnColumns
    weights: Mapping[Member, Array]
    """For every member, the weights of all features; for categories, shares as they are and in their deviations."""
    smooth: Array
    """The weights in the Gaussian kernel at the median distance, which defines the strength of a pair."""
    variances: Array
    """Of the features over the pilot."""

    @classmethod
    def of(cls, coding: Coding, places: IntArray, pilot: Array, estimator: Adaptive | KernelMean) -> Self:
        """Fit the features of a column to the coordinates of a pilot, whatever the order of its rows."""
        rows = pilot[:, places]
        points = rows[row_order(rows)]
        source = ViewSource(points)
        if coding.category_weight is not None:
            gaussian = base_kernel(points, "gaussian", "median", representative_rows(points), coding.name).kernel
            shares = category_weights(coding, points, gaussian, several=isinstance(estimator, Adaptive))
            views = Views.as_they_are(source, shares, np.arange(len(places)))
            smooth = next(iter(shares))
        else:
            members = SIDES if isinstance(estimator, Adaptive) else (_alone(points, estimator, coding),)
            landmarks, units = (representative_rows(points[:, ::-1], many) for many in (LANDMARKS, UNIT_ROWS))
            views, smooth = Views.of(source, [_SMOOTH, *members], units, landmarks), _SMOOTH
        size = views.table.shape[1]
        unordered = {member: _placed(kernels, size) for member, kernels in views.kernels.items()}
        order, sizes = _in_blocks(unordered, size)
        features = OwnColumns(places, Columns.of(source, views, []), order, sizes)
        variances = views.table[:, order].var(axis=0)
        weights = {member: weights[order] for member, weights in unordered.items()}
        return cls(coding.name, features, weights, weights[smooth], variances)

    @property
    def trace(self) -> float:
        """The mean of the centered smooth kernel of a row with itself."""
        return float(self.smooth @ self.variances)

    def blocks(self, x: int) -> list[BlockPair]:
        """Return the products of column number x with itself that HSIC with the smooth kernel needs."""
        return _met((self.smooth[None],) * 2, (self, self), (x, x))

    def seen_by(self, member: Member) -> Member:
        """Return the member to use here: for categories shares, in units of their deviations if it is local."""
        if member in self.weights:
            return member
        shares = list(self.weights)
        return shares[-1] if member in _LOCAL else shares[0]


@final
@dataclass(frozen=True, eq=False)
class PairFeatures:
    """Two columns, and the members of their test."""

    x: ColumnFeatures
    y: ColumnFeatures
    members: tuple[PairMember, ...]

    @classmethod
    def of(cls, x: ColumnFeatures, y: ColumnFeatures, estimator: Any) -> Self:
        """Return what an estimator sees of two columns."""
        if not isinstance(estimator, Adaptive):
            first, second = (next(member for member in column.weights if member != _SMOOTH) for column in (x, y))
            return cls(x, y, (PairMember(first, second),))
        weights: dict[tuple[Member, Member], float] = {}
        for pair in MEMBERS:
            sides = x.seen_by(pair.x), y.seen_by(pair.y)
            weights[sides] = weights.get(sides, 0.0) + pair.weight
        return cls(x, y, tuple(PairMember(*sides, weight) for sides, weight in weights.items()))

    def blocks(self, x: int = 0, y: int = 0) -> list[BlockPair]:
        """Return the products that are needed of columns number x and y; the last kernel is the smooth one."""
        left = np.stack([*(self.x.weights[member.x] for member in self.members), self.x.smooth])
        right = np.stack([*(self.y.weights[member.y] for member in self.members), self.y.smooth])
        return _met((left, right), (self.x, self.y), (x, y))

    def magnitudes(self) -> Array:
        """Return the product of the means of both kernels of every member over the rows of the pilot."""
        sides = [(self.x, [member.x for member in self.members]), (self.y, [member.y for member in self.members])]
        x, y = (np.array([column.weights[side] @ column.variances for side in those]) for column, those in sides)
        return np.asarray(x * y)


def _met(
    weights: tuple[Array, Array], columns: tuple[ColumnFeatures, ColumnFeatures], places: tuple[int, int]
) -> list[BlockPair]:
    """Return the products that kernels with weights (k, features) need of two columns, by their numbers."""
    left, right = (
        np.split(values, np.cumsum(column.features.sizes[:-1]), axis=1)
        for values, column in zip(weights, columns, strict=True)
    )
    blocks = []
    for i, j in product(range(3), repeat=2):
        v, w = left[i], right[j]
        if i == j == _FINE_BLOCK:
            v, w = v[:, :_BOTH_FINE], w[:, :_BOTH_FINE]
        if (v.any(axis=1) & w.any(axis=1)).any():
            blocks.append(BlockPair(3 * places[0] + i, 3 * places[1] + j, np.arange(len(v)), (v, w)))
    return blocks


def _in_blocks(weights: Mapping[Member, Array], size: int) -> tuple[IntArray, tuple[int, ...]]:
    """Return the features block by block, the fine ones from coarse to fine, and the size of each block."""
    coarse = np.zeros(size, dtype=bool)
    fine = np.zeros(size, dtype=bool)
    for member, values in weights.items():
        coarse |= (values != 0.0) & (member in _COARSE or member.view == AS_IT_IS)
        fine |= (values != 0.0) & (member in _LOCAL and member.view == "ranks")
    smooth = np.flatnonzero(~coarse & ~fine)
    blocks = smooth, np.flatnonzero(coarse), np.flatnonzero(fine & ~coarse)[::-1]
    return np.concatenate(blocks), tuple(map(len, blocks))


def _placed(kernels: Sequence[Kernel], size: int) -> Array:
    """Return the weights of all features in the single kernel of a member."""
    (kernel,) = kernels
    assert isinstance(kernel, Coordinates), "features are columns"
    weights = np.zeros(size)
    weights[list(kernel.columns)] = kernel.weights
    return weights


def _alone(points: Array, estimator: KernelMean, coding: Coding) -> Member:
    """Return the kernel of an estimator, smoothed by the noise that it chose."""
    return Member(AS_IT_IS, choose_kernel(points, estimator, representative_rows(points), coding.name).kernel)
