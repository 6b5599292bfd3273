"""Leave-one-out scores of embeddings by features, as functions of the noise, and their minima."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from scipy.optimize import Bounds, brentq, minimize

from ...core.array import Array
from .fourier import Fourier

_LOWEST, _STEPS = 1e-16, 185  # of σ² in units of the score, and of its logarithm


class NoiseScore(ABC):
    """The score of Gaussian noise less that of no noise."""

    dim: int
    largest = 1e4
    """The largest variance that is tried, in units of ``unit``."""

    @abstractmethod
    def __call__(self, variances: Array) -> tuple[float, Array]:
        """Return the score at a variance per column (d,), and its gradient (d,)."""

    @property
    @abstractmethod
    def unit(self) -> float:
        """A variance that changes the score clearly."""

    @property
    @abstractmethod
    def flat(self) -> bool:
        """Whether no noise lowers the score, as for rows that are all equal."""

    def isotropic(self) -> float:
        """Return the σ² ≥ 0 with the lowest score: the lowest of all minima that a grid over log σ² tells apart."""
        if self.flat:
            return 0.0
        ones = np.ones(self.dim)

        def along(u: float) -> tuple[float, float]:
            value, gradient = self(math.exp(u) * ones)
            return value, float(gradient.sum())

        found = lowest(along, math.log(self.unit) + np.linspace(math.log(_LOWEST), math.log(self.largest), _STEPS))
        return 0.0 if found is None else math.exp(found)

    def diagonal(self) -> Array:
        """Return a variance per column, a local minimum of the score that is not above that of the best common one."""
        common = self.isotropic() * np.ones(self.dim)
        if not common.any():
            return common
        bounds = math.log(self.unit) + np.tile(np.log([_LOWEST, self.largest]), (self.dim, 1))
        return np.exp(descended(lambda u: chained(self(np.exp(u)), np.exp(u)), np.log(common), bounds))


def lowest(score: Callable[[float], tuple[float, float]], grid: Array) -> float | None:
    """Return where a score with its slope is lowest, of all minima that a grid tells apart; None if none is below 0."""
    slopes = np.array([score(u)[1] for u in grid])
    turns = np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] >= 0))
    found = [float(brentq(lambda u: score(u)[1], grid[k], grid[k + 1], xtol=1e-12)) for k in turns] + [float(grid[-1])]
    best = min(found, key=lambda u: score(u)[0])
    return best if score(best)[0] < 0 else None


def chained(score: tuple[float, Array], parameters: Array) -> tuple[float, Array]:
    """Return a score with its gradient in the logarithms of its parameters."""
    return score[0], score[1] * parameters


def descended(score: Any, start: Array, bounds: Array) -> Array:
    """Return a local minimum within ``bounds`` (p, 2), never above that of ``start``, which is negative."""
    level = abs(score(start)[0])

    def objective(u: Array) -> tuple[float, Array]:
        value, gradient = score(u)
        return value / level, gradient / level

    options: Any = {"gtol": 1e-9, "ftol": 1e-15, "maxiter": 500}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=Bounds(*bounds.T), options=options)
    return found.x if found.fun <= -1.0 else start


@final
class DampedScore(NoiseScore):
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
        self.dim, self.squares = features.dim, features.frequencies**2
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
