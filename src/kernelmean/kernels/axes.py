"""Bandwidths: one for all axes, or one per axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array
from ..core.validate import as_value, check_positive


def check_bandwidth(value: Any) -> float | tuple[float, ...]:
    """Return a bandwidth as one number or one per axis, or say what is wrong with it."""
    bandwidth = check_positive(value, "bandwidth")
    if bandwidth.ndim > 1:
        raise ValueError(f"bandwidth has shape {bandwidth.shape}; pass a number or one number per column (d,)")
    checked: float | tuple[float, ...] = as_value(bandwidth)
    return checked


def check_axes(values: Any, dim: int) -> Array:
    """Return per-axis ``values`` as a float or a vector that fits ``dim`` columns."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1 and len(array) != dim:
        raise ValueError(f"the kernel has {len(array)} bandwidths, the data have {dim} columns")
    return array
