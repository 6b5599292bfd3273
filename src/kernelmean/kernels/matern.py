"""Matérn kernels of half-integer smoothness, in product form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from ..core.array import Array, namespace, overwritten
from ..core.validate import check_positive
from .base import AxisProfile, Kernel, Separable, WithBandwidth


@final
@dataclass(frozen=True)
class Matern(WithBandwidth, Separable):
    r"""The Matérn kernel :math:`k(x, y) = \prod_j f(\sqrt{2ν}\, |x_j - y_j| / θ_j)`, ν = p + 1/2, in product form.

    .. math:: f(r) = e^{-r} \frac{p!}{(2p)!} \sum_{i=0}^p \frac{(p + i)!}{i!\,(p - i)!} (2r)^{p-i},

    that is, e^{-r}, (1 + r) e^{-r} and (1 + r + r²/3) e^{-r} for ν = 1/2, 3/2 and 5/2.

    Parameters
    ----------
    nu : float
        ν, one of 0.5, 1.5, 2.5, …; samples of the process are ⌈ν⌉ - 1 times differentiable.
    bandwidth : float, array of shape (d,), or str
        θ, in the units of X: one for all axes, one per axis, or a rule as in :func:`kernelmean.median_bandwidth`.

    Raises
    ------
    ValueError
        When ν is not a positive half-integer, or a bandwidth not positive and finite.

    Notes
    -----
    O(n m d) time, O(n m) memory. In more than one column this is not the radial Matérn kernel f(√(2ν) |x - y| / θ).
    Rasmussen and Williams (2006), eq. (4.16).

    Examples
    --------
    >>> import numpy as np
    >>> Matern(1.5, 1.0)(np.array([[0.0]]), np.array([[1.0]]))
    array([[0.48335772]])
    """

    nu: float
    bandwidth: Any

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return tuple(cls(nu, 1.0) for nu in (1.5, 2.5, 3.5))

    def __post_init__(self) -> None:
        nu = check_positive(self.nu, "nu")
        if nu.ndim or (nu - 0.5) % 1 != 0:
            raise ValueError(f"nu is {self.nu!r}, one of 0.5, 1.5, 2.5, … is needed: only they have closed forms")
        object.__setattr__(self, "nu", float(self.nu))
        super().__post_init__()

    @property
    def degree(self) -> int:
        """The degree p = ν - 1/2 of the polynomial."""
        return int(self.nu)

    def scales(self, dim: int) -> list[float]:
        """Return the scale θ_j / √(2ν) of the exponential on every axis."""
        return [float(theta) for theta in self.bandwidths(dim) / math.sqrt(2 * self.nu)]

    def profiles(self, dim: int) -> Sequence[AxisProfile]:
        """Return t ↦ f(√(2ν) t / θ_j) for every axis."""
        p, factorial = self.degree, math.factorial
        coefficients = [math.comb(p, k) * factorial(2 * p - k) * 2**k / factorial(2 * p) for k in range(p + 1)]
        return [partial(_matern, coefficients, scale) for scale in self.scales(dim)]


def _matern(coefficients: list[float], scale: float, gap: Array) -> Array:
    """Return Σ_k c_k r^k e^{-r} at r = gap / scale."""
    r = gap / scale
    polynomial = namespace(r).full_like(r, coefficients[-1])
    for c in coefficients[-2::-1]:
        polynomial *= r
        polynomial += c
    polynomial *= overwritten("exp", overwritten("negative", r))
    return polynomial
