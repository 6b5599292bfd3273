"""The closed form of the simple shrinkage estimator, a multiple of the empirical kernel mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .score import Score


@dataclass(frozen=True)
class Shrinkage:
    """The scale 1 - α = 1/(1+λ) that minimizes the leave-one-out score, and the score there.

    Attributes
    ----------
    scale : float
        1 - α in [0, 1].
    strength : float
        λ, infinite when the optimum is the zero function.
    score : Score
    """

    scale: float
    strength: float
    score: Score


def best_shrinkage(log_off: float, constant: float, alpha: float) -> Shrinkage:
    r"""Return the optimum from log U, U the mean of k(x_i, x_j) over i ≠ j; log 0 = -inf stands for U ≤ 0.

    With ϱ = mean k(x_i, x_i) = ``constant`` and N = (1-α) U + α ϱ the mean squared norm of the leave-one-out means,
    the score is ϱ - 2 a U + a² N, so a = U/N; for α = 1/(n-1) this is λ* = (ϱ-U)/((n-1)U) = n(ϱ-ρ)/((n-1)(nρ-ϱ))
    with ρ = mean(K), Muandet et al. (2014), Theorem 3. When U ≤ 0 no positive multiple helps: μ = 0.
    """
    if log_off == -math.inf:
        return Shrinkage(0.0, math.inf, Score(constant, 0, -math.inf))
    log_norm = _log_add(log_off + _log1p(-alpha), math.log(alpha * constant))
    log_scale = min(log_off - log_norm, 0.0)
    strength = math.expm1(-log_scale) if log_scale > -700 else math.inf
    return Shrinkage(math.exp(log_scale), strength, Score(constant, -1, 2 * log_off - log_norm))


def _log_add(a: float, b: float) -> float:
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


def _log1p(x: float) -> float:
    return math.log1p(x) if x > -1 else -math.inf
