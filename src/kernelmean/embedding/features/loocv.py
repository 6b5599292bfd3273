r"""Leaving one out in feature space, from the mean of the features alone.

Fourier features of a frequency have length :math:`\sqrt{w_j}` whatever the row, and noise multiplies them by
d_j = φ_v(ω_j). With :math:`p_j = |\hat μ_j|^2` the power of the mean at a frequency, L and Q of the score have

.. math:: Σ_{ij} L_{ij} = n^2 Σ_j d_j p_j, \quad L_{ii} = Σ_j d_j w_j, \quad Q: d_j^2 \text{ in place of } d_j,

so that one pass over the rows, which adds up their features, gives the score of every noise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import Bounds, brentq, minimize

from ...core.array import Array
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...noise.normal import Normal
from ..embedding import Embedding
from ..means import Means
from ..score import diagonal_share
from .embedding import sums_of
from .fourier import Fourier

_LOWEST, _HIGHEST, _STEPS = 1e-16, 1e4, 185  # σ² in units of 1/ω², ω² the median squared frequency


def leave_one_out(mu: Embedding, noise: Noise | None = None) -> Means:
    r"""Return the means of which the leave-one-out score consists, exact for the kernel of the features.

    Parameters
    ----------
    mu : Embedding
        By features, without noise and weights.
    noise : Noise, optional
        What the estimate adds to the rows; none is the empirical mean.

    Returns
    -------
    Means
        ``means.score().value`` is :math:`\frac1n Σ_i |φ(x_i) - \hat μ^{(-i)}|^2`; ``means.best_scale()`` the factor of
        S-KMSE.

    Raises
    ------
    ValueError
        When rows are weighted, have noise already, or are fewer than two, or ``mu`` is a sum or a multiple of others.
    TypeError
        When ``mu`` is not by features, or the noise does not damp them.

    Examples
    --------
    >>> from kernelmean import features
    >>> from kernelmean.kernels import Gaussian
    >>> mu = features.embed([[0.0], [1.0], [3.0]], features.fourier(Gaussian(1.0), dim=1))
    >>> leave_one_out(mu).best_scale() < 1
    True
    """
    rows, features = sums_of(mu), mu.features
    weight, squares = rows.sums.value[:2]
    if not weight == squares == rows.count:
        raise ValueError("the rows are weighted; leaving one out needs rows that count alike")
    if rows.noise != Dirac():
        raise ValueError(f"the rows have the noise {rows.noise!r} already; embed them without noise first")
    n, mean, squared_norm = rows.count, rows.mean, rows.sums.value[2] / weight
    alpha = diagonal_share(n, "loocv")
    noise = Dirac() if noise is None else noise
    once = features.damped(mean, noise)
    own, own_squared = squared_norm, squared_norm
    if isinstance(features, Fourier):
        damping = features.damping(noise)
        own, own_squared = float(features.weights @ damping), float(features.weights @ damping**2)
    cross, square = (
        float((n * total - one) / (n - 1)) for total, one in ((mean @ once, own), (once @ once, own_squared))
    )
    return Means(squared_norm, cross, (1 - alpha) * square + alpha * own_squared)


class DampedScore:
    r"""The score of damping factors 1 - δ_j less that of no damping, a quadratic form without cancellation.

    .. math:: J(δ) - J(0) = Σ_j \frac{2n (p_j - w_j)}{(n-1)^2} δ_j + \frac{(n-2) n p_j + w_j}{(n-1)^2} δ_j^2

    Parameters
    ----------
    features : Fourier
    mean : array of shape (2M,)
        The mean of the features of n rows without noise.
    n : int
    """

    def __init__(self, features: Fourier, mean: Array, n: int) -> None:
        power = np.square(mean).reshape(2, -1).sum(axis=0)
        scale = (n - 1.0) ** 2
        self.squares = features.frequencies**2
        self.linear = np.minimum(2 * n * (power - features.weights) / scale, 0.0)
        self.quadratic = ((n - 2.0) * n * power + features.weights) / scale

    def __call__(self, variances: Array) -> tuple[float, Array]:
        """Return the score at a variance per column (d,), and its gradient (d,)."""
        exponents = -0.5 * (self.squares @ variances)
        lost = -np.expm1(exponents)
        value = lost @ (self.linear + self.quadratic * lost)
        slope = (self.linear + 2 * self.quadratic * lost) * np.exp(exponents)
        return float(value), 0.5 * (slope @ self.squares)

    @property
    def unit(self) -> float:
        """A variance that damps the median frequency clearly."""
        totals = self.squares.sum(axis=1)
        return float(1.0 / np.median(totals[totals > 0])) if totals.any() else 1.0

    @property
    def flat(self) -> bool:
        """Whether no noise lowers the score, as for rows that are all equal."""
        return not (self.linear < -1e-13 * self.quadratic.max()).any()

    def isotropic(self) -> float:
        """Return the σ² ≥ 0 with the lowest score: the lowest of all minima that a grid over log σ² tells apart."""
        if self.flat:
            return 0.0
        ones = np.ones(self.squares.shape[1])
        grid = math.log(self.unit) + np.linspace(math.log(_LOWEST), math.log(_HIGHEST), _STEPS)

        def slope(u: float) -> float:
            return float(self(math.exp(u) * ones)[1].sum())

        slopes = np.array([slope(u) for u in grid])
        turns = np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] >= 0))
        found = [float(brentq(slope, grid[k], grid[k + 1], xtol=1e-12)) for k in turns] + [float(grid[-1])]
        return math.exp(min(found, key=lambda u: self(math.exp(u) * ones)[0]))

    def diagonal(self) -> Array:
        """Return a variance per column, a local minimum of the score that is not above that of the best common one."""
        if self.flat:
            return np.zeros(self.squares.shape[1])
        common = self.isotropic() * np.ones(self.squares.shape[1])
        level = abs(self(common)[0])

        def objective(u: Array) -> tuple[float, Array]:
            value, gradient = self(np.exp(u))
            return value / level, gradient * np.exp(u) / level

        low, high = (np.full(len(common), math.log(self.unit * end)) for end in (_LOWEST, _HIGHEST))
        options: Any = {"gtol": 1e-9, "ftol": 1e-15, "maxiter": 500}
        found = minimize(
            objective, np.log(common), jac=True, method="L-BFGS-B", bounds=Bounds(low, high), options=options
        )
        return np.exp(found.x) if found.fun <= objective(np.log(common))[0] else common


def choose_noise(mu: Embedding, form: str = "isotropic") -> Normal:
    r"""Return the Gaussian noise that the leave-one-out score of a feature embedding chooses: MKME or MMKME.

    Parameters
    ----------
    mu : Embedding
        By Fourier features, without noise and weights.
    form : {"isotropic", "diagonal"}
        One σ² (MKME), or one variance per column (MMKME).

    Returns
    -------
    Normal
        ``features.smoothed(mu, noise)`` is the estimate.

    Raises
    ------
    TypeError
        When the features are not Fourier features.
    ValueError
        When rows are weighted, noisy, or fewer than two.

    Notes
    -----
    Exact for the kernel of the features, in O(M d) an evaluation, whatever the number of rows. Xia et al. (2021),
    eq. (loocv).

    Examples
    --------
    >>> from kernelmean import features
    >>> from kernelmean.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> mu = features.embed(X, features.fourier(Gaussian(1.0), dim=1))
    >>> noise = features.choose_noise(mu)
    >>> features.leave_one_out(mu, noise).score() < features.leave_one_out(mu).score()
    True
    """
    if form not in ("isotropic", "diagonal"):
        raise ValueError(f"form is {form!r}; pass 'isotropic' or 'diagonal'")
    rows = sums_of(mu)
    if not isinstance(mu.features, Fourier):
        raise TypeError(f"{mu.features!r} does not tell frequencies apart; make the features by features.fourier(...)")
    leave_one_out(mu)
    score = DampedScore(mu.features, rows.mean, rows.count)
    return Normal.diagonal(score.diagonal()) if form == "diagonal" else Normal(score.isotropic())
