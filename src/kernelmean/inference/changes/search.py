"""The search for change points: scan, split where the scan rejects, and scan the parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import final

import numpy as np

from ...core.array import SILENT, Progress
from ...core.validate import check_fraction, check_integer
from .features import ChangeFeatures
from .places import coordinates, interval, most
from .scan import FIRST, HOPELESS, Draws, Scan, scan

_MOST_BINS = 256
_ROOM = 2.5
"""A short stretch gets at least this many times the permutations without which it could not be split."""
_MOST_RESAMPLES = 49_999
"""The most of these permutations; some hundred numbers of each are held in memory."""
_ROUNDS = 2
_TOGETHER = Fraction(4, 5)
"""The part of the level that the search of all columns together has, if single columns are searched too."""
_LEAST_HOPELESS, _ROOM_TO_FALL = 0.04, 4.0
"""A scan that must reach p is given up above .04 + 4 p: that of a p of .04 at .2, of small ones at 4 of 99."""


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
    """Adjusted; after a first look only, that of the stretch it is a part of."""
    scan: Scan
    looked: bool = True
    """False after a first look, of few permutations."""


@final
@dataclass(frozen=True)
class Search:
    """How change points are searched for.

    Parameters
    ----------
    level : float
        Rows are split where the adjusted p-value of a change is at most this; intervals miss a change with this
        probability.
    n_changes : int, optional
        The most change points to return: the clearest ones, whatever their p-values.
    shortest : int
        The fewest rows of a segment; at least ``block``.
    block : int
        Rows that stay together under permutations, for series in which neighboring rows depend on each other: several
        times as long as this dependence lasts.
    n_resamples : int
        Permutations of every scan; for short stretches up to 49,999 if no p-value could be small enough otherwise.

    Raises
    ------
    ValueError
        When the level is not between 0 and 1, or below every p-value of so many permutations, or a number is below 1.

    Examples
    --------
    >>> Search(level=0.01, block=24)
    Search(level=0.01, n_changes=None, shortest=5, block=24, n_resamples=999)
    """

    level: float = 0.05
    n_changes: int | None = None
    shortest: int = 5
    block: int = 1
    n_resamples: int = 999

    def __post_init__(self) -> None:
        check_fraction(self.level, "level", 0.05)
        for name in ("shortest", "block", "n_resamples"):
            check_integer(getattr(self, name), name, 1)
        most = max(self.n_resamples, _MOST_RESAMPLES)
        least = float(1 / (1 + most) / _TOGETHER)
        if self.level < least:
            more = int(np.ceil(float(1 / _TOGETHER) / self.level)) - 1
            raise ValueError(
                f"level is {self.level!r}, below {least:g}, the smallest p-value of {most:,} permutations; "
                f"write a larger level, or n_resamples={more}"
            )
        if self.n_changes is not None:
            check_integer(self.n_changes, "n_changes", 1)

    @property
    def least_rows(self) -> int:
        """The rows of the shortest series that can be split."""
        return 2 * self.block * -(-self.shortest // self.block)

    @property
    def least_segment(self) -> int:
        """The rows of the shortest segment: a change is not placed inside the first or the last block of a stretch."""
        return max(self.shortest, self.block)

    def shares(self, columns: int) -> tuple[Fraction, Fraction]:
        """Return the parts of the level of the search of all columns together, and of that of every single column.

        A single column, or a known number of changes, is searched for once, at the whole level.
        """
        once = columns == 1 or self.n_changes is not None
        return (Fraction(1), Fraction(0)) if once else (_TOGETHER, (1 - _TOGETHER) / columns)

    def bin_rows(self, length: int) -> int:
        """Return how many rows permutations of a stretch of some length keep together: blocks, or more of long ones."""
        return self.block * -(-length // (_MOST_BINS * self.block))

    def run(
        self,
        features: ChangeFeatures,
        rng: np.random.Generator,
        progress: Progress = SILENT,
        limit: int | None = None,
        share: Fraction = Fraction(1),
        n_jobs: int = 1,
    ) -> tuple[float, tuple[Change, ...]]:
        """Return the p-value of the whole series of ``least_rows`` rows or more, and the changes in time order.

        Without ``n_changes`` it ends after ``limit`` changes at the latest. All p-values are divided by ``share``, the
        part of the level that this search has. ``n_jobs`` threads work on permutations.
        """
        most_changes = self.n_changes or limit
        fully = limit is None or self.n_changes is not None  # otherwise many parts are never split
        scanned = partial(self._scanned, features, share=share, draws=Draws(rng, progress, n_jobs))
        whole = scanned((0, features.columns.shape[1]), 0.0)
        assert whole is not None, "a series has two segments at least"
        todo, split = [whole], list[tuple[int, Stretch]]()
        while todo:
            if most_changes:  # then one label: how long the rest takes can be told
                progress("change points", len(split), most_changes)
            else:
                progress(f"{len(split)} change points so far", len(split), len(split) + len(todo))
            todo.sort(key=lambda stretch: stretch.scan.strength)
            stretch: Stretch | None = todo.pop()
            if stretch is not None and not stretch.looked:
                stretch = scanned((stretch.first, stretch.last), stretch.pvalue)
            if stretch is None or (self.n_changes is None and stretch.pvalue > self.level):
                continue
            start, stop = stretch.scan.around
            row = start + most(coordinates(features, stretch.scan, start, stop), self.least_segment)
            split.append((row, stretch))
            if len(split) == most_changes:
                break
            halves = (stretch.first, row), (row, stretch.last)
            parts = [scanned(ends, stretch.pvalue, fully=fully) for ends in halves]
            todo += [part for part in parts if part is not None]
        return whole.pvalue, tuple(self._placed(features, sorted(split, key=lambda each: each[0]), rng))

    def _scanned(
        self,
        features: ChangeFeatures,
        ends: tuple[int, int],
        above: float,
        *,
        share: Fraction,
        draws: Draws,
        fully: bool = True,
    ) -> Stretch | None:
        """Return a stretch with its p-value times n / length / share, at least that of the stretch it is a part of.

        None if it is too short to be split, or too short for any p-value of so many permutations to be small enough,
        or if a first look shows nothing.
        """
        first, last = ends
        n, length = features.columns.shape[1], last - first
        width = self.bin_rows(length)
        shortest = max(1, -(-self.shortest // width))
        if length // width < 2 * shortest:
            return None
        times = Fraction(n, length) / share
        needed = self.level / float(times)
        resamples = max(self.n_resamples, min(int(np.ceil(_ROOM / needed)) - 1, _MOST_RESAMPLES))
        if self.n_changes is None and length < n and 1 / (1 + resamples) > needed:
            return None
        hopeless = min(HOPELESS, _LEAST_HOPELESS + _ROOM_TO_FALL * needed) if self.n_changes is None else HOPELESS
        if not fully:
            result = scan(features, ends, (width, shortest), min(FIRST, resamples), replace(draws, progress=SILENT))
            return None if result.pvalue > hopeless else Stretch(first, last, above, result, looked=False)
        result = scan(features, ends, (width, shortest), resamples, draws, hopeless)
        return Stretch(first, last, max(above, float(min(Fraction(1), result.pvalue * times))), result)

    def _placed(
        self, features: ChangeFeatures, split: list[tuple[int, Stretch]], rng: np.random.Generator
    ) -> Iterator[Change]:
        """Yield the changes, each at the best place between its neighbors."""
        rows = [row for row, _ in split]
        for turn in range(_ROUNDS + 1):
            for k, (_, stretch) in enumerate(split):
                first, last = [0, *rows][k], [*rows, features.columns.shape[1]][k + 1]
                columns = coordinates(features, stretch.scan, first, last)
                rows[k] = first + most(columns, self.least_segment)
                if turn == _ROUNDS:
                    low, high = interval(columns, (self.least_segment, self.block), self.level, rng)
                    yield Change(rows[k], min(first + low, rows[k]), max(first + high, rows[k]), stretch.pvalue)
