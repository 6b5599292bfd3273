"""Exponential-polynomial distributions: powers of the Laplace distribution, their mixtures, their sums."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import product

from scipy.special import roots_jacobi

from ...core.array import Array, namespace

# How many times larger than their sum the terms of a partial fraction may be: it costs as many rounding errors.
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
    """w_1, …, w_M, of sum one in a distribution; the terms of a partial fraction may be negative."""

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
    r"""Write the distribution of a sum of independent ``terms`` as a sum of densities, one term a scale.

    Two powers of different scales a > b are separated by partial fractions while the terms stay comparable with
    their sum, and otherwise by Feynman's positive mixture over λ ~ Beta(i, j) with 1/c² = λ/a² + (1-λ)/b²,

    .. math:: A_a^i A_b^j = E_λ\, (c/a)^{2i} (c/b)^{2j} A_c^{i+j},

    whose integrand is analytic: a Gauss-Jacobi rule of a few nodes is exact to rounding.

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

    So many nodes serve the tails too, where e^{-t/c} varies most with c: to 10⁻¹³ at t = 650 a.
    """
    nodes, weights = roots_jacobi(12 + math.ceil(160 * math.log(a / b)), j - 1, i - 1)
    terms = []
    for x, weight in zip((1 + nodes) / 2, weights / weights.sum(), strict=True):
        c = 1 / math.sqrt(x / a**2 + (1 - x) / b**2)
        terms.append((c, i + j, float(weight * (c / a) ** (2 * i) * (c / b) ** (2 * j))))
    return terms
