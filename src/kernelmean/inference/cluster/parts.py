"""Embeddings of rows on a cluster: inner products and values as sums over pairs of pieces."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NoReturn, final

import numpy as np

from ...core.array import Array
from ...embedding.parts import OneNoisePart, Part, PointPart
from ...kernels.base import Kernel
from ...noise.base import Noise
from ...plan.plan import Plan
from .rows import Rows
from .running import folded, gathered, task

Piece = tuple[Array, Array | None]  # points, and a column of weights; None if all are equal

_ALONE = Plan(threads=1)  # every core has a task of its own


@final
@dataclass(frozen=True, eq=False, repr=False)
class ClusterPart(OneNoisePart):
    """Rows on a cluster with one noise: a summand of an embedding."""

    rows: Rows
    noise: Noise
    """Shared by all rows."""
    factor: float
    """The weight of every row, or the factor of its own weight."""
    own: Rows | None = None
    """One column: a weight for every row."""

    features = None

    @classmethod
    def of(cls, rows: Rows, noise: Noise, own: Rows | None = None) -> ClusterPart:
        """Return rows with weights 1/n, or with those of ``own``."""
        return cls(rows, noise, 1.0 / len(rows) if own is None else 1.0, own)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.rows.shape

    @property
    def like(self) -> Rows:
        """The rows."""
        return self.rows

    @property
    def mass(self) -> float:
        """The sum of the weights; nan if rows have weights of their own, which are on the cluster."""
        return self.factor * len(self.rows) if self.own is None else math.nan

    def __repr__(self) -> str:
        return f"what is on a cluster, {self.rows.shape[0]:,} rows of {self.rows.source},"

    def inner(self, other: Part, kernel: Kernel, plan: Plan) -> float:
        """Return Σ β_i γ_j E k(x̃_i, ỹ_j): every pair of pieces is a task that returns one number."""
        del plan
        left = self._pieces()
        right = left if other is self else _pieces_of(other)
        (noise,) = other.noises
        pairs = [(i, j) for i, j in product(range(len(left)), range(len(right))) if i <= j or right is not left]
        values = [
            task(_inner, left[i], right[j], (self.noise, noise), kernel, right is left and i == j) for i, j in pairs
        ]
        twice = [1.0 if i == j or right is not left else 2.0 for i, j in pairs]
        found = gathered(self.rows.client, [task(np.dot, values, twice)])[0]
        return float(self.factor * (other.factor if isinstance(other, ClusterPart) else 1.0) * found)

    def evaluate(self, Y: Array, kernel: Kernel, plan: Plan) -> Array:
        """Return Σ β_i E k(x̃_i, y_j), shape (m,): every piece is a task that returns m numbers, which are added up."""
        del plan
        rows = task(_given, Y)
        parts = [task(_evaluated, piece, rows, self.noise, kernel) for piece in self._pieces()]
        (total,) = gathered(self.rows.client, [folded(_sum, parts)])
        return np.asarray(self.factor * total)

    def scaled(self, factor: float) -> ClusterPart:
        """Return the rows with all weights times a factor."""
        return replace(self, factor=factor * self.factor)

    def here(self) -> NoReturn:
        """Raise: the rows stay where they are."""
        self.rows.__array__()

    def _pieces(self) -> list[Any]:
        """Return pairs of points and weights (None if all are equal)."""
        points = self.rows.pieces()
        return list(zip(points, [None] * len(points) if self.own is None else self.own.pieces(), strict=True))


def _pieces_of(part: Part) -> list[Any]:
    """Return the pieces of any part; one in this process is sent as it is."""
    if isinstance(part, ClusterPart):
        return part._pieces()
    given = part.here()
    if given.noise.per_point is not None:
        raise ValueError(f"{given.noise!r} has one distribution per point, which does not go with rows on a cluster")
    return [(task(_given, given.points), task(_given, given.weights[:, None]))]


def _given(values: Array) -> Array:
    """Return an array of this process, as a task, so that it is sent once."""
    return values


def _inner(left: Piece, right: Piece, noises: tuple[Noise, Noise], kernel: Kernel, same: bool) -> float:
    """Return the sum over the pairs of two pieces."""
    one = _part(left, noises[0])
    return one.inner(one if same else _part(right, noises[1]), kernel, _ALONE)


def _evaluated(piece: Piece, Y: Array, noise: Noise, kernel: Kernel) -> Array:
    return _part(piece, noise).evaluate(Y, kernel, _ALONE)


def _part(piece: Piece, noise: Noise) -> PointPart:
    points, weights = piece
    return PointPart(points, np.ones(len(points)) if weights is None else weights[:, 0], noise)


def _sum(*arrays: Array) -> Array:
    return np.sum(arrays, axis=0)
