r"""Spectral filters: how the eigenvalues of the Gram matrix shrink the weights 1/n of a kernel mean.

A filter g_λ turns equal weights into :math:`β = g_λ(K) K 1_n` (Muandet et al. 2014b, "Kernel mean estimation via
spectral filtering"); with λ small, or many iterations, g_λ(x) → 1/x and β → 1_n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np
from scipy.linalg import eigh

from ..core.array import Array


class GramAction(Protocol):
    """How a filter uses a Gram matrix: in products, or in solves with λI added."""

    def start(self) -> Array:
        """Return the equal weights that the filter shrinks."""

    def apply(self, columns: Array) -> Array:
        """Return K times ``columns``."""

    def solve(self, columns: Array, strength: float) -> Array:
        """Return (K + λI)^{-1} times ``columns``."""


class Filter(ABC):
    """A spectral filter g_λ; the strength λ (or the number of iterations) is passed to its methods.

    Subclasses are frozen values. ``larger_is_stronger`` says whether a larger strength shrinks more.
    """

    larger_is_stronger: ClassVar[bool] = True

    @abstractmethod
    def factor(self, eigenvalues: Array, strength: float) -> Array:
        """Return x g_λ(x) for eigenvalues x ≥ 0: the factor of the component along an eigenvector."""

    def weights(self, gram: Array, strength: float) -> Array:
        """Return β = g_λ(K) K 1_n, shape (n,), from one eigendecomposition, O(n³)."""
        values, vectors = eigh(gram)
        equal = np.full(len(gram), 1.0 / len(gram))
        return vectors @ (self.factor(np.maximum(values, 0.0), strength) * (vectors.T @ equal))


@final
@dataclass(frozen=True)
class Scale(Filter):
    """Multiply all weights by 1/(1+λ): the simple shrinkage S-KMSE of Muandet et al. (2014).

    Muandet et al. (2016) call it R-KMSE.

    Examples
    --------
    >>> Scale().factor(np.array([0.5, 2.0]), 1.0)
    array([0.5, 0.5])
    """

    def factor(self, eigenvalues: Array, strength: float) -> Array:
        """Return 1/(1+λ) for every eigenvalue."""
        return np.full_like(eigenvalues, 1.0 / (1.0 + strength))


class Resolvent(Filter):
    """A filter made of solves with K + λI."""

    @abstractmethod
    def solutions(self, action: GramAction, strength: float) -> Array:
        """Return the filtered weights through the products and solves of ``action``."""


@final
@dataclass(frozen=True)
class Ridge(Resolvent):
    """Tikhonov's filter 1/(x+λ): the flexible shrinkage F-KMSE of Muandet et al. (2014).

    Muandet et al. (2016) call it S-KMSE, with λ_2014 = n λ_2016.

    Examples
    --------
    >>> Ridge().factor(np.array([1.0, 3.0]), 1.0)
    array([0.5 , 0.75])
    """

    def factor(self, eigenvalues: Array, strength: float) -> Array:
        """Return x/(x+λ)."""
        return eigenvalues / (eigenvalues + strength)

    def solutions(self, action: GramAction, strength: float) -> Array:
        """Return (K+λI)^{-1} K 1_n."""
        return action.solve(action.apply(action.start()), strength)


@final
@dataclass(frozen=True)
class IteratedRidge(Resolvent):
    """Tikhonov's filter, iterated t times on its residual: ((x+λ)^t - λ^t) / (x (x+λ)^t).

    Parameters
    ----------
    times : int
        t ≥ 1; 1 is :class:`Ridge`.

    Examples
    --------
    >>> IteratedRidge(2).factor(np.array([1.0]), 1.0)
    array([0.75])
    """

    times: int = 2

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ValueError(f"times is {self.times}, an integer ≥ 1 is needed")

    def factor(self, eigenvalues: Array, strength: float) -> Array:
        """Return 1 - (λ/(x+λ))^t."""
        with np.errstate(divide="ignore"):
            return -np.expm1(-self.times * np.log1p(eigenvalues / strength))

    def solutions(self, action: GramAction, strength: float) -> Array:
        """Refine the ridge solution t - 1 times by its own residual."""
        target = action.apply(action.start())
        weights = np.zeros_like(target)
        for _ in range(self.times):
            weights = weights + action.solve(target - action.apply(weights), strength)
        return weights


class Iterative(Filter):
    """A filter whose strength is the number of iterations t; more iterations shrink less."""

    larger_is_stronger: ClassVar[bool] = False

    @abstractmethod
    def iterates(self, action: GramAction, largest: float | Array) -> Iterator[Array]:
        """Yield the weights after 1, 2, … iterations; ``largest`` bounds the eigenvalues of K from above.

        If there are several columns, each without a point, it has the largest eigenvalue of K without that point.
        """

    def factor(self, eigenvalues: Array, strength: float) -> Array:
        """Return x g_t(x), by running the iteration on the eigenvalues; the largest one sets the scale."""
        steps = check_iterations(strength)
        diagonal = _Diagonal(eigenvalues)
        iterates = self.iterates(diagonal, float(eigenvalues.max(initial=0.0)))
        return next(weights for step, weights in enumerate(iterates, 1) if step == steps)


@final
@dataclass(frozen=True)
class Landweber(Iterative):
    """Gradient descent, stopped after t steps: (1 - (1-ηx)^t) / x with η = step / γ_max.

    Parameters
    ----------
    step : float
        η γ_max, in (0, 2).

    Examples
    --------
    >>> Landweber(step=1.0).factor(np.array([0.5, 1.0]), 2)
    array([0.75, 1.  ])
    """

    step: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.step < 2:
            raise ValueError(f"step is {self.step}, a number in (0, 2) is needed: larger steps diverge")
        object.__setattr__(self, "step", float(self.step))

    def iterates(self, action: GramAction, largest: float | Array) -> Iterator[Array]:
        """Yield the weights after 1, 2, … steps of length step / γ_max."""
        start = action.start()
        weights = np.zeros_like(start)
        while True:
            weights = weights + self.step / largest * action.apply(start - weights)
            yield weights


@final
@dataclass(frozen=True)
class NuMethod(Iterative):
    """The ν-method, an accelerated descent: residual polynomials fall as t^{-2ν}, those of Landweber as t^{-ν}.

    Parameters
    ----------
    nu : float
        ν > 0, the qualification.

    Notes
    -----
    Engl, Hanke & Neubauer (1996), section 6.3; for ν = 1/2 the residual polynomial is
    (-1)^t T_{2t+1}(√x) / ((2t+1) √x), T the Chebyshev polynomials.

    Examples
    --------
    >>> NuMethod(0.5).factor(np.array([0.0, 1.0]), 1)
    array([0.        , 1.33333333])
    """

    nu: float = 1.0

    def __post_init__(self) -> None:
        if not self.nu > 0:
            raise ValueError(f"nu is {self.nu}, a positive number is needed")
        object.__setattr__(self, "nu", float(self.nu))

    def iterates(self, action: GramAction, largest: float | Array) -> Iterator[Array]:
        """Yield the weights after 1, 2, … steps of the three-term recurrence."""
        start = action.start()
        before, weights = np.zeros_like(start), np.zeros_like(start)
        step = 0
        while True:
            step += 1
            momentum, length = self._coefficients(step)
            descent = length / largest * action.apply(start - weights)
            before, weights = weights, weights + momentum * (weights - before) + descent
            yield weights

    def _coefficients(self, t: int) -> tuple[float, float]:
        """Return the momentum μ_t (0 at t = 1) and the step ω_t of iteration t."""
        nu = self.nu
        length = 4 * (2 * t + 2 * nu - 1) * (t + nu - 1) / ((t + 2 * nu - 1) * (2 * t + 4 * nu - 1))
        if t == 1:
            return 0.0, length
        above = (t - 1) * (2 * t - 3) * (2 * t + 2 * nu - 1)
        below = (t + 2 * nu - 1) * (2 * t + 4 * nu - 1) * (2 * t + 2 * nu - 3)
        return above / below, length


@final
@dataclass(frozen=True)
class Cutoff(Filter):
    """Spectral cut-off (truncated SVD): 1/x for x ≥ λ and 0 below, the principal components of the Gram matrix.

    Examples
    --------
    >>> Cutoff().factor(np.array([0.5, 2.0]), 1.0)
    array([0., 1.])
    """

    def factor(self, eigenvalues: Array, strength: float) -> Array:
        """Return 1 where x ≥ λ, else 0."""
        return (eigenvalues >= strength).astype(np.float64)


@dataclass(frozen=True)
class _Diagonal:
    """The Gram action of a diagonal matrix on a vector of ones."""

    values: Array

    def start(self) -> Array:
        return np.ones_like(self.values)

    def apply(self, columns: Array) -> Array:
        return self.values * columns

    def solve(self, columns: Array, strength: float) -> Array:
        return columns / (self.values + strength)


def check_iterations(strength: float) -> int:
    """Return the strength as a number of iterations, or raise when it is none."""
    if strength != int(strength) or strength < 1:
        raise ValueError(f"strength is {strength}; this filter needs a number of iterations, an integer ≥ 1")
    return int(strength)
