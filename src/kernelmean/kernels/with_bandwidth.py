"""Kernels whose differences are counted in units of a bandwidth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array
from .axes import check_axes, check_bandwidth
from .base import Stationary


class WithBandwidth(Stationary):
    """A kernel of the differences x_j - y_j in units of θ_j; a dataclass with the field ``bandwidth``, checked here."""

    bandwidth: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", check_bandwidth(self.bandwidth))

    def bandwidths(self, dim: int) -> Array:
        """Return θ_j of every axis, shape (d,)."""
        return np.broadcast_to(check_axes(self.bandwidth, dim), (dim,))
