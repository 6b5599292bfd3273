"""Exponential-polynomial laws plus Gaussian noise: complete the square on both half-lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import ndtr

from ..._array import Array
from .exponential import LaplacePowers
from .half_line import body_moments, normal_density, tail_moments


def density_with_normal(law: LaplacePowers, deviation: float, gap: Array) -> Array:
    """Return the density of ``law`` + N(0, s²) at ``gap`` ≥ 0, s = ``deviation``."""
    value = _both_halves(law.coefficients, law.scale, deviation, gap)
    value /= law.scale
    return value


def _both_halves(coefficients: Sequence[float], scale: float, deviation: float, gap: Array, sign: float = 1.0) -> Array:
    r"""Average q(|v|/b) e^{-|v|/b} over v ~ N(gap, s²), where ``sign`` multiplies it for v < 0.

    .. math:: φ(τ) \sum_k q_k u^k \{I_k(u - τ) ± I_k(u + τ)\}, \qquad u = s/b,\; τ = gap/s.

    Where u < τ the first term is e^{u²/2 - gap/b} times a Gaussian moment around u - τ, so that nothing overflows.
    """
    u, tau = deviation / scale, gap / deviation
    value = tail_moments(u + tau, coefficients, u)
    value *= sign * normal_density(tau)
    near = tau <= u
    value[near] += tail_moments(u - tau[near], coefficients, u) * normal_density(tau[near])
    far = ~near
    if far.any():
        x, beyond = gap[far] / scale, tau[far] - u
        value[far] += np.exp(0.5 * u * u - x) * body_moments(beyond, x - u * u, coefficients, u)
    return value


@dataclass(frozen=True)
class BoxWithBoth:
    r"""The density of a uniform variable on [-h, h] plus mixtures of Laplace powers plus N(0, s²).

    With S the survival function of all but the uniform variable it is (S(t - h) - S(t + h)) / 2h. Where the box is
    narrow against s the difference cancels, but there the density is so smooth that 8 to 14 Gauss-Legendre nodes
    are exact to rounding. A box that is wide against s but narrow against the largest scale b costs b/h rounding
    errors.
    """

    halfwidth: float
    laws: tuple[LaplacePowers, ...]
    deviation: float

    def __call__(self, gap: Array) -> Array:
        """Return the density at ``gap`` ≥ 0."""
        if self.halfwidth < 0.75 * self.deviation:
            return self._smooth(gap)
        inner = gap - self.halfwidth
        first = self._survival(np.abs(inner))
        np.subtract(1.0, first, out=first, where=inner < 0)
        first -= self._survival(gap + self.halfwidth)
        first /= 2 * self.halfwidth
        return first

    def _smooth(self, gap: Array) -> Array:
        value = np.zeros_like(gap)
        for node, weight in zip(*leggauss(8 + math.ceil(8 * self.halfwidth / self.deviation)), strict=True):
            shifted = np.abs(gap - self.halfwidth * node)
            for law in self.laws:
                value += 0.5 * weight * density_with_normal(law, self.deviation, shifted)
        return value

    def _survival(self, gap: Array) -> Array:
        """Return P(V + s Z > gap), gap ≥ 0: Q(gap/s) plus the tail of V, weighted by -1 on the other side."""
        value = ndtr(-gap / self.deviation)
        for scale, tail in self._tails:
            value += _both_halves(tail, scale, self.deviation, gap, -1.0)
        return value

    @cached_property
    def _tails(self) -> list[tuple[float, list[float]]]:
        """The tails ∫_x^∞ q(y) e^{-y} dy = r(x) e^{-x} of the laws: r_k = Σ_{i ≥ k} q_i i!/k!."""
        return [(law.scale, _tail_coefficients(law.coefficients)) for law in self.laws]


def _tail_coefficients(q: list[float]) -> list[float]:
    return [math.fsum(q[i] * math.perm(i, i - k) for i in range(k, len(q))) for k in range(len(q))]
