"""The squared distances of many samples of one size, stacked: every sum over them is taken for all samples at once."""

from __future__ import annotations

import math

import numpy as np

from ...core.array import Array
from .isotropic import Sketch, leading_bits

_COARSER = 2  # bits


def stacked(distances: Array, dim: int) -> Sketch:
    """Return the distances (b, p) of b samples as a sketch whose every bin is one distance: sums over it are exact."""
    return Sketch(dim, distances, np.full((1, 1), -math.log(distances.shape[1])))


def sketched(distances: Array, dim: int) -> Sketch:
    """Return the distances (b, p) gathered in bins wide enough to see where scores turn.

    These are four times as wide as in the sketch of one sample, 3 %, and the same ones for all samples; where they are
    no fewer than the distances, every distance is a bin.
    """
    bits, (b, p) = leading_bits(distances) >> _COARSER, distances.shape
    present = np.zeros(int(bits.max()) + 1, dtype=bool)
    present[bits] = True
    width = int(present.sum())
    if width >= p:
        return stacked(distances, dim)
    places = ((np.cumsum(present) - 1)[bits] + width * np.arange(b)[:, None]).ravel()
    counts, sums = (
        np.bincount(places, weights, minlength=b * width).reshape(b, width) for weights in (None, distances.ravel())
    )
    with np.errstate(divide="ignore"):  # log 0 of a bin that only other samples need
        return Sketch(dim, sums / np.maximum(counts, 1), np.log(counts / p))
