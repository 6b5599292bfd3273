"""Bandwidths: one for all axes, or one per axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array
from ..core.validate import as_value, check_positive

RULES = ("median", "median-unsquared", "silverman", "scott")
"""The rules that find a bandwidth in the rows."""


def check_bandwidth(value: Any) -> float | str | tuple[float, ...]:
    """Return a bandwidth as one number, one per axis or the name of a rule, or say what is wrong with it."""
    if isinstance(value, str):
        return check_rule(value)
    bandwidth = check_positive(value, "bandwidth")
    if bandwidth.ndim > 1:
        raise ValueError(f"bandwidth has shape {bandwidth.shape}; pass a number or one number per column (d,)")
    checked: float | tuple[float, ...] = as_value(bandwidth)
    return checked


def check_rule(rule: str) -> str:
    """Return the name of a rule for bandwidths."""
    if rule not in RULES:
        known = ", ".join(map(repr, RULES))
        raise ValueError(f"bandwidth is {rule!r}; pass a number, one per column, or one of {known}")
    return rule


def check_axes(values: Any, dim: int) -> Array:
    """Return per-axis ``values`` as a float or a vector that fits ``dim`` columns."""
    if isinstance(values, str):
        raise ValueError(  # noqa: TRY004 (a value that cannot serve here)
            f"the bandwidth is the rule {values!r}, which needs rows to find a number; pass the kernel to a test, an "
            "estimator or km.embed, or a number such as km.median_bandwidth(X)"
        )
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1 and len(array) != dim:
        raise ValueError(f"the kernel has {len(array)} bandwidths, the data have {dim} columns")
    return array
