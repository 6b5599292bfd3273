"""Compact polynomial distributions plus Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from ...core.array import Array, added_where, like, namespace, overwritten
from .exponential import horner
from .half_line import NEAR, added_by_distance, normal_density, smooth_rules, tail_moments
from .spline import Knot, Spline, SplinePiece

# Pieces up to this many standard deviations wide take the quadrature rules, wider ones their closed form.
_NARROW = 1.5
_Integral = Callable[[Array], Array]


@dataclass(frozen=True)
class SplineWithNormal:
    r"""The density of a spline distribution plus N(0, s²), :math:`\int w(u) φ((t - u)/s)/s \, du`.

    A wide piece contributes its polynomial averaged over the whole Gaussian where ``gap`` lies inside it, and
    Gaussian tail moments beyond its ends, with nothing to cancel. On a narrow piece those terms cancel, but there
    the integrand is so smooth that 9 to 32 Gauss-Legendre nodes are exact to rounding.
    """

    spline: Spline
    deviation: float

    def __call__(self, gap: Array) -> Array:
        """Return the density at ``gap`` ≥ 0."""
        value: Array = namespace(gap).zeros_like(gap)
        for knot, near, far in self._rules:
            z = knot.minus(gap) / self.deviation
            value = added_by_distance(value, z < -NEAR, near, far, z)
        for piece in self._wide:
            value = added_where(value, piece.holds(gap), partial(self._within, piece), gap)
        for knot, jumps in self._knots:
            value += self._beyond(knot, jumps, gap)
        return value

    @cached_property
    def _wide(self) -> list[SplinePiece]:
        return [piece for piece in self.spline.pieces if piece.width > _NARROW * self.deviation]

    @cached_property
    def _rules(self) -> list[tuple[Knot, _Integral, _Integral]]:
        """For every narrow piece its right end, and its integral where that is near, and where it is far."""
        rules: list[tuple[Knot, _Integral, _Integral]] = []
        for piece in self.spline.pieces:
            if (width := piece.width / self.deviation) <= _NARROW:
                near, far = (partial(_integral, piece, width, *rule) for rule in smooth_rules(width))
                rules.append((piece.stop, near, far))
        return rules

    def _within(self, piece: SplinePiece, gap: Array) -> Array:
        return horner(self._averaged(piece), piece.stop.minus(gap) / piece.width)

    def _averaged(self, piece: SplinePiece) -> list[float]:
        """Coefficients of E p(t + s Z) from those of p: E (y + r Z)^k = Σ_j C(k, 2j) (2j-1)!! r^2j y^(k-2j)."""
        ratio, order = self.deviation / piece.width, len(piece.from_stop)
        averaged = [0.0] * order
        for k, c in enumerate(piece.from_stop):
            for j in range(k // 2 + 1):
                double_factorial = math.factorial(2 * j) / (2**j * math.factorial(j))
                averaged[k - 2 * j] += c * math.comb(k, 2 * j) * double_factorial * ratio ** (2 * j)
        return averaged

    @cached_property
    def _knots(self) -> list[tuple[Knot, list[float]]]:
        """The ends of wide pieces, and what the polynomial in (t - knot)/s gains there."""
        jumps: dict[Knot, list[float]] = {}
        for piece in self._wide:
            ratio = self.deviation / piece.width
            for knot, coefficients, step in (
                (piece.start, piece.from_start, ratio),
                (piece.stop, piece.from_stop, -ratio),
            ):
                sign = 1.0 if step > 0 else -1.0
                gained = jumps.setdefault(knot, [0.0] * len(coefficients))
                for k, c in enumerate(coefficients):
                    gained[k] += sign * c * step**k
        return list(jumps.items())

    def _beyond(self, knot: Knot, jumps: list[float], gap: Array) -> Array:
        """Integrate the gained polynomial over the side of ``knot`` away from ``gap``."""
        z = knot.minus(gap) / self.deviation
        side = namespace(z).where(z > 0, like(1.0, z), like(-1.0, z))
        z = overwritten("abs", z)
        coefficients = [jump if k % 2 else jump * side for k, jump in enumerate(jumps)]
        return normal_density(z) * tail_moments(z, coefficients)


def _integral(piece: SplinePiece, width: float, nodes: Array, weights: Array, z: Array) -> Array:
    """Integrate the polynomial of a piece, ``width`` deviations wide and z beyond its right end, over φ."""
    value: Array = namespace(z).zeros_like(z)
    backward = (1 - nodes) / 2
    masses = width / 2 * weights * horner(piece.from_stop, backward)
    for distance, mass in zip((width * backward).tolist(), masses.tolist(), strict=True):
        value += mass * normal_density(z - distance)
    return value
