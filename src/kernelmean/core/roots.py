"""Roots of many increasing functions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize.elementwise import find_root

from .array import Array, IntArray

_WIDTH = 1e-11  # of the interval that contains a root


def rising_roots(
    slope: Callable[[Array], Array], low: Array, high: Array, ends: tuple[Array, Array] | None = None
) -> Array:
    """Return roots of slopes that rise from ``low`` to ``high``, by Chandrupatla's method; an end if there is none.

    Parameters
    ----------
    slope : callable
        Maps points to the values of as many functions, one at each point, shape (b,) to (b,).
    low, high : array of shape (b,)
    ends : pair of arrays of shape (b,), optional
        The values at ``low`` and at ``high``, if known.

    Notes
    -----
    By :func:`scipy.optimize.elementwise.find_root`. Every step evaluates all functions, until the last has settled.

    Examples
    --------
    >>> rising_roots(lambda u: u**3 - np.array([1.0, 8.0, 30.0]), np.array([0.0, 0.0, 0.0]), np.array([3.0, 3.0, 3.0]))
    array([1., 2., 3.])
    """
    places, (first, last) = np.array(low), ends or (slope(low), slope(high))
    known = [last, first]  # find_root asks for these first

    def at(points: Array, which: IntArray) -> Array:
        if known:
            return known.pop()
        places[which] = points
        return slope(places)[which]

    result = find_root(at, (low, high), args=(np.arange(len(low)),), tolerances={"xatol": _WIDTH, "xrtol": 0.0})
    return np.where(first >= 0, low, np.where(result.success, result.x, high))
