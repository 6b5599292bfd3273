"""Rotations of blocks of rows: a cyclic group of permutations whose sums are convolutions.

The rows are shuffled once by the seed and cut into blocks of equal length g; the group turns all blocks together by s
places, s = 0 … g-1, and leaves the few rows that fill no block in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy import fft

from .._array import Array
from .groups import Group, draw

Spectrum = npt.NDArray[np.complexfloating[Any, Any]]

_SHORT = 128
_LEAST, _MOST = 1000, 2048


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


@cache
def block_length(n: int, count: int) -> int:
    """Return a length with a fast transform that leaves as few rows over as possible, the smallest such one.

    At least ``count`` where the sample and a tile of 2048 rows allow it; short samples are one block.
    """
    if n <= _SHORT:
        return n
    least = max(_LEAST, count) if count <= _MOST else _MOST // 2
    shortest = least if n > least else n // 2 + 1
    return min((g for g in range(shortest, min(n, _MOST) + 1) if _is_fast(g)), key=lambda g: (n % g, g))


def _is_fast(length: int) -> bool:
    return int(fft.next_fast_len(length)) == length
