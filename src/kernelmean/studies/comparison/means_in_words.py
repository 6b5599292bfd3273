"""How means of columns are written: numbers, days and times."""

from __future__ import annotations

import math

import numpy as np

from ...core.words import signed


def as_dates(means: tuple[float, float]) -> tuple[str, str]:
    """Return two times as days, or with minutes or seconds where only these tell them apart.

    Examples
    --------
    >>> as_dates((0.0, 1e6)), as_dates((0.0, 3600.0)), as_dates((86399.0, float("nan")))
    (('1970-01-01', '1970-01-12'), ('1970-01-01 00:00', '1970-01-01 01:00'), ('1970-01-01', 'none'))
    """
    written = [[_time(mean, unit) if math.isfinite(mean) else "none" for mean in means] for unit in ("D", "m", "s")]
    first, second = next((pair for pair in written if pair[0] != pair[1]), written[0])
    return first, second


def _time(mean: float, unit: str) -> str:
    return str(np.datetime64(round(mean), "s").astype(f"M8[{unit}]")).replace("T", " ")


def as_mean(mean: float, kind: str) -> str:
    """Return a mean in the units of its column; "none" if there is none."""
    if not math.isfinite(mean):
        return "none"
    if kind == "duration":
        return f"{signed(mean)} s"
    return signed(mean, "z,.0f") if kind == "numeric" and 1e4 <= abs(mean) < 1e9 else signed(mean)
