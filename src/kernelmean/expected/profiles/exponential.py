"""Exponential-polynomial distributions: powers of the Laplace distribution, their mixtures and their sums.

With Gaussian noise, the square is completed on both half-lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import pairwise, product

from numpy.polynomial.legendre import leggauss
from scipy.special import roots_jacobi

from ...core.array import Array, added_where, namespace, special
from ...core.cached import cached_property
from .half_line import NEAR, added_by_distance, body_moments, normal_density, smooth_rules, tail_moments

# The largest allowed ratio of the terms of a partial fraction to their sum: rounding errors grow by this factor.
_LARGEST_LOSS = 300.0


@dataclass(frozen=True)
class LaplacePowers:
    r"""The distribution with characteristic function :math:`Σ_m w_m (1 + b^2 ω^2)^{-m}`, m = 1, …, M.

    Notes
    -----
    M = 1 is the Laplace distribution, and a single w_M = 1 the symmetric variance-gamma distribution, whose density is
    the Matérn kernel of smoothness M - 1/2 up to a factor.

    Examples
    --------
    >>> import numpy as np
    >>> float(LaplacePowers(0.5, (1.0,)).density(np.zeros(1))[0])  # 1 / (2 b)
    1.0
    """

    scale: float
    """b, in the units of X."""
    weights: tuple[float, ...]
    """w_1, …, w_M, with sum 1 in a distribution; the terms of a partial fraction may be negative."""

    @cached_property
    def coefficients(self) -> list[float]:
        """q_0, …, q_{M-1} in the density q(x) e^{-x} / b of x = abs(t) / b."""
        terms = [[weight * q for q in _power_coefficients(m)] for m, weight in enumerate(self.weights, start=1)]
        return [math.fsum(term[k] for term in terms if k < len(term)) for k in range(len(self.weights))]

    @property
    def tail_coefficients(self) -> list[float]:
        """r_0, …, r_{M-1} in the tail ∫_x^∞ q(y) e^{-y} dy = r(x) e^{-x}: r_k = Σ_{i ≥ k} q_i i!/k!."""
        q = self.coefficients
        return [math.fsum(q[i] * math.perm(i, i - k) for i in range(k, len(q))) for k in range(len(q))]

    def density(self, gap: Array) -> Array:
        """Return the density at ``gap`` ≥ 0, by Horner's rule."""
        x = gap / self.scale
        value = namespace(x).exp(-x)
        value *= horner(self.coefficients, x)
        value /= self.scale
        return value

    def in_units(self, scale: Fraction) -> list[Fraction]:
        """Return the exact coefficients of the density's polynomial in powers of t / ``scale``."""
        ratio = scale / Fraction(self.scale)
        total = [Fraction(0)] * len(self.weights)
        for power, weight in enumerate(self.weights, start=1):
            for k, q in enumerate(_exact_power_coefficients(power)):
                total[k] += Fraction(weight) * q * ratio**k
        return total


def horner(coefficients: Iterable[float | Array], x: Array) -> Array:
    """Return Σ_k c_k x^k."""
    return reduce(lambda value, c: value * x + c, reversed(list(coefficients)), namespace(x).zeros_like(x))


@lru_cache(maxsize=64)
def _power_coefficients(power: int) -> tuple[float, ...]:
    """Return the density of (1 + ω²)^{-power} as coefficients of x^k e^{-x}, x ≥ 0: all positive."""
    return tuple(float(q) for q in _exact_power_coefficients(power))


def _exact_power_coefficients(power: int) -> list[Fraction]:
    p, factorial = power - 1, math.factorial
    numerators = [factorial(2 * p - k) * 2**k * math.comb(p, k) for k in range(power)]
    return [Fraction(q, 2 ** (2 * p + 1) * factorial(p) ** 2) for q in numerators]


