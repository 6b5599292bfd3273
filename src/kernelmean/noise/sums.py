"""Sums of independent noises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import comb
from typing import final

import numpy as np

from ..core.array import Array
from .base import Additive, common


@final
@dataclass(frozen=True)
class IndependentSum(Additive):
    """The noise ε_1 + ε_2 + … of independent additive noises; nested sums are flattened.

    Parameters
    ----------
    terms : tuple of Additive
        The noises, at least one.

    Examples
    --------
    >>> from kernelmean.noise import Normal
    >>> from kernelmean.noise.laplace import Laplace
    >>> IndependentSum((Normal(0.1), Laplace(0.5)))
    IndependentSum(Normal(0.1), Laplace(scale=0.5))
    """

    terms: tuple[Additive, ...]

    def __post_init__(self) -> None:
        flat = [part for term in self.terms for part in (term.terms if isinstance(term, IndependentSum) else (term,))]
        if not flat or not all(isinstance(term, Additive) for term in flat):
            raise TypeError(f"the terms are {self.terms!r}; pass at least one additive noise, and only additive ones")
        object.__setattr__(self, "terms", tuple(flat))
        common(flat, "dim")
        common(flat, "per_point")

    @property
    def per_point(self) -> int | None:
        """The number of points when a term has one distribution per point, else None."""
        return common(self.terms, "per_point")

    @property
    def dim(self) -> int | None:
        """The number of columns for which a term is made, else None."""
        return common(self.terms, "dim")

    def take(self, index: slice | Array) -> IndependentSum:
        """Return the noise of a subset of the points."""
        return IndependentSum(tuple(term.take(index) for term in self.terms))  # type: ignore[misc]

    def columns(self, index: tuple[int, ...]) -> IndependentSum:
        """Return the noise on a block of columns."""
        return IndependentSum(tuple(term.columns(index) for term in self.terms))  # type: ignore[misc]

    def is_independent(self, blocks: Sequence[tuple[int, ...]]) -> bool:
        """Return whether blocks of columns are independent of each other in all terms."""
        return all(term.is_independent(blocks) for term in self.terms)

    def sample_gap(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Draw ε, of the given shape (n, d)."""
        return reduce(np.add, (term.sample_gap(shape, rng) for term in self.terms))

    def moments(self, order: int, dim: int) -> Array:
        """Return E ε_j^r for r = 0 … order, shape (order + 1, d), by the binomial theorem."""

        def added(first: Array, second: Array) -> Array:
            return np.stack(
                [sum(comb(r, k) * first[k] * second[r - k] for k in range(r + 1)) for r in range(order + 1)]
            )

        return reduce(added, (term.moments(order, dim) for term in self.terms))

    def characteristic(self, frequencies: Array) -> Array:
        """Return the product of the characteristic functions, shape (m,)."""
        return reduce(np.multiply, (term.characteristic(frequencies) for term in self.terms))

    def __repr__(self) -> str:
        return f"IndependentSum({', '.join(map(repr, self.terms))})"
