"""Some rows of a table of any length, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import final

import numpy as np

from ..core.array import Array, IntArray
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
        self._seed = seed
        self._frame: Frame | None = None
        self.seen = 0
        self._hashes: IntArray = np.empty(0, dtype=np.uint64)
        self.numbers: IntArray = np.empty(0, dtype=np.int64)

    def add(self, frame: Frame) -> None:
        """Add the rows that follow those so far."""
        start = self._first + self.seen
        numbers = np.arange(start, start + len(frame))
        self.seen += len(frame)
        hashes = hashes_of(start, len(frame), self._seed)
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
        hashes = np.concatenate([self._hashes, hashes])
        order = np.argsort(hashes, kind="stable")[: self._most]
        frames = [frame] if self._frame is None else [self._frame, frame]
        self._frame, self._hashes = joined(frames).take(order), hashes[order]
        self.numbers = np.concatenate([self.numbers, numbers])[order]

    @property
    def frame(self) -> Frame:
        """The rows, in random order."""
        if self._frame is None:
            raise RuntimeError("no rows were added; tables without rows are refused before")
        return self._frame


@final
@dataclass(frozen=True, eq=False)
class Overview:
    """What one pass over rows of numbers keeps: how many there are, moments, limits, and all rows or some, drawn."""

    n: int
    mean: Array
    variance: Array
    limits: Array
    """The least and the largest of every column, shape (2, d)."""
    rows: Array
    """All of them, in their order, or those drawn, in random order."""
    hashes: IntArray
    """Of the numbers of these rows."""

    @classmethod
    def of(cls, batches: Iterable[Array], most: int, few: int, seed: int) -> Overview:
        """Keep up to ``most`` rows; of more, draw the ``few`` whose numbers have the smallest hashes.

        These depend on the seed, never on the batches. Moments of columns too large for their squares are infinite.
        """
        rest = iter(batches)
        first = next(rest)
        n, start, rows, hashes = 0, first.mean(axis=0), list[Array](), list[IntArray]()
        total, squares, limits = np.zeros_like(start), np.zeros_like(start), np.stack([start, start])
        for batch in chain([first], rest):
            with np.errstate(over="ignore"):
                total, squares = total + (batch - start).sum(axis=0), squares + ((batch - start) ** 2).sum(axis=0)
            limits = np.stack([np.minimum(limits[0], batch.min(axis=0)), np.maximum(limits[1], batch.max(axis=0))])
            rows.append(batch)
            hashes.append(hashes_of(n, len(batch), seed))
            n += len(batch)
            if n > most:
                best = np.argsort(every := np.concatenate(hashes), kind="stable")[:few]
                rows, hashes = [np.concatenate(rows)[best]], [every[best]]
        with np.errstate(over="ignore", invalid="ignore"):
            variance = np.maximum(squares / n - (total / n) ** 2, 0.0)
        return cls(n, start + total / n, variance, limits, np.concatenate(rows), np.concatenate(hashes))


def hashes_of(start: int, rows: int, seed: int) -> IntArray:
    """Return the hashes of the numbers of consecutive rows."""
    key = np.random.default_rng([seed, 17]).integers(0, 2**64, dtype=np.uint64)
    return hashed(np.arange(start, start + rows).astype(np.uint64) ^ key)


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
