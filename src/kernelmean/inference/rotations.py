"""Rotations of blocks of rows: a cyclic group of permutations whose sums are convolutions.

The rows are shuffled once by the seed and cut into blocks of equal length g; the group turns all blocks together by s
places, s = 0 … g-1, and leaves the few rows that fill no block in place. A test over a group that holds the identity
is exact (Koning & Hemerik 2022), and so is one over the cosets σC of that group by independent random permutations σ,
the group itself among them: under the null the observed arrangement is a uniform draw from their union. Cosets serve
where one group has fewer elements than were asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy import fft

from .._array import Array, IntArray

Spectrum = npt.NDArray[np.complexfloating[Any]]

_SHORT = 128
_LEAST, _MOST = 1000, 2048


@final
@dataclass(frozen=True)
class Rotations:
    """The union of cosets of the rotations by s places.

    Attributes
    ----------
    shuffle : array of shape (n,)
        The order in which the rows are cut into blocks.
    cosets : array of shape (c, n)
        The permutations σ, the identity first.
    length : int
        g, the length of a block and the order of the group.
    """

    shuffle: IntArray
    cosets: IntArray
    length: int

    @classmethod
    def draw(cls, n: int, count: int, rng: np.random.Generator) -> Rotations:
        """Draw the shuffle and as many cosets as ``count`` relabelings need."""
        length = block_length(n, count)
        cosets = np.tile(np.arange(n), (-(-count // length), 1))
        shuffle = rng.permutation(n)
        rng.permuted(cosets[1:], axis=1, out=cosets[1:])
        return cls(shuffle, cosets, length)

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.shuffle)

    @property
    def count(self) -> int:
        """Return the number of relabelings, the identity included."""
        return len(self.cosets) * self.length

    @property
    def blocks(self) -> int:
        """Return the number of blocks."""
        return self.n // self.length

    @property
    def rest(self) -> slice:
        """Return the rows that stay in place."""
        return slice(self.blocks * self.length, self.n)

    def cut(self, rows: Array) -> Array:
        """Cut the last axis into blocks, shape (…, n) to (…, blocks, g)."""
        return rows[..., : self.rest.start].reshape(*rows.shape[:-1], self.blocks, self.length)

    def spectra(self, rows: Array) -> Spectrum:
        """Return the Fourier transform of every block, shape (…, n) to (…, blocks, g // 2 + 1)."""
        return np.asarray(fft.rfft(self.cut(rows), axis=-1))

    def back(self, spectrum: Spectrum, axis: int = -1) -> Array:
        """Return the function of s of a spectrum, over one axis."""
        return np.asarray(fft.irfft(spectrum, n=self.length, axis=axis))

    def correlations(self, left: Array, right: Array) -> Array:
        """Return Σ_i left_i right_π(i) for all π: (m, n) and (m, n) to (m, count)."""
        spectrum = np.conj(self.spectra(left))
        parts = []
        for order in self.cosets:
            moved = right[:, order]
            product = np.einsum("mbf,mbf->mf", spectrum, self.spectra(moved))
            fixed = np.einsum("mr,mr->m", left[:, self.rest], moved[:, self.rest])
            parts.append(self.back(product) + fixed[:, None])
        return np.concatenate(parts, axis=1)


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
