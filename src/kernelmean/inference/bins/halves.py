"""Rotations of two halves of the stripes, each by a number of its own: many arrangements of few sums.

One half alone has as many arrangements as a stripe has rows. Both together have the square of that, which is a group as
well: any number of arrangements drawn from it at random, together with the observed one, gives an exact p-value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...plan.plan import DEFAULT, Plan
from ..adaptive.coordinates import Featured
from ..null import Null
from .pairs import BlockPair, PairSums, memory_of, null_of

_NUMBERS = 2**22
"""Features whose transforms are held at a time."""
_DRAWN_NUMBERS = 2**18
"""Sums of products that are evaluated together: they stay in the cache of a processor."""


def turns_of(n_resamples: int, rotations: int, rng: np.random.Generator) -> IntArray:
    """Return ``n_resamples`` random pairs of rotations after the observed arrangement, shape (P + 1, 2)."""
    turns = rng.integers(rotations, size=(n_resamples + 1, 2))
    turns[0] = 0
    return turns


@final
@dataclass(eq=False)
class Halves:
    """The sums of two halves of the stripes of a table.

    Parameters
    ----------
    first, second : PairSums
        Sums of no rows at first.
    """

    first: PairSums
    second: PairSums
    _stripes: int = 0

    @classmethod
    def empty(cls, x: Featured, y: Featured, pairs: Sequence[BlockPair], rotations: int) -> Self:
        """Return the sums of no rows; if ``x`` and ``y`` are the same object, its columns meet each other."""
        first, second = (PairSums(x, y, list(pairs), rotations, 0) for _ in (0, 1))
        return cls(first, second)

    @staticmethod
    def memory(pairs: Sequence[BlockPair], rotations: int) -> float:
        """Return the bytes that sums take."""
        return 2.0 * memory_of(pairs, rotations)

    @property
    def rows(self) -> int:
        """How many rows were added."""
        return self.first.rows + self.second.rows

    def add(self, X: Array, Y: Array, plan: Plan = DEFAULT) -> None:
        """Add whole stripes, alternately to each half, and at the end fewer rows, which keep their partners."""
        x, y, rotations = self.first.x, self.first.y, self.first.rotations
        tables = (X,) if x is y and X is Y else (X, Y)
        whole = len(X) // rotations * rotations
        at_once = 2 * max(1, _NUMBERS // (rotations * max(1, x.size if len(tables) == 1 else x.size + y.size)))
        for part in slices(whole, at_once * rotations):
            cut = [own[part].reshape(-1, rotations, own.shape[1]) for own in tables]
            for number, half in enumerate((self.first, self.second)):
                start = (number - self._stripes) % 2
                rows = [own[start::2].reshape(-1, own.shape[2]) for own in cut]
                if len(rows[0]):
                    half.add_stripes(rows[0], rows[-1], plan)
            self._stripes += len(cut[0])
        if whole < len(X):
            rows = [own[whole:] for own in tables]
            self.first.add_fixed(rows[0], rows[-1])

    def null(self, numbers: Sequence[int], turns: IntArray) -> Null:
        """Return the statistics of the kernels of some pairs of blocks under pairs of rotations, shape (P, 2).

        For a kernel with columns in several blocks they are added up.
        """
        pairs = [self.first.pairs[number] for number in numbers]
        values = np.zeros((1 + max(int(pair.numbers.max()) for pair in pairs), len(turns)))
        for number, pair in zip(numbers, pairs, strict=True):
            first, second = self._gaps(number)
            r, q = pair.shape
            for part in slices(len(turns), max(1, _DRAWN_NUMBERS // max(1, r * q))):
                gaps = first[turns[part, 0]]
                gaps += second[turns[part, 1]]
                values[pair.numbers, part] += pair.statistics(gaps)
        return null_of(values, self.rows)

    def _gaps(self, number: int) -> tuple[Array, Array]:
        """Return two parts whose sums are the covariances under two rotations, shape (rotations, r, q) each."""
        pair, n = self.first.pairs[number], self.rows
        first, second = (own.rotated(number) for own in (self.first, self.second))
        margins = (
            one + other for one, other in zip(*(own.margins_of(pair) for own in (self.first, self.second)), strict=True)
        )
        first /= n
        second /= n
        first -= np.multiply.outer(*(sums / n for sums in margins))
        return first, second
