"""When a stream changed: the rows at which a change cannot be ruled out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray
from .bag import Bag, open_uniforms
from .betting import Wealth, log_total
from .gamblers import FixedGamblers
from .guarantee import paid_at_level

MOST_KEPT = 1024
"""The most rows before an alarm that are kept."""
_MOST_CELLS, _MOST_ROWS = 65536, (128, MOST_KEPT)
_STRONGEST, _TESTS = 3, 4
_COARSE, _TOGETHER = 16, 64
Cell = tuple[int, int]


@final
@dataclass(frozen=True, eq=False)
class Past:
    """The last rows of a stream as scores see them: 1,024 before an alarm, as many after it, fewer of many scores."""

    cells: IntArray
    """Shape (n, K)."""
    starts: IntArray
    """The number of the first row of the batch of every row: within a batch no order is known. Shape (n,)."""
    last: int
    """The number of the last row."""

    def then(self, cells: IntArray, starts: IntArray, alarm: int | None) -> Past:
        """Return the past with more rows, if they belong to it, and without rows that no longer do."""
        most = int(np.clip(_MOST_CELLS // cells.shape[1], *_MOST_ROWS))
        if alarm is not None and self.last >= alarm + most:
            return self
        last = self.last + len(cells)
        every, starts = np.concatenate([self.cells, cells]), np.append(self.starts, starts)
        gone = max(len(every) - most - (0 if alarm is None else last - alarm), 0)
        return Past(every[gone:], starts[gone:], last)

    def interval(self, reference: Bag, gamblers: FixedGamblers, level: float, seed: int) -> Cell | None:
        """Return the first and the last row at which the stream can have changed; None where no single change fits.

        Every row is tested together with about 16 rows around it, and, if these fit, on its own; a batch without a
        known order is tested as a whole. These are four tests, each at a quarter of the level, at places that do not
        depend on the rows. Only the scores that won most are used: the others could only reject more.
        """
        won = log_total(gamblers.wealth.log_shares)
        best = np.sort(np.argsort(-won, kind="stable")[:_STRONGEST])
        order = _Order(self, reference, gamblers.weights / gamblers.weights.sum(), best, -np.log(level / _TESTS), seed)
        first = next(order.fitting(1), None)
        return None if first is None else (first[0], next(order.fitting(-1))[1])


@final
@dataclass(frozen=True, eq=False)
class _Order:
    """Tests of the order of the rows, by the ``best`` scores."""

    past: Past
    reference: Bag
    weights: Array
    """Of all scores, shape (K,), with sum 1."""
    best: IntArray
    threshold: float
    """The logarithm of the wealth that rejects."""
    seed: int

    def fitting(self, step: int) -> Iterator[Cell]:
        """Yield the ranges of rows in which the change may be, upwards or downwards."""
        first = self.past.last - len(self.past.cells) + 1
        starts = np.unique(self.past.starts[self.past.starts > first])
        coarse = starts[np.diff(starts // _COARSE, prepend=first // _COARSE) > 0]
        for low, high in _between(1, coarse, self.past.last)[::step]:
            if self._fits(low, high):
                inside = starts[(starts > low) & (starts <= high)]
                yield from (cell for cell in _between(low, inside, high)[::step] if self._fits(*cell))

    def _fits(self, low: int, high: int) -> bool:
        """Whether the rows before a range fit the reference, and those after it fit each other."""
        offset = self.past.last - len(self.past.cells)
        before, after = self.past.cells[: max(low - 1 - offset, 0)][::-1], self.past.cells[high - offset :]
        money = np.diff(paid_at_level(np.arange(len(after) + 1)))[:, None] * self.weights[self.best]
        nothing = Bag(np.zeros_like(self.reference.counts))
        return not self._rejected(before, self.reference, Wealth.of(self.weights[self.best]), None, (2, low)) and (
            not self._rejected(after, nothing, Wealth.of(0.0 * self.weights[self.best]), money, (3, high))
        )

    def _rejected(self, rows: IntArray, bag: Bag, wealth: Wealth, money: Array | None, seeds: tuple[int, int]) -> bool:
        """Whether the wealth of one of the gamblers ever reaches the threshold."""
        rows, bag = rows[:, self.best], Bag(bag.counts[self.best])
        uniforms = open_uniforms((self.seed, *seeds), (len(rows), len(self.weights)))[:, self.best]
        for start in range(0, len(rows), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            wealth, path = wealth.bet(bag.ranks(rows[part], uniforms[part]), None if money is None else money[part])
            bag += Bag.of(rows[part])
            if path.max() >= self.threshold:
                return True
        return False


def _between(low: int, places: IntArray, high: int) -> list[Cell]:
    """Return the ranges into which places cut the rows from ``low`` to ``high``."""
    inner = [int(place) for place in places]
    return list(zip([low, *inner], [*(place - 1 for place in inner), high], strict=True))
