"""Outcomes: their features with noise, and signed weights of them made into probabilities and quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from ..core.array import Array
from ..core.roots import rising_roots
from ..embedding.features import Landmarks, nystrom, pivoted_triangle
from ..expected import expected_blocks
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from .ridge import Ridges, moved_to
from .rows import DealtRows, Targets
from .stacking import Stack, best_stack
from .units import OutcomeUnits

_MOST_LANDMARKS, _DEPENDENT = 100, 1e-13


def landmarks_of(kernel: Kernel, values: Array, dealt: DealtRows) -> Landmarks:
    """Return at most 100 landmarks: all rows, if they are that few."""
    return nystrom(kernel, values[dealt.order[:_MOST_LANDMARKS]], _MOST_LANDMARKS)


@final
@dataclass(frozen=True, eq=False)
class OutcomeFeatures:
    """Outcomes, or what a mean leaves of them, with their features, and the regressions whose sums are over units."""

    values: Array
    landmarks: Landmarks
    units: OutcomeUnits
    ridges: Ridges

    def with_noise(self, noise: Noise) -> tuple[Targets, Array]:
        """Return features of k(y_i, ·), and of E k(z + ε, ·) for units: exact for few rows, else on landmarks."""
        n, noises = len(self.values), (Dirac(), noise)
        if n > _MOST_LANDMARKS or isinstance(noise, Dirac):
            features, same = self.landmarks(self.values), self.units.rows is None and isinstance(noise, Dirac)
            sources = features if same else self.landmarks(self.units.points, noise)
            return self.units.targets(features, sources), sources
        kernel, values, all_rows = self.landmarks.kernel, self.values, slice(None)
        pairs = [[expected_blocks(kernel, values, v, values, w) for w in noises] for v in noises]
        gram = np.block([[pair(all_rows, all_rows) for pair in row] for row in pairs])
        triangle, pivots = pivoted_triangle(gram.copy(), _DEPENDENT)
        features = solve_triangular(triangle, gram[pivots], lower=True).T
        return self.units.targets(features[:n], features[n:]), features[n:]

    def outside(self, targets: Targets) -> float:
        """Return the mean part of k(y, y) that features do not see."""
        return float((self.landmarks.kernel.diag(self.values) - (targets.values**2).sum(axis=1)).mean())

    def loss(self, errors: Array, targets: Targets) -> float:
        """Return the mean squared distance in the RKHS."""
        return float((errors**2).sum(axis=1).mean()) + self.outside(targets)


def best_fit(
    dealt: DealtRows, choices: Sequence[OutcomeFeatures], noises: Sequence[Noise]
) -> tuple[OutcomeFeatures, Noise, Stack, float]:
    """Return one of the choices, one of the noises, their stack and its leave-one-out score.

    They are the best by the rows that weights are chosen on; the score is over all rows that are kept.
    """
    fits = []
    for noise, outcomes in product(noises, choices):
        targets, sources = outcomes.with_noise(noise)
        ridges = moved_to(outcomes.ridges, dealt, sources, targets.mean)
        stack = best_stack(ridges, dealt, targets, np.ones(sources.shape[1]))
        fits.append((stack.loss + outcomes.outside(targets), outcomes, noise, stack, targets))
    _, outcomes, noise, stack, targets = min(fits, key=lambda fit: fit[0])
    return outcomes, noise, stack, outcomes.loss(stack.errors(dealt, targets), targets)


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
    """Return quantiles of mixtures of normal distributions about values, shape (m, levels)."""
    shape = len(weights), len(levels)
    places, ends = values / deviation, (values.min() / deviation - 10.0, values.max() / deviation + 10.0)

    def above(points: Array) -> Array:
        reached = ndtr(points.reshape(*shape, 1) - places)
        return np.asarray((np.einsum("mln,mn->ml", reached, weights) - levels).ravel())

    low, high = (np.full(shape[0] * shape[1], end) for end in ends)
    return deviation * rising_roots(above, low, high).reshape(shape)
