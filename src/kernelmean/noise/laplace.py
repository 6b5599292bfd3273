"""Laplace noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial
from typing import Any, final

import numpy as np

from ..core.array import Array, like, namespace
from ..core.validate import as_value, check_positive
from .base import Additive, Noise, check_density, dim_of, per_axis


@final
@dataclass(frozen=True)
class Laplace(Additive):
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

    @classmethod
    def examples(cls) -> Mapping[str, Noise]:
        """Return values for the table of support and for the tests."""
        return {"Laplace": cls(0.3)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_width(self.scale, "scale"))

    @property
    def dim(self) -> int | None:
        """The number of scales when there is one per axis, else None."""
        return dim_of(self.scale)

    def columns(self, index: tuple[int, ...]) -> Laplace:
        """Return the noise on a block of columns."""
        return Laplace(per_axis(self.scale, index))

    def scales(self, dim: int) -> Array:
        """Return b_j of every axis, shape (d,)."""
        return widths_of_axes(self.scale, dim, "scales")

    def sample_gap(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Draw ε, of the given shape (n, d)."""
        return rng.laplace(size=shape) * self.scales(shape[1])

    def moments(self, order: int, dim: int) -> Array:
        """Return E ε_j^r = r! b_j^r for even r and 0 for odd, r = 0 … order, shape (order + 1, d)."""
        b = self.scales(dim)
        return np.stack([(r % 2 == 0) * factorial(r) * b**r for r in range(order + 1)])

    def logpdf(self, gap: Array) -> Array:
        """Return log v at ``gap``, shape (..., d) to (...)."""
        b = self.scales(gap.shape[-1])
        check_density(self, b)
        xp = namespace(gap)
        return -xp.sum(xp.abs(gap) / like(b, gap) + like(np.log(2 * b), gap), axis=-1)

    def characteristic(self, frequencies: Array) -> Array:
        """Return Π_j 1 / (1 + b_j² ω_j²), shape (m,)."""
        return np.prod(1.0 / (1.0 + (self.scales(frequencies.shape[1]) * frequencies) ** 2), axis=1)


def check_width(value: Any, name: str) -> float | tuple[float, ...]:
    """Return a width as one number or one per axis, or say what is wrong with it."""
    array = check_positive(value, name, zero=True)
    if array.ndim > 1:
        raise ValueError(f"{name} has shape {array.shape}; pass a number or one number per column (d,)")
    width: float | tuple[float, ...] = as_value(array)
    return width


def widths_of_axes(value: Any, dim: int, name: str) -> Array:
    """Return one width per axis, shape (d,)."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim and len(array) != dim:
        raise ValueError(f"the noise has {len(array)} {name}, the data have {dim} columns")
    return np.broadcast_to(array, (dim,))
