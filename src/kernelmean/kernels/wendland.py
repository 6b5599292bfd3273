"""Wendland's compactly supported kernels, in product form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, final

from ..core.array import Array, positive_part
from .base import AxisProfile, Kernel, Separable, WithBandwidth


@final
@dataclass(frozen=True)
class Wendland(WithBandwidth, Separable):
    r"""Wendland's kernel :math:`k(x, y) = \prod_j f(|x_j - y_j| / θ_j)`, exactly zero beyond θ on any axis.

    f(r) = (1 - r)_+ for order 0, continuous; f(r) = (1 - r)³_+ (3r + 1) for order 2, twice differentiable.

    Parameters
    ----------
    order : {0, 2}
        The smoothness.
    bandwidth : float, array of shape (d,), or str
        θ, the radius of the support in the units of X: one for all axes, one per axis, or a rule as in
        :func:`kernelmean.median_bandwidth`.

    Raises
    ------
    ValueError
        When the order is neither 0 nor 2, or a bandwidth not positive and finite.

    Notes
    -----
    O(n m d) time, O(n m) memory. Wendland (1995), the functions of one variable.

    Examples
    --------
    >>> import numpy as np
    >>> Wendland(2, 2.0)(np.array([[0.0]]), np.array([[1.0], [3.0]]))
    array([[0.3125, 0.    ]])
    """

    order: Literal[0, 2]
    bandwidth: Any

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return cls(0, 1.0), cls(2, 1.0)

    def __post_init__(self) -> None:
        if self.order not in (0, 2):
            raise ValueError(f"order is {self.order!r}, 0 or 2 is needed")
        object.__setattr__(self, "order", int(self.order))
        super().__post_init__()

    def profiles(self, dim: int) -> Sequence[AxisProfile]:
        """Return t ↦ f(t / θ_j) for every axis."""
        profile = _hat if self.order == 0 else _smooth_hat
        return [partial(profile, float(theta)) for theta in self.bandwidths(dim)]


def _hat(radius: float, gap: Array) -> Array:
    """Return (1 - r)_+."""
    hat = positive_part(radius - gap)
    hat /= radius
    return hat


def _smooth_hat(radius: float, gap: Array) -> Array:
    """Return (1 - r)³_+ (3r + 1)."""
    y = _hat(radius, gap)
    return y * y * y * (4.0 - 3.0 * y)
