"""Distributions with compact piecewise polynomial densities, alone, plus Gaussian noise, and plus exponential ones.

The polynomials are built in exact integer arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.array import Array, added_where, like, namespace, overwritten, special
from ...core.cached import cached_property
from .exponential import LaplacePowers, horner
from .half_line import NEAR, added_by_distance, normal_density, smooth_rules, tail_moments

_Powers = tuple[tuple[Fraction, tuple[Fraction, ...]], ...]


class Knot(NamedTuple):
    """A point as a float and its rounding error, so that small distances from it are exact."""

    value: float
    rest: float

    def minus(self, gap: Array) -> Array:
        """Return the point minus ``gap``."""
        return (self.value - gap) + self.rest

    @classmethod
    def at(cls, numerator: int, denominator: int) -> Knot:
        """Split a fraction."""
        value = numerator / denominator
        return cls(value, float(Fraction(numerator, denominator) - Fraction(value)))


@dataclass(frozen=True)
class SplinePiece:
    """One polynomial on [start, stop], as coefficients of (stop - t)^k / width^k and of (t - start)^k / width^k."""

    start: Knot
    stop: Knot
    width: float
    from_stop: tuple[float, ...]
    from_start: tuple[float, ...]

    def density(self, gap: Array) -> Array:
        """Return the polynomial at ``gap``."""
        return horner(self.from_stop, self.stop.minus(gap) / self.width)

    def holds(self, gap: Array) -> npt.NDArray[np.bool_]:
        """Whether start ≤ gap < stop."""
        return (self.start.minus(gap) <= 0) & (self.stop.minus(gap) > 0)


@dataclass(frozen=True)
class Spline:
    r"""The density :math:`\frac1N Σ_i Σ_k c_{ik} (t - x_i)_+^k / k!`, compactly supported and symmetric.

    Examples
    --------
    >>> box(0.5)(np.array([0.0, 0.4, 0.6])).tolist()
    [1.0, 1.0, 0.0]
    >>> box(0.5).plus_box(0.5)(np.array([0.0, 0.5, 1.0])).tolist()
    [1.0, 0.5, 0.0]
    """

    powers: _Powers
    """The truncated powers in ascending order of x, as fractions. Floats are fractions, so convolutions are exact
    however different the widths are; only ``pieces`` rounds."""
    divisor: Fraction
    """N."""

    def plus_box(self, halfwidth: float) -> Spline:
        """Return the distribution of the sum with an independent uniform variable on [-h, h]."""
        h = Fraction(halfwidth)
        moved: dict[Fraction, tuple[Fraction, ...]] = {}
        for knot, coefficients in self.powers:
            for shifted, sign in ((knot - h, 1), (knot + h, -1)):
                raised = (Fraction(0), *(sign * c for c in coefficients))
                old = moved.get(shifted, (Fraction(0),) * len(raised))
                moved[shifted] = tuple(a + b for a, b in zip(old, raised, strict=True))
        return Spline(tuple((knot, moved[knot]) for knot in sorted(moved)), self.divisor * 2 * h)

    @property
    def is_box(self) -> bool:
        """Whether the distribution is uniform."""
        return len(self.powers) == 2 and len(self.powers[0][1]) == 1

    @property
    def halfwidth(self) -> float:
        """The largest value of the variable."""
        return float(self.powers[-1][0])

    @cached_property
    def pieces(self) -> tuple[SplinePiece, ...]:
        """The polynomials between neighboring knots, rounded to floats from left to right.

        They are expanded with integers, in units of the common denominators of the knots and of the coefficients.
        """
        unit = math.lcm(*(knot.denominator for knot, _ in self.powers))
        scale = math.lcm(*(c.denominator for _, coefficients in self.powers for c in coefficients))
        order = len(self.powers[0][1])
        whole = [
            (int(x * unit), [int(c * scale) * unit ** (order - k) for k, c in enumerate(cs)]) for x, cs in self.powers
        ]
        divisor, pieces = self.divisor * scale * unit**order, []
        for index, ((start, _), (stop, _)) in enumerate(pairwise(whole)):
            active, width = whole[: index + 1], stop - start
            from_stop, from_start = _taylor(active, stop, -width, divisor), _taylor(active, start, width, divisor)
            pieces.append(SplinePiece(Knot.at(start, unit), Knot.at(stop, unit), width / unit, from_stop, from_start))
        return tuple(pieces)

    def __call__(self, gap: Array) -> Array:
        """Return the density at ``gap`` ≥ 0."""
        value: Array = namespace(gap).zeros_like(gap)
        for piece in self.pieces:
            value = added_where(value, piece.holds(gap), piece.density, gap)
        return value


def _taylor(powers: list[tuple[int, list[int]]], at: int, step: int, divisor: Fraction) -> tuple[float, ...]:
    """Expand Σ c_ik (t - x_i)^k / k! / divisor around ``at`` in powers of (t - at) / step."""
    order = len(powers[0][1])
    factorials = [math.factorial(k) for k in range(order)]
    coefficients = []
    for j in range(order):
        derivative = sum(
            c[k] * (at - knot) ** (k - j) * (factorials[-1] // factorials[k - j])
            for knot, c in powers
            for k in range(j, order)
        )
        numerator = derivative * step**j * divisor.denominator
        coefficients.append(numerator / (factorials[-1] * factorials[j] * divisor.numerator))
    return tuple(coefficients)


def box(halfwidth: float) -> Spline:
    """Return the uniform distribution on [-h, h]."""
    h, one = Fraction(halfwidth), Fraction(1)
    return Spline(((-h, (one,)), (h, (-one,))), 2 * h)


def wendland(order: int, radius: float) -> Spline:
    """Return the density proportional to Wendland's kernel: 1/θ times it for order 0, 5/4θ for order 2."""
    if order == 0:
        return box(radius / 2).plus_box(radius / 2)
    theta, zero = Fraction(radius), Fraction(0)
    jumps = [(-theta, 4 * theta, -12), (zero, 16 * theta, 0), (theta, 4 * theta, 12)]
    powers = tuple((knot, (zero, zero, zero, 6 * third, Fraction(6 * fourth))) for knot, third, fourth in jumps)
    return Spline(powers, Fraction(4, 5) * theta**5)


