"""Which bin a row falls into: bins of one size, dealt at random by row numbers, whichever process reads the rows."""

from __future__ import annotations

from collections.abc import Sequence
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
_MUCH = 0.05
"""The share of a sample that is not left over if another sample has as much."""
_LEFT_OVER = 0.005
"""The share of a much smaller sample that may be left over."""
PILOT = 4096
"""The number of rows that features are fitted to, or somewhat more: equally many from every bin."""
MOST_PILOT = PILOT + MOST_BINS
"""The most of these rows that one sample can have."""


@final
@dataclass(frozen=True)
class Deal:
    """How the rows of a sample fall into bins of equal size; those beyond the last of them go into further units."""

    n: int
    """The rows of the sample."""
    size: int
    """The rows of a bin."""
    bins: int
    """The number of bins."""
    pilot: int
    """The places of every bin for rows that features are fitted to: permutations of bins only exchange these rows."""
    seed: int
    further: tuple[int, ...]
    """The rows of the further units, such as what is left over."""
    drawn: IntArray | None = field(default=None, repr=False, compare=False)
    """The numbers of the rows that features are fitted to, bin after bin, if they were drawn before."""

    def around(self, drawn: IntArray) -> Self:
        """Return a deal in which features are fitted to rows that were drawn before the number of rows was known.

        ``drawn`` has their numbers in random order, at least as many as are needed; the other rows are dealt around
        them. Bins have one size as before, and every bin has equally many drawn rows: permutations of bins exchange
        drawn rows for drawn rows, so both samples together keep the same ones.
        """
        return replace(self, drawn=drawn[: self.bins * self.pilot])

    def unit_of(self, rows: IntArray) -> IntArray:
        """Return the unit of every row, given by its number: first the bins, then the further units."""
        if self.drawn is None:
            return self._cut(shuffled(rows, self.n, self.seed), self.size)
        ascending, own_bins = self._drawn_bins
        before = np.searchsorted(ascending, rows)
        units = np.append(own_bins, self.bins)[before]
        others = np.append(ascending, -1)[before] != rows
        places = shuffled(rows[others] - before[others], max(1, self.n - len(ascending)), self.seed)
        units[others] = self._cut(places, self.size - self.pilot)
        return units

    def _cut(self, places: IntArray, size: int) -> IntArray:
        """Return the units of places in the shuffled order, where bins have ``size`` of them."""
        units = np.minimum(places // size, self.bins) if size else np.full_like(places, self.bins)
        if len(self.further) > 1:
            beyond = units == self.bins
            units[beyond] += np.searchsorted(np.cumsum(self.further), places[beyond] - self.bins * size, "right")
        return units

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


@dataclass(frozen=True)
class Cut:
    """The bins of one sample in a cell, or what it has left over."""

    cell: int
    """Their new cell, a whole number from 0 in every old cell: bins of one size may change places."""
    label: int
    """Of the sample."""
    first: int
    """Where the members of the sample that they hold begin, in a random order."""
    size: int
    """How many each of them holds."""
    bins: int = 1

    @property
    def places(self) -> slice:
        """Which members they hold."""
        return slice(self.first, self.first + self.bins * self.size)


def cuts(counts: dict[int, int], most: int) -> list[Cut]:
    """Cut the members of every sample of a cell, so many by label, into bins, about ``most`` in all.

    Bins hold equally many members, each of one sample; permutations of them are permutations of the members. If one
    sample is much smaller, bins are small enough that it fills 64 of them with hardly a member left over, and the
    larger one leaves some out. The fewer these are, the greater is the power: they stay in their sample under every
    permutation. Of more than two samples the smallest decides the size; what the others have left over is cut into
    larger bins.
    """
    pieces: list[Cut] = []
    start, left = dict.fromkeys(counts, 0), dict(counts)
    while len(left) > 1:
        many = np.array(list(left.values()))
        size = bin_size(many, most)
        cell = pieces[-1].cell + 1 if pieces else 0
        filled = dict(zip(left, bin_counts(many, size, most).tolist(), strict=True))
        for label, bins in filled.items():
            pieces += [Cut(cell, label, start[label], size, bins)] * (bins > 0)
            start[label] += bins * size
        rest = {label: counts[label] - start[label] for label in left}
        left = {label: n for label, n in rest.items() if n > _MUCH * left[label]}
        if len(rest) <= 2 or not any(filled.values()):
            break
    for label, first in start.items():
        if first < counts[label]:
            pieces.append(Cut(pieces[-1].cell + 1 if pieces else 0, label, first, counts[label] - first))
    return pieces


@final
@dataclass(frozen=True, eq=False)
class Deals:
    """Samples of any number of rows in bins, about 1,024 in all: nothing is stored of a row.

    The test is exact for rows in any order that does not depend on their values. If samples have equally many rows, one
    permutation deals them, so that which of them comes first changes nothing. In two sorted samples of one size, bins
    with the same number hold the same quantiles, which moves the level by the order of one in the number of bins.
    """

    each: tuple[Deal, ...]
    """The deals of the samples."""
    cells: IntArray
    """Of all units, ascending."""
    labels: IntArray
    held: IntArray
    """The rows of every unit."""

    @classmethod
    def dealt(cls, sizes: Sequence[int], seed: int) -> Self:
        """Deal samples of so many rows."""
        pieces = cuts(dict(enumerate(sizes)), MOST_BINS)
        of_bins = np.array([(cut.size, cut.cell, cut.label) for cut in pieces])
        rows, cells, labels = np.repeat(of_bins, [cut.bins for cut in pieces], axis=0).T
        bins = np.bincount(labels[cells == 0], minlength=len(sizes)).tolist()
        size, pilot = int(rows[0]), -(-PILOT // sum(bins))
        further = [tuple(rows[(labels == g) & (cells > 0)].tolist()) for g in range(len(sizes))]
        each = (
            Deal(n, size, n_bins, min(size, pilot), seed, beyond)
            for n, n_bins, beyond in zip(sizes, bins, further, strict=True)
        )
        return cls(tuple(each), cells, labels, rows)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows of the samples."""
        return tuple(deal.n for deal in self.each)

    @property
    def count(self) -> int:
        """The number of bins, and of what is left over."""
        return len(self.cells)

    def of(self, sample: int, start: int, stop: int) -> tuple[IntArray, None]:
        """Return the bins of some rows of a sample."""
        numbers = np.flatnonzero(self.labels == sample)
        return numbers[self.each[sample].unit_of(np.arange(start, stop))], None

    def only(self, sample: int, start: int, stop: int) -> Self:
        """Return what is needed for some rows: all, it is small."""
        del sample, start, stop
        return self

    def around(self, drawn: Sequence[IntArray]) -> Self:
        """Return the same around the rows of every sample that were drawn before, see :meth:`Deal.around`."""
        return replace(self, each=tuple(deal.around(rows) for deal, rows in zip(self.each, drawn, strict=True)))


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
