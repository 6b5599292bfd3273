"""The two sides of a test of independence: kernels over points, and which of them are paired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..core.array import (
    Array,
    IntArray,
    as_float64,
    as_host,
    diagonal_of,
    is_foreign,
    mean_of,
    namespace,
    take_rows,
)
from ..core.cached import cached_property
from ..kernels import Kernel, Linear
from ..kernels.distances import ExponentialBlocks
from .low_rank import Coordinates, Factor, pivoted_cholesky, widened
from .statistics import Statistic, Sums

Tiles = Callable[[slice, slice], list[Array]]
KernelPair = tuple[Kernel, Kernel]
"""A kernel for each of two variables."""
_SHIFT_ROWS = 256


@final
@dataclass(frozen=True)
class Shape:
    """The sizes of a call."""

    n: int
    """Pairs."""
    n_resamples: int
    """What was asked for, the observed arrangement not counted."""
    kernels: tuple[int, int] = (1, 1)
    """How many different kernels are on the left and on the right."""
    explicit: bool = False
    """Whether all kernels are sums over a few of the columns: then factors are used at any rank, and never tiles."""


def _centered(gram: Array) -> Array:
    """Return HKH."""
    gram, xp = as_float64(gram), namespace(gram)
    means = xp.mean(gram, axis=0)
    centered: Array = gram - means - (means - xp.mean(means))[:, None]
    return centered


@final
@dataclass(frozen=True)
class KernelSide:
    """n points and the kernels that are tried on them: one or several Gram matrices.

    Sums run over the matrices minus a constant each, ``shifts``: centering removes it again, and rounding is smaller.
    """

    points: Array
    kernels: tuple[Kernel, ...]
    shifted: bool = True
    """Whether constants are subtracted; coordinates are centered as they are."""
    around: Array | None = None
    """Some of the points before they were permuted, over which kernels have the constants as their means."""
    copied: bool = False
    """Whether the points are a copy that may be overwritten."""

    @cached_property
    def shifts(self) -> tuple[float, ...]:
        """The constants."""
        if not self.shifted:
            return (0.0,) * self.count
        some = self._some
        return tuple(0.0 if isinstance(kernel, Coordinates) else mean_of(kernel(some, some)) for kernel in self.kernels)

    @property
    def _some(self) -> Array:
        if self.around is not None:
            return self.around
        return take_rows(self.points, np.linspace(0, self.n - 1, min(self.n, _SHIFT_ROWS)).astype(np.intp))

    @property
    def n(self) -> int:
        """Return the number of points."""
        return self.points.shape[0]

    @property
    def count(self) -> int:
        """Return the number of kernels."""
        return len(self.kernels)

    @property
    def on_device(self) -> bool:
        """Whether the points are of another library than NumPy."""
        return is_foreign(self.points)

    @property
    def explicit(self) -> bool:
        """Say whether all kernels are sums over a few columns of the rows, which are factors of the matrices."""
        return all(isinstance(kernel, Coordinates) for kernel in self.kernels)

    def permuted(self, order: IntArray) -> KernelSide:
        """Return the side with its points in another order, with the same memory layout."""
        by_columns = not self.on_device and self.points.flags.fnc
        points = self.points.T.take(order, axis=1).T if by_columns else take_rows(self.points, order)
        return replace(self, points=points, around=self._some, copied=True)

    def of_kernels(self, numbers: Sequence[int]) -> KernelSide:
        """Return the side with some of its kernels."""
        return replace(self, kernels=tuple(self.kernels[number] for number in numbers))

    def tiles(self) -> Tiles:
        """Prepare ``f(i, j)``, one block of every Gram matrix for two slices of rows; nothing is subtracted yet."""
        prepared = [kernel.blocks(self.points, self.points) for kernel in self.kernels]
        return lambda i, j: [block(i, j) for block in prepared]

    def grams(self) -> list[Array]:
        """Return all Gram matrices minus their constants; O(n²) memory."""
        everything = slice(0, self.n)
        return [gram - shift for gram, shift in zip(self.tiles()(everything, everything), self.shifts, strict=True)]

    def separated(self) -> tuple[Array, Tiles, Array]:
        """Return a, tiles E and b of the matrices a_i E_ij b_j, nothing subtracted; a and b of shape (count, n).

        For sums of entries: Gaussian kernels whose bandwidth is not small need less work; a = b = 1 for others.
        """
        parts, ones = [], np.ones(self.n)
        for kernel in self.kernels:
            blocks = kernel.blocks(self.points, self.points)
            parts.append((isinstance(blocks, ExponentialBlocks) and blocks.separated()) or (ones, blocks, ones))
        left, middle, right = zip(*parts, strict=True)
        return np.stack(left), lambda i, j: [block(i, j) for block in middle], np.stack(right)

    def raw_diagonal(self) -> Array:
        """Return k(x_i, x_i) of every kernel, shape (count, n)."""
        return np.stack([as_host(kernel.diag(self.points)) for kernel in self.kernels])

    def gram_diagonal(self) -> Array:
        """Return the diagonals minus the constants, shape (count, n)."""
        return self.raw_diagonal() - np.array(self.shifts)[:, None]

    def diagonal(self, row_sums: Array) -> Array:
        """Return the diagonals of the centered matrices, shape (count, n)."""
        total = row_sums.sum(axis=1, keepdims=True)
        return np.asarray(self.gram_diagonal() - 2 / self.n * row_sums + total / self.n**2)

    def dense(self) -> tuple[list[Array], Array]:
        """Return the centered matrices and their diagonals; O(n²) memory."""
        everything = slice(0, self.n)
        grams = [_centered(gram) for gram in self.tiles()(everything, everything)]
        return grams, np.stack([diagonal_of(gram) for gram in grams])

    def factors(self, max_rank: int) -> list[Factor | None]:
        """Return a verified low-rank factor of every Gram matrix, None if the rank exceeds ``max_rank``.

        By pivoted Cholesky; the columns of kernels on few columns are factors already. The writable parts of a factor
        are not shared.
        """
        rows: dict[tuple[int, ...], Array] = {}
        return [self._factor(kernel, rows, max_rank) for kernel in widened(self.kernels)]

    def known_factors(self) -> list[Factor]:
        """Return the factors of kernels that are sums over a few columns."""
        return [factor for factor in self.factors(0) if factor is not None]

    def _factor(self, kernel: Kernel, rows: dict[tuple[int, ...], Array], max_rank: int) -> Factor | None:
        if not isinstance(kernel, Coordinates):
            factor = pivoted_cholesky(kernel, self.points, max_rank=max_rank)
            return factor if factor is not None and factor.holds_differences else None
        if kernel.columns not in rows:
            rows[kernel.columns] = values = np.ascontiguousarray(self.points[:, kernel.place].T)
            values.flags.writeable = values.flags.owndata or (self.copied and self.explicit)
        return Factor(rows[kernel.columns], 0.0, np.array(kernel.weights))


def distinct_side(points: Array, kernels: Sequence[Kernel]) -> tuple[KernelSide, list[int]]:
    """Return a side with every kernel once, and the position of each kernel in it; the same object counts once.

    Linear kernels alone see points around 0: centered matrices are the same, with the rounding of a spread, not of a
    distance from 0.
    """
    if all(isinstance(kernel, Linear) for kernel in kernels):
        points = points - namespace(points).mean(points, axis=0)
    distinct: dict[int, tuple[int, Kernel]] = {}
    for kernel in kernels:
        distinct.setdefault(id(kernel), (len(distinct), kernel))
    return KernelSide(points, tuple(kernel for _, kernel in distinct.values())), [distinct[id(k)][0] for k in kernels]


@final
@dataclass(frozen=True)
class Problem:
    """A statistic over pairs (left, right) of Gram matrices, the right one permuted."""

    left: KernelSide
    right: KernelSide
    pairs: tuple[tuple[int, int], ...]
    statistic: Statistic

    @property
    def n(self) -> int:
        """Return the number of rows of each side."""
        return self.left.n

    @property
    def index(self) -> tuple[IntArray, IntArray]:
        """Return the left and the right numbers of the pairs."""
        left, right = np.array(self.pairs).T
        return left, right

    def shape(self, n_resamples: int) -> Shape:
        """Return the sizes of a call that asks for this many permutations."""
        explicit = self.left.explicit and self.right.explicit
        return Shape(self.n, n_resamples, (self.left.count, self.right.count), explicit)

    def shuffled(self, order: IntArray) -> Problem:
        """Return the same problem with the rows of both sides in another order."""
        return replace(self, left=self.left.permuted(order), right=self.right.permuted(order))

    def index_sets(self, chosen: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the left and the right kernels that some of the pairs need, in ascending order."""
        left, right = (sorted({self.pairs[p][side] for p in chosen}) for side in (0, 1))
        return left, right

    def restricted(self, chosen: Sequence[int]) -> Problem:
        """Return the problem of some of the pairs, with the kernels that these need."""
        lefts, rights = self.index_sets(chosen)
        return replace(
            self,
            left=self.left.of_kernels(lefts),
            right=self.right.of_kernels(rights),
            pairs=tuple((lefts.index(i), rights.index(j)) for i, j in (self.pairs[p] for p in chosen)),
        )

    def centered_sums(self, raw: Array, linear: Array, diagonal: Array, rows: tuple[Array, Array]) -> Sums:
        """Turn sums over uncentered matrices into :class:`Sums`.

        ``raw`` (m, P) is Σ K_ij Z_π(i)π(j), ``linear`` (m, P) is Σ k_i z_π(i) of the row sums ``rows``, and
        ``diagonal`` (m, P) is for the centered matrices already.
        """
        left, right = self.index
        totals = rows[0].sum(axis=1)[left] * rows[1].sum(axis=1)[right]
        pairs = raw - 2 / self.n * linear + totals[:, None] / self.n**2
        traces = (side.diagonal(sums).sum(axis=1) for side, sums in zip((self.left, self.right), rows, strict=True))
        left_trace, right_trace = traces
        return Sums(pairs, diagonal, left_trace[left], right_trace[right])
