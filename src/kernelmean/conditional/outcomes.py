"""Outcomes: their features with noise, and signed weights of them made into probabilities and quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from ..core.array import Array, as_host
from ..core.validate import check_points, check_spread
from ..core.words import count
from ..embedding.features import Landmarks, nystrom, pivoted_triangle
from ..expected import expected_blocks
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from .learned import DealtRows, Ridges
from .stacking import Stack, best_stack, constant_errors, moved_to, parts_of

_MOST_LANDMARKS = 100
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


@final
@dataclass(frozen=True, eq=False)
class OutcomeFeatures:
    """Outcomes, or what a mean leaves of them, with their features."""

    landmarks: Landmarks
    values: Array
    features: Array

    @classmethod
    def of(cls, kernel: Kernel, values: Array, dealt: DealtRows) -> OutcomeFeatures:
        """Return the features from at most 100 landmarks: all rows, if they are that few."""
        landmarks = nystrom(kernel, values[dealt.first(_MOST_LANDMARKS)], _MOST_LANDMARKS)
        return cls(landmarks, values, landmarks(values))

    def with_noise(self, noise: Noise) -> tuple[Array, Array]:
        """Return features of k(y_i, ·) and E k(y_i + ε, ·), shapes (n, r): exact for few rows, else on landmarks."""
        n, noises = len(self.values), (Dirac(), noise)
        if isinstance(noise, Dirac):
            return self.features, self.features
        if n > _MOST_LANDMARKS:
            return self.features, self.landmarks(self.values, noise)
        blocks = [
            [expected_blocks(self.landmarks.kernel, self.values, v, self.values, w) for w in noises] for v in noises
        ]
        gram = np.block([[block(slice(None), slice(None)) for block in row] for row in blocks])
        triangle, pivots = pivoted_triangle(gram.copy(), _DEPENDENT)
        features = solve_triangular(triangle, gram[pivots], lower=True).T
        return features[:n], features[n:]

    def outside(self, features: Array) -> float:
        """Return the mean part of k(y, y) that features do not see."""
        return float((self.landmarks.kernel.diag(self.values) - (features**2).sum(axis=1)).mean())

    def loss_of_constant(self, noises: Sequence[Noise]) -> float:
        """Return the leave-one-out score of the estimate that passes over x, without noise or with the best one."""
        losses = []
        for noise in (Dirac(), *noises):
            targets, sources = self.with_noise(noise)
            errors = constant_errors(sources.mean(axis=0), slice(None), targets, sources)
            losses.append(float((errors**2).sum(axis=1).mean()) + self.outside(targets))
        return min(losses)


@final
@dataclass(frozen=True, eq=False)
class OutcomeFit:
    """The best stack for the features of outcomes under one noise."""

    outcomes: OutcomeFeatures
    noise: Noise
    targets: Array
    sources: Array
    stack: Stack
    loss: float
    """The leave-one-out score on the rows that strengths and weights were chosen on."""

    def loocv(self, dealt: DealtRows) -> float:
        """Return the leave-one-out score on all rows."""
        errors = self.stack.errors(dealt, self.targets, self.sources)
        return float((errors**2).sum(axis=1).mean()) + self.outcomes.outside(self.targets)


def outcome_fits(
    ridges: Ridges, dealt: DealtRows, choices: Sequence[OutcomeFeatures], noises: Sequence[Noise]
) -> Iterator[OutcomeFit]:
    """Yield fits to each of the choices, without noise and under some, on the features of ``ridges``."""
    for noise in (Dirac(), *noises):
        pairs = [outcomes.with_noise(noise) for outcomes in choices]
        moved = moved_to(ridges, dealt, np.hstack([sources for _, sources in pairs]))
        start = 0
        for outcomes, (targets, sources) in zip(choices, pairs, strict=True):
            part, start = slice(start, start + sources.shape[1]), start + sources.shape[1]
            best = best_stack(parts_of(moved, part), dealt, targets, sources, np.ones(targets.shape[1]))
            yield OutcomeFit(outcomes, noise, targets, sources, best.stack, best.loss + outcomes.outside(targets))


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
