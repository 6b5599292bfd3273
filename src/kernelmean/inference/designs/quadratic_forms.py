"""Quadratic forms vᵀKv of many vectors at once, without the Gram matrix K: by tiles, or on verified factors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, slices
from ..low_rank import Factor, by_rows
from ..low_rank_problem import highest_rank
from ..problem import KernelSide, Tiles
from ..resampling_options import MIB, Resources
from ..schemes.base import in_order, upper_tiles

TILE = 512
_BATCH_BYTES = 32 * MIB
FACTORS_FROM = 1000
_LEAST_GAIN = 8
_LEAST_BATCH = 64


class Forms(ABC):
    """One or several symmetric matrices K over the same n rows, and their diagonals, shape (m, n).

    A constant may have been subtracted from all entries of a matrix: it cancels in differences of means.
    """

    diagonal: Array

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.diagonal.shape[1]

    @abstractmethod
    def forms(self, vectors: Array) -> Array:
        """Return vᵀKv for the columns of ``vectors`` (n, b), shape (m, b)."""

    @abstractmethod
    def times(self, vectors: Array) -> Array:
        """Return KV of a few vectors (n, c), shape (m, n, c)."""

    @property
    def batch(self) -> int:
        """Return how many vectors to pass at once."""
        return max(_LEAST_BATCH, _BATCH_BYTES // (8 * self.n))


@final
@dataclass(frozen=True)
class TiledForms(Forms):
    """Matrices that are evaluated tile by tile, half of them by symmetry: O(n² (d + b)) time, O(n b) memory."""

    tiles: Tiles
    diagonal: Array
    n_jobs: int = 1

    def forms(self, vectors: Array) -> Array:
        """Add up the tiles; those off the diagonal count twice."""

        def one(i: slice, j: slice, gram: Array) -> Array:
            weight = 1.0 if i == j else 2.0
            return np.asarray(weight * np.einsum("ib,ib->b", vectors[i], gram @ vectors[j]))

        total = np.zeros((len(self.diagonal), vectors.shape[1]))
        for _, _, parts in self._over_tiles(one):
            total += parts
        return total

    def times(self, vectors: Array) -> Array:
        """Add up the tiles and their mirror images."""

        def one(i: slice, j: slice, gram: Array) -> Array:
            return np.concatenate([gram @ vectors[j], gram.T @ vectors[i]])

        total = np.zeros((len(self.diagonal), *vectors.shape))
        for i, j, parts in self._over_tiles(one):
            total[:, i] += parts[:, : i.stop - i.start]
            if i != j:
                total[:, j] += parts[:, i.stop - i.start :]
        return total

    def _over_tiles(self, one: Callable[[slice, slice, Array], Array]) -> Iterator[tuple[slice, slice, Array]]:
        pairs = upper_tiles(slices(self.n, TILE))

        def evaluate(pair: tuple[slice, slice]) -> Array:
            return np.stack([one(*pair, gram) for gram in self.tiles(*pair)])

        for (i, j), parts in zip(pairs, in_order(evaluate, pairs, self.n_jobs), strict=True):
            yield i, j, parts


@final
@dataclass(frozen=True)
class FactorForms(Forms):
    """Matrices K = Aᵀ diag(w) A given by their factors: O(n r b) time, once for all that share the rows A (r, n)."""

    factors: tuple[Factor, ...]
    diagonal: Array

    @classmethod
    def of(cls, factors: Sequence[Factor]) -> FactorForms:
        """Return the forms of some factors."""
        return cls(tuple(factors), np.stack([factor.diagonal for factor in factors]))

    def forms(self, vectors: Array) -> Array:
        """Return Σ_r w_r (Av)_r²."""
        found = np.empty((len(self.factors), vectors.shape[1]))
        for numbers in by_rows(self.factors):
            squares = np.square(self.factors[numbers[0]].rows @ vectors)
            found[numbers] = [_summed(squares, self.factors[number].weights) for number in numbers]
        return found

    def times(self, vectors: Array) -> Array:
        """Return Aᵀ diag(w) A V."""
        return np.stack([factor.rows.T @ factor.times(factor.rows @ vectors) for factor in self.factors])


def _summed(squares: Array, weights: Array | None) -> Array:
    return np.asarray(squares.sum(axis=0) if weights is None else weights @ squares)


def gram_forms(side: KernelSide, resources: Resources) -> Forms:
    """Return the Gram matrices of a side, on factors if a pivoted Cholesky finds a rank that pays."""
    n = side.n
    if side.explicit:
        return FactorForms.of(side.known_factors())
    rank = min(n // _LEAST_GAIN, highest_rank(n, side.count))
    if n >= FACTORS_FROM:
        factors = [factor for factor in side.factors(rank) if factor is not None]
        if len(factors) == side.count:
            return FactorForms.of(factors)
    return tiled_forms(side, resources)


def tiled_forms(side: KernelSide, resources: Resources) -> TiledForms:
    """Return the Gram matrices of a side by tiles."""
    tiles = side.tiles()

    def shifted(i: slice, j: slice) -> list[Array]:
        return [gram - shift for gram, shift in zip(tiles(i, j), side.shifts, strict=True)]

    return TiledForms(shifted, side.gram_diagonal(), resources.n_jobs)
