"""Noisy mixtures as densities: their logarithm and their samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from ._array import Array, slices
from .noise.base import Noise

_BLOCK_NUMBERS = 2**21  # numbers in one block of gaps, 16 MiB


class Mixture(Protocol):
    """Weighted points with a noise."""

    @property
    def points(self) -> Array:
        """The points x_i, shape (n, d)."""

    @property
    def weights(self) -> Array:
        """The weights β_i, shape (n,)."""

    @property
    def noise(self) -> Noise:
        """The noise v(·|x_i)."""


def logpdf(parts: Sequence[Mixture], Y: Array) -> Array:
    """Return log Σ_i β_i v(y|x_i) / Σ_i β_i at the rows of ``Y``, shape (m,), in O(n m d) time and O(block) memory."""
    log_total = np.log(_check_weights(parts).sum())
    terms = [_part_logpdf(part, Y) for part in parts]
    return np.asarray(logsumexp(np.stack(terms), axis=0) - log_total)


def _part_logpdf(part: Mixture, Y: Array) -> Array:
    """Return log Σ_i β_i v(y|x_i), one block after another: at no time are there values of more than one."""
    size = max(1, _BLOCK_NUMBERS // part.points.size)

    def block(j: slice) -> Array:
        logs = part.noise.logpdf(Y[j, None, :] - part.points)
        return np.asarray(logsumexp(logs, axis=1, b=part.weights))

    return np.concatenate([block(j) for j in slices(len(Y), size)])


def sample(parts: Sequence[Mixture], n: int, rng: np.random.Generator) -> Array:
    """Draw ``n`` points: a component by its weight, then its noise, shape (n, d)."""
    weights = _check_weights(parts)
    sizes = np.cumsum([len(part.points) for part in parts])
    chosen = rng.choice(sizes[-1], size=n, p=weights / weights.sum())
    owner = np.searchsorted(sizes, chosen, side="right")
    draws = np.empty((n, parts[0].points.shape[1]))
    for number, part in enumerate(parts):
        mine = owner == number
        index = chosen[mine] - (sizes[number] - len(part.points))
        draws[mine] = part.noise.take(index).sample(part.points[index], rng)
    return draws


def _check_weights(parts: Sequence[Mixture]) -> Array:
    """Return all weights, or say why they are not those of a distribution."""
    weights = np.concatenate([part.weights for part in parts])
    if (weights < 0).any() or weights.sum() <= 0:
        raise ValueError(
            f"{int((weights < 0).sum())} of {len(weights)} weights are negative (their sum is {weights.sum():.3g}); "
            "a density needs weights ≥ 0: use an estimator with equal weights, such as MKME"
        )
    return weights
