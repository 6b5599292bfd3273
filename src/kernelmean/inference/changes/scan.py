r"""The scan of a piece of a series: windows of many lengths beside each other, and one exact p-value for all of them.

Of two neighboring windows of a and b bins the statistic is :math:`\frac{ab}{a+b} \|\bar φ_1 - \bar φ_2\|²`, the part of
the kernel scatter that a change between them explains. Windows of one pair of lengths are alike under permutations of
the bins, so the largest of their statistics counts; those of all lengths and kernels are combined as the adaptive tests
combine kernels, where the observed order is treated like every other one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from scipy.special import logsumexp

from ...core.array import Array, IntArray
from ..adaptive.combination import harmonic
from ..adaptive.kinds import strengths_of
from .features import Features

_MOST_BINS = 256
_UNEVEN = 4
_STEPS = 4
"""Windows move by this part of the shorter one."""
_ROUNDING = 1e-10
_FIRST, _HOPELESS = 99, 0.2


@final
@dataclass(frozen=True)
class Windows:
    """Pairs of neighboring windows over m bins, those of the same group together."""

    starts: IntArray
    middles: IntArray
    ends: IntArray
    groups: IntArray
    """The first pair of every group."""

    @classmethod
    def of(cls, bins: int, shortest: int) -> Windows:
        """Return windows of ``shortest`` bins, twice, four times … as many, and all splits of the whole."""
        groups = [*_side_by_side(bins, shortest), *_splits(bins, shortest)]
        starts, middles, ends = np.concatenate(groups, axis=1)
        return cls(starts, middles, ends, np.cumsum([0, *(group.shape[1] for group in groups[:-1])]))

    def squares(self, bins: Array) -> Array:
        """Return the squares of √(ab / (a + b)) (mean - mean) of every coordinate of the bins (m, D), shape (q, D)."""
        sums = np.concatenate([np.zeros((1, bins.shape[1])), np.cumsum(bins, axis=0)])
        a, b = (self.middles - self.starts)[:, None], (self.ends - self.middles)[:, None]
        middle = sums[self.middles]
        first = (middle - sums[self.starts]) * np.sqrt(b / (a * (a + b)))
        first -= (sums[self.ends] - middle) * np.sqrt(a / (b * (a + b)))
        return np.asarray(np.square(first, out=first))


def _side_by_side(bins: int, shortest: int) -> list[IntArray]:
    found = []
    length = shortest
    while 2 * length <= bins:
        for a, b in ((length, length), (length, _UNEVEN * length), (_UNEVEN * length, length)):
            starts = np.arange(0, bins - a - b + 1, max(1, length // _STEPS))
            if len(starts):
                found.append(np.stack([starts, starts + a, starts + a + b]))
        length *= 2
    return found


def _splits(bins: int, shortest: int) -> list[IntArray]:
    """Return the splits of the whole, grouped by the length of the shorter side."""
    middles = np.arange(shortest, bins - shortest + 1)
    sides = np.minimum(middles, bins - middles)
    octaves = np.log2(sides / shortest).astype(int)
    own = [middles[octaves == octave] for octave in np.unique(octaves)]
    return [np.stack([np.zeros_like(each), each, np.full_like(each, bins)]) for each in own]


@final
@dataclass(frozen=True)
class Scan:
    """What the scan of some rows found."""

    pvalue: float
    shares: Array
    """How much of the evidence every kernel has, shape (K,); together 1."""
    row: int
    """Where the window with most evidence has its middle."""
    around: tuple[int, int]


def binned(columns: Array, first: int, last: int, width: int) -> Array:
    """Return the sums of coordinates (D, n) over bins of rows from ``first`` to ``last``, centered, shape (m, D).

    Rows at the end that fill no bin are left out.
    """
    count = (last - first) // width
    rows = columns[:, first : first + count * width]
    sums = rows.reshape(len(rows), count, width).sum(axis=2).T
    return np.ascontiguousarray(sums - sums.mean(axis=0))


def scan(features: Features, rows: tuple[int, int], shape: tuple[int, int], n_resamples: int, rng: np.random.Generator) -> Scan | None:
    width, shortest = shape
    bins = binned(features.columns, *rows, width)
    if len(bins) < 2 * shortest:
        return None
    windows = Windows.of(len(bins), shortest)
    
    def largest(own):
        squares = windows.squares(own)
        return np.concatenate([np.maximum.reduceat(part.of(squares), windows.groups) for part in features.parts])
    
    weights = np.repeat([part.member.weight for part in features.parts], len(windows.groups))
    weights /= weights.sum()
    values = [largest(bins)]
    for count in (min(_FIRST, n_resamples), n_resamples):
        values += [largest(bins[rng.permutation(len(bins))]) for _ in range(count + 1 - len(values))]
        table = np.stack(values, axis=1)
        combined = harmonic(table, weights)
        slack = _ROUNDING * (1.0 + np.abs(combined).max())
        pvalue = float((combined >= combined[0] - slack).mean())
        if pvalue > _HOPELESS:
            break
    strengths = strengths_of(table) + np.log(weights)
    shares = np.exp(strengths - logsumexp(strengths))
    best = int(np.argmax(shares))
    part, group = divmod(best, len(windows.groups))
    squares = features.parts[part].of(windows.squares(bins))
    ends = [*windows.groups, len(squares)]
    place = ends[group] + int(np.argmax(squares[ends[group]:ends[group+1]]))
    row = rows[0] + width * int(windows.middles[place])
    per_part = shares.reshape(len(features.parts), -1).sum(axis=1)
    return Scan(pvalue, per_part, row, (rows[0]+width*int(windows.starts[place]), rows[0]+width*int(windows.ends[place])))
