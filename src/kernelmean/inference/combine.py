"""Many statistics under the same relabelings, combined into one that has one valid p-value.

Every rule maps the values (m, P) of m members under P relabelings to one row of P numbers, and treats the observed
relabeling like all others: whatever is estimated from the P values includes the observed one. The combined statistic is
then just another statistic of a relabeling, and its rank among the P is an exact p-value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaincc
from scipy.stats import rankdata

from .._array import Array

_LEAST_SKEWNESS = 0.05
_FLOOR = 0.1
_SMALLEST = 1e-300


def standardized(values: Array) -> Array:
    """Return (T - mean) / deviation over the relabelings of every row; rows that never vary become 0."""
    centered = values - values.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.square(centered).mean(axis=-1, keepdims=True))
    return np.asarray(np.divide(centered, deviation, out=np.zeros_like(centered), where=deviation > 0.0))


def evidence(scores: Array) -> Array:
    r"""Return -log of an approximate p-value of every standardized value, from its row's own skewness.

    A quadratic statistic is nearly a shifted gamma variable under the relabelings (Pearson's type III; Mielke & Berry):
    with skewness g, a = 4/g², the tail beyond z is :math:`Γ(a, a + z \sqrt a) / Γ(a)`. Validity does not rest on this
    being accurate, only power does. The far lower tail is flat, where the gamma density has a pole.
    """
    skewness = np.maximum(np.mean(scores**3, axis=-1, keepdims=True), _LEAST_SKEWNESS)
    shape = 4.0 / skewness**2
    tail = gammaincc(np.broadcast_to(shape, scores.shape), np.maximum(shape + scores * np.sqrt(shape), _FLOOR * shape))
    return np.asarray(-np.log(np.maximum(tail, _SMALLEST)))


def harmonic(values: Array, weights: Array) -> Array:
    r"""Return -log of the weighted harmonic mean of the approximate p-values, :math:`\log \sum_k w_k / p_k`.

    One small p-value decides, as in a minimum, and several that agree add up, as in a mean (Wilson 2019).
    """
    return log_mean_exp(evidence(standardized(values)), weights)


def fuse(values: Array, weights: Array) -> Array:
    r"""Return :math:`\log \sum_k w_k e^{z_k}` of the standardized values (after Biggs, Schrab & Gretton 2023)."""
    return log_mean_exp(standardized(values), weights)


def largest(values: Array, weights: Array) -> Array:
    """Return the largest standardized value; the weights only say who takes part."""
    return np.asarray(standardized(values)[weights > 0.0].max(axis=0))


def mean(values: Array, weights: Array) -> Array:
    """Return the weighted mean of the standardized values: best where members that agree are the rule."""
    return np.asarray(weights @ standardized(values))


def aggregate(values: Array, weights: Array) -> Array:
    """Return -log of the smallest p_k / w_k, p_k the share of relabelings at least as large, ties counted.

    Rejecting for it is rejecting when a member rejects at level u w_k, with u corrected so that the whole has its level
    (after Schrab et al. 2023).
    """
    shares = rankdata(-values, method="max", axis=-1) / values.shape[-1]
    return np.asarray((np.log(weights)[:, None] - np.log(shares)).max(axis=0))


def log_mean_exp(rows: Array, weights: Array) -> Array:
    """Return log Σ_k w_k exp(row_k)."""
    top = rows.max(axis=0)
    return np.asarray(top + np.log(weights @ np.exp(rows - top)))


Rule = Callable[[Array, Array], Array]
COMBINATIONS: dict[str, Rule] = {
    "harmonic": harmonic,
    "fuse": fuse,
    "max": largest,
    "mean": mean,
    "aggregate": aggregate,
}
"""The rules by name: from values (m, P) and weights (m,) that sum to one to P combined values."""
