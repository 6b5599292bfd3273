"""Rotations of two halves, each by a number of its own: the product of two cyclic groups.

The rows are shuffled once by the seed and cut into blocks of equal length g, as many in either half; an element (s, t)
turns all blocks of the first half by s places and those of the second by t, and leaves the few rows that fill no block
in place. So g² relabelings come from correlations over blocks of g rows. A share of 2/g of them leaves one half as it
was, and keeps a quarter of what HSIC sees: with short blocks the test has less power, never a wrong level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np

from ..core.array import Array
from .groups import Group, draw
from .rotations import Rotations, is_fast

_LONGER = 1.5


@final
@dataclass(frozen=True)
class Torus(Group):
    """The rotations of two halves of ``length`` · ``each`` rows; element s · ``length`` + t of the group is (s, t)."""

    length: int

    @classmethod
    def draw(cls, n: int, count: int, rng: np.random.Generator) -> Torus:
        """Draw the shuffle and the cosets for at least ``count`` relabelings."""
        length = torus_length(n, count)
        return cls(*draw(n, length**2, count, rng), length**2, length)

    @property
    def each(self) -> int:
        """Return the number of blocks of either half."""
        return self.n // (2 * self.length)

    @property
    def blocks(self) -> list[slice]:
        """Return the blocks, those of the first half first."""
        return [slice(k * self.length, (k + 1) * self.length) for k in range(2 * self.each)]

    @property
    def rest(self) -> slice:
        """Return the rows that stay in place."""
        return slice(2 * self.each * self.length, self.n)

    def half(self, block: slice) -> int:
        """Return 0 for a block of the first half, 1 for one of the second."""
        return int(block.start >= self.each * self.length)

    def correlate(self, left: Array, right: Array) -> Array:
        """Return Σ_i left_i right_(s,t)(i) for all (s, t): (m, n) and (m, n) to (m, order)."""
        rows = self.each * self.length
        turning = Rotations(np.arange(rows), np.arange(rows)[None], self.length)
        first, second = (
            turning.correlate(left[:, half], right[:, half]) for half in (slice(rows), slice(rows, 2 * rows))
        )
        fixed = np.einsum("mr,mr->m", left[:, self.rest], right[:, self.rest])
        return self.spread(first, second + fixed[:, None])

    def spread(self, first: Array, second: Array) -> Array:
        """Return f(s) + g(t) from f and g, (…, length) each, shape (…, order)."""
        both = first[..., :, None] + second[..., None, :]
        return np.asarray(both.reshape(*both.shape[:-2], self.order))


@cache
def torus_length(n: int, count: int) -> int:
    """Return a length with a fast transform whose square holds ``count`` relabelings, as far as half the rows allow.

    Up to half as long again where that leaves fewer percent of the rows over.
    """
    least = min(n // 2, int(np.ceil(np.sqrt(count))))
    longest = min(n // 2, int(_LONGER * least) + 1)
    lengths = [g for g in range(least, longest + 1) if is_fast(g)] or [least]
    return min(lengths, key=lambda g: (100 * (n % (2 * g)) // n, g))
