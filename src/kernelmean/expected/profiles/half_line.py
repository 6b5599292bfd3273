"""Moments of a Gaussian on a half-line, to full relative accuracy however far out it starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.polynomial.legendre import leggauss

from ...core.array import Array, added_where, array_api, namespace, overwritten, special

SQRT_2PI = float(np.sqrt(2 * np.pi))
_ROOT_HALF_PI, _ROOT_2 = float(np.sqrt(np.pi / 2)), float(np.sqrt(2))
_DEGREE = 29
NEAR = 7.0
"""Up to this many standard deviations beyond an interval, the first of its ``smooth_rules`` suffices."""


@lru_cache(maxsize=256)
def smooth_rules(width: float) -> list[tuple[Array, Array]]:
    """Return two Gauss-Legendre rules on [-1, 1] for a normal density over an interval of ``width`` ≤ 1.5 deviations.

    The first is exact up to rounding as far as ``NEAR`` deviations beyond the interval, the second wherever the density
    does not underflow: there it changes by up to e^57 over the interval.
    """
    return [leggauss(8 + math.ceil(4 * width)), leggauss(14 + math.ceil(12 * width))]


@array_api
def added_by_distance(  # the mask and ``near`` serve NumPy's arrays
    value: Array,
    beyond: Any,  # noqa: ARG001
    near: Callable[[Array], Array],  # noqa: ARG001
    far: Callable[[Array], Array],
    argument: Array,
) -> Array:
    """Return ``value`` plus one of two functions: ``far`` is correct everywhere, ``near`` is faster."""
    return value + far(argument)


@added_by_distance.numpy
def _(
    value: Array, beyond: Any, near: Callable[[Array], Array], far: Callable[[Array], Array], argument: Array
) -> Array:
    total: Array = added_where(added_where(value, ~beyond, near, argument), beyond, far, argument)
    return total


def normal_density(z: Array) -> Array:
    """Return φ(z)."""
    value = z * z
    value *= -0.5
    value = overwritten("exp", value)
    value /= SQRT_2PI
    return value


def tail_moments(z: Array, coefficients: Sequence[float | Array], unit: float = 1.0) -> Array:
    r"""Return :math:`Σ_k a_k u^k I_k(z)` for z ≥ 0, with :math:`I_k(z) = ∫_0^∞ x^k e^{-x²/2 - zx} dx`.

    Parameters
    ----------
    z : array
        The start of the half-line, in standard deviations beyond the mean; not negative.
    coefficients : sequence of float or array
        a_0, …, a_p; arrays must have the shape of ``z``.
    unit : float
        u, separate from ``coefficients`` so that neither overflows.

    Returns
    -------
    array of the shape of ``z``

    Notes
    -----
    The forward recursion loses digits for z > 1, so the sum runs downward in the positive ratios
    R_k = I_k / I_{k-1} = k / (z + R_{k+1}) from one polynomial fit of R_p. Relative error about 1e-14.

    Examples
    --------
    >>> tail_moments(np.array([0.0]), [1.0]).round(6)  # √(π/2)
    array([1.253314])
    """
    order = len(coefficients) - 1
    total = coefficients[order]
    if order:
        ratio = _highest_ratio(z, order)
        for k in range(order, 0, -1):
            total = coefficients[k - 1] + unit * (ratio * total)
            if k > 1:
                ratio = (k - 1) / (z + ratio)
    return _ROOT_HALF_PI * special("erfcx", z / _ROOT_2) * total


def body_moments(z: Array, scaled: Array, coefficients: Sequence[float], unit: float) -> Array:
    r"""Return :math:`Σ_k a_k u^k ∫_0^∞ x^k φ(x - z) dx` for z ≥ 0; ``scaled`` is u z. All terms are positive."""
    lower = moment = special("ndtr", z)
    total = coefficients[0] * moment
    for k in range(1, len(coefficients)):
        boundary = unit * normal_density(z) if k == 1 else (k - 1) * unit**2 * lower
        lower, moment = moment, scaled * moment + boundary
        total += coefficients[k] * moment
    return total


def _highest_ratio(z: Array, order: int) -> Array:
    """Return I_p(z) / I_{p-1}(z) for p = ``order`` from its fit, by Horner's rule in w, in place."""
    scale, coefficients = _ratio_fit(order)
    shifted = z + scale
    w = 1.0 - 2.0 * scale / shifted
    value = namespace(w).full_like(w, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value *= w
        value += coefficient
    value /= shifted
    return value


@lru_cache(maxsize=64)
def _ratio_fit(order: int) -> tuple[float, list[float]]:
    """Fit (z + a) I_p / I_{p-1} by a polynomial in w = (z - a) / (z + a), which maps [0, ∞) to [-1, 1).

    The function is analytic there. With a near 3 + √p, its Chebyshev coefficients fall fast enough (to 1e-15 at degree
    29 for p ≤ 20) that powers of w are an equally good basis.
    """
    scale = 3.0 + 0.8 * math.sqrt(order)
    w = np.asarray(chebyshev.chebpts1(2 * _DEGREE))
    z = scale * (1 + w) / (1 - w)
    ratio = _moment_by_quadrature(order, z) / _moment_by_quadrature(order - 1, z)
    fit = chebyshev.cheb2poly(chebyshev.chebfit(w, (z + scale) * ratio, _DEGREE))
    return scale, [float(value) for value in fit]


def _moment_by_quadrature(order: int, z: Array) -> Array:
    """Return I_k(z) by a Gauss-Legendre rule on a positive integrand, truncated where it falls below 1e-25."""
    nodes, weights = leggauss(100)
    reach = 60.0 + 4 * order
    end = 2 * reach / (z + np.sqrt(z * z + 2 * reach))
    x = end[:, None] * (nodes + 1) / 2
    return end / 2 * ((x**order * np.exp(-x * (x / 2 + z[:, None]))) @ weights)
