"""Roots of many increasing functions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .array import Array

_WIDTH = 1e-7  # of the last step; the error is far smaller
_STEPS = 60


def rising_roots(slope: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Return roots of slopes that rise from ``low`` to ``high``, by Ridders' method; an end where there is none.

    Parameters
    ----------
    slope : callable
        From points to the values of as many functions, one at each, shape (b,) to (b,).
    low, high : array of shape (b,)

    Notes
    -----
    C. Ridders, "A new algorithm for computing a single root of a real continuous function", IEEE Transactions on
    Circuits and Systems 26 (1979). Every step takes two evaluations of all functions, until the last has settled.

    Examples
    --------
    >>> rising_roots(lambda u: u**3 - np.array([1.0, 8.0, 30.0]), np.array([0.0, 0.0, 0.0]), np.array([3.0, 3.0, 3.0]))
    array([1., 2., 3.])
    """
    below, above = slope(low), slope(high)
    unit = np.maximum(np.abs(below), np.abs(above))  # squares of slopes neither overflow nor vanish
    unit = np.where(unit > 0, unit, 1.0)
    below, above = below / unit, above / unit
    inside, ends = (below < 0) & (above > 0), np.where(below >= 0, low, high)
    low, high, point = np.where(inside, low, ends), np.where(inside, high, ends), ends
    settled = ~inside
    for _ in range(_STEPS):
        middle = (low + high) / 2
        half = slope(middle) / unit
        root = np.sqrt(np.maximum(half**2 - below * above, 0.0))
        share = np.divide(half, root, out=np.zeros_like(half), where=root > 0)
        before, point = point, np.where(settled, point, middle - (middle - low) * share)
        settled |= np.abs(point - before) <= _WIDTH
        if settled.all():
            break
        for place, value in ((middle, half), (point, slope(point) / unit)):
            rises = value >= 0
            low, below = np.where(rises, low, place), np.where(rises, below, value)
            high, above = np.where(rises, place, high), np.where(rises, value, above)
    return point