def sum_of_powers(terms: Iterable[LaplacePowers]) -> tuple[LaplacePowers, ...]:
    r"""Write the distribution of a sum of independent ``terms`` as a sum of densities, one for each scale.

    Two powers of different scales a > b are separated by partial fractions as long as the terms stay comparable with
    their sum, otherwise by Feynman's positive mixture over λ ~ Beta(i, j) with 1/c² = λ/a² + (1-λ)/b²,

    .. math:: A_a^i A_b^j = E_λ\, (c/a)^{2i} (c/b)^{2j} A_c^{i+j},

    whose integrand is analytic: a Gauss-Jacobi rule with a few nodes is exact up to rounding.

    Examples
    --------
    >>> sum_of_powers([LaplacePowers(2.0, (1.0,)), LaplacePowers(1.0, (1.0,))])
    (LaplacePowers(scale=1.0, weights=(-0.3333333333333333,)), LaplacePowers(scale=2.0, weights=(1.3333333333333333,)))
    """
    start: dict[float, tuple[float, ...]] = {}
    for powers in sorted(terms, key=lambda powers: -powers.scale):
        start = _product(start, powers) if start else {powers.scale: powers.weights}
    return tuple(LaplacePowers(scale, start[scale]) for scale in sorted(start))


def product_of_densities(first: LaplacePowers, second: LaplacePowers) -> tuple[float, LaplacePowers]:
    """Return the mass and the normalized distribution of a product of two densities.

    The product is a positive mixture of powers at the summed rate (Berg and Vignat 2008, for Student's t);
    exact rational arithmetic keeps the weights positive.
    """
    scale = 1 / (1 / Fraction(first.scale) + 1 / Fraction(second.scale))
    left, right = (powers.in_units(scale) for powers in (first, second))
    residual = [Fraction(0)] * (len(left) + len(right) - 1)
    for (i, a), (j, b) in product(enumerate(left), enumerate(right)):
        residual[i + j] += a * b
    weights = [Fraction(0)] * len(residual)
    for k in reversed(range(len(residual))):
        basis = _exact_power_coefficients(k + 1)
        weights[k] = residual[k] / basis[k]
        residual = [r - weights[k] * q for r, q in zip(residual, basis, strict=False)]
    mass = sum(weights) * scale / (Fraction(first.scale) * Fraction(second.scale))
    return float(mass), LaplacePowers(float(scale), tuple(float(w / sum(weights)) for w in weights))


_Terms = dict[float, tuple[float, ...]]


def _product(terms: _Terms, other: LaplacePowers) -> _Terms:
    """Multiply a sum of powers by another term, and collect the result by scale."""
    collected: dict[float, dict[int, float]] = {}
    for scale, weights in terms.items():
        for (i, w), (j, v) in product(enumerate(weights, start=1), enumerate(other.weights, start=1)):
            if w * v:
                for c, power, weight in _product_of_powers(scale, i, other.scale, j):
                    powers = collected.setdefault(c, {})
                    powers[power] = powers.get(power, 0.0) + w * v * weight
    return {c: tuple(powers.get(m, 0.0) for m in range(1, max(powers) + 1)) for c, powers in collected.items()}


_Term = tuple[float, int, float]


def _product_of_powers(a: float, i: int, b: float, j: int) -> list[_Term]:
    """Return A_a^i A_b^j as a sum of (scale, power, weight)."""
    if a == b:
        return [(a, i + j, 1.0)]
    if a < b:
        return _product_of_powers(b, j, a, i)
    fractions = list(_partial_fractions(a, i, b, j)) if b < 0.99 * a else []
    return fractions if _is_benign(fractions) else _feynman(a, i, b, j)


def _is_benign(terms: list[_Term]) -> bool:
    """Return whether the terms stay comparable with their sum, in mass and in the density at zero."""
    masses = [weight for *_, weight in terms]
    at_zero = [weight * _power_coefficients(power)[0] / scale for scale, power, weight in terms]
    return all(0 < sum(map(abs, part)) < _LARGEST_LOSS * abs(sum(part)) for part in (masses, at_zero))


