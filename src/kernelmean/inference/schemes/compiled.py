"""Loops that only a compiler makes fast; needs the ``fast`` extra, and is imported where one of them is called."""

from __future__ import annotations

import numpy as np

from ...core.array import Array, IntArray
from ...plan.compiled import compiled

_LANES = 32


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


def _walsh(flat: Array, lanes: int) -> None:
    """Transform all columns of an array (2^k, lanes), given flat, in place, two levels at a time."""
    width = lanes
    while 4 * width <= len(flat):
        for start in range(0, len(flat), 4 * width):
            for i in range(start, start + width):
                a, b, c, d = flat[i], flat[i + width], flat[i + 2 * width], flat[i + 3 * width]
                flat[i], flat[i + width] = (a + b) + (c + d), (a - b) + (c - d)
                flat[i + 2 * width], flat[i + 3 * width] = (a + b) - (c + d), (a - b) - (c - d)
        width *= 4
    if width < len(flat):
        for i in range(width):
            a, b = flat[i], flat[i + width]
            flat[i], flat[i + width] = a + b, a - b


_walsh_in_place = compiled(_walsh)


def _xor_spectrum(left: Array, right: Array) -> Array:
    """Return the Walsh-Hadamard transform of t ↦ Σ_ij left_ij right_(i xor t)(j xor t), shape (rows,).

    Both tiles have 2^k rows and 2^l ≤ 2^k columns; columns follow the lower bits of i and t. Column d of the scratch
    arrays holds the entries (i, i xor d), whose sum over i is one convolution.
    """
    rows, columns = left.shape
    lanes = min(_LANES, columns)
    own, other = np.empty((rows, lanes)), np.empty((rows, lanes))
    spectrum = np.zeros(rows)
    for first in range(0, columns, lanes):
        for i in range(rows):
            base = (i & (columns - 1)) ^ first
            for lane in range(lanes):
                own[i, lane] = left[i, base ^ lane]
                other[i, lane] = right[i, base ^ lane]
        _walsh_in_place(own.reshape(-1), lanes)
        _walsh_in_place(other.reshape(-1), lanes)
        for i in range(rows):
            part = 0.0
            for lane in range(lanes):
                part += own[i, lane] * other[i, lane]
            spectrum[i] += part
    return spectrum


gather = compiled(_gather)
xor_spectrum = compiled(_xor_spectrum)
