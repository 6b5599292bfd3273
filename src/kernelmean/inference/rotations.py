"""Rotations of blocks of rows: a cyclic group of permutations whose sums are convolutions.

The rows are shuffled once by the seed and cut into blocks of equal length g; the group turns all blocks together by s
places, s = 0 … g-1, and leaves the few rows that fill no block in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy import fft

from ..core.array import Array, IntArray, slices
from .groups import Group, draw
from .permutations import Relabelings

Spectrum = npt.NDArray[np.complexfloating[Any, Any]]

_SHORT = 128
_LEAST, _MOST = 1000, 2560


@final
@dataclass(frozen=True)
class Rotations(Group):
    """The rotations of blocks of ``order`` rows, the first ``blocks`` · ``order`` of the shuffled ones."""

    @classmethod
    def draw(cls, n: int, count: int, rng: np.random.Generator) -> Rotations:
        """Draw the shuffle and the cosets for at least ``count`` relabelings."""
        length = block_length(n, count)
        return cls(*draw(n, length, count, rng), length)

    @property
    def blocks(self) -> int:
        """Return the number of blocks."""
        return self.n // self.order

    @property
    def rest(self) -> slice:
        """Return the rows that stay in place."""
        return slice(self.blocks * self.order, self.n)

    def spectra(self, rows: Array) -> Spectrum:
        """Return the Fourier transform of every block, shape (…, n) to (…, blocks, order // 2 + 1)."""
        cut = rows[..., : self.rest.start].reshape(*rows.shape[:-1], self.blocks, self.order)
        return np.asarray(fft.rfft(cut, axis=-1))

    def back(self, spectrum: Spectrum, axis: int = -1) -> Array:
        """Return the function of s of a spectrum, over one axis."""
        return np.asarray(fft.irfft(spectrum, n=self.order, axis=axis))

    def correlate(self, left: Array, right: Array) -> Array:
        """Return Σ_i left_i right_s(i) for all rotations s: (m, n) and (m, n) to (m, order)."""
        spectrum = np.einsum("mbf,mbf->mf", np.conj(self.spectra(left)), self.spectra(right))
        fixed = np.einsum("mr,mr->m", left[:, self.rest], right[:, self.rest])
        return np.asarray(self.back(spectrum) + fixed[:, None])


@final
@dataclass(frozen=True)
class ListedRotations(Relabelings):
    """The permutations of rotations, one after another, in the order of the sums that a convolution gives."""

    rotations: Rotations

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of rows."""
        return self.rotations.n

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the number of relabelings."""
        return self.rotations.count

    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield them in arrays of shape (b, n)."""
        length, end = self.rotations.order, self.rotations.rest.start
        rows = np.arange(self.n)
        for part in slices(self.count, size):
            cosets, shifts = np.divmod(np.arange(part.start, part.stop)[:, None], length)
            turned = rows // length * length + (rows % length + shifts) % length
            yield self.rotations.cosets[cosets, np.where(rows < end, turned, rows)]


@cache
def block_length(n: int, count: int) -> int:
    """Return a length with a fast transform that leaves few rows over.

    Short samples are one block. Otherwise blocks have 1000 to 2560 rows where there are as many; of these lengths,
    those that leave the fewest percent of the rows, then those that need the fewest cosets for ``count`` relabelings.
    """
    if n <= _SHORT:
        return n
    lengths = (g for g in range(min(_LEAST, n // 2 + 1), min(n, _MOST) + 1) if is_fast(g))
    return min(lengths, key=lambda g: (100 * (n % g) // n, -(-count // g), n % g, g))


def is_fast(length: int) -> bool:
    """Say whether no prime factor exceeds 19: beyond 11 a transform takes longer, but fewer rows stay behind."""
    for prime in (2, 3, 5, 7, 11, 13, 17, 19):
        while length % prime == 0:
            length //= prime
    return length == 1