def _partial_fractions(a: float, i: int, b: float, j: int) -> Iterator[_Term]:
    """Expand A_a^i A_b^j, a > b, in powers of A_a and of A_b."""
    gap = (a - b) * (a + b) / a**2  # 1 - (b/a)², without cancellation
    ratio = (b / a) ** 2 / gap
    for m in range(i):
        yield a, i - m, (-ratio) ** m * math.comb(j + m - 1, m) / gap**j
    for m in range(j):
        yield b, j - m, (-ratio) ** i * math.comb(i + m - 1, m) / gap**m


def _feynman(a: float, i: int, b: float, j: int) -> list[_Term]:
    """Mix A_c^{i+j} over scales c between a > b; the range of log c sets the number of nodes.

    These nodes suffice in the tails, too, where e^{-t/c} varies most with c: to 10⁻¹³ at t = 650 a.
    """
    nodes, weights = roots_jacobi(12 + math.ceil(160 * math.log(a / b)), j - 1, i - 1)
    terms = []
    for x, weight in zip((1 + nodes) / 2, weights / weights.sum(), strict=True):
        c = 1 / math.sqrt(x / a**2 + (1 - x) / b**2)
        terms.append((c, i + j, float(weight * (c / a) ** (2 * i) * (c / b) ** (2 * j))))
    return terms


_WIDE = 5.0  # scales at least this many halfwidths wide are integrated instead of subtracted
_PANEL_EDGES, _PANEL_NODES = (-7.0, -3.5, 0.0, 3.5, 7.0), 12  # in deviations; beyond, the density itself is used


def density_with_normal(powers: LaplacePowers, deviation: float, gap: Array) -> Array:
    """Return the density of ``powers`` + N(0, s²) at ``gap`` ≥ 0, s = ``deviation``."""
    value = _both_halves(powers.coefficients, powers.scale, deviation, gap)
    value /= powers.scale
    return value


def _both_halves(coefficients: Sequence[float], scale: float, deviation: float, gap: Array, sign: float = 1.0) -> Array:
    r"""Average q(|v|/b) e^{-|v|/b} over v ~ N(gap, s²), where ``sign`` multiplies it for v < 0.

    .. math:: φ(τ) \sum_k q_k u^k \{I_k(u - τ) ± I_k(u + τ)\}, \qquad u = s/b,\; τ = gap/s.

    Where u < τ, the first term is e^{u²/2 - gap/b} times a Gaussian moment around u - τ, so nothing overflows.
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

    With S the survival function of everything but the uniform variable, it is (S(t - h) - S(t + h)) / 2h. If the box is
    narrow compared with s, the difference cancels, but then the density is so smooth that 9 to 32 Gauss-Legendre nodes
    are exact up to rounding. If the box is wide compared with s but narrow compared with the scale b of a distribution,
    rounding errors grow by b/h; from b/h = 5 on, the density is integrated over the box instead, in panels graded
    around its rounded peak.
    """

    halfwidth: float
    terms: tuple[LaplacePowers, ...]
    deviation: float

    def __call__(self, gap: Array) -> Array:
        """Return the density at ``gap`` ≥ 0."""
        if self.halfwidth < 0.75 * self.deviation:
            near, far = (partial(self._averaged, *rule) for rule in smooth_rules(2 * self.halfwidth / self.deviation))
            beyond = (gap - self.halfwidth) / self.deviation > NEAR
            return added_by_distance(namespace(gap).zeros_like(gap), beyond, near, far, gap)
        wide = [powers for powers in self.terms if powers.scale > _WIDE * self.halfwidth]
        value = self._difference([powers for powers in self.terms if powers not in wide], gap)
        for powers in wide:
            value += self._in_panels(powers, gap)
        return value

    def _averaged(self, nodes: Array, weights: Array, gap: Array) -> Array:
        value: Array = namespace(gap).zeros_like(gap)
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            shifted = namespace(gap).abs(gap - self.halfwidth * node)
            for powers in self.terms:
                value += 0.5 * weight * density_with_normal(powers, self.deviation, shifted)
        return value

    def _in_panels(self, powers: LaplacePowers, gap: Array) -> Array:
        """Integrate the density over the box; the normal noise rounds it within some deviations of zero."""
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
