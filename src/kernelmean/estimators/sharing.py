"""How much groups share: weights of their means by how much alike they are, chosen by leaving rows out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self, final

import numpy as np

from ..core.array import Array, IntArray
from ..noise.base import Noise
from .group_rows import GroupedRows, GroupValues

STRENGTHS = (0.0, *np.geomspace(0.05, 10.0, 16).tolist(), np.inf)
"""The candidates for β."""
_RIDGE = 0.2
"""Of the largest variance within groups, added to all: directions with less hardly differ in what they count."""


@final
@dataclass(frozen=True, eq=False)
class Likeness:
    """How far the means of groups are apart, in units of their noise."""

    rows: GroupedRows
    table: Array
    """Whitened features of the rows, shape (n, m)."""

    @classmethod
    def of(cls, rows: GroupedRows, features: Array) -> Self:
        """Turn features of rows, shape (n, m), so that directions that vary much within groups count less."""
        centered = rows.centered(features)
        variances, axes = np.linalg.eigh(centered.T @ centered / max(len(features) - len(rows.sizes), 1))
        if variances[-1] > 0.0:  # else all rows of every group are equal
            axes = axes / np.sqrt(np.maximum(variances, 0.0) + _RIDGE * variances[-1])
        return cls(rows, np.subtract(features, features.mean(axis=0), out=centered) @ axes)

    @cached_property
    def means(self) -> Array:
        """Shape (T, m)."""
        return self.rows.means(self.table)

    @cached_property
    def squares(self) -> Array:
        """The sums of squared distances from the mean of the group, shape (T,)."""
        centered = self.rows.centered(self.table)
        return np.asarray(self.rows.sums(np.einsum("nm,nm->n", centered, centered)))

    @cached_property
    def typical(self) -> float:
        """The variance of a row within groups."""
        return float(self.squares.sum()) / max(len(self.table) - len(self.rows.sizes), 1)

    @cached_property
    def variances(self) -> Array:
        """The variance of the mean of every group, shape (T,)."""
        return self._variances(self.squares, self.rows.sizes)

    def _variances(self, squares: Array, sizes: Any) -> Array:
        """Return variances of means; a typical row counts as one more, so that a single row has one, too."""
        return np.asarray((squares + self.typical) / sizes**2)

    def distances(self) -> Array:
        """Return z^(3/2), shape (T, T)."""
        return self._scaled(self.means, self.variances, np.arange(len(self.means)))

    def left_out(self, group: int, rows: slice) -> Array:
        """Return z^(3/2) of one group without one of its rows, for each of some rows, shape (rows, T)."""
        size = int(self.rows.sizes[group])
        apart = self.means[group] - self.table[rows]
        squares = self.squares[group] - np.square(apart).sum(axis=1) * (size / (size - 1.0))
        variances = self._variances(np.maximum(squares, 0.0), np.array(size - 1.0))
        return self._scaled(self.means[group] + apart / (size - 1.0), variances, np.array(group))

    def _scaled(self, means: Array, variances: Array, groups: IntArray) -> Array:
        """Return z^(3/2) of means of groups of these numbers, shape (means, T)."""
        noise = variances[:, None] + self.variances
        squared = np.square(means).sum(axis=1)[:, None] + np.square(self.means).sum(axis=1) - 2.0 * means @ self.means.T
        scaled = np.divide(np.maximum(squared - noise, 0.0), noise, out=np.zeros_like(squared), where=noise > 0.0)
        scaled[(noise <= 0.0) & (squared > 0.0)] = np.inf
        scaled *= np.sqrt(scaled)  # a power of 3/2, which suits both clusters and gradual change
        scaled[np.arange(len(means)), groups] = 0.0
        return scaled


def weights_of(distances: Array, strength: float, groups: IntArray, sizes: IntArray) -> Array:
    """Return w for z^(3/2) of groups of these numbers, shape (m, T), every row of sum 1."""
    if np.isinf(strength):
        return np.asarray((np.arange(distances.shape[1]) == np.broadcast_to(groups, len(distances))[:, None]) * 1.0)
    weights = (np.exp(-strength * distances) if strength else np.ones_like(distances)) * (sizes / sizes.max())
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class Sharing(NamedTuple):
    """How much is shared, under which noise, and the score of both."""

    score: float
    """The mean over groups of |μ̂_t|² - 2 mean_i μ̂_t^(-i)(x_i), the estimate without row i."""
    strength: float
    noise: Noise
    scale: float
    """The factor of all estimates."""


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """The scores of strengths and noises."""

    values: GroupValues
    likeness: Likeness
    scaled: bool
    """Whether the best factor of all estimates is found, too."""

    def best(self, strengths: Sequence[float], noises: Sequence[Noise]) -> Sharing:
        """Return the best strength without noise, and then the best noise with this strength."""
        first = min(self.scores(strengths, noises[:1]), key=lambda sharing: sharing.score)
        others = self.scores([first.strength], noises[1:])
        return min([first, *others], key=lambda sharing: sharing.score)

    def scores(self, strengths: Sequence[float], noises: Sequence[Noise]) -> list[Sharing]:
        """Return the score of every strength under every noise."""
        crosses = self._crosses(strengths, noises) if noises else np.empty((len(strengths), 0))
        sizes, scored = self.values.rows.sizes, self.values.rows.scored
        distances, sharings = self.likeness.distances(), []
        for v, noise in enumerate(noises):
            gram = self.values.gram(noise)
            for b, strength in enumerate(strengths):
                weights = weights_of(distances, strength, np.arange(len(distances)), sizes)[scored]
                square = float(np.vdot(weights @ gram, weights)) / len(scored)
                scale = min(max(crosses[b, v] / square, 0.0), 1.0) if self.scaled and square > 0.0 else 1.0
                sharings.append(Sharing(scale * (scale * square - 2.0 * crosses[b, v]), strength, noise, scale))
        return sharings

    def _crosses(self, strengths: Sequence[float], noises: Sequence[Noise]) -> Array:
        """Return the mean over groups of mean_i μ̂_t^(-i)(x_i), shape (strengths, noises)."""
        rows, sums, at = self.values.rows, np.zeros((len(strengths), len(noises))), self.values.at(noises)
        for group, some in rows.blocks(rows.scored, max(len(rows.points), self.likeness.table.shape[1])):
            distances, size = self.likeness.left_out(group, some), float(rows.sizes[group])
            for v, (values, added) in enumerate(at(some)):
                values[:, group] = (size * values[:, group] - added) / (size - 1.0)
                for b, strength in enumerate(strengths):
                    sums[b, v] += np.vdot(values, weights_of(distances, strength, np.array(group), rows.sizes)) / size
        return np.asarray(sums / len(rows.scored))
