"""How the scores of a row rank among those of all rows before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray

_MOST_EDGES = 63
_TAILS = np.array([0.125, 0.5, 2.0, 8.0])
"""Edges beyond the smallest and the largest score that was seen, in units of the distance between these two."""
_BETWEEN = 0.618
"""Where an edge lies between two scores: not in the middle, where a third score may be."""
_EQUAL = 1e-9
_BELOW_1 = 1.0 - 2.0**-53  # ranks in a bag of many rows could round to 1
WIDTH = _MOST_EDGES + 2 * len(_TAILS)


def edges_between(scores: Array) -> Array:
    """Return edges that separate the values in every column of scores (n, K), shape (K, 71).

    Equal scores lie well inside one cell, however they are rounded. Rows that are ranked must not be among the n.
    """
    edges, values = np.full((scores.shape[1], WIDTH), np.inf), np.sort(scores, axis=0).T
    spans = values[:, -1] - values[:, 0]
    spans[spans == 0.0] = 1.0
    apart = np.diff(values) > _EQUAL * spans[:, None]
    for row, column, span, gap in zip(edges, values, spans, apart, strict=True):
        gaps = np.flatnonzero(gap)
        gaps = gaps[_spread_out(len(gaps))]
        inner = column[gaps] + _BETWEEN * (column[gaps + 1] - column[gaps])
        cuts = np.concatenate([column[0] - span * _TAILS[::-1], inner, column[-1] + span * _TAILS])
        row[: len(cuts)] = cuts
    return edges


@cache
def _spread_out(gaps: int) -> IntArray:
    """Return which of a number of gaps have an edge."""
    return np.unique(np.linspace(0, gaps - 1, min(gaps, _MOST_EDGES)).round().astype(int))


def levels(scores: Array, edges: Array) -> IntArray:
    """Return the cells of scores (n, K), shape (n, K)."""
    cells = np.empty(scores.shape, dtype=np.int64)
    for place, (edge, column) in enumerate(zip(edges, scores.T, strict=True)):
        cells[:, place] = edge.searchsorted(column)
    return cells


@final
@dataclass(frozen=True, eq=False)
class Bag:
    """How many rows lie in every cell, of K scores."""

    counts: IntArray
    """Shape (K, 72)."""

    @classmethod
    def of(cls, cells: IntArray) -> Self:
        """Return a bag of rows, from their cells (n, K)."""
        scores, width = cells.shape[1], WIDTH + 1
        places = (cells + width * np.arange(scores)).ravel()
        return cls(np.bincount(places, minlength=scores * width).reshape(scores, width))

    @classmethod
    def of_scores(cls, scores: Array, edges: Array) -> Self:
        """Return a bag of rows from their scores (n, K); for many rows faster than from cells."""
        columns = np.sort(scores.T, axis=1)
        below = [column.searchsorted(edge, side="right") for column, edge in zip(columns, edges, strict=True)]
        return cls(np.diff(np.reshape(below, (len(edges), WIDTH)), prepend=0, append=len(scores)))

    def __add__(self, other: Bag) -> Bag:
        return Bag(self.counts + other.counts)

    def ranks(self, cells: IntArray, uniforms: Array) -> Array:
        """Put rows into the bag one by one; return the share of the bag at that time below each, shape (b, K).

        In its own cell a row takes a random place, by ``uniforms`` in (0, 1). O(b K (b + 72)) time.
        """
        scores, below = np.arange(cells.shape[1]), np.cumsum(self.counts, axis=1) - self.counts
        earlier, small = np.tri(len(cells), k=-1, dtype=bool)[:, :, None], cells.astype(np.int8)
        smaller = below[scores, cells] + ((small[None] < small[:, None]) & earlier).sum(axis=1, dtype=np.int16)
        equal = self.counts[scores, cells] + ((small[None] == small[:, None]) & earlier).sum(axis=1, dtype=np.int16)
        size = self.counts.sum(axis=1) + 1 + np.arange(len(cells))[:, None]
        return np.minimum((smaller + uniforms * (equal + 1)) / size, _BELOW_1)


def open_uniforms(seeds: tuple[int, ...], shape: tuple[int, int]) -> Array:
    """Return random numbers in (0, 1), neither 0 nor 1."""
    return np.asarray((np.random.default_rng(seeds).integers(2**52, size=shape) + 0.5) / 2**52)
