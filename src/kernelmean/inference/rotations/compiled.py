"""Loops that only a compiler makes fast; needs the ``fast`` extra, and is imported when one of them is called."""

from __future__ import annotations

import numpy as np

from ...core.array import Array, IntArray
from ...plan.compiled import compiled


def _gather(left: Array, right: Array, batch: IntArray) -> Array:
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


gather = compiled(_gather)
