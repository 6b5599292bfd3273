"""The search for change points: scan, split where the scan rejects, and scan the parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import SILENT, Progress
from .features import Features
from .places import coordinates, interval, most
from .scan import Scan, scan

_MOST_BINS = 256
_ROOM = 2.5
"""Permutations that a short stretch has at least, in those without which it could not be split."""
_ROUNDS = 2


@final
@dataclass(frozen=True)
class Change:
    """A change point: after how many rows, an interval for that, and its adjusted p-value."""

    row: int
    low: int
    high: int
    pvalue: float


@final
@dataclass(frozen=True)
class Stretch:
    """Rows [first, last) between two changes or ends, and what their scan found."""

    first: int
    last: int
    pvalue: float
    """Adjusted."""
    found: Scan


@final
@dataclass(frozen=True)
class Search:
    """How change points are searched for.

    Attributes
    ----------
    level : float
        Stretches are split while their adjusted p-value is at most this.
    shortest : int
        The fewest rows of a segment.
    block : int
        Rows that stay together under permutations.
    n_resamples : int
        Permutations of a scan; of short stretches more, where they could not be split otherwise.
    number : int or None
        How many changes to return at most, the clearest ones, whatever their p-values.
    """

    level: float
    shortest: int
    block: int
    n_resamples: int
    number: int | None = None

    def run(
        self, features: Features, rng: np.random.Generator, progress: Progress = SILENT
    ) -> tuple[float, tuple[Change, ...]]:
        """Return the p-value of the whole series, and the changes in the order of time."""
        whole = self._scanned(features, 0, features.columns.shape[1], 0.0, rng)
        assert whole is not None, "a series has two segments at least"
        todo, split = [whole], list[tuple[int, Stretch]]()
        while todo and len(split) != self.number:
            progress(f"{len(split)} change points so far", len(split), len(split) + len(todo))
            todo.sort(key=lambda stretch: stretch.found.strength)
            own = todo.pop()
            if self.number is None and own.pvalue > self.level:
                continue
            start, stop = own.found.around
            row = start + most(coordinates(features, own.found.shares, start, stop), self.shortest)
            split.append((row, own))
            parts = (self._scanned(features, *ends, own.pvalue, rng) for ends in ((own.first, row), (row, own.last)))
            todo += [part for part in parts if part is not None]
        return whole.pvalue, tuple(self._placed(features, sorted(split, key=lambda each: each[0]), rng))

    def _scanned(
        self, features: Features, first: int, last: int, above: float, rng: np.random.Generator
    ) -> Stretch | None:
        """Return a stretch with its p-value times n / length, at least that of the stretch it is a part of."""
        n, length = features.columns.shape[1], last - first
        width = self.block * -(-length // (_MOST_BINS * self.block))
        shortest = max(1, -(-self.shortest // width))
        if length // width < 2 * shortest:
            return None
        resamples = max(self.n_resamples, int(np.ceil(_ROOM * n / (length * self.level))) - 1)
        found = scan(features, (first, last), (width, shortest), resamples, rng)
        return Stretch(first, last, max(above, min(1.0, found.pvalue * n / length)), found)

    def _placed(
        self, features: Features, split: list[tuple[int, Stretch]], rng: np.random.Generator
    ) -> Iterator[Change]:
        """Yield the changes, each at the best place between its neighbors."""
        rows = [row for row, _ in split]
        for turn in range(_ROUNDS + 1):
            for k, (_, own) in enumerate(split):
                first, last = [0, *rows][k], [*rows, features.columns.shape[1]][k + 1]
                columns = coordinates(features, own.found.shares, first, last)
                rows[k] = first + most(columns, self.shortest)
                if turn == _ROUNDS:
                    low, high = interval(columns, self.shortest, self.block, self.level, rng)
                    yield Change(rows[k], min(first + low, rows[k]), max(first + high, rows[k]), own.pvalue)