# Pieces up to this many standard deviations wide use the quadrature rules, wider ones the closed form.
_NARROW = 1.5
_Integral = Callable[[Array], Array]


@dataclass(frozen=True)
class SplineWithNormal:
    r"""The density of a spline distribution plus N(0, s²), :math:`\int w(u) φ((t - u)/s)/s \, du`.

    A wide piece contributes its polynomial averaged over the whole Gaussian where ``gap`` is inside it, and Gaussian
    tail moments beyond its ends, without cancellation. On a narrow piece these terms cancel, but there the integrand is
    so smooth that 9 to 32 Gauss-Legendre nodes are exact up to rounding.
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
        """For every narrow piece, its right end, and its integral where that is near and where it is far."""
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
        """The ends of wide pieces, and the change of the polynomial in (t - knot)/s there."""
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
        """Integrate the change of the polynomial over the side of ``knot`` away from ``gap``."""
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


@dataclass(frozen=True)
class SplineWithExponential:
    r"""The density of a spline distribution plus a mixture of Laplace powers, :math:`\int w(u) f(t - u)\,du`.

    Examples
    --------
    >>> from .spline import box
    >>> powers = SplineWithExponential(box(0.5), LaplacePowers(1.0, (1.0,)))
    >>> powers(np.zeros(1)).round(6)  # 1 - exp(-1/2)
    array([0.393469])
    """

    spline: Spline
    powers: LaplacePowers

    def __call__(self, gap: Array) -> Array:
        """Return the density at ``gap`` ≥ 0."""
        value: Array = namespace(gap).zeros_like(gap)
        for part in self._parts:
            value = part.added(gap, value)
        return value

    @cached_property
    def _parts(self) -> list[_PieceDensity]:
        return [
            _PieceDensity(piece, self.powers.scale, tuple(self.powers.coefficients)) for piece in self.spline.pieces
        ]


@dataclass(frozen=True)
class _PieceDensity:
    """One piece under the density q(x) e^{-x} / b, x = |t - u| / b."""

    piece: SplinePiece
    scale: float
    density: tuple[float, ...]

    def added(self, gap: Array, value: Array) -> Array:
        """Return ``value`` plus the integral over the piece: left of ``gap``, right of it, or around it."""
        piece, to_start, to_stop = self.piece, self.piece.start.minus(gap), self.piece.stop.minus(gap)
        for beyond, polynomial in ((-to_stop, piece.from_stop), (to_start, piece.from_start)):
            value = added_where(value, beyond >= 0, partial(self._beside, polynomial), beyond)
        total: Array = added_where(value, (to_start < 0) & (to_stop > 0), self._around, -to_start, to_stop)
        return total

    def _beside(self, polynomial: tuple[float, ...], beyond: Array) -> Array:
        distance = beyond / self.scale
        return namespace(distance).exp(-distance) * horner(self._aside(polynomial), distance)

    @cached_property
    def _width(self) -> float:
        return self.piece.width / self.scale

    def _aside(self, polynomial: tuple[float, ...]) -> list[float]:
        """Coefficients in d of e^d ∫ p(x) q(d + x) e^{-d-x} dx over the piece, x from its nearer end."""
        order = len(polynomial) + len(self.density)
        gammas = [float(g) for g in lower_gammas(np.array(self._width), order)]
        scaled = [c * (1.0 / self._width) ** k for k, c in enumerate(polynomial)]
        moments = [math.fsum(c * gammas[k + i] for k, c in enumerate(scaled)) for i in range(len(self.density))]
        return [
            math.fsum(self.density[i] * math.comb(i, j) * moments[i - j] for i in range(j, len(self.density)))
            for j in range(len(self.density))
        ]

    def _around(self, left: Array, right: Array) -> Array:
        """Integrate over both sides, with the polynomial expanded between them in units of its width."""
        order, density = len(self.piece.from_stop), self.density
        ends = (lower_gammas(x / self.scale, order + len(density)) for x in (left, right))
        # ∫_0^end x^k q(x) e^{-x} dx for every k
        sides = [[sum(q * g[k + i] for i, q in enumerate(density)) for k in range(order)] for g in ends]
        place = right / self.piece.width
        value: Array = namespace(right).zeros_like(right)
        for k, (toward_start, toward_stop) in enumerate(zip(*sides, strict=True)):
            later = enumerate(self.piece.from_stop[k:], start=k)
            derivative = horner([math.comb(j, k) * c for j, c in later], place)
            value += derivative * (toward_start + (-1) ** k * toward_stop) * (1.0 / self._width) ** k
        return value


def lower_gammas(x: Array, order: int) -> list[Any]:
    """Return γ(1, x), …, γ(order, x), downward by positive terms: γ(k, x) = (γ(k + 1, x) + x^k e^{-x}) / k."""
    x = namespace(x).minimum(x, like(1e3, x))  # beyond this, they are complete
    decay = namespace(x).exp(-x)
    gammas = [math.factorial(order - 1) * special("gammainc", order, x)]
    for k in range(order - 1, 0, -1):
        gammas.append((gammas[-1] + x**k * decay) / k)
    return gammas[::-1]
