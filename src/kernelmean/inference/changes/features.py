"""What a search for change points looks at: coordinates of the rows, whose sums distinguish segments.

Nothing here depends on the order of the rows: permuting rows permutes their coordinates and changes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, final

import numpy as np

from ...core.array import Array, IntArray
from ...kernels import Kernel
from ..adaptive.candidates import UNIT_ROWS
from ..adaptive.columns import DIRECT, put_back, row_order
from ..adaptive.member import ENERGY, LINEAR, MEDIAN, QUARTER, Member
from ..adaptive.views import Views, ViewSource, available
from ..low_rank import Coordinates

_LANDMARKS = 32
_MEMBERS: tuple[tuple[str, str, Kernel, float | None, float], ...] = (
    ("means", "data", LINEAR, None, 15.0),
    ("means", "scores", ENERGY, None, 10.0),
    ("means", "axes", LINEAR, None, 10.0),
    ("spread", "radius", LINEAR, None, 10.0),
    ("spread", "square axes", LINEAR, None, 10.0),
    ("columns together", "products", LINEAR, None, 15.0),
    ("shape", "data", MEDIAN, None, 15.0),
    ("shape", "data", MEDIAN, 0.01, 10.0),
    ("local", "data", QUARTER, None, 10.0),
)
"""Kind of change, view, kernel, λ and percent of the weight."""


@final
@dataclass(frozen=True)
class ChangeKernel:
    """A kernel and the coordinates that it looks at: two means differ by Σ_j w_j d_j², or by the largest d_j²."""

    member: Member
    columns: slice
    weights: Array | None
    """Shape (k,); None where every coordinate is looked at alone and the largest counts."""

    @classmethod
    def seen(cls, member: Member, views: Views) -> ChangeKernel:
        """Return what a member looks at: neighboring columns of the views, none where its kernel is constant."""
        kernels = cast("list[Coordinates]", views.kernels[member])
        columns = [column for kernel in kernels for column in kernel.columns]
        place = slice(min(columns, default=0), max(columns, default=-1) + 1)
        return cls(member, place, None if member.view in DIRECT else np.array(kernels[0].weights))

    def of(self, squares: Array) -> Array:
        """Return the statistics (q, …) from the squares d_j² of the coordinates, shape (q, …, k)."""
        if self.weights is None:  # the copy is faster than a maximum over few numbers that are side by side
            return np.asarray(np.ascontiguousarray(squares.T).max(axis=0).T)
        return np.asarray(squares @ self.weights)

    def largest(self, squares: Array, starts: IntArray) -> Array:
        """Return the largest statistic of every group of squares (q, …, k), which begin at ``starts``."""
        return np.asarray(np.maximum.reduceat(self.of(squares), starts, axis=0))


@final
@dataclass(frozen=True)
class ChangeFeatures:
    """The coordinates of the rows of a table, and the kernels on them."""

    columns: Array
    """Centered, shape (D, n)."""
    parts: tuple[ChangeKernel, ...]

    @classmethod
    def of(cls, points: Array, rng: np.random.Generator) -> ChangeFeatures:
        """Look at the rows of a table of shape (n, d); O(n d + n r²) time for r = 64 landmarks a kernel."""
        order = row_order(points)
        source = ViewSource(points[order])
        views = available(*points.shape)
        members = [
            Member(view, kernel, weight, ridge, group)
            for group, view, kernel, ridge, weight in _MEMBERS
            if view in views
        ]
        units = source.drawn(UNIT_ROWS, rng)
        viewed = Views.of(source, members, units, source.drawn(_LANDMARKS, rng))
        columns = viewed.table.T
        put_back(columns, order)
        parts = (ChangeKernel.seen(member, viewed) for member in members)
        return cls(columns, tuple(part for part in parts if part.columns.stop > part.columns.start))
