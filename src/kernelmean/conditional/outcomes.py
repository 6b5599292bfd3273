"""Outcomes: their features with noise, and signed weights of them made into probabilities and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from ..core.array import Array, as_host
from ..core.validate import check_points, check_spread
from ..core.words import count
from ..embedding.features import Landmarks, pivoted_triangle
from ..expected import expected_blocks
from ..noise.base import Noise
from ..noise.dirac import Dirac

MOST_LANDMARKS = 100
_HALVINGS, _DEPENDENT = 50, 1e-13


def outcomes_of(y: Any, n: int) -> Array:
    """Return outcomes as a table of finite numbers that vary, or say what is wrong with them."""
    if y is None:
        raise ValueError("ConditionalMean requires y to be passed, but the target y is None")
    outcomes = as_host(check_points(y, "y"))
    if len(outcomes) != n:
        raise ValueError(f"y has {count(len(outcomes), 'row')}, and X has {n:,}; pass one outcome for each row")
    check_spread(outcomes, "y")
    return outcomes


def with_noise(landmarks: Landmarks, outcomes: Array, noise: Noise) -> tuple[Array, Array]:
    """Return the features of k(y_i, ·) and of E k(y_i + ε, ·), shapes (n, r): exact for few rows, else on landmarks."""
    if len(outcomes) > MOST_LANDMARKS:
        return landmarks(outcomes), landmarks(outcomes, noise)
    noises = Dirac(), noise
    blocks = [[expected_blocks(landmarks.kernel, outcomes, v, outcomes, w) for w in noises] for v in noises]
    gram = np.block([[block(slice(None), slice(None)) for block in row] for row in blocks])
    triangle, pivots = pivoted_triangle(gram.copy(), _DEPENDENT)
    features = solve_triangular(triangle, gram[pivots], lower=True).T
    return features[: len(outcomes)], features[len(outcomes) :]


def simplex_projections(weights: Array) -> Array:
    """Return the nearest points of the simplex, shape (m, n): weights less a threshold, none below 0."""
    ordered = -np.sort(-weights, axis=1)
    thresholds = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, weights.shape[1] + 1)
    last = np.count_nonzero(ordered > thresholds, axis=1) - 1
    return np.asarray(np.maximum(weights - thresholds[np.arange(len(weights)), last][:, None], 0.0))


def rising_steps(weights: Array) -> Array:
    """Return the steps of the distribution functions of weights of sorted values, made to rise from 0 to 1, (m, n).

    They rise half way between the largest value so far and the smallest to come, cut to [0, 1].
    """
    sums = np.cumsum(weights, axis=1)
    to_come = np.minimum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
    rising = np.clip((np.maximum.accumulate(sums, axis=1) + to_come) / 2.0, 0.0, 1.0)
    rising[:, -1] = 1.0
    return np.diff(rising, axis=1, prepend=0.0)


def noisy_quantiles(values: Array, weights: Array, deviation: float, levels: Array) -> Array:
    """Return quantiles of mixtures of normal distributions about sorted values, shape (m, levels), by halving."""
    low = np.full((len(weights), len(levels)), values[0] - 10.0 * deviation)
    high = np.full_like(low, values[-1] + 10.0 * deviation)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        reached = np.stack(
            [
                (weights * ndtr((middle[:, [j]] - values) / deviation)).sum(axis=1) >= level
                for j, level in enumerate(levels)
            ],
            axis=1,
        )
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.asarray((low + high) / 2.0)
