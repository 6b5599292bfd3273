"""Which rows are a stripe: windows of consecutive rows are shuffled by the seed, then cut into stripes.

So the order of the rows within a window does not matter. What features are fitted to are whole stripes: rotations only
exchange these rows for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from scipy.fft import next_fast_len

from ...core.array import Array, IntArray, take_rows
from ...plan.plan import DEFAULT, Plan
from ..units.dealing import MOST_PILOT, PILOT
from .stripes import StripeSums

WINDOW = 64
"""Stripes of a window."""
_PILOT_WINDOWS = 4

ROTATIONS = 500
"""The rotations of each half of the stripes: both together have the square of this."""
_WINDOW_NUMBERS = 2**22
"""The coordinates of a window: the more rows it has, the longer the stretches in which rows may be sorted."""


def shuffled_window(seed: int, number: int, rows: int) -> IntArray:
    """Return the order of the rows of a window before it is cut into stripes."""
    return np.random.default_rng([seed, 1 + number]).permutation(rows)


def rotations(n: int, n_resamples: int) -> int:
    """Return the number of rotations, the observed one counted: as asked for or a few more, or all rows."""
    return min(n, int(next_fast_len(n_resamples + 1, real=True)))


@final
@dataclass(frozen=True)
class StripeWindows:
    """The rows of two variables as stripes of a length that is the number of rotations."""

    length: int
    seed: int

    @property
    def rows(self) -> int:
        """The rows of a window."""
        return WINDOW * self.length

    def pilot(self, n: int) -> IntArray:
        """Return the ascending numbers of rows that features are fitted to, of n in all.

        They come from four windows up to 4,096 rotations, and from fewer beyond that, so that rows may be sorted.
        """
        starts = np.arange(0, n - self.length + 1, self.rows)
        windows = min(_PILOT_WINDOWS, max(1, _PILOT_WINDOWS * PILOT // self.length))
        chosen = starts[np.unique(np.linspace(0, len(starts) - 1, windows).round().astype(np.intp))]
        each = self.length * -(-PILOT // (self.length * len(chosen)))
        numbers = []
        for start in chosen.tolist():
            order = shuffled_window(self.seed, start // self.rows, min(self.rows, n - start))
            numbers.append(start + order[: min(each, len(order) // self.length * self.length)])
        return np.sort(np.concatenate(numbers))

    def add(self, sums: StripeSums, number: int, X: Array, Y: Array, plan: Plan = DEFAULT) -> None:
        """Add the rows of a window; only the very last one may be shorter."""
        order = shuffled_window(self.seed, number, X.shape[0])
        sums.add(take_rows(X, order), take_rows(Y, order), plan)


# -- of rows of which some were drawn before ---------------------------------------------------------------------------


def rotations_of(n: int) -> int:
    """Return how many rotations each half of ``n`` rows has, so that few rows are outside all stripes."""
    stripes = 2 * max(1, round(n / (2 * ROTATIONS)))
    return ROTATIONS if n >= 2 * MOST_PILOT else max(1, n // stripes)


@final
@dataclass(frozen=True, eq=False)
class Stripes:
    """The rows of a table of known length as stripes.

    Rows that were drawn beforehand, at random by their numbers, are the first stripes: rotations only exchange them for
    each other, so that what is fitted to them stays the same. The others are shuffled within windows.
    """

    n: int
    rotations: int
    drawn: IntArray
    """The numbers of the rows that features are fitted to, stripe after stripe."""
    window: int
    """Rows that are shuffled together."""
    seed: int

    @classmethod
    def of(cls, n: int, dim: int, drawn: IntArray, seed: int) -> Self:
        """Return the stripes of ``n`` rows of ``dim`` coordinates; ``drawn`` rows are in random order."""
        rotations = rotations_of(n)
        pilot = min(rotations * -(-PILOT // rotations), len(drawn) // rotations * rotations)
        window = rotations * max(1, _WINDOW_NUMBERS // (rotations * max(1, dim)))
        return cls(n, rotations, drawn[:pilot], min(window, rotations * -(-n // rotations)), seed)

    @property
    def halves(self) -> tuple[int, int]:
        """The lengths of two wheels, which have every other stripe."""
        return self.rotations, self.rotations

    def dealt(self, pilot: Array, batches: Iterable[Array]) -> Iterator[Array]:
        """Yield all rows: whole stripes, and at the end the rows outside them.

        Parameters
        ----------
        pilot : array of shape (p, d)
            The rows that were drawn, in their order.
        batches : iterable of arrays (b, d)
            All rows in the order of the table.

        Raises
        ------
        ValueError
            When there are more rows, or fewer, than were announced.
        """
        yield pilot
        for number, rows in enumerate(self._windows(pilot.shape[1], batches)):
            order = shuffled_window(self.seed, number, len(rows))
            whole = len(order) // self.rotations * self.rotations
            if whole:
                yield take_rows(rows, order[:whole])
            if whole < len(order):
                yield take_rows(rows, order[whole:])

    def _windows(self, dim: int, batches: Iterable[Array]) -> Iterator[Array]:
        """Yield the rows that were not drawn, a window at a time; the next window overwrites it."""
        drawn = np.sort(self.drawn)
        buffer, held, start = np.empty((self.window, dim)), 0, 0
        for batch in batches:
            first, last = np.searchsorted(drawn, [start, start + len(batch)])
            others = np.delete(batch, drawn[first:last] - start, axis=0)
            start += len(batch)
            while len(others):
                part = others[: self.window - held]
                buffer[held : held + len(part)] = part
                held, others = held + len(part), others[len(part) :]
                if held == self.window:
                    yield buffer
                    held = 0
        if start != self.n:
            raise ValueError(f"{start:,} rows were read of {self.n:,}; rows must stay as they are meanwhile")
        if held:
            yield buffer[:held]
