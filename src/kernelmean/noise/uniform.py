"""Uniform noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..core.array import Array, like, namespace
from .base import AxisWidths, Noise, check_density


@final
@dataclass(frozen=True)
class Uniform(AxisWidths):
    r"""Uniform noise on the box :math:`\prod_j [-h_j, h_j]`, for example rounding to a multiple of 2h.

    Parameters
    ----------
    halfwidth : float or array of shape (d,)
        h, in the units of X: one for all axes, or one per axis; the variance is h²/3. Zero is no noise.

    Raises
    ------
    ValueError
        When a halfwidth is negative or not finite.

    Examples
    --------
    >>> Uniform(0.5)
    Uniform(halfwidth=0.5)
    """

    halfwidth: Any
    parameter = "halfwidth"

    @classmethod
    def examples(cls) -> Mapping[str, Noise]:
        """Return example noises for the support table and the tests."""
        return {"Uniform": cls(0.5)}

    def sample_gap(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Draw ε, of the given shape (n, d)."""
        return rng.uniform(-1.0, 1.0, size=shape) * self.widths(shape[1])

    def moments(self, order: int, dim: int) -> Array:
        """Return E ε_j^r = h_j^r / (r + 1) for even r and 0 for odd, r = 0 … order, shape (order + 1, d)."""
        h = self.widths(dim)
        return np.stack([(r % 2 == 0) * h**r / (r + 1) for r in range(order + 1)])

    def logpdf(self, gap: Array) -> Array:
        """Return log v at ``gap``, shape (..., d) to (...); -inf outside the box."""
        h = self.widths(gap.shape[-1])
        check_density(self, h)
        xp, inside = namespace(gap), float(-np.log(2 * h).sum())
        within = xp.all(xp.abs(gap) <= like(h, gap), axis=-1)
        return xp.where(within, like(inside, gap), like(-np.inf, gap))

    def characteristic(self, frequencies: Array) -> Array:
        """Return Π_j sin(h_j ω_j) / (h_j ω_j), shape (m,)."""
        return np.prod(np.sinc(self.widths(frequencies.shape[1]) * frequencies / np.pi), axis=1)
