"""Translations i → i xor t of blocks of rows: a group of permutations whose sums are Walsh-Hadamard convolutions.

The rows are shuffled once by the seed and cut into as many blocks of 2^k rows as there are, and the rest into smaller
powers of two; t = 0 … 2^k - 1 acts on a smaller block by its lower bits, so that no row stays behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.array import Array
from .groups import Group, draw

_MOST = 2048


@final
@dataclass(frozen=True)
class Translations(Group):
    """The translations of blocks of ``order`` rows, and of smaller ones at the end."""

    @classmethod
    def draw(cls, n: int, count: int, rng: np.random.Generator) -> Translations:
        """Draw the shuffle and the cosets for at least ``count`` relabelings."""
        order = translation_order(n, count)
        return cls(*draw(n, order, count, rng), order)

    @property
    def blocks(self) -> list[slice]:
        """Return the blocks, largest first."""
        found, start, size = [], 0, self.order
        while start < self.n:
            if size <= self.n - start:
                found.append(slice(start, start + size))
                start += size
            else:
                size //= 2
        return found

    def correlate(self, left: Array, right: Array) -> Array:
        """Return Σ_i left_i right_(i xor t) for all t: (m, n) and (m, n) to (m, order)."""
        total = np.zeros((len(left), self.order))
        for block in self.blocks:
            product = walsh(left[:, block]) * walsh(right[:, block])
            total += self.spread(walsh(product) / product.shape[1])
        return total

    def spread(self, values: Array) -> Array:
        """Return a function of the lower bits of t as a function of t, over the last axis."""
        return np.tile(values, self.order // values.shape[-1])


def translation_order(n: int, count: int) -> int:
    """Return the power of two that holds ``count`` relabelings, as far as the sample and 2048 allow."""
    wanted = 1 << max(0, count - 1).bit_length()
    return min(wanted, _MOST, 1 << (n.bit_length() - 1))


def walsh(values: Array) -> Array:
    """Return the Walsh-Hadamard transform over the last axis, whose length is a power of two."""
    length = values.shape[-1]
    half = 1
    while half < length:
        pairs = values.reshape(*values.shape[:-1], length // (2 * half), 2, half)
        values = np.stack([pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]], axis=-2)
        values = values.reshape(*values.shape[:-3], length)
        half *= 2
    return values
