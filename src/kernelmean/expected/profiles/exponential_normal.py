"""Exponential-polynomial distributions plus Gaussian noise: complete the square on both half-lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from numpy.polynomial.legendre import leggauss

from ...core.array import Array, added_where, namespace, special
from .exponential import LaplacePowers
from .half_line import NEAR, added_by_distance, body_moments, normal_density, smooth_rules, tail_moments

_WIDE = 5.0  # scales so many halfwidths wide are integrated rather than subtracted
_PANEL_EDGES, _PANEL_NODES = (-7.0, -3.5, 0.0, 3.5, 7.0), 12  # in deviations; beyond, it is the density itself


def density_with_normal(powers: LaplacePowers, deviation: float, gap: Array) -> Array:
    """Return the density of ``powers`` + N(0, s²) at ``gap`` ≥ 0, s = ``deviation``."""
    value = _both_halves(powers.coefficients, powers.scale, deviation, gap)
    value /= powers.scale
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
    narrow against s the difference cancels, but there the density is so smooth that 9 to 32 Gauss-Legendre nodes
    are exact to rounding. A box that is wide against s but narrow against the scale b of a distribution costs b/h
    rounding errors; from b/h = 5 on, its density is integrated over the box instead, in panels graded around
    its rounded peak.
    """

    halfwidth: float
    terms: tuple[LaplacePowers, ...]
    deviation: float

    def __call__(self, gap: Array) -> Array:
        """Return the density at ``gap`` ≥ 0."""
        if self.halfwidth < 0.75 * self.deviation:
            return self._smooth(gap)
        wide = [powers for powers in self.terms if powers.scale > _WIDE * self.halfwidth]
        value = self._difference([powers for powers in self.terms if powers not in wide], gap)
        for powers in wide:
            value += self._in_panels(powers, gap)
        return value

    def _smooth(self, gap: Array) -> Array:
        value: Array = namespace(gap).zeros_like(gap)
        near, far = (partial(self._averaged, *rule) for rule in smooth_rules(2 * self.halfwidth / self.deviation))
        beyond = (gap - self.halfwidth) / self.deviation > NEAR
        return added_by_distance(value, beyond, near, far, gap)

    def _averaged(self, nodes: Array, weights: Array, gap: Array) -> Array:
        value: Array = namespace(gap).zeros_like(gap)
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            shifted = namespace(gap).abs(gap - self.halfwidth * node)
            for powers in self.terms:
                value += 0.5 * weight * density_with_normal(powers, self.deviation, shifted)
        return value

    def _in_panels(self, powers: LaplacePowers, gap: Array) -> Array:
        """Integrate the density, rounded by the normal noise within some deviations of zero, over the box."""
        xp, h = namespace(gap), self.halfwidth
        edges = [-math.inf, *(self.deviation * edge for edge in _PANEL_EDGES), math.inf]
        value = xp.zeros_like(gap)
        for start, stop in pairwise(edges):
            first, last = (xp.clip(edge - gap, -h, h) for edge in (start, stop))  # of the uniform variable
            width = last - first
            value = added_where(value, width > 0, partial(self._panel, powers), gap + first, width)
        value /= 2 * h
        return value

    def _panel(self, powers: LaplacePowers, start: Array, width: Array) -> Array:
        value: Array = namespace(start).zeros_like(start)
        for node, weight in zip(*leggauss(_PANEL_NODES), strict=True):
            at = namespace(start).abs(start + 0.5 * (1.0 + float(node)) * width)
            value += 0.5 * float(weight) * width * density_with_normal(powers, self.deviation, at)
        return value

    def _difference(self, terms: Sequence[LaplacePowers], gap: Array) -> Array:
        """Return (S(t - h) - S(t + h)) / 2h of some distributions."""
        inner = gap - self.halfwidth
        xp = namespace(gap)
        first = self._survival(terms, xp.abs(inner))
        first = xp.where(inner < 0, _mass(terms) - first, first)
        first -= self._survival(terms, gap + self.halfwidth)
        first /= 2 * self.halfwidth
        return first

    def _survival(self, terms: Sequence[LaplacePowers], gap: Array) -> Array:
        """Return P(V + s Z > gap), gap ≥ 0: Q(gap/s) plus the tail of V, weighted by -1 on the other side."""
        value: Array = _mass(terms) * special("ndtr", -gap / self.deviation)
        for powers in terms:
            value += _both_halves(powers.tail_coefficients, powers.scale, self.deviation, gap, -1.0)
        return value


def _mass(terms: Sequence[LaplacePowers]) -> float:
    return math.fsum(weight for powers in terms for weight in powers.weights)
