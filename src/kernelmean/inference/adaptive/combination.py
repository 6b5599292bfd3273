"""Many statistics under the same permutations, combined into one that has one valid p-value.

Every rule maps the values (m, P) of m members under P permutations to one row of P numbers, and treats the observed
permutation like all others: whatever is estimated from the P values includes the observed one. The combined statistic
is then just another statistic of a permutation, and its rank among the P is an exact p-value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import gammaincc
from scipy.stats import rankdata

from ...core.array import Array
from ...core.words import written
from ..multiple import standardized

LEAST_SKEWNESS = 0.05
_FLOOR = 0.1
_SMALLEST = 1e-300
_SPLINED, _KNOTS, _LEAST_SPAN = 10_000, 4097, 1e-3


def evidence(scores: Array, first: int | None = None) -> Array:
    r"""Return -log of an approximate p-value of every standardized value, from its row's own skewness.

    With ``first`` only that of so many values at the beginning of every row.

    A quadratic statistic is nearly a shifted gamma variable under the permutations (Pearson's type III; Mielke &
    Berry): with skewness g, a = 4/g², the tail beyond z is :math:`Γ(a, a + z \sqrt a) / Γ(a)`. Validity does not rest
    on this being accurate, only power does. The far lower tail is flat, where the gamma density has a pole. Of more
    than 10,000 values a spline through 4097 points of the curve is read, which is as exact as the curve itself (12
    digits).
    """
    skewness = np.maximum(np.mean(np.square(scores) * scores, axis=-1, keepdims=True), LEAST_SKEWNESS)
    shape = 4.0 / skewness**2
    places = np.maximum(shape + scores[..., :first] * np.sqrt(shape), _FLOOR * shape)
    if places.shape[-1] <= _SPLINED:
        return _minus_log_tail(np.broadcast_to(shape, places.shape), places)
    return np.stack([_splined(float(a), row) for a, row in zip(shape[..., 0], places, strict=True)])


def _minus_log_tail(shape: Array, places: Array) -> Array:
    return np.asarray(-np.log(np.maximum(gammaincc(shape, places), _SMALLEST)))


def _splined(shape: float, places: Array) -> Array:
    """Return the curve at many places, read off a cubic spline in their logarithm, in which it is smooth."""
    logs = np.log(places)
    knots = np.linspace(logs.min(), max(logs.max(), logs.min() + _LEAST_SPAN), _KNOTS)
    curve = CubicSpline(knots, _minus_log_tail(np.full(_KNOTS, shape), np.exp(knots)))
    return np.asarray(curve(logs))


def harmonic(values: Array, weights: Array) -> Array:
    r"""Return -log of the weighted harmonic mean of the approximate p-values, :math:`\log \sum_k w_k / p_k`.

    One small p-value decides, as in a minimum, and several that agree add up, as in a mean (Wilson 2019).
    """
    return _log_mean_exp(evidence(standardized(values)), weights)


def log_mean_exp(values: Array, weights: Array) -> Array:
    r"""Return :math:`\log \sum_k w_k e^{z_k}` of the standardized values, a soft maximum.

    Biggs, Schrab & Gretton (2023) combine statistics by the same formula in MMD-FUSE, but divide each by the norm of
    its Gram matrix, where :math:`z_k` is divided by its deviation over the permutations: this is another test.
    """
    return _log_mean_exp(standardized(values), weights)


def largest(values: Array, weights: Array) -> Array:
    """Return the largest standardized value; the weights only say who takes part."""
    return np.asarray(standardized(values)[weights > 0.0].max(axis=0))


def mean(values: Array, weights: Array) -> Array:
    """Return the weighted mean of the standardized values: best where members that agree are the rule."""
    return np.asarray(weights @ standardized(values))


def aggregate(values: Array, weights: Array) -> Array:
    """Return -log of the smallest p_k / w_k, p_k the share of permutations at least as large, ties counted.

    Rejecting for it is rejecting when a member rejects at level u w_k, with u corrected so that the whole has its level
    (after Schrab et al. 2023).
    """
    shares = rankdata(-values, method="max", axis=-1) / values.shape[-1]
    return np.asarray((np.log(weights)[:, None] - np.log(shares)).max(axis=0))


def _log_mean_exp(rows: Array, weights: Array) -> Array:
    """Return log Σ_k w_k exp(row_k)."""
    top = rows.max(axis=0)
    return np.asarray(top + np.log(weights @ np.exp(rows - top)))


Rule = Callable[[Array, Array], Array]
COMBINATIONS: dict[str, Rule] = {
    "harmonic": harmonic,
    "log-mean-exp": log_mean_exp,
    "max": largest,
    "mean": mean,
    "aggregate": aggregate,
}
"""The rules by name: from values (m, P) and weights (m,) that sum to one to P combined values."""


def check_renamed(name: str, parameter: str = "estimator") -> None:
    """Raise for "fuse", which "log-mean-exp" was called until it was found to be another test than MMD-FUSE."""
    if name != "fuse":
        return
    instead = "log-mean-exp"
    raise ValueError(
        f"{parameter} 'fuse' is now called {instead!r}; write "
        f"{written(f'{parameter}={instead!r}', f'--{parameter} {instead}')}. It never was MMD-FUSE, which divides each "
        "statistic by the norm of its Gram matrix; this test divides by the deviation over the permutations"
    )
