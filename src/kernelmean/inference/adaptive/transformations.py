"""What views make of a table in its spreads, its ranks or its normal scores; fitted to some rows, applied to any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array, like, namespace, pairwise_products, rounded, row_lengths
from .spectrum import decomposed

_DIGITS = 13


@final
@dataclass(frozen=True)
class Whitening:
    """The table times C^{-1/2}, C the covariance of some rows shrunk by d / (n + d) towards its mean variance."""

    means: Array
    factors: tuple[Array, ...]

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit it to some rows."""
        n, dim = table.shape
        means = table.mean(axis=0)
        centered = table - means
        covariance = centered.T @ centered / n
        mean_variance = np.trace(covariance) / dim
        if mean_variance == 0.0:
            return cls(means, ())
        shrinkage = dim / (n + dim)
        values, vectors = decomposed((1 - shrinkage) * covariance + shrinkage * mean_variance * np.eye(dim))
        return cls(means, (vectors / np.sqrt(values), vectors.T))

    def __call__(self, table: Array) -> Array:
        """Return the whitened rows."""
        whitened = table - like(self.means, table)
        for factor in self.factors:
            whitened = whitened @ like(factor, table)
        return whitened


@final
@dataclass(frozen=True)
class Length:
    """The lengths of rows, one column, to 13 digits of the longest: rows of one length must not tell apart."""

    unit: float

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit the digits to some rows."""
        largest = float(np.linalg.norm(table, axis=1).max())
        return cls(float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest else 1.0)

    def __call__(self, table: Array) -> Array:
        """Return the lengths, shape (n, 1)."""
        return rounded(row_lengths(table) / self.unit, _DIGITS) * self.unit


@final
@dataclass(frozen=True)
class Ranked:
    """(rank - ½) / n - ½, from -½ to ½."""

    n: int

    @classmethod
    def of(cls, table: Array) -> Self:
        """Return that of ranks among so many rows."""
        return cls(len(table))

    def __call__(self, table: Array) -> Array:
        """Return the centered shares of the rows below."""
        return (table - 0.5) / self.n - 0.5


@final
@dataclass(frozen=True)
class Products:
    """s_i s_j less its mean for every two columns i < j, shape (n, d (d - 1) / 2)."""

    means: Array

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit the means to some rows."""
        return cls((table.T @ table)[np.triu_indices(table.shape[1], 1)] / len(table))

    def __call__(self, table: Array) -> Array:
        """Return the products."""
        first, second = np.triu_indices(table.shape[1], 1)
        return pairwise_products(table, first, second) - like(self.means, table)


@final
@dataclass(frozen=True)
class Squares:
    """The squares of columns less their means."""

    means: Array

    @classmethod
    def of(cls, table: Array) -> Self:
        """Fit the means to some rows."""
        return cls(np.square(table).mean(axis=0))

    def __call__(self, table: Array) -> Array:
        """Return the centered squares."""
        return namespace(table).square(table) - like(self.means, table)


TRANSFORMATIONS: dict[str, Callable[[Array], Callable[[Array], Array]]] = {
    "white": Whitening.of,
    "radius": Length.of,
    "spread": Length.of,
    "ranks": Ranked.of,
    "products": Products.of,
    "squares": Squares.of,
    "square axes": Squares.of,
}
"""By view, from the rows that they are fitted to."""
