"""How long the remaining trials will take."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from typing import final

Cell = tuple[str, str]
"""The name of an experiment and the key of a setting."""


@final
class Pace:
    """Seconds per trial, by setting, and how many trials run at once.

    Parameters
    ----------
    waiting : iterable of Cell
        The cell of every remaining trial.
    """

    def __init__(self, waiting: Iterable[Cell]) -> None:
        self._waiting: dict[Cell, int] = defaultdict(int)
        for cell in waiting:
            self._waiting[cell] += 1
        self._sums: dict[Cell, tuple[int, float]] = {}
        self._start, self._worked = time.monotonic(), 0.0

    def know(self, cell: Cell, seconds: float) -> None:
        """Record a trial that was run before."""
        number, total = self._sums.get(cell, (0, 0.0))
        self._sums[cell] = (number + 1, total + seconds)

    def done(self, cell: Cell, seconds: float) -> None:
        """Record a trial that has just ended."""
        self.know(cell, seconds)
        self._waiting[cell] -= 1
        self._worked += seconds

    def left(self) -> float:
        """Return the remaining seconds; infinite before any trial is known.

        A setting without trials is assumed to be as slow as the slowest known one of its experiment, because cheap
        settings come first. If none of these is known, it is assumed to take the mean time of all trials.
        """
        at_once = max(self._worked / max(time.monotonic() - self._start, 1e-9), 1e-3) if self._worked else 1.0
        return sum(number * self._seconds(cell) for cell, number in self._waiting.items() if number) / at_once

    def _seconds(self, cell: Cell) -> float:
        if cell in self._sums:
            number, total = self._sums[cell]
            return total / number
        near = [total / number for known, (number, total) in self._sums.items() if known[0] == cell[0]]
        if near or not self._sums:
            return max(near, default=float("inf"))
        numbers, totals = zip(*self._sums.values(), strict=True)
        return float(sum(totals) / sum(numbers))


def in_words(seconds: float) -> str:
    """Return "about 40 s left", in the unit that fits.

    Examples
    --------
    >>> in_words(130.0)
    'about 2 min left'
    """
    if seconds == float("inf"):
        return "time left unknown"
    if seconds < 90:
        return f"about {max(seconds, 1):.0f} s left"
    return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"
