"""Noisy mixtures as densities: their logarithm and their samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..core.array import Array, as_float64, as_host, joined, namespace, slices, tile_shape
from .parts import PointPart

_BLOCK, _DEVICE_MEMORY = (2**10, 2**11), 2.0**30  # numbers in one block of gaps, 16 MiB; bytes on a device


def logpdf(parts: Sequence[PointPart], Y: Array) -> Array:
    """Return log Σ_i β_i v(y|x_i) / Σ_i β_i at the rows of ``Y``, shape (m,), in O(n m d) time and O(block) memory."""
    log_total = float(np.log(_check_weights(parts).sum()))
    terms = [_part_logpdf(part, Y) for part in parts]
    return _logsumexp(namespace(terms[0]).stack(terms), 0) - log_total


def _part_logpdf(part: PointPart, Y: Array) -> Array:
    """Return log Σ_i β_i v(y|x_i), one block after another: at no time are there values of more than one."""
    points, Y = as_float64(part.points), as_float64(Y)
    size = max(1, math.prod(tile_shape(points, _BLOCK, _DEVICE_MEMORY)) // math.prod(points.shape))

    def block(j: slice) -> Array:
        logs = part.noise.logpdf(Y[j, :][:, None, :] - points)
        return _logsumexp(logs, 1, part.weights)

    logs: Array = joined([block(j) for j in slices(Y.shape[0], size)])
    return logs


def _logsumexp(logs: Array, axis: int, weights: Array | None = None) -> Array:
    """Return log Σ w e^l over an axis; what has no weight is not looked at, however large."""
    xp = namespace(logs)
    if weights is not None:
        logs = xp.where(weights > 0, logs, xp.full_like(logs, -xp.inf))
    largest = xp.max(logs, axis=axis, keepdims=True)
    largest = xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))
    terms = xp.exp(logs - largest)
    total = xp.sum(terms if weights is None else terms * weights, axis=axis)
    with np.errstate(divide="ignore"):  # no density is minus infinity
        found: Array = xp.log(total) + xp.squeeze(largest, axis=axis)
    return found


def sample(parts: Sequence[PointPart], n: int, rng: np.random.Generator) -> Array:
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


def _check_weights(parts: Sequence[PointPart]) -> Array:
    """Return all weights, or say why they are not those of a distribution."""
    weights = np.concatenate([as_host(part.weights) for part in parts])
    if (weights < 0).any() or weights.sum() <= 0:
        raise ValueError(
            f"{int((weights < 0).sum())} of {len(weights)} weights are negative (their sum is {weights.sum():.3g}); "
            "a density needs weights ≥ 0: use an estimator with equal weights, such as MKME, fitted to all rows"
        )
    return weights
