"""Quadratic forms vᵀKv of many vectors at once: K in memory, by tiles, or given by factors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from ...core.array import Array, slices
from ..low_rank import Factor, by_rows
from ..low_rank_problem import factor_weights, highest_rank
from ..problem import KernelSide, Tiles
from ..resampling import MIB, Resources
from ..tiling import in_order, upper_tiles
from .permuted_labels import LabelBatch

TILE = 512
_BATCH_BYTES = 32 * MIB
FACTORS_FROM = 200
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

    def under(self, labels: LabelBatch) -> Array:
        """Return the forms of labels of two samples, shape (m, b); rows of every K add up to 0."""
        return self.forms(labels.labels.T.astype(np.float64))

    def between(self, labels: LabelBatch, sizes: Array) -> Array:
        """Return the squared distances between the means of k samples of these sizes, shape (m, pairs, b)."""
        means = [(labels.labels == g).T / size for g, size in enumerate(sizes)]
        return np.stack([self.forms(g - h) for g, h in combinations(means, 2)], axis=1)

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
        return self._of_all(lambda rows, weights: _weighted_squares(weights, rows @ vectors))

    def under(self, labels: LabelBatch) -> Array:
        """Add up the squares of the products of the rows A with the labels."""
        return self._of_all(lambda rows, weights: _weighted_squares(weights, labels.products(rows)))

    def between(self, labels: LabelBatch, sizes: Array) -> Array:
        """Add up the squared differences of the means of the rows A."""

        def distances(rows: Array, weights: Array) -> Array:
            means = [labels.products(rows, g) / size for g, size in enumerate(sizes)]
            return np.stack([_weighted_squares(weights, g - h) for g, h in combinations(means, 2)], axis=1)

        return self._of_all(distances)

    def _of_all(self, values: Callable[[Array, Array], Array]) -> Array:
        """Return the values of all matrices from rows A (r, n) that some of them share, and their weights (k, r)."""
        by_number: dict[int, Array] = {}
        for numbers in by_rows(self.factors):
            factors = [self.factors[number] for number in numbers]
            by_number.update(zip(numbers, values(factors[0].rows, factor_weights(factors)), strict=True))
        return np.stack([by_number[number] for number in range(len(self.factors))])

    def times(self, vectors: Array) -> Array:
        """Return Aᵀ diag(w) A V."""
        return np.stack([factor.rows.T @ factor.times(factor.rows @ vectors) for factor in self.factors])


def _weighted_squares(weights: Array, entries: Array) -> Array:
    """Return Σ_r w_r e_r² of entries (r, b), which are overwritten, shape (k, b)."""
    return np.asarray(weights @ np.square(entries, out=entries))


@final
@dataclass(frozen=True)
class GramForms(Forms):
    """Matrices K (m, n, n) in memory: O(n²) time a vector."""

    grams: Array
    diagonal: Array

    def forms(self, vectors: Array) -> Array:
        """Multiply all vectors at once."""
        return np.stack([np.einsum("ib,ib->b", vectors, gram @ vectors) for gram in self.grams])

    def between(self, labels: LabelBatch, sizes: Array) -> Array:
        """Multiply K by the means, then by these again."""
        means = [(labels.labels == g).T / size for g, size in enumerate(sizes)]
        distances = []
        for gram in self.grams:
            products = [labels.products(gram, g) / size for g, size in enumerate(sizes)]
            norms = [np.einsum("ib,ib->b", mean, product) for mean, product in zip(means, products, strict=True)]
            pairs = combinations(range(len(means)), 2)
            distances.append([norms[g] + norms[h] - 2 * np.einsum("ib,ib->b", means[g], products[h]) for g, h in pairs])
        return np.array(distances)

    def times(self, vectors: Array) -> Array:
        """Return KV."""
        return np.asarray(self.grams @ vectors)


def gram_forms(side: KernelSide, resources: Resources) -> Forms:
    """Return the Gram matrices of a side, on factors if a pivoted Cholesky finds a rank that pays."""
    factors = paying_factors(side)
    return tiled_forms(side, resources) if factors is None else FactorForms.of(factors)


def paying_factors(side: KernelSide) -> list[Factor] | None:
    """Return factors of all kernels of a side, or None where a rank is too high to pay."""
    n = side.n
    if side.explicit:
        return side.known_factors()
    if n < FACTORS_FROM or side.on_device:
        return None
    most = max(n // _LEAST_GAIN, min(n // 3, FACTORS_FROM))
    rank = min(most, highest_rank(n, side.count))
    factors = [factor for factor in side.factors(rank) if factor is not None]
    return factors if len(factors) == side.count else None


def tiled_forms(side: KernelSide, resources: Resources) -> TiledForms:
    """Return the Gram matrices of a side by tiles."""
    tiles = side.tiles()

    def shifted(i: slice, j: slice) -> list[Array]:
        return [gram - shift for gram, shift in zip(tiles(i, j), side.shifts, strict=True)]

    return TiledForms(shifted, side.gram_diagonal(), resources.n_jobs)
