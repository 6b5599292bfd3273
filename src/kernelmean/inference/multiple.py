"""P-values of many tests, adjusted so that they can be read together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.array import Array

ROOM_FOR_HOLM = 50
"""Relabelings per test, so that an adjusted p-value can be as small as 0.02."""


def holm(pvalues: Sequence[float]) -> Array:
    """Return p-values adjusted by Holm's method for the family-wise error rate, in the given order.

    Valid whatever the dependence between the tests. O(m log m) for m tests; Holm (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def enough_for_holm(n_resamples: int, tests: int) -> int:
    """Return how many relabelings each of so many tests needs, at least ``n_resamples``."""
    return max(n_resamples, ROOM_FOR_HOLM * tests - 1)
