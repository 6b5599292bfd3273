"""Moments of pair distances in bins, compiled by numba: no distance is ever stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ...core.array import Array
from ...plan.compiled import compiled
from .binned import BITS

_KEEP = 52 - BITS
_ZERO = np.int64(1023 << BITS)
_HALF = np.int64(1 << (_KEEP - 1))


def _gather_tile(rows: Array, columns: Array, triangle: bool, distances: Array, moments: Array) -> None:
    """Add the moments of all pairs of two tiles (d, n) and (d, m), only i < j where both are the same."""
    for i in range(rows.shape[1]):
        first = i + 1 if triangle else 0
        distances[first:] = 1.0
        for axis in range(rows.shape[0]):
            x = rows[axis, i]
            for j in range(first, columns.shape[1]):
                gap = x - columns[axis, j]
                distances[j] += gap * gap
        bits = distances.view(np.int64)
        for j in range(first, columns.shape[1]):
            leading = bits[j] >> _KEEP
            center = np.int64((leading << _KEEP) + _HALF).view(np.float64)
            gap = distances[j] - center
            square = gap * gap
            row = moments[leading - _ZERO]
            row[0] += 1.0
            row[1] += gap
            row[2] += square
            row[3] += square * gap
            row[4] += square * square


gather_tile = compiled(_gather_tile)


def gatherer(Y: Array, n_bins: int) -> Callable[[Iterable[tuple[slice, slice]]], Array]:
    """Return ``f(tiles)``, the moments (n_bins, 5) of the distances of the points of two slices, each pair once."""
    axes = np.ascontiguousarray(Y.T)

    def gather(tiles: Iterable[tuple[slice, slice]]) -> Array:
        moments = np.zeros((n_bins, 5))
        for i, j in tiles:
            rows, columns = np.ascontiguousarray(axes[:, i]), np.ascontiguousarray(axes[:, j])
            gather_tile(rows, columns, i == j, np.empty(columns.shape[1]), moments)
        return moments

    return gather
