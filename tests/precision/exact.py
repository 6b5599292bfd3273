"""Expected kernels on one axis with hundreds of digits: partial fractions and repeated integrals, as naive as exact.

A kernel on an axis and the noises added to it are a convolution of a normal density, Laplace densities and piecewise
polynomials. Everything here subtracts numbers of nearly the same size without care, which the digits can bear; the
library, which has 16, must not. Floats are taken as the exact numbers they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import mpmath as mp

DIGITS = 450
_APART = mp.mpf(10) ** -35  # relative distance put between equal scales, of which partial fractions need none
Term = tuple[Any, int, Any]  # knot x, order m, coefficient c of the m-th repeated integral at t - x


@dataclass(frozen=True)
class Law:
    """c times the convolution of N(0, variance), Laplace densities of the ``scales`` and the ``terms``."""

    terms: tuple[Term, ...] = ((0, 0, 1),)
    variance: Any = 0
    scales: tuple[Any, ...] = ()

    def plus_normal(self, variance: float) -> Law:
        return replace(self, variance=self.variance + mp.mpf(variance))

    def plus_laplace(self, scale: float, times: int = 1) -> Law:
        return replace(self, scales=self.scales + (mp.mpf(scale),) * times)

    def plus_box(self, halfwidth: float) -> Law:
        h = mp.mpf(halfwidth)
        moved = [(x + s * h, m + 1, -s * c / (2 * h)) for x, m, c in self.terms for s in (-1, 1)]
        return replace(self, terms=tuple(moved))

    def __call__(self, gap: Any) -> Any:
        """Return the value at a difference."""
        with mp.workdps(DIGITS):
            scales = tuple(a * (1 + i * _APART) for i, a in enumerate(self.scales))
            return mp.fsum(c * _integral(mp.mpf(gap) - x, m, self.variance, scales) for x, m, c in self.terms)


def _integral(t: Any, m: int, variance: Any, scales: tuple[Any, ...]) -> Any:
    """Return the m-th repeated integral from -∞ to t of the density of a normal and Laplace variables."""
    if not scales:
        return _normal(t, m, variance)
    squares = [a * a for a in scales]
    shares = [mp.fprod(own / (own - other) for other in squares if other is not own) for own in squares]
    return mp.fsum(w * _laplace(t, m, variance, a) for w, a in zip(shares, scales, strict=True))


@cache
def _normal(t: Any, m: int, variance: Any) -> Any:
    """Repeated integrals of the normal density; of a point mass they are truncated powers."""
    if not variance:
        return mp.mpf(0) if t < 0 or m == 0 else t ** (m - 1) / mp.factorial(m - 1)
    if m > 1:
        return (t * _normal(t, m - 1, variance) + variance * _normal(t, m - 2, variance)) / (m - 1)
    s = mp.sqrt(variance)
    return mp.erfc(-t / s / mp.sqrt(2)) / 2 if m else mp.exp(-t * t / variance / 2) / s / mp.sqrt(2 * mp.pi)


@cache
def _laplace(t: Any, m: int, variance: Any, a: Any) -> Any:
    """Repeated integrals with one Laplace law L: H_m * L = H_m + a² H_{m-2} * L, down to the density or its slope."""
    if m > 1:
        return _normal(t, m, variance) + a * a * _laplace(t, m - 2, variance, a)
    if not variance:
        tail = mp.exp(-abs(t) / a) / (2 * a)
        falling, rising = (tail, mp.mpf(0)) if t >= 0 else (mp.mpf(0), tail)
    else:
        s = mp.sqrt(variance)
        constant = mp.exp(variance / (2 * a * a)) / (4 * a)
        falling = constant * mp.exp(-t / a) * mp.erfc((s / a - t / s) / mp.sqrt(2))
        rising = constant * mp.exp(t / a) * mp.erfc((s / a + t / s) / mp.sqrt(2))
    if m == 0:
        return falling + rising
    return _normal(t, 1, variance) + a * (rising - falling)


def gaussian(theta: float) -> Law:
    height = mp.sqrt(2 * mp.pi) * mp.mpf(theta)
    return Law(((mp.mpf(0), 0, height),), variance=mp.mpf(theta) ** 2)


def matern(degree: int, theta: float) -> Law:
    """The kernel of smoothness ν = p + 1/2: the density of a sum of p + 1 Laplace variables, scaled to one at zero."""
    with mp.workdps(DIGITS):
        scale = mp.mpf(theta) / mp.sqrt(2 * degree + 1)
        return _scaled(Law().plus_laplace(scale, degree + 1))


def laplacian(theta: float) -> Law:
    return _scaled(Law().plus_laplace(theta))


def _scaled(law: Law) -> Law:
    with mp.workdps(DIGITS):
        return replace(law, terms=tuple((x, m, c / law(0)) for x, m, c in law.terms))


def wendland(order: int, theta: float) -> Law:
    """(1 - r)₊ or (1 - r)³₊ (3r + 1), r = |t|/θ, as truncated powers: coefficients are jumps of derivatives."""
    with mp.workdps(DIGITS):
        w = mp.mpf(theta)
        if order == 0:
            return Law(((-w, 2, 1 / w), (mp.mpf(0), 2, -2 / w), (w, 2, 1 / w)))
        ends = [(-w, 4, 24 / w**3), (-w, 5, -72 / w**4), (w, 4, 24 / w**3), (w, 5, 72 / w**4)]
        return Law((*ends, (mp.mpf(0), 4, 96 / w**3)))


@cache
def value(law: Law, gap: float) -> Any:
    """Return the law at a difference, remembered."""
    return law(gap)


def product(laws: Sequence[Law], gaps: Sequence[Any]) -> Any:
    """Return the product over the axes."""
    return mp.fprod(value(law, abs(gap)) for law, gap in zip(laws, gaps, strict=True))
