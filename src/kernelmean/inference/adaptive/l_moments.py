"""How single columns of samples differ in shape: by L-moments (Hosking 1990), which no single row can dominate."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ...core.array import Array

_NORMAL = np.sqrt([[0.1866], [0.0883]])
"""The deviations of L-skewness and L-kurtosis of n normal values are these over √n."""
_LEAST_ROWS = 8
_DEVIATIONS, _SHARE = 3.0, 0.3
_HEAVY = 0.17
"""The L-kurtosis from which on tails are called heavy: that of normal values is .1226, of Student's t with 3 .26."""


def residual(samples: Sequence[Array], strength: float) -> str:
    """Return what a difference is that is not one of means, of spread, or of how columns go together.

    "tails" or "shape" where the L-kurtosis or the L-skewness of a column differs by three deviations and by a share of
    the ``strength`` of the evidence, -log of a p-value; else "local".
    """
    if min(map(len, samples), default=0) < _LEAST_ROWS:
        return "local"
    ratios = [l_ratios(sample) for sample in samples]
    found = [
        (deviations, order, max(own[order, column], other[order, column]))
        for (own, n), (other, m) in combinations([(r, len(s)) for r, s in zip(ratios, samples, strict=True)], 2)
        for (order, column), deviations in np.ndenumerate(np.abs(own - other) / (_NORMAL * np.sqrt(1 / n + 1 / m)))
    ]
    deviations, order, largest = max(found)
    if deviations < _DEVIATIONS or deviations**2 / 2 < _SHARE * strength:
        return "local"
    return "tails" if order == 1 and largest >= _HEAVY else "shape"


def l_ratios(points: Array) -> Array:
    """Return the L-skewness and the L-kurtosis of every column, shape (2, d); 0 of constant columns.

    Examples
    --------
    >>> l_ratios(np.arange(5.0)[:, None] ** 2).round(3).ravel().tolist()
    [0.35, 0.0]
    """
    rows = np.sort(points, axis=0)
    n = len(rows)
    rank = np.arange(n)[:, None]
    below = [np.ones((n, 1))]
    for k in range(1, 4):
        below.append(below[-1] * (rank - k + 1) / (n - k))
    moments = [(share * rows).mean(axis=0) for share in below]
    scale = 2 * moments[1] - moments[0]
    third = 6 * moments[2] - 6 * moments[1] + moments[0]
    fourth = 20 * moments[3] - 30 * moments[2] + 12 * moments[1] - moments[0]
    higher = np.stack([third, fourth])
    return np.divide(higher, scale, out=np.zeros_like(higher), where=scale > 0.0)
