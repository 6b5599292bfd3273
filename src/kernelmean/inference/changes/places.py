r"""Where a change is: the split of a stretch of rows that explains most, and the splits that data do not rule out.

With features centered over the n rows of the stretch and their sums S_t over its first t rows, a change after t rows
explains :math:`G(t) = (1/t + 1/(n - t)) \|S_t\|²` of the scatter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array
from .features import ChangeFeatures, ChangeKernel
from .scan import binned

_NEGLIGIBLE = 0.02
"""Kernels with less of the evidence say nothing on the place."""
_MOST_BINS = 256
_RESAMPLES = 199
_MARGIN = 2
"""The window of the next closer look, in lengths of the interval on either side of it."""
_ROUNDING = 1e-10


def coordinates(features: ChangeFeatures, shares: Array, first: int, last: int) -> Array:
    """Return the coordinates of rows [first, last) in which a change shows, weighted by evidence, shape (q, n)."""
    rows = [
        _weighted(features.columns[part.columns, first:last], part, share)
        for part, share in zip(features.parts, shares.tolist(), strict=True)
        if share > _NEGLIGIBLE
    ]
    return np.concatenate(rows)


def _weighted(columns: Array, part: ChangeKernel, share: float) -> Array:
    """Return centered coordinates whose gain has the deviation ``share`` without a change; of single columns one."""
    columns = columns - columns.mean(axis=1, keepdims=True)
    weights = part.weights
    if weights is None:
        columns = columns[[int(np.argmax([gain(column[None]).max() for column in columns]))]]
        weights = np.ones(1)
    spread = float(np.linalg.norm(weights * np.square(columns).mean(axis=1)))
    return np.asarray(columns * np.sqrt(share * weights / (spread or 1.0))[:, None])


def gain(columns: Array) -> Array:
    """Return G after 1, …, n - 1 rows, shape (n - 1,), of centered coordinates (q, n)."""
    n = columns.shape[1]
    squares = np.zeros(n - 1)
    for column in columns:
        squares += np.square(np.cumsum(column[:-1]))
    before = np.arange(1, n)
    return np.asarray(squares * (1 / before + 1 / (n - before)))


def most(columns: Array, shortest: int) -> int:
    """Return after how many rows a change explains most, with so many rows on either side of it."""
    edge = max(1, min(shortest, columns.shape[1] // 2))
    return edge + int(np.argmax(gain(columns)[edge - 1 : columns.shape[1] - edge]))


def interval(columns: Array, shortest: int, block: int, level: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return the smallest and the largest t that a test at this level does not reject, of one change in the rows.

    First on bins of rows, then on finer ones around what was left. A place between two bins that are not rejected is
    not rejected either.
    """
    start, stop, width = 0, columns.shape[1], 0
    low, high = start, stop
    while True:
        finer = block * -(-(stop - start) // (_MOST_BINS * block))
        if width and finer >= width:
            return low, high
        width = finer
        bins = binned(columns, start, stop, width)
        first, last = Splits(bins, max(1, -(-shortest // width)), rng).kept(level)
        low, high = max(start + (first - 1) * width + 1, 1), min(start + (last + 1) * width, stop) - 1
        if width == block == 1:
            return start + first, start + last
        margin = max(_MARGIN * (high - low), _MOST_BINS // 4)
        start, stop = max(0, low - margin), min(columns.shape[1], high + margin)


@final
@dataclass(frozen=True)
class Splits:
    """The splits of one stretch of bins, in which there is one change."""

    bins: Array
    """Shape (m, q), centered."""
    shortest: int
    rng: np.random.Generator

    def kept(self, level: float) -> tuple[int, int]:
        """Return the first and the last split around the best one that are not rejected."""
        best, count = most(self.bins.T, self.shortest), len(self.bins)

        def stays(split: int) -> bool:
            return self.pvalue(split) > level

        down = _farthest(lambda step: stays(best - step), best - self.shortest)
        up = _farthest(lambda step: stays(best + step), count - self.shortest - best)
        return best - down, best + up

    def pvalue(self, split: int) -> float:
        r"""Test whether the change is exactly there, by :math:`\max_t G(t) - G(split)`.

        Then the bins before it are in random order, and those behind it are.
        """
        values = [self._excess(self.bins, split)]
        for _ in range(_RESAMPLES):
            order = np.concatenate([self.rng.permutation(split), split + self.rng.permutation(len(self.bins) - split)])
            values.append(self._excess(self.bins[order], split))
        return float((np.array(values) >= values[0] - _ROUNDING * (1.0 + max(values))).mean())

    def _excess(self, bins: Array, split: int) -> float:
        n, edge = len(bins), self.shortest
        before = np.arange(1, n)
        found = np.square(np.cumsum(bins[:-1], axis=0)).sum(axis=1) * (1 / before + 1 / (n - before))
        return float(found[edge - 1 : n - edge].max(initial=found[split - 1]) - found[split - 1])


def _farthest(holds: Callable[[int], bool], end: int) -> int:
    """Return the largest step up to ``end`` up to which something holds, by doubling and halving."""
    good, bad = 0, 1
    while bad <= end and holds(bad):
        good, bad = bad, 2 * bad
    bad = min(bad, end + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good
