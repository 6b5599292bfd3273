"""Exponential-polynomial distributions plus compact polynomial ones: incomplete gamma functions, piece by piece."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...core.array import Array, added_where, like, namespace, special
from .exponential import LaplacePowers, horner
from .spline import Spline, SplinePiece


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
        sides = [self._half(x / self.scale, len(self.piece.from_stop)) for x in (left, right)]
        place = right / self.piece.width
        value: Array = namespace(right).zeros_like(right)
        for k, (toward_start, toward_stop) in enumerate(zip(*sides, strict=True)):
            later = enumerate(self.piece.from_stop[k:], start=k)
            derivative = horner([math.comb(j, k) * c for j, c in later], place)
            value += derivative * (toward_start + (-1) ** k * toward_stop) * (1.0 / self._width) ** k
        return value

    def _half(self, end: Array, order: int) -> list[Array]:
        """Return ∫_0^end x^k q(x) e^{-x} dx for k < ``order``."""
        gammas = lower_gammas(end, order + len(self.density))
        return [sum(q * gammas[k + i] for i, q in enumerate(self.density)) for k in range(order)]


def lower_gammas(x: Array, order: int) -> list[Any]:
    """Return γ(1, x), …, γ(order, x), downward by positive terms: γ(k, x) = (γ(k + 1, x) + x^k e^{-x}) / k."""
    x = namespace(x).minimum(x, like(1e3, x))  # beyond, they are complete
    decay = namespace(x).exp(-x)
    gammas = [math.factorial(order - 1) * special("gammainc", order, x)]
    for k in range(order - 1, 0, -1):
        gammas.append((gammas[-1] + x**k * decay) / k)
    return gammas[::-1]
