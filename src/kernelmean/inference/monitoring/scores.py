"""What a monitor looks at in a row: numbers that rank rows, and features in which directions are learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray
from ...core.cached import cached_property
from ..adaptive.candidates import UNIT_ROWS
from ..adaptive.fitted_views import ViewedColumns
from ..adaptive.member import LINEAR, MEDIAN, QUADRATIC, QUARTER, Member
from ..adaptive.views import View, Views, ViewSource, available
from ..low_rank import Coordinates

_MEMBERS = (
    Member("data", LINEAR),
    Member("white", LINEAR),
    Member("data", QUADRATIC),
    Member("data", MEDIAN, ridge=0.1),
    Member("data", QUARTER, ridge=0.001),
)
"""The members of the default test whose directions are learned."""
_LANDMARKS = 64
_WEIGHTS = {"axes": 0.5, "radius": 0.25, "products": 0.25}
_NOVEL = 0.05


@final
@dataclass(frozen=True, eq=False)
class Scores:
    """The functions of a row, determined by some rows of the reference, the pilot."""

    source: ViewSource
    """The columns of the pilot that are not constant."""
    columns: IntArray
    """Which columns of the coordinates these are."""
    n_marks: int
    """The number of last columns of the coordinates, which mark cells that the pilot did not hold."""
    fixed: tuple[View, ...]
    views: Views | None
    """Of the members; None if all columns are constant."""

    @classmethod
    def of(cls, pilot: Array, n_marks: int) -> Scores:
        """Fit them to the coordinates of some rows."""
        columns = np.flatnonzero((pilot != pilot[0]).any(axis=0))
        source = ViewSource(pilot[:, columns])
        if not len(columns):
            return cls(source, columns, n_marks, (), None)
        names, units = available(*source.points.shape), np.arange(len(pilot))[:UNIT_ROWS]
        fixed = tuple(View.fitted(name, source, units)[0] for name in ("radius", "products") if name in names)
        members = [member for member in _MEMBERS if member.view in names]
        landmarks = source.drawn(_LANDMARKS, np.random.default_rng(0))
        return cls(source, columns, n_marks, fixed, Views.of(source, members, units, landmarks))

    @property
    def weights(self) -> Array:
        """The shares of the scores in the payments to all of them, shape (K,)."""
        groups = [("axes", len(self.columns)), *((view.name, len(view(self.source).T)) for view in self.fixed)]
        shares = np.concatenate([np.full(count, _WEIGHTS[name] / max(count, 1)) for name, count in groups])
        return np.append(shares * (1 - _NOVEL) / (shares.sum() or 1.0), _NOVEL)

    def __call__(self, coordinates: Array) -> Array:
        """Return scores of rows (n, D): columns, the distance from the middle, products, how many cells are unknown."""
        rows = ViewSource(coordinates[:, self.columns], self.source.fits)
        novel = np.count_nonzero(coordinates[:, coordinates.shape[1] - self.n_marks :], axis=1)
        return np.column_stack([rows.points, *(view(rows) for view in self.fixed), novel])

    def features(self, coordinates: Array) -> Array:
        """Return the features of rows that the members use, shape (n, m)."""
        if self.views is None:
            return np.empty((len(coordinates), 0))
        features = np.empty((self.views.table.shape[1], len(coordinates)))
        for number, columns in self._viewed(coordinates[:, self.columns]):
            features[self.views.parts[number].place] = columns
        return features.T

    @cached_property
    def _viewed(self) -> ViewedColumns:
        return ViewedColumns(() if self.views is None else self.views.parts, self.source.fits)

    @property
    def metrics(self) -> Array:
        """How much every feature counts in the kernel of every member, shape (M, m)."""
        if self.views is None:
            return np.empty((0, 0))
        metrics = np.zeros((len(self.views.kernels), self.views.table.shape[1]))
        for row, kernels in zip(metrics, self.views.kernels.values(), strict=True):
            for kernel in kernels:
                assert isinstance(kernel, Coordinates)
                row[kernel.place] = kernel.weights
        return metrics
