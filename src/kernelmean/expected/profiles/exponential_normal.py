"""Exponential-polynomial laws plus Gaussian noise: complete the square on both half-lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from numpy.polynomial.legendre import leggauss

from ..._array import Array, added_where, namespace, special
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
    value = added_where(value, near, lambda tau: tail_moments(u - tau, coefficients, u) * normal_density(tau), tau)

    def beyond(gap: Array, tau: Array) -> Array:
        x = gap / scale
        return namespace(x).exp(0.5 * u * u - x) * body_moments(tau - u, x - u * u, coefficients, u)

    total: Array = added_where(value, ~near, beyond, gap, tau)
    return total


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
        xp = namespace(gap)
        first = self._survival(xp.abs(inner))
        first = xp.where(inner < 0, 1.0 - first, first)
        first -= self._survival(gap + self.halfwidth)
        first /= 2 * self.halfwidth
        return first

    def _smooth(self, gap: Array) -> Array:
        value = namespace(gap).zeros_like(gap)
        for node, weight in zip(*leggauss(8 + math.ceil(8 * self.halfwidth / self.deviation)), strict=True):
            shifted = namespace(gap).abs(gap - self.halfwidth * float(node))
            for law in self.laws:
                value += 0.5 * float(weight) * density_with_normal(law, self.deviation, shifted)
        return value

    def _survival(self, gap: Array) -> Array:
        """Return P(V + s Z > gap), gap ≥ 0: Q(gap/s) plus the tail of V, weighted by -1 on the other side."""
        value: Array = special("ndtr", -gap / self.deviation)
        for scale, tail in self._tails:
            value += _both_halves(tail, scale, self.deviation, gap, -1.0)
        return value

    @cached_property
    def _tails(self) -> list[tuple[float, list[float]]]:
        """The tails ∫_x^∞ q(y) e^{-y} dy = r(x) e^{-x} of the laws: r_k = Σ_{i ≥ k} q_i i!/k!."""
        return [(law.scale, _tail_coefficients(law.coefficients)) for law in self.laws]


def _tail_coefficients(q: list[float]) -> list[float]:
    return [math.fsum(q[i] * math.perm(i, i - k) for i in range(k, len(q))) for k in range(len(q))]
