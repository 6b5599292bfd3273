"""The unit of a view: a distance between its rows, so that kernels of fixed widths fit whatever was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from scipy.spatial.distance import pdist, squareform

from ...core.array import Array, IntArray, like
from ...kernels.bandwidth import median_bandwidth

DIRECT = ("order", "axes", "square axes")
"""Views that kernels look at as they are: the order of one column, and columns one by one."""
AS_IT_IS = "points"
"""What a kernel that a caller chose looks at: the rows in their own units."""
NEAR = {"near": 0.1, "nearest": 0.03}
"""The share of the rows whose distance is the unit of these views."""
_FAR, _FARTHEST = 7.25, 9.0
_CLOSE_PAIRS = 0.1


@final
@dataclass(frozen=True)
class Unit:
    """What a view is divided by: a distance, of single columns their deviations, of "order" 1.

    Where all rows were equal, what any row has beyond them: kernels on these are then constant without rounding.
    """

    divisor: Any
    origin: Array | None = None

    @classmethod
    def of(cls, name: str, table: Array, rows: IntArray) -> Self:
        """Return the unit of a view, judged by some of its rows."""
        if name == "order":
            return cls(1.0)
        if (table[-1] == table[0]).all() and (table == table[0]).all():
            return cls(1.0, table[0])
        if name == AS_IT_IS:
            return cls(1.0)
        if name in DIRECT:
            deviation = table.std(axis=0)
            return cls(np.where(deviation > 0.0, deviation, 1.0))
        some = table[rows]
        return cls(1.0 if (some == some[0]).all() else _distance(name, some))

    def __call__(self, table: Array) -> Array:
        """Return rows of the view in this unit."""
        if self.origin is not None:
            return table - like(self.origin, table)
        if isinstance(self.divisor, float) and self.divisor == 1.0:
            return table
        return table / like(self.divisor, table)


def _distance(name: str, some: Array) -> float:
    """Return the distance that is 1 in a view, positive where not all rows are equal."""
    if name == "blocks":
        distances = pdist(some, "cityblock")
        return float(np.median(distances[distances > 0.0]))
    if name in NEAR:
        near = near_distance(some, NEAR[name])
        if near > 0.0:
            return near
    return float(median_bandwidth(some))


def near_distance(rows: Array, share: float) -> float:
    """Return the median over the rows of the distance within which a share of the others lie."""
    distances = squareform(pdist(rows))
    place = max(1, min(len(rows) - 1, round(share * len(rows))))
    return float(np.median(np.partition(distances, place, axis=1)[:, place]))


def clustered(rows: Array) -> float:
    """Return from 0 to 1 how surely the rows of a table lie in far clusters, from the distances of some of them.

    The median distance is measured by the distance below which a tenth of the pairs are, those within a cluster where
    there are clusters: 5.4 times for normal values in one dimension, less in more, 6.3 for Cauchy's and 6.7 for
    lognormal ones. From 7.25 to 9 times the answer rises from 0 to 1. Values with many ties are not clusters.
    """
    near, middle = np.quantile(pdist(rows), (_CLOSE_PAIRS, 0.5))
    if near <= 0.0:
        return 0.0
    return float(np.clip(np.log(middle / near / _FAR) / np.log(_FARTHEST / _FAR), 0.0, 1.0))
