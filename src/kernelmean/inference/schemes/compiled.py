"""Loops that only a compiler makes fast; needs the ``fast`` extra, and nothing else imports numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..._array import Array, IntArray


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"}, cache=True)
def gather(left: Array, right: Array, batch: IntArray) -> Array:
    """Return Σ_ij left_ij right_π(i)π(j) of two symmetric matrices for every row π of ``batch``."""
    sums = np.empty(len(batch))
    for p in range(len(batch)):
        order = batch[p]
        total = 0.0
        for i in range(len(order)):
            row = right[order[i]]
            part = 0.5 * left[i, i] * row[order[i]]
            for j in range(i):
                part += left[i, j] * row[order[j]]
            total += part
        sums[p] = 2.0 * total
    return sums
