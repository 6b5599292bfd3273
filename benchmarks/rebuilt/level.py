"""The level of many tests at once: u such that the tests at u/m together reject with probability .05."""

from __future__ import annotations

import numpy as np

from rebuilt.sums import tolerance

STEPS = 50


def quantiles(ascending: np.ndarray, u: float) -> np.ndarray:
    """Return the (1 - u/m)-quantile of every one of m rows."""
    members, size = ascending.shape
    return ascending[:, [int(np.ceil(size * (1 - u / members))) - 1]]


def rejects(values: np.ndarray, spare: np.ndarray, level: float = 0.05) -> bool:
    """Say whether any of m tests rejects at the common corrected level, with equal weights.

    ``values`` holds one test a row: the observed statistic, then its copies, which give quantiles. ``spare`` holds
    other copies, of which at most ``level`` may exceed any quantile; u is found by bisection.
    """
    tie = tolerance(np.hstack([values, spare]))
    ascending = np.sort(values, axis=1)
    low, high = 0.0, float(len(values))
    for _ in range(STEPS):
        u = (low + high) / 2
        share = np.mean(np.any(spare > quantiles(ascending, u) + tie, axis=0))
        low, high = (u, high) if share <= level else (low, u)
    return bool(np.any(values[:, :1] > quantiles(ascending, low) + tie))
