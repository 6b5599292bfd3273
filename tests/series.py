"""Time series by their recursion, and the multipliers of the wild bootstrap by their definition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def driven(noise: Array, reach: float) -> Array:
    """Return the stationary autoregressions, variance 1 and correlation e^{-t/reach}, that noise (n, count) drives."""
    decay, out = np.exp(-1 / reach), noise.copy()
    for t in range(1, len(noise)):
        out[t] = decay * out[t - 1] + np.sqrt(1 - decay**2) * noise[t]
    return out


def autoregressions(n: int, reach: float, count: int, rng: np.random.Generator) -> Array:
    """Return independent series of n steps, shape (n, count)."""
    return driven(rng.standard_normal((count, n)).T, reach)


def wild_multipliers(sizes: tuple[int, ...], reach: float, count: int, rng: np.random.Generator) -> Array:
    """Return a column of ones and ``count`` draws, series of these sizes one below the other: (Σ n, count + 1).

    Every series less its mean, divided by the deviation that this leaves on average.
    """
    ends, parts = np.cumsum(sizes), []
    for noise in np.split(rng.standard_normal((count, int(ends[-1]))).T, ends[:-1]):
        steps = np.arange(len(noise))
        left = 1 - np.exp(-np.abs(np.subtract.outer(steps, steps)) / reach).mean()
        drawn = driven(noise, reach)
        parts.append((drawn - drawn.mean(axis=0)) / np.sqrt(left))
    return np.concatenate([np.ones((int(ends[-1]), 1)), np.concatenate(parts)], axis=1)
