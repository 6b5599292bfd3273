"""Noises that replace a coordinate with a fixed value or a random category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.array import Array, like, namespace
from ..core.validate import as_value, check_integer, check_numbers, check_positive
from .base import Noise, dim_of, per_axis


@dataclass(frozen=True)
class Blankout(Noise):
    """A noise that replaces each coordinate with ``value``, with ``probability``, independently of the others.

    Parameters
    ----------
    probability : float or sequence of shape (d,)
        p in [0, 1], for all axes or one per axis.
    value : float or sequence of shape (d,)
        The value that replaces a coordinate, in the units of X.

    Examples
    --------
    >>> Blankout(0.1)
    Blankout(probability=0.1, value=0.0)
    """

    probability: Any
    value: Any = 0.0

    @classmethod
    def examples(cls) -> Mapping[str, Noise]:
        """Return example noises for the support table and the tests."""
        return {"Blankout": cls(0.2)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", as_value(check_probability(self.probability)))
        object.__setattr__(self, "value", as_value(check_numbers(self.value, "value")))
        lengths = {np.shape(field) for field in (self.probability, self.value)} - {()}
        if len(lengths) > 1 or any(len(shape) > 1 for shape in lengths):
            raise ValueError(
                f"probability and value have the shapes {np.shape(self.probability)} and {np.shape(self.value)}; pass "
                "a number or one number per column (d,) for each"
            )

    @property
    def dim(self) -> int | None:
        """The number of probabilities or values when there is one per axis, else None."""
        return dim_of(self.probability, self.value)

    def columns(self, index: tuple[int, ...]) -> Blankout:
        """Return the noise on a block of columns."""
        return Blankout(per_axis(self.probability, index), per_axis(self.value, index))

    def is_independent(self, blocks: Sequence[tuple[int, ...]]) -> bool:
        """All columns are independent."""
        del blocks
        return True

    def sample(self, X: Array, rng: np.random.Generator) -> Array:
        """Draw one corrupted copy of every row, shape (n, d)."""
        dropped = rng.random(X.shape) < np.asarray(self.probability)
        return np.where(dropped, np.asarray(self.value), X)

    def raw_moments(self, X: Array, order: int) -> Array:
        """Return E x̃_j^r for r = 0 … order, shape (order + 1, n, d)."""
        p, value = np.asarray(self.probability), np.asarray(self.value)
        kept = like(1 - p, X)
        moments: Array = namespace(X).stack([kept * X**r + like(p * value**r, X) for r in range(order + 1)])
        return moments


@dataclass(frozen=True)
class Switch(Noise):
    """A noise that replaces each category, with ``probability``, by one drawn uniformly from codes 0 … levels - 1.

    The points must be such codes; others raise an error.

    Parameters
    ----------
    probability : float
        p in [0, 1].
    levels : int
        The number of categories, at least 2.

    Examples
    --------
    >>> Switch(0.1, levels=3)
    Switch(probability=0.1, levels=3)
    """

    probability: float
    levels: int

    @classmethod
    def examples(cls) -> Mapping[str, Noise]:
        """Return example noises for the support table and the tests."""
        return {"Switch": cls(0.2, levels=3)}

    def __post_init__(self) -> None:
        probability = check_probability(self.probability)
        if probability.ndim:
            raise ValueError(f"probability is {self.probability!r}, one number for all columns is needed")
        object.__setattr__(self, "probability", as_value(probability))
        check_integer(self.levels, "levels", 2)

    def check_codes(self, X: Array) -> None:
        """Raise unless all of ``X`` are codes 0 … levels - 1."""
        xp = namespace(X)
        if not bool(xp.all((xp.floor(X) == X) & (X >= 0) & (self.levels > X))):
            raise ValueError(
                f"{self!r} replaces codes 0, …, {self.levels - 1}, the points hold others, up to "
                f"{float(xp.max(X)):.6g}; code the categories from 0 on, or pass more levels"
            )

    def columns(self, index: tuple[int, ...]) -> Switch:
        """Return the same: all columns have the same categories."""
        del index
        return self

    def is_independent(self, blocks: Sequence[tuple[int, ...]]) -> bool:
        """All columns are independent."""
        del blocks
        return True

    def sample(self, X: Array, rng: np.random.Generator) -> Array:
        """Draw one corrupted copy of every row, shape (n, d)."""
        self.check_codes(X)
        switched = rng.random(X.shape) < self.probability
        return np.where(switched, rng.integers(self.levels, size=X.shape), X)

    def raw_moments(self, X: Array, order: int) -> Array:
        """Return E x̃_j^r = (1 - p) x_j^r + p Σ_k k^r / levels for r = 0 … order, shape (order + 1, n, d)."""
        self.check_codes(X)
        p, levels = float(self.probability), np.arange(float(self.levels))
        moments: Array = namespace(X).stack([(1 - p) * X**r + p * float((levels**r).mean()) for r in range(order + 1)])
        return moments


def check_probability(value: Any) -> Array:
    """Return ``value`` as an array of numbers in [0, 1]."""
    array = check_positive(value, "probability", zero=True)
    if (array > 1).any():
        raise ValueError(f"probability is {value!r}, numbers in [0, 1] are needed")
    return array
