"""Rows in groups, and what means of groups take at these rows: exactly, or by features of many rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np

from ..core.array import Array, IntArray, slices
from ..embedding.embedding import Embedding, embed
from ..embedding.features import FeatureMap
from ..embedding.features import embed as embed_features
from ..embedding.features.embedding import part_of
from ..expected import expected_blocks, expected_diag
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import Plan

_BLOCK = 2**22
"""Kernel values, or features, that exist at a time."""
_SCORED_ROWS = 20_000
"""Groups are drawn until they have so many rows, if all have more, to choose what all groups have in common."""
ValuesAt = Callable[[slice], Iterator[tuple[Array, Array]]]
"""Yields, for each noise, the values of the means of all groups at some rows, μ_s(x_i), shape (rows, T), and what each
row adds to the mean of its own group, E k(x_i, x̃_i), shape (rows,)."""


@final
@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows of which those of a group stand together."""

    points: Array
    """Shape (n, d)."""
    sizes: IntArray
    """The rows of every group, shape (T,)."""

    @classmethod
    def of(cls, points: Array, codes: IntArray) -> GroupedRows:
        """Return rows in the order of their groups, which ``codes`` number from 0."""
        return cls(points[np.argsort(codes, kind="stable")], np.bincount(codes))

    @cached_property
    def edges(self) -> IntArray:
        """Where groups begin, and the end, shape (T + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The first row of every group, and the one after its last."""
        return list(pairwise(self.edges.tolist()))

    @cached_property
    def scored(self) -> IntArray:
        """The groups whose rows are left out one by one: all of two rows or more, or some drawn at random."""
        several = np.flatnonzero(self.sizes > 1)
        if self.sizes[several].sum() <= _SCORED_ROWS:
            return several
        drawn = np.random.default_rng(0).permutation(several)
        return np.sort(drawn[: 1 + np.searchsorted(np.cumsum(self.sizes[drawn]), _SCORED_ROWS)])

    def blocks(self, groups: Iterable[int], width: int) -> Iterator[tuple[int, slice]]:
        """Yield groups in slices of so many rows that a table of ``width`` columns fits."""
        rows = max(1, _BLOCK // width)
        for group in groups:
            start, stop = self.spans[group]
            yield from ((int(group), some) for some in slices(stop, rows, start=start))

    def sums(self, values: Array) -> Array:
        """Return the sums over the rows of every group, shape (T, ...)."""
        return np.asarray(np.add.reduceat(values, self.edges[:-1], axis=0))

    def means(self, values: Array) -> Array:
        """Return the means over the rows of every group, shape (T, columns)."""
        return np.asarray(self.sums(values) / self.sizes[:, None])

    def centered(self, values: Array) -> Array:
        """Return values less the mean of their group, shape (n, columns)."""
        means = np.repeat(self.means(values), self.sizes, axis=0)
        return np.subtract(values, means, out=means)

    def variances(self, values: Array) -> Array:
        """Return the variances within groups, pooled over them, shape (columns,)."""
        squares = np.square(self.centered(values)).sum(axis=0)
        return np.asarray(squares / max(len(values) - len(self.sizes), 1))


@final
@dataclass(frozen=True, eq=False)
class ExactValues:
    """What means take at rows, by all pairs of rows: O(n² d) time for every noise."""

    rows: GroupedRows
    kernel: Kernel
    plan: Plan

    def at(self, noises: Sequence[Noise]) -> ValuesAt:
        """Prepare the values at some rows."""
        points = self.rows.points
        prepared = [
            (expected_blocks(self.kernel, points, Dirac(), points, v), expected_diag(self.kernel, points, Dirac(), v))
            for v in noises
        ]
        return lambda rows: ((self._means(tiles(rows, slice(None))), diagonal[rows]) for tiles, diagonal in prepared)

    def gram(self, noise: Noise) -> Array:
        """Return the inner products of the means, shape (T, T)."""
        points = self.rows.points
        tiles = expected_blocks(self.kernel, points, noise, points, noise)
        gram = np.zeros((len(self.rows.sizes),) * 2)
        for group, rows in self.rows.blocks(range(len(self.rows.sizes)), len(points)):
            gram[group] += self._means(tiles(rows, slice(None))).sum(axis=0) / self.rows.sizes[group]
        return (gram + gram.T) / 2.0

    def _means(self, tile: Array) -> Array:
        return np.asarray(np.add.reduceat(tile, self.rows.edges[:-1], axis=1) / self.rows.sizes)

    def means(self, noise: Noise) -> list[Embedding]:
        """Return the mean of every group by itself."""
        return [embed(self.rows.points[i:j], self.kernel, noise=noise, plan=self.plan) for i, j in self.rows.spans]


@final
@dataclass(frozen=True, eq=False)
class FeatureValues:
    """What means take at rows, by features: O(n m) time for every noise, and O(T m) memory besides the rows."""

    rows: GroupedRows
    map: FeatureMap
    plan: Plan
    _known: dict[Noise, Array] = field(default_factory=dict)

    def means(self, noise: Noise) -> list[Embedding]:
        """Return the mean of every group by itself."""
        rows = self.rows
        return [embed_features(rows.points[i:j], self.map, noise=noise, plan=self.plan) for i, j in rows.spans]

    def vectors(self, noise: Noise) -> Array:
        """Return the means as vectors of features, shape (T, m)."""
        if noise not in self._known:
            self._known[noise] = np.stack([part_of(mu).vector for mu in self.means(noise)])
        return self._known[noise]

    def at(self, noises: Sequence[Noise]) -> ValuesAt:
        """Prepare the values at some rows."""

        def values(rows: slice) -> Iterator[tuple[Array, Array]]:
            points = self.rows.points[rows]
            plain = self.map(points)
            for noise in noises:
                noisy = plain if isinstance(noise, Dirac) else self.map(points, noise)
                yield plain @ self.vectors(noise).T, np.einsum("nm,nm->n", plain, noisy)

        return values

    def gram(self, noise: Noise) -> Array:
        """Return the inner products of the means, shape (T, T)."""
        vectors = self.vectors(noise)
        return np.asarray(vectors @ vectors.T)


GroupValues = ExactValues | FeatureValues
"""Values and inner products of the means of all groups, under a noise that all rows share."""
