"""When a stream changed: the rows at which a change cannot be ruled out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import logsumexp

from ...core.array import Array, IntArray
from .bag import WIDTH, Bag, open_uniforms
from .betting import Wealth
from .gamblers import FixedGamblers
from .guarantee import paid_at_level

_MOST_CELLS, _MOST_ROWS = 65536, (128, 1024)
_SPACING = 1.2
_STRONGEST = 3
_TOGETHER = 64


@final
@dataclass(frozen=True, eq=False)
class Past:
    """The last rows of a stream as scores see them: 1024 before an alarm and as many after it, fewer of many scores."""

    cells: IntArray
    """Shape (n, K)."""
    starts: IntArray
    """The number of the first row of the batch of every row: within a batch no order is known. Shape (n,)."""
    last: int
    """The number of the last row."""
    reference: Bag
    """The reference and the rows before."""

    def then(self, cells: IntArray, starts: IntArray, alarm: int | None) -> Past:
        """Return the past with more rows, if these belong to it, and without those that do not any more."""
        most = int(np.clip(_MOST_CELLS // cells.shape[1], *_MOST_ROWS))
        if alarm is not None and self.last >= alarm + most:
            return self
        last = self.last + len(cells)
        every, starts = np.concatenate([self.cells, cells]), np.append(self.starts, starts)
        gone = max(len(every) - most - (0 if alarm is None else last - alarm), 0)
        return Past(every[gone:], starts[gone:], last, self.reference + Bag.of(every[:gone]))

    def interval(self, alarm: int, gamblers: FixedGamblers, level: float, seed: int) -> tuple[int, int] | None:
        """Return the first and the last row at which the stream can have changed; None where no single change fits.

        Only the scores by which most was won are looked at: the others could but reject more. Between the places that
        are tried, a change is held to the rows before the last one and to those from the next one on, which its
        hypothesis is about as well. See :meth:`kernelmean.DriftMonitor.changed_between`.
        """
        won = logsumexp(gamblers.wealth.log_shares, axis=1)
        best = np.sort(np.argsort(-won, kind="stable")[:_STRONGEST])
        bag, weights = Bag(self.reference.counts[best]), gamblers.weights[best] / gamblers.weights.sum()
        rows = Rows(self.cells[:, best], bag, weights, -np.log(level / 2), seed)
        first = self.last - len(self.cells) + 1
        places = self._places(first, alarm)
        begins, ends = [1, *places], [*(place - 1 for place in places), self.last]

        def fits(k: int) -> bool:
            before = k == 0 or not rows.changed_before(places[k - 1] - first)
            return before and (k == len(places) or not rows.changed_after(places[k] - first))

        low = next((k for k in range(len(begins)) if fits(k)), None)
        if low is None:
            return None
        high = next((k for k in range(len(begins) - 1, low, -1) if fits(k)), low)
        return begins[low], ends[high]

    def _places(self, first: int, alarm: int) -> list[int]:
        """Return the rows that are tried, ever fewer the farther they are from the alarm."""
        starts = np.unique(self.starts[self.starts > first])
        groups = np.trunc(np.log1p(np.abs(alarm - starts)) / np.log(_SPACING)) * np.sign(starts - alarm)
        return [int(start) for start in np.sort(starts[np.unique(groups, return_index=True)[1]])]


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in their order, by their cells (n, K), and those that the first of them are held against."""

    cells: IntArray
    reference: Bag
    weights: Array
    """Of the scores, shape (K,); all of them together at most 1."""
    threshold: float
    """The logarithm of the wealth that rejects."""
    seed: int

    def changed_before(self, place: int) -> bool:
        """Whether the rows before a place are told apart from the reference, the last ones first."""
        return self._detected(self.cells[:place][::-1], self.reference, Wealth.of(self.weights), None)

    def changed_after(self, place: int) -> bool:
        """Whether the rows from a place on change among themselves."""
        rows = self.cells[place:]
        money = np.diff(paid_at_level(np.arange(len(rows) + 1)))[:, None] * self.weights
        nothing = Bag(np.zeros((len(self.weights), WIDTH + 1), dtype=np.int64))
        return self._detected(rows, nothing, Wealth.of(0.0 * self.weights), money)

    def _detected(self, rows: IntArray, bag: Bag, wealth: Wealth, money: Array | None) -> bool:
        """Whether the wealth of one of the gamblers ever reaches the threshold."""
        uniforms = open_uniforms((self.seed, 2, len(rows)), rows.shape)
        for start in range(0, len(rows), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            wealth, path = wealth.bet(bag.ranks(rows[part], uniforms[part]), None if money is None else money[part])
            bag += Bag.of(rows[part])
            if path.max() >= self.threshold:
                return True
        return False
