"""Some rows of a table of any length, in bounded memory."""

from __future__ import annotations

from typing import final

import numpy as np

from ..core.array import IntArray
from ..core.table import Frame
from .shuffle import hashed
from .source import joined


@final
class Drawn:
    """Some rows of a table of unknown length, each as probable as any other, in constant memory.

    These are the rows whose numbers have the smallest hashes; they depend on the seed, never on the batches.

    Parameters
    ----------
    rows : int
        How many rows to draw.
    seed : int
    first : int
        The number of the first row that is added here, if several objects share the rows of one table.

    Attributes
    ----------
    numbers : array of int
        The numbers of the drawn rows, from 0, in the order of the frame.
    seen : int
        The number of rows seen.
    """

    def __init__(self, rows: int, seed: int, first: int = 0) -> None:
        self._most, self._first = rows, first
        self._key = np.random.default_rng([seed, 17]).integers(0, 2**64, dtype=np.uint64)
        self._frame: Frame | None = None
        self.seen = 0
        self._hashes: IntArray = np.empty(0, dtype=np.uint64)
        self.numbers: IntArray = np.empty(0, dtype=np.int64)

    def add(self, frame: Frame) -> None:
        """Add the rows that follow those so far."""
        start = self._first + self.seen
        numbers = np.arange(start, start + len(frame))
        self.seen += len(frame)
        hashes = hashed(numbers.astype(np.uint64) ^ self._key)
        full = len(self._hashes) >= self._most
        candidates = np.flatnonzero(hashes < self._hashes.max()) if full else np.arange(len(hashes))
        if len(candidates):
            self._take(frame.take(candidates), hashes[candidates], numbers[candidates])

    def merge(self, other: Drawn) -> None:
        """Add what was drawn from other rows of the table."""
        self.seen += other.seen
        if other._frame is not None:
            self._take(other._frame, other._hashes, other.numbers)

    def _take(self, frame: Frame, hashes: IntArray, numbers: IntArray) -> None:
        found = np.concatenate([self._hashes, hashes])
        order = np.argsort(found, kind="stable")[: self._most]
        frames = [frame] if self._frame is None else [self._frame, frame]
        self._frame, self._hashes = joined(frames).take(order), found[order]
        self.numbers = np.concatenate([self.numbers, numbers])[order]

    @property
    def frame(self) -> Frame:
        """The rows, in random order."""
        if self._frame is None:
            raise RuntimeError("no rows were added; tables without rows are refused before")
        return self._frame


@final
class Picked:
    """The rows of a table with some numbers.

    Parameters
    ----------
    numbers : array of int
        Ascending, from 0.
    first : int
        The number of the first row that is added here, if several objects share the rows of one table.
    """

    def __init__(self, numbers: IntArray, first: int = 0) -> None:
        self._numbers, self._next = numbers, first
        self._found: list[tuple[int, Frame]] = []

    def add(self, frame: Frame) -> None:
        """Add the rows that follow those so far."""
        start, self._next = self._next, self._next + len(frame)
        low, high = np.searchsorted(self._numbers, [start, self._next])
        if high > low:
            self._found.append((start, frame.take(self._numbers[low:high] - start)))

    def merge(self, other: Picked) -> None:
        """Add what was picked from other rows of the table."""
        self._found += other._found

    @property
    def frame(self) -> Frame:
        """The rows, in the order of the table."""
        return joined([frame for _, frame in sorted(self._found, key=lambda each: each[0])])
