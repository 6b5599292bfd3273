"""Quadratic programmes on the simplex: one solved exactly by an active-set method, or many at once nearly."""

from __future__ import annotations

import numpy as np

from .array import Array, BoolArray
from .validate import check_finite

_RANK = 1e-13  # eigenvalues below this share of the largest count as zero
_SLOPE = 1e-12  # slopes below this share of the problem's scale count as zero
_MOST_STEPS, _GAIN = 500, 1e-4  # of searches that end early


def solve_simplex_qp(gram: Array, linear: Array) -> Array:
    r"""Return the minimiser of :math:`\tfrac12 w^⊤ G w - c^⊤ w` over :math:`w ≥ 0, 1^⊤ w = 1`, shape (K,).

    G is symmetric and positive semi-definite, shape (K, K), of any rank, zero included; c, shape (K,), need not be in
    its range. Raises ValueError when a number is not finite, and RuntimeError when the method does not end, which means
    that G is far from positive semi-definite.

    Notes
    -----
    Primal active-set method from the best vertex. On the free coordinates, it moves to the minimiser of the
    equality-constrained problem. If that is not unique (duplicated prototypes), it takes the shortest step; if the
    problem falls without bound along a null direction, it follows that direction to the next face. Then it frees the
    coordinate with the most negative multiplier. Every step descends, so the method ends. O(K³) per step, and about as
    many steps as the support is large. Kernel mean matching: Song et al. (2008), eq. (8).

    Examples
    --------
    >>> import numpy as np
    >>> solve_simplex_qp(np.eye(2), np.array([0.5, 0.0]))
    array([0.75, 0.25])
    """
    check_finite(gram, "gram")
    check_finite(linear, "linear")
    scale = max(float(np.abs(gram).max()), float(np.abs(linear).max()), float(np.finfo(float).tiny))
    G, c = 0.5 * (gram + gram.T) / scale, linear / scale
    w: Array = np.zeros(len(c))
    w[np.argmin(0.5 * np.diagonal(G) - c)] = 1.0
    free, stuck = w > 0, np.zeros(len(c), dtype=bool)
    limit = 50 * (len(c) + 2)
    for _ in range(limit):
        slope = G @ w - c
        step = _direction(G, slope, free)
        if step is not None:
            moved = _move(w, step)
            stuck = (free & (moved == 0.0)) if np.array_equal(moved, w) else np.zeros_like(stuck)
            w, free = moved, moved > 0
            continue
        gain = slope - w @ slope
        entering = int(np.argmin(np.where(free | stuck, 0.0, gain)))
        if free[entering] or stuck[entering] or gain[entering] > -_SLOPE:
            return w
        free[entering] = True
    raise RuntimeError(f"no minimiser after {limit} steps; the matrix is not positive semi-definite")


def lightest_mixtures(grams: Array) -> Array:
    """Return weights w on the simplex for which wᵀ G w is small, for many G at once, shape (K, problems).

    By steps between two corners, which end when no step could gain more than 1e-4 of the smallest diagonal entry, for
    any G (problems, K, K).
    """
    problems = np.arange(len(grams))
    diagonal = np.diagonal(grams, 0, 1, 2)
    best = np.argmin(diagonal, axis=1)
    weights, slopes = np.zeros(diagonal.shape), grams[problems, best].copy()
    weights[problems, best] = 1.0
    enough = _GAIN * diagonal.min(axis=1)
    for _ in range(_MOST_STEPS):
        into, out = np.argmin(slopes, axis=1), np.argmax(np.where(weights > 0.0, slopes, -np.inf), axis=1)
        gain = slopes[problems, out] - slopes[problems, into]
        if (gain <= enough).all():
            break
        bend = diagonal[problems, out] + diagonal[problems, into] - 2.0 * grams[problems, out, into]
        step = np.minimum(weights[problems, out], gain / np.maximum(bend, np.finfo(float).tiny))
        weights[problems, into] += step
        weights[problems, out] -= step
        slopes += step[:, None] * (grams[problems, into] - grams[problems, out])
    return np.asarray(weights.T)


def _direction(G: Array, slope: Array, free: BoolArray) -> Array | None:
    """Return the step to the minimiser on the free coordinates, an endless ray (scaled up), or None at a minimiser."""
    index = np.flatnonzero(free)
    inward = slope[index] - slope[index].mean()
    if np.abs(inward).max() <= _SLOPE:
        return None
    H = G[np.ix_(index, index)]
    H = H - H.mean(axis=0) - H.mean(axis=1)[:, None] + H.mean()
    values, vectors = np.linalg.eigh(H)
    along = vectors.T @ inward
    regular = values > _RANK * len(index) * max(values[-1], _RANK)
    ray = vectors[:, ~regular] @ along[~regular]
    step = np.zeros(len(free))
    if np.abs(ray).max() > _SLOPE:
        step[index] = (ray.mean() - ray) * (4.0 / np.abs(ray).max())  # longer than the simplex is wide
    else:
        step[index] = -vectors[:, regular] @ (along[regular] / values[regular])
    return step


def _move(w: Array, step: Array) -> Array:
    """Follow the step as far as the simplex allows; the coordinate that stops it becomes exactly zero."""
    falling = np.flatnonzero(step < 0)
    reach = -w[falling] / step[falling]
    length = min(1.0, reach.min(initial=np.inf))
    moved = np.maximum(w + length * step, 0.0)
    if length < 1.0:
        moved[falling[np.argmin(reach)]] = 0.0
    return moved / moved.sum()
