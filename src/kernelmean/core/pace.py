"""Estimates how long the rest of some work takes, from the rate so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final

LONG = 10.0
"""Work that takes this many seconds is worth announcing."""
_SURE_AFTER, _SURE_OF_ONE = 1.0, 3.0


@final
class Pace:
    """Estimates once how long the rest takes, as soon as the time of some steps is known.

    The first step takes longer than the others, so the estimate waits for one second of others, unless the first one
    took seconds itself.

    Parameters
    ----------
    clock : callable
        The time in seconds.
    patience : float
        How many times as long to wait before the estimate, for steps of very unequal length; with more than 1 the first
        step alone never counts.

    Examples
    --------
    >>> times = iter([0.0, 0.5, 2.5])
    >>> pace = Pace(lambda: next(times))
    >>> pace.rest(1, 100), pace.rest(2, 100)
    (None, 196.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, patience: float = 1.0) -> None:
        self._clock, self._patience = clock, patience
        self._begun = clock()
        self._first: tuple[float, int] | None = None
        self._told = False

    def rest(self, done: int, total: int) -> float | None:
        """Return how many seconds the rest takes: only once, and only if it takes long."""
        if self._told:
            return None
        now = self._clock()
        self._first = self._first or (now, done)
        since, first = self._first
        if now - since >= self._patience * _SURE_AFTER and done > first:
            each = (now - since) / (done - first)
        elif done == first > 0 and self._patience <= 1.0 and now - self._begun >= _SURE_OF_ONE:
            each = (now - self._begun) / done
        else:
            return None
        self._told = True
        seconds = each * (total - done)
        return seconds if seconds > LONG else None
