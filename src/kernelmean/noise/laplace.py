"""Laplace noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial
from typing import Any, final

import numpy as np

from ..core.array import Array, like, namespace
from .base import AxisWidths, Noise, check_density


@final
@dataclass(frozen=True)
class Laplace(AxisWidths):
    r"""Laplace noise with density :math:`\prod_j e^{-|ε_j|/b_j} / 2b_j`, independent between the axes.

    Parameters
    ----------
    scale : float or array of shape (d,)
        b, in the units of X: one for all axes, or one per axis; the variance is 2b². Zero is no noise.

    Raises
    ------
    ValueError
        When a scale is negative or not finite.

    Examples
    --------
    >>> Laplace(0.5)
    Laplace(scale=0.5)
    """

    scale: Any
    parameter = "scale"

    @classmethod
    def examples(cls) -> Mapping[str, Noise]:
        """Return example noises for the support table and the tests."""
        return {"Laplace": cls(0.3)}

    def sample_gap(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Draw ε, of the given shape (n, d)."""
        return rng.laplace(size=shape) * self.widths(shape[1])

    def moments(self, order: int, dim: int) -> Array:
        """Return E ε_j^r = r! b_j^r for even r and 0 for odd, r = 0 … order, shape (order + 1, d)."""
        b = self.widths(dim)
        return np.stack([(r % 2 == 0) * factorial(r) * b**r for r in range(order + 1)])

    def logpdf(self, gap: Array) -> Array:
        """Return log v at ``gap``, shape (..., d) to (...)."""
        b = self.widths(gap.shape[-1])
        check_density(self, b)
        xp = namespace(gap)
        return -xp.sum(xp.abs(gap) / like(b, gap) + like(np.log(2 * b), gap), axis=-1)

    def characteristic(self, frequencies: Array) -> Array:
        """Return Π_j 1 / (1 + b_j² ω_j²), shape (m,)."""
        return np.prod(1.0 / (1.0 + (self.widths(frequencies.shape[1]) * frequencies) ** 2), axis=1)
