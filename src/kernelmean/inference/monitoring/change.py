"""When a stream changed: the rows at which a change cannot be ruled out, after an alarm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray
from .bag import WIDTH, Bag, open_uniforms
from .betting import Wealth
from .guarantee import paid_at_level

CONFIDENCE = 0.95
_SPACING = 1.15
_STRONGEST = 3
_TOGETHER = 64


@final
@dataclass(frozen=True, eq=False)
class Past:
    """The last rows before an alarm."""

    cells: IntArray
    """Those of the scores that are looked at, shape (n, K)."""
    starts: IntArray
    """The number of the first row of the batch of every row: within a batch no order is known. Shape (n,)."""
    reference: Bag
    """The reference and the rows before."""
    weights: Array
    """Of the scores, shape (K,); all of them together at most 1."""
    seed: int

    def interval(self, alarm: int, end: int) -> tuple[int, int] | None:
        r"""Return the first and the last row at which the stream can have changed; None where no single change fits.

        Let row T be the first of another distribution. Then the rows before T are exchangeable with the reference, and
        those from T on with each other. Both are tested at level 2.5 %, for every T: gamblers rank the rows before T in
        reverse order among the reference, and the rows from T up to the alarm among themselves. The first test has T
        rows, the second stops with the alarm, and a wealth of 40 at any time has probability 1/40 at most (Ville). T is
        kept where neither rejects, so that

        .. math:: P(T \text{ outside, and no alarm before } T) ≤ 5 \%.

        Between the places that are tried, T is held to the rows before the last one and to those from the next one on.
        That is the inversion of tests of Saha and Ramdas (2025), with tests of exchangeability.

        Parameters
        ----------
        alarm : int
            The number of the last row, from 1.
        end : int
            The last row of its batch, in which an order is not known.
        """
        places = self._places(alarm)
        same_before = [True, *(not self._changed_before(alarm, place) for place in places)]
        same_after = [*(not self._changed_after(alarm, place) for place in places), True]
        firsts, lasts = [1, *places], [*(place - 1 for place in places), end]
        kept = [k for k in range(len(firsts)) if same_before[k] and same_after[k]]
        return (int(firsts[kept[0]]), int(lasts[kept[-1]])) if kept else None

    def _places(self, alarm: int) -> list[int]:
        """Return the rows that are tried, ever fewer the farther they are from the alarm."""
        starts = np.unique(self.starts[self.starts > alarm - len(self.cells) + 1])
        groups = np.floor(np.log(alarm + 1 - starts) / np.log(_SPACING))
        return np.sort(starts[np.unique(groups, return_index=True)[1]]).tolist() if len(starts) else []

    def _changed_before(self, alarm: int, place: int) -> bool:
        """Whether the rows before a place are told apart from the reference, the last ones first."""
        rows = self.cells[: len(self.cells) - (alarm - place + 1)][::-1]
        return self._detected(rows, self.reference, Wealth.of(self.weights), None)

    def _changed_after(self, alarm: int, place: int) -> bool:
        """Whether the rows from a place on change among themselves."""
        rows = self.cells[len(self.cells) - (alarm - place + 1) :]
        money = np.diff(paid_at_level(np.arange(len(rows) + 1)))[:, None] * self.weights
        nothing = Bag(np.zeros((len(self.weights), WIDTH + 1), dtype=np.int64))
        return self._detected(rows, nothing, Wealth.of(0.0 * self.weights), money)

    def _detected(self, rows: IntArray, bag: Bag, wealth: Wealth, money: Array | None) -> bool:
        """Whether gamblers ever own 40 by these rows."""
        uniforms = open_uniforms((self.seed, 2, len(rows)), rows.shape)
        for start in range(0, len(rows), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            wealth, path = wealth.bet(bag.ranks(rows[part], uniforms[part]), None if money is None else money[part])
            bag += Bag.of(rows[part])
            if path.max() >= -np.log((1.0 - CONFIDENCE) / 2):
                return True
        return False


def strongest(log_wealth: Array) -> IntArray:
    """Return the scores by which most was won, 3 at most."""
    return np.sort(np.argsort(-log_wealth, kind="stable")[:_STRONGEST])
