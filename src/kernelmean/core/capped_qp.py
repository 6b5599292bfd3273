"""Weights between 0 and a cap whose mean of features is nearest to a target, for any number of rows."""

from __future__ import annotations

import numpy as np

from .array import Array, BoolArray

_EXACT, _NEAR = 1e-12, 1e-6  # gap, as a share of the value, at which the search ends, and which is no minimiser
_STEPS, _SHORT, _SHORTEST = 200, 1e-4, 1e-12
_GROWTH = 10.0  # from one strength to the next, when a small one is approached


def solve_capped_qp(features: Array, target: Array, ridge: float, cap: float) -> Array:
    r"""Return the minimiser of :math:`\tfrac12 |Φ^⊤ w - b|^2 + \tfrac{λ}2 |w|^2` over :math:`0 ≤ w ≤ c, 1^⊤ w = 1`.

    Features Φ have the shape (n, r) and any rank, the target b has (r,); λ > 0, and c ≥ 1/n. Raises RuntimeError when
    the method does not end, which means that λ is below what rounding allows.

    Notes
    -----
    Newton's method on the dual, which is concave in r variables: the maximum over a of
    :math:`-\tfrac12 |a|^2 + \min_w \sum_i w_i (φ_i - b)^⊤ a + \tfrac{λ}2 |w|^2`, where the minimisers are
    :math:`w_i = \min(\max(τ - φ_i^⊤ a/λ, 0), c)` with τ so that they add up to 1. O(n r² + r³ + n log n) a step, and 10
    to 20 steps; a small λ is approached from larger ones.

    Examples
    --------
    >>> solve_capped_qp(np.array([[0.0], [1.0], [2.0]]), np.array([1.5]), 1e-6, 0.5).round(3)
    array([0. , 0.5, 0.5])
    """
    gaps = features - target  # since weights sum to 1: |Φᵀw - b| is the length of their mean
    dual = gaps.mean(axis=0)
    largest = max(float(np.square(gaps).sum(axis=1).mean()), ridge)
    count = int(np.log(largest / ridge) / np.log(_GROWTH)) + 1
    for strength in (ridge * _GROWTH ** np.arange(count)[::-1]).tolist():
        dual, weights = _maximised(gaps, strength, cap, dual)
    return weights


def on_capped_simplex(values: Array, cap: float) -> Array:
    """Return the nearest weights from 0 to the cap that sum to 1: min(max(v - τ, 0), c), in O(n log n)."""
    if cap * len(values) <= 1.0:
        return np.full(len(values), 1.0 / len(values))
    values = values - values.max()  # differences count, and sums of large values round
    turns = np.concatenate([values, values - cap])
    order = np.argsort(-turns, kind="stable")
    slopes = np.cumsum(np.where(order < len(values), 1.0, -1.0))
    places = turns[order]
    sums = np.append(0.0, np.cumsum(slopes[:-1] * -np.diff(places)))
    last = min(int(np.searchsorted(sums, 1.0)), len(sums) - 1)  # the first place where the sum is 1 or more
    shift = places[last - 1] - (1.0 - sums[last - 1]) / slopes[last - 1]
    near = values - shift  # rounded where values are large, so that the sum is not quite 1
    free = (near > 0.0) & (near < cap)
    if free.any():
        near = near + (1.0 - np.clip(near, 0.0, cap).sum()) / free.sum()
    weights: Array = np.clip(near, 0.0, cap)
    return weights


def _at(gaps: Array, ridge: float, cap: float, dual: Array) -> tuple[Array, Array, float]:
    """Return the weights that belong to dual variables, their mean of the gaps, and the value of the dual."""
    slopes = gaps @ dual
    weights = on_capped_simplex(-slopes / ridge, cap)
    value = float(-0.5 * dual @ dual + slopes @ weights + 0.5 * ridge * weights @ weights)
    return weights, gaps.T @ weights, value


def _maximised(gaps: Array, ridge: float, cap: float, dual: Array) -> tuple[Array, Array]:
    """Return the maximiser of the dual from a start, and the minimiser that belongs to it."""
    weights, mean, value = _at(gaps, ridge, cap, dual)
    for _ in range(_STEPS):
        primal = 0.5 * float(mean @ mean + ridge * weights @ weights)
        if primal - value <= _EXACT * primal:
            break
        free = _inside(weights, cap)
        ascent, length, trial = _searched(gaps, free, ridge, cap, dual, mean, value)
        if length < _SHORT:  # weights that become free on the way curve the dual as well
            met = free | _inside(_at(gaps, ridge, cap, dual + ascent)[0], cap)
            other = _searched(gaps, met, ridge, cap, dual, mean, value)
            ascent, length, trial = other if other[2][2] > trial[2] else (ascent, length, trial)
        if trial[2] <= value:  # rounding leaves nothing to gain
            break
        dual = dual + length * ascent
        weights, mean, value = trial
    primal = 0.5 * float(mean @ mean + ridge * weights @ weights)
    if primal - value > _NEAR * primal:
        raise RuntimeError(f"no minimiser was found; pass a larger ridge than {ridge:g}")
    return dual, weights


def _inside(weights: Array, cap: float) -> BoolArray:
    return (weights > 0.0) & (weights < cap)


def _searched(
    gaps: Array, free: BoolArray, ridge: float, cap: float, dual: Array, mean: Array, value: float
) -> tuple[Array, float, tuple[Array, Array, float]]:
    """Return the step of Newton's method where some weights are free, how much of it is gone, and what is found."""
    rows = gaps[free]
    rows = rows - rows.mean(axis=0) if len(rows) else rows
    ascent = np.linalg.solve(rows.T @ rows / ridge + np.eye(len(dual)), mean - dual)
    slope, length = float((mean - dual) @ ascent), 1.0
    trial = _at(gaps, ridge, cap, dual + ascent)
    while trial[2] < value + 1e-4 * length * slope and length > _SHORTEST:
        length /= 2.0
        trial = _at(gaps, ridge, cap, dual + length * ascent)
    return ascent, length, trial
