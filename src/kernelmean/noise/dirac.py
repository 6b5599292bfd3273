"""No noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.array import Array
from .base import Additive


@dataclass(frozen=True)
class Dirac(Additive):
    """The absence of noise: x̃ = x. The empirical kernel mean is the embedding under this noise.

    Examples
    --------
    >>> Dirac()
    Dirac()
    """

    def columns(self, index: tuple[int, ...]) -> Dirac:
        """Return the same."""
        del index
        return self

    def is_independent(self, blocks: Sequence[tuple[int, ...]]) -> bool:
        """All columns are independent."""
        del blocks
        return True

    def sample_gap(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Return zeros of the given shape."""
        del rng
        return np.zeros(shape)

    def characteristic(self, frequencies: Array) -> Array:
        """Return ones, shape (m,)."""
        return np.ones(len(frequencies))

    def moments(self, order: int, dim: int) -> Array:
        """Return 1, 0, 0, …, shape (order + 1, d)."""
        return np.eye(order + 1, 1) * np.ones(dim)
