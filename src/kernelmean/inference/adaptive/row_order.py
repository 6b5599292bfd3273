"""Rows in an order that only they decide on: sums over them then have the same last digit in whatever order they came.

Where digits are lost, as of values far from 0 or ten orders of magnitude apart, rounding would otherwise know in which
order the rows came, which is to say who is in which sample.
"""

from __future__ import annotations

import numpy as np

from ...core.array import Array, IntArray


def row_order(points: Array) -> IntArray:
    """Return row numbers in ascending order of the first column, equal ones of the next, and so on.

    Examples
    --------
    >>> row_order(np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 0.0]])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(points[:, 0], kind="stable")
    first = points[order, 0]
    return order if (first[1:] > first[:-1]).all() else np.lexsort(points.T[::-1])


def put_back(columns: Array, order: IntArray) -> None:
    """Move, in place, the entries of columns (D, n) of rows in this order to where the rows came from."""
    ranks, moved = np.argsort(order), np.empty(len(order))
    for column in columns:
        column[:] = np.take(column, ranks, out=moved, mode="clip")
