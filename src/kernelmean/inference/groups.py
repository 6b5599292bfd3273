"""Groups of permutations with a fast transform: a test over one of them needs no random list of permutations.

A test over a group that holds the identity is exact (Koning & Hemerik 2022), and so is one over the cosets σG of that
group by independent random permutations σ, the group itself among them: under the null the observed arrangement is a
uniform draw from their union. Cosets serve where one group has fewer elements than were asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..core.array import Array, IntArray
from .problem import Problem
from .statistics import Sums


@dataclass(frozen=True)
class Group(ABC):
    """The union of cosets of a group of permutations.

    Attributes
    ----------
    shuffle : array of shape (n,)
        The order, drawn by the seed, in which the rows are numbered for the group.
    cosets : array of shape (c, n)
        The permutations σ, the identity first.
    order : int
        The number of elements of the group.
    """

    shuffle: IntArray
    cosets: IntArray
    order: int

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.shuffle)

    @property
    def count(self) -> int:
        """Return the number of relabelings, the identity included."""
        return len(self.cosets) * self.order

    @abstractmethod
    def correlate(self, left: Array, right: Array) -> Array:
        """Return Σ_i left_i right_g(i) for all g of the group: (m, n) and (m, n) to (m, order)."""

    def correlations(self, left: Array, right: Array) -> Array:
        """Return Σ_i left_i right_π(i) for all π, shape (m, count)."""
        return np.concatenate([self.correlate(left, right[:, coset]) for coset in self.cosets], axis=1)

    def centered(self, problem: Problem, raw: Array, rows: tuple[Array, Array]) -> Sums:
        """Return the sums of centered matrices from those of the matrices, shape (m, count), and their row sums."""
        left, right = problem.index
        linear = self.correlations(rows[0][left], rows[1][right])
        diagonals = problem.left.diagonal(rows[0])[left], problem.right.coupling(rows[1])[right]
        return problem.centered_sums(raw, linear, self.correlations(*diagonals), rows)


def draw(n: int, order: int, count: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return a shuffle of the rows, and as many cosets of a group of this order as ``count`` relabelings need."""
    cosets = np.tile(np.arange(n), (-(-count // order), 1))
    shuffle = rng.permutation(n)
    rng.permuted(cosets[1:], axis=1, out=cosets[1:])
    return shuffle, cosets
