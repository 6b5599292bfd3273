"""Which bin a row falls into: bins of one size, dealt at random by row numbers, whichever process reads the rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self, final

import numpy as np

from ...core.array import IntArray
from ...core.cached import cached_property
from ...tables.shuffle import shuffled, unshuffled

MOST_BINS = 1024
"""The most bins, for both samples together."""
_MANY, _FEW, _LEAST_BINS = 4, 16, 16
"""The smaller sample has as many bins as its share of the rows gives if these are a quarter of all, and never fewer
than a sixteenth and 16, if it has that many rows."""
_LEFT_OVER = 0.005
"""The share of a much smaller sample that may be left over."""
PILOT = 4096
"""The number of rows that features are fitted to, or somewhat more: equally many from every bin."""
MOST_PILOT = PILOT + MOST_BINS
"""The most of these rows that one sample can have."""


@final
@dataclass(frozen=True)
class Deal:
    """How the rows of a sample fall into bins of equal size; those beyond the last bin stay in their sample."""

    n: int
    """The rows of the sample."""
    size: int
    """The rows of a bin."""
    bins: int
    """The number of bins."""
    pilot: int
    """The places of every bin for rows that features are fitted to: permutations of bins only exchange these rows."""
    seed: int
    drawn: IntArray | None = field(default=None, repr=False, compare=False)
    """The numbers of the rows that features are fitted to, bin after bin, if they were drawn before."""

    def around(self, drawn: IntArray) -> Self:
        """Return a deal in which features are fitted to rows that were drawn before the number of rows was known.

        ``drawn`` has their numbers in random order, at least as many as are needed; the other rows are dealt around
        them. Bins have one size as before, and every bin has equally many drawn rows: permutations of bins exchange
        drawn rows for drawn rows, so both samples together keep the same ones.
        """
        return replace(self, drawn=drawn[: self.bins * self.pilot])

    def bin_of(self, rows: IntArray) -> IntArray:
        """Return the bin of every row, given by its number; ``bins`` for rows outside all bins."""
        if self.drawn is None:
            return np.minimum(shuffled(rows, self.n, self.seed) // self.size, self.bins)
        ascending, own_bins = self._drawn_bins
        before = np.searchsorted(ascending, rows)
        found = np.append(own_bins, self.bins)[before]
        others = np.append(ascending, -1)[before] != rows
        left, room = self.n - len(ascending), self.size - self.pilot
        places = shuffled(rows[others] - before[others], left, self.seed) if room else np.arange(0)
        found[others] = np.minimum(places // room, self.bins) if room else self.bins
        return found

    @cached_property
    def _drawn_bins(self) -> tuple[IntArray, IntArray]:
        """The ascending numbers of the rows that were drawn, and their bins."""
        drawn = np.arange(0) if self.drawn is None else self.drawn
        order = np.argsort(drawn)
        return drawn[order], order // self.pilot

    @property
    def fitted_to(self) -> IntArray:
        """The ascending numbers of the rows that features are fitted to, if none were drawn before."""
        places = np.arange(self.bins)[:, None] * self.size + np.arange(self.pilot)
        return np.sort(unshuffled(places.ravel(), self.n, self.seed))

    @property
    def left_over(self) -> int:
        """The number of rows outside all bins."""
        return self.n - self.bins * self.size


def deal(n: int, m: int, seed: int) -> tuple[Deal, Deal]:
    """Deal two samples into bins of one size, about 1024 in all.

    If both samples have equally many rows, one permutation deals both, so that which of them comes first changes
    nothing. The test is exact for rows in any order that does not depend on their values. In two sorted samples of one
    size, bins with the same number hold the same quantiles, which moves the level by the order of one in the number of
    bins.

    If one sample is much smaller, bins are small enough that it fills 64 of them with hardly a row left over, and the
    larger sample leaves some rows out of bins. The fewer these are, the greater is the power: rows outside of bins stay
    in their sample under every permutation.
    """
    counts = np.array([n, m])
    size = bin_size(counts, MOST_BINS)
    first, second = bin_counts(counts, size, MOST_BINS).tolist()
    pilot = min(size, -(-PILOT // (first + second)))
    return Deal(n, size, first, pilot, seed), Deal(m, size, second, pilot, seed)


def bin_size(counts: IntArray, most: int) -> int:
    """Return how many rows, or other units, a bin of samples with so many of them holds."""
    small, size = int(counts.min()), -(-int(counts.sum()) // most)
    if small >= most // _MANY * size:
        return size
    largest = max(1, min(size, small // max(_LEAST_BINS, most // _FEW)))
    return next(each for each in range(largest, 0, -1) if small % each <= _LEFT_OVER * small)


def bin_counts(counts: IntArray, size: int, most: int) -> IntArray:
    """Return how many bins each sample fills; where all together would be too many, large samples fill fewer."""
    bins, left = np.zeros_like(counts), most
    for place, sample in enumerate(np.argsort(counts, kind="stable").tolist()):
        bins[sample] = min(counts[sample] // size, left // (len(counts) - place))
        left -= int(bins[sample])
    return bins
