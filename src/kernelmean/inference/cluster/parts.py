"""Embeddings of rows on a cluster: inner products and values as sums over pairs of pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NoReturn, final

import numpy as np

from ...core.array import Array
from ...embedding.embedding import Part
from ...kernels.base import Kernel
from ...noise.base import Noise
from ...plan.plan import Plan
from .rows import Rows
from .running import folded, gathered, task

Piece = tuple[Array, Array | None]  # points, and a column of weights; None where all count alike

_ALONE = Plan(threads=1)  # every core has a task of its own


@final
@dataclass(frozen=True, eq=False)
class RowWeights:
    """The weights of rows on a cluster.

    Attributes
    ----------
    factor : float
        What every row counts, or what its own weight is multiplied with.
    own : Rows, optional
        One column: a weight for every row.
    rows : Rows
        The points.
    """

    factor: float
    own: Rows | None
    rows: Rows

    def __rmul__(self, factor: float) -> RowWeights:
        return replace(self, factor=factor * self.factor)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self.rows.__array__()


@final
@dataclass(frozen=True, eq=False)
class ClusterPart(Part):
    """Rows on a cluster with one noise: a summand of an embedding.

    Attributes
    ----------
    points : Rows
    weights : RowWeights
    noise : Noise
        Shared by all rows.
    """

    points: Rows  # type: ignore[assignment]
    weights: RowWeights  # type: ignore[assignment]

    @classmethod
    def of(cls, rows: Rows, noise: Noise, weight: float | None = None, own: Rows | None = None) -> ClusterPart:
        """Return rows that count ``weight`` each (1/n by default), or what ``own`` says."""
        each = 1.0 / len(rows) if weight is None else weight
        return cls(rows, RowWeights(each if own is None else 1.0, own, rows), noise)

    def inner(self, other: Part, kernel: Kernel, plan: Plan) -> float:
        """Return Σ β_i γ_j E k(x̃_i, ỹ_j): every pair of pieces is a task, of which one number comes back."""
        del plan
        left = self._pieces()
        right = left if other is self else _pieces_of(other)
        pairs = [(i, j) for i, j in product(range(len(left)), range(len(right))) if i <= j or right is not left]
        values = [
            task(_inner, left[i], right[j], (self.noise, other.noise), kernel, right is left and i == j)
            for i, j in pairs
        ]
        twice = [1.0 if i == j or right is not left else 2.0 for i, j in pairs]
        found = gathered(self.points.client, [task(_dot, values, twice)])[0]
        return float(self.weights.factor * (other.weights.factor if isinstance(other, ClusterPart) else 1.0) * found)

    def evaluate(self, Y: Array, kernel: Kernel, plan: Plan) -> Array:
        """Return Σ β_i E k(x̃_i, y_j), shape (m,): every piece is a task, of which m numbers are added up."""
        del plan
        rows = task(_given, Y)
        parts = [task(_evaluated, piece, rows, self.noise, kernel) for piece in self._pieces()]
        (total,) = gathered(self.points.client, [folded(_sum, parts)])
        return np.asarray(self.weights.factor * total)

    def _pieces(self) -> list[Any]:
        """Return pairs of points and weights (None where all count alike)."""
        points, own = self.points.pieces(), self.weights.own
        return list(zip(points, [None] * len(points) if own is None else own.pieces(), strict=True))


def _pieces_of(part: Part) -> list[Any]:
    """Return the pieces of any part; one in this process is sent as it is."""
    if isinstance(part, ClusterPart):
        return part._pieces()
    if part.noise.per_point is not None:
        raise ValueError(f"{part.noise!r} has one law per point, which does not go with rows on a cluster")
    return [(task(_given, part.points), task(_given, part.weights[:, None]))]


def _given(values: Array) -> Array:
    """Return an array of this process, as a task, so that it is sent once."""
    return values


def _inner(left: Piece, right: Piece, noises: tuple[Noise, Noise], kernel: Kernel, same: bool) -> float:
    """Return the sum over the pairs of two pieces."""
    one = _part(left, noises[0])
    return one.inner(one if same else _part(right, noises[1]), kernel, _ALONE)


def _evaluated(piece: Piece, Y: Array, noise: Noise, kernel: Kernel) -> Array:
    return _part(piece, noise).evaluate(Y, kernel, _ALONE)


def _part(piece: Piece, noise: Noise) -> Part:
    points, weights = piece
    return Part(points, np.ones(len(points)) if weights is None else weights[:, 0], noise)


def _dot(values: list[float], factors: list[float]) -> float:
    return float(np.dot(values, factors))


def _sum(*arrays: Array) -> Array:
    return np.sum(arrays, axis=0)
