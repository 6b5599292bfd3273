"""Polynomial kernels: expectations depend on finitely many moments of the noise."""

from __future__ import annotations

from functools import reduce
from math import comb, factorial
from operator import add
from typing import Any

import numpy as np

from ..core.array import Array, empty, like, namespace, quadratic_forms
from ..kernels.distances import Blocks
from ..kernels.polynomial import Polynomial, check_overflow
from ..noise.base import Noise
from ..noise.normal import Normal, as_normal
from .expectations import blocks_rules, check_independent

_NOT_GAUSSIAN = (
    "{noise!r} has no closed form beside a full Gaussian covariance on the other side; use a diagonal covariance, or "
    "noise.Sampled"
)


@blocks_rules.register(Polynomial, Noise, Noise)
def _polynomial(kernel: Polynomial, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    """Use axis-wise moments if coordinates are independent, and cumulants for correlated Gaussian noise."""
    by_cumulants = _correlated(v) or _correlated(w)
    if not by_cumulants:
        check_independent([(axis,) for axis in range(X.shape[1])], v, w)
    gram = _by_cumulants if by_cumulants else _by_moments

    def block(i: slice, j: slice) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return check_overflow(kernel, gram(kernel, X[i, :], v.take(i), Y[j, :], w.take(j)))

    return block


def _correlated(noise: Noise) -> bool:
    return isinstance(noise, Normal) and noise.form == "full"


def _by_moments(kernel: Polynomial, X: Array, v: Noise, Y: Array, w: Noise) -> Array:
    """Return E (c + Σ_j x̃_j ỹ_j)^p, adding the independent terms x̃_j ỹ_j one by one."""
    order = kernel.degree
    left, right = v.raw_moments(X, order), w.raw_moments(Y, order)
    moments: list[Any] = [float(kernel.offset) ** r for r in range(order + 1)]
    for axis in range(X.shape[1]):
        term = left[:, :, axis][:, :, None] * right[:, :, axis][:, None, :]
        moments = [sum(comb(r, k) * moments[r - k] * term[k, :, :] for k in range(r + 1)) for r in range(order + 1)]
    return moments[order]


def _by_cumulants(kernel: Polynomial, X: Array, v: Noise, Y: Array, w: Noise) -> Array:
    """Return E (c + x̃ᵀỹ)^p for Gaussian noise on both sides, from the cumulants of a Gaussian bilinear form."""
    left, right = (as_normal(noise, _NOT_GAUSSIAN).matrices(X.shape[1]) for noise in (v, w))
    if left.ndim == 3:
        pairs = [(slice(i, i + 1), slice(None), A, right) for i, A in enumerate(left)]
    else:
        pairs = [(slice(None), slice(None), left, right)]
    if right.ndim == 3:
        pairs = [(i, slice(j, j + 1), A, B) for i, _, A, _ in pairs for j, B in enumerate(right)]
    gram: Array = empty(X, (X.shape[0], Y.shape[0]))
    for i, j, A, B in pairs:
        gram[i, j] = _gaussian_moment(X[i, :], A, Y[j, :], B, kernel)
    return gram


def _gaussian_moment(X: Array, A: Array, Y: Array, B: Array, kernel: Polynomial) -> Array:
    r"""Return E (c + x̃ᵀỹ)^p for x̃ ~ N(x, A), ỹ ~ N(y, B), by m_r = Σ_k C(r-1, k-1) κ_k m_{r-k}.

    The cumulants κ_1 … κ_p of c + x̃ᵀỹ are traces and forms in powers of AB.

    For even r = 2s, κ_r = (r-1)! tr((AB)^s) + r!/2 (xᵀ B(AB)^{s-1} x + yᵀ A(BA)^{s-1} y); for odd r = 2s+1,
    κ_r = r! xᵀ (BA)^s y.
    """
    cumulants: list[Array] = [kernel.offset + X @ Y.T]
    power = np.eye(len(A))  # (BA)^s
    for r in range(2, kernel.degree + 1):
        if r % 2:
            cumulants.append(factorial(r) * (X @ like(power, X) @ Y.T))
            continue
        own_X, own_Y = quadratic_forms(X, power @ B), quadratic_forms(Y, A @ power)
        power = power @ B @ A
        forms = 0.5 * factorial(r) * (own_X[:, None] + own_Y[None, :])
        cumulants.append(factorial(r - 1) * float(np.trace(power)) + forms)
    moments: list[Array] = [namespace(cumulants[0]).ones_like(cumulants[0])]
    for r in range(1, kernel.degree + 1):
        terms = [comb(r - 1, k - 1) * cumulants[k - 1] * moments[r - k] for k in range(1, r + 1)]
        moments.append(reduce(add, terms))
    return moments[-1]
