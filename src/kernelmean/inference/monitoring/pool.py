"""Rows of the reference that wait, unseen, to be paired with new rows: each is used once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray


@final
@dataclass(eq=False)
class Pool:
    """A queue of rows."""

    original: Array
    """The rows at the start, shape (N, D)."""
    recycle: bool
    """Whether new rows refill the queue: once half of the original rows are left, every second new row is kept, unseen,
    instead of being bet on."""
    taken: int
    """How many of the original rows were used."""
    added: Array
    """Rows behind the original ones, shape (k, D)."""

    def __len__(self) -> int:
        return len(self.original) - self.taken + len(self.added)

    def add(self, rows: Array) -> None:
        """Put rows at the end."""
        self.added = np.concatenate([self.added, rows])

    def pair(self, new: Array) -> tuple[Array, IntArray]:
        """Return rows of the queue (p, D), and the numbers of the new rows that they are paired with.

        Which rows these are depends on numbers of rows only, never on what the rows hold. New rows that are kept are
        put into the queue; without recycling, new rows beyond the queue are left alone.
        """
        positions = np.arange(len(new))
        if not self.recycle:
            pairs = min(len(self), len(new))
            return self._take(pairs), positions[:pairs]
        spare = max(len(self) - max(len(self.original) // 2, 1), 0)
        bet = (positions < spare) | ((positions - spare) % 2 == 1)
        self.add(new[~bet])
        return self._take(int(bet.sum())), positions[bet]

    def _take(self, count: int) -> Array:
        first = self.original[self.taken : self.taken + count]
        self.taken += len(first)
        rest = count - len(first)
        rows = np.concatenate([first, self.added[:rest]])
        self.added = self.added[rest:]
        return rows
