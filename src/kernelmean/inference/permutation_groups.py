"""Rotations of blocks of rows: a group of permutations with a fast transform, which needs no random list of them.

A test over a group is exact (Koning & Hemerik 2022). So is a test over cosets σG of the group by independent random
permutations σ, the group itself among them: under the null the observed arrangement is a uniform draw from their union.
Cosets are used if the group has fewer elements than you asked for.

The rows are shuffled once by the seed and cut into blocks of equal length g. Rotations turn all blocks together by s
places, s = 0 … g-1, a cyclic group whose sums are convolutions. The few rows that do not fill a block stay in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from scipy import fft

from ..core.array import Array, IntArray, slices
from .problem import Problem
from .statistics import Sums

Spectrum = npt.NDArray[np.complexfloating[Any, Any]]

_SHORT = 128
_LEAST, _MOST = 1000, 2560
_AT_ONCE = 2**16  # numbers that are transformed together


@final
@dataclass(frozen=True)
class Rotations:
    """The rotations of blocks of ``order`` rows, the first ``blocks`` · ``order`` of the shuffled ones, over cosets."""

    shuffle: IntArray
    """The order, drawn by the seed, in which the rows are numbered for the group, shape (n,)."""
    cosets: IntArray
    """The permutations σ, the identity first, shape (c, n)."""
    order: int
    """The number of elements of the group."""

    @classmethod
    def draw(cls, n: int, count: int, rng: np.random.Generator) -> Rotations:
        """Draw the shuffle of the rows, and as many cosets as ``count`` permutations need."""
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
        """Return the number of permutations, the identity included."""
        return len(self.cosets) * self.order

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

    def centered(self, problem: Problem, raw: Array, rows: tuple[Array, Array]) -> Sums:
        """Return the sums of centered matrices from those of the matrices, shape (m, count), and their row sums."""
        left, right = problem.index
        linear = self.correlations(rows[0][left], rows[1][right])
        diagonals = problem.left.diagonal(rows[0])[left], problem.right.diagonal(rows[1])[right]
        return problem.centered_sums(raw, linear, self.of_diagonals(problem, *diagonals), rows)

    def of_diagonals(self, problem: Problem, left: Array, right: Array) -> Array:
        """Return the sums over the diagonals of centered matrices, shape (m, count), if the statistic needs them."""
        return self.correlations(left, right) if problem.statistic.of_diagonal else np.empty((len(left), 0))

    def turned(self, values: IntArray) -> IntArray:
        """Return values (n,) under all rotations, shape (order, n); values beyond the n-th stay in place, too."""
        blocks = values[: self.rest.start].reshape(self.blocks, self.order)
        windows = sliding_window_view(np.concatenate([blocks, blocks[:, :-1]], axis=1), self.order, axis=1)
        moved = windows.transpose(1, 0, 2).reshape(self.order, -1)
        return np.concatenate([moved, np.tile(values[self.rest.start :], (self.order, 1))], axis=1)

    def correlations(self, left: Array, right: Array, orders: IntArray | None = None) -> Array:
        """Return Σ_i left_i right_π(i) for all π; from (m, n) and (m, n), or (1, n) for all, to (m, count).

        With ``orders`` (c, n), for all rotations of the right in these orders instead of those of the cosets. Entries
        beyond the n-th stay in place, as do those outside all blocks.
        """
        orders = self.cosets if orders is None else orders
        end, rows = self.rest.start, max(1, _AT_ONCE // self.n)
        sums = np.empty((len(left), len(orders), self.order))  # of a kernel that is 0 there are no rows
        for part in slices(len(left), rows):
            fixed, other = left[part], right if len(right) == 1 else right[part]
            spectra = np.conj(self.spectra(fixed))
            for some in slices(len(orders), max(1, rows // len(fixed))):
                moved = other.take(orders[some], axis=1)
                sums[part, some] = self.back(np.einsum("mbf,mcbf->mcf", spectra, self.spectra(moved)))
                sums[part, some] += (fixed[:, None, end:] * moved[..., end:]).sum(axis=-1, keepdims=True)
        return sums.reshape(len(left), len(orders) * self.order)


@cache
def block_length(n: int, count: int) -> int:
    """Return a length with a fast transform that leaves few rows over.

    Short samples are one block. Otherwise blocks have 1,000 to 2,560 rows if there are that many. Of these lengths, the
    choice is the one that leaves the fewest percent of the rows over, then the one that needs the fewest cosets for
    ``count`` permutations.
    """
    if n <= _SHORT:
        return n
    lengths = (g for g in range(min(_LEAST, n // 2 + 1), min(n, _MOST) + 1) if is_fast(g))
    return min(lengths, key=lambda g: (100 * (n % g) // n, -(-count // g), n % g, g))


def is_fast(length: int) -> bool:
    """Say whether no prime factor exceeds 19: beyond 11 a transform takes longer, but fewer rows are left over."""
    for prime in (2, 3, 5, 7, 11, 13, 17, 19):
        while length % prime == 0:
            length //= prime
    return length == 1
