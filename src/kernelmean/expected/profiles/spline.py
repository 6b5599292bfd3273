"""Distributions with compact piecewise polynomial densities, built in exact integer arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.array import Array, added_where, namespace
from .exponential import horner

_Powers = tuple[tuple[Fraction, tuple[Fraction, ...]], ...]


class Knot(NamedTuple):
    """A point as a float and what its rounding left, so that small distances from it are exact."""

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
    """The truncated powers in ascending order of x, as fractions. Floats are fractions, so that convolutions lose
    nothing however different the widths are; only ``pieces`` rounds."""
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
        """The polynomials between neighboring knots, rounded to floats from left to right."""
        return tuple(self._pieces())

    def _pieces(self) -> Iterator[SplinePiece]:
        """Expand with integers, in units of the common denominators of the knots and of the coefficients."""
        unit = math.lcm(*(knot.denominator for knot, _ in self.powers))
        scale = math.lcm(*(c.denominator for _, coefficients in self.powers for c in coefficients))
        order = len(self.powers[0][1])
        whole = [
            (int(x * unit), [int(c * scale) * unit ** (order - k) for k, c in enumerate(cs)]) for x, cs in self.powers
        ]
        divisor = self.divisor * scale * unit**order
        for index, ((start, _), (stop, _)) in enumerate(pairwise(whole)):
            active, width = whole[: index + 1], stop - start
            yield SplinePiece(
                Knot.at(start, unit),
                Knot.at(stop, unit),
                width / unit,
                from_stop=_taylor(active, stop, -width, divisor),
                from_start=_taylor(active, start, width, divisor),
            )

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
