"""The squared distances of many samples of one size, stacked: every sum over them is taken for all samples at once."""

from __future__ import annotations

import math

import numpy as np

from .._array import Array
from .isotropic import Sketch, leading_bits

_COARSER = 2  # bits: bins of 3 %, enough to see between which noises a score turns


def stacked(distances: Array, dim: int) -> Sketch:
    """Return the distances (b, p) of b samples as a sketch whose every bin is one distance: sums over it are exact."""
    return Sketch(dim, distances, np.full((1, 1), -math.log(distances.shape[1])))


def sketched(distances: Array, dim: int) -> Sketch:
    """Return the distances (b, p) gathered in the bins of a sketch, four times as wide as those of one sample."""
    bits, b = leading_bits(distances) >> _COARSER, len(distances)
    width = int(bits.max()) + 1
    places = (bits + width * np.arange(b)[:, None]).ravel()
    counts, sums = (
        np.bincount(places, weights, minlength=b * width).reshape(b, width) for weights in (None, distances.ravel())
    )
    occupied = counts.any(axis=0)
    counts, sums = counts[:, occupied].astype(np.float64), sums[:, occupied]
    with np.errstate(divide="ignore"):  # log 0 of a bin that only other samples need
        return Sketch(dim, sums / np.maximum(counts, 1.0), np.log(counts / distances.shape[1]))
