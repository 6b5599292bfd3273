"""The parts of a leave-one-out score, kept as logarithms so that narrow kernels do not underflow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..core.array import Array, mean_of, slices, tile_shape, total, without_diagonal
from ..expected import expected_blocks, expected_diag
from ..kernels.base import Kernel
from ..kernels.distances import Blocks
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import running

Criterion = Literal["loocv", "risk", "printed"]


@dataclass(frozen=True)
class Score:
    r"""A score, ``constant + sign · exp(log)``: the mean of k(x, x), and the part that depends on the estimate.

    For a kernel narrower than the gaps between the points, the second part is 1e-26 or far less, and the sum equals the
    constant in every digit; so comparisons use only the second part.

    Attributes
    ----------
    constant : float
        mean k(x_i, x_i).
    sign : int
        The sign of the excess, -1, 0 or 1.
    log : float
        The logarithm of the absolute excess, -inf when it is 0.

    Examples
    --------
    >>> low, high = Score.of(-1e-30, constant=1.0), Score.of(1e-40, constant=1.0)
    >>> low < high, low.value == high.value
    (True, True)
    """

    constant: float
    sign: int
    log: float

    @classmethod
    def of(cls, excess: float, constant: float) -> Score:
        """Return the score with this excess over the constant."""
        log = math.log(abs(excess)) if excess else -math.inf
        return cls(float(constant), int(np.sign(excess)), log)

    @property
    def excess(self) -> float:
        """The score without the constant; 0 if its absolute value is below 1e-308."""
        return self.sign * math.exp(self.log) if self.log < 709 else self.sign * math.inf

    @property
    def value(self) -> float:
        """The score."""
        return self.constant + self.excess

    def __lt__(self, other: Score) -> bool:
        return self.key < other.key

    def __le__(self, other: Score) -> bool:
        return self.key <= other.key

    @property
    def key(self) -> tuple[int, float]:
        """The sort key for scores of one sample: the sign of the excess, then its size."""
        return self.sign, self.sign * self.log if self.sign else 0.0


@dataclass(frozen=True)
class Terms:
    """The two logarithms that make up a score with a common noise, and their derivatives.

    For G noises at once, the logarithms have the shape (G,) and slopes (p, G); then only ``slope`` and ``excess`` are
    defined.
    """

    cross: Any
    """log L̄, the mean over i ≠ j of E k(x_i, x̃_j)."""
    square: Any
    """log Q̄, the mean squared norm of the leave-one-out estimates (or of the estimate: the risk criterion)."""
    cross_slope: Array
    square_slope: Array
    """Derivatives with respect to the p parameters, shape (p,)."""

    def score(self, scale: float | None = 1.0, *, constant: float = 1.0) -> Score:
        """Return the score 1 - 2 a L̄ + a² Q̄ at a = ``scale``, or at the best a in [0, 1] when it is None."""
        a = self.best_scale(scale)
        if scale is None and a < 1:
            return Score(constant, -1, 2 * self.cross - self.square)
        if a == 0:
            return Score(constant, 0, -math.inf)
        sign, log = self.excess(a)
        return Score(constant, int(sign), float(log))

    def excess(self, scale: float = 1.0) -> tuple[Any, Any]:
        """Return the sign and the logarithm of the size of a² Q̄ - 2 a L̄ at a = ``scale`` > 0."""
        gain, loss = self.cross + math.log(2 * scale), self.square + 2 * math.log(scale)
        with np.errstate(divide="ignore"):  # log 0, where both are equal
            log = np.maximum(gain, loss) + np.log(-np.expm1(-np.abs(gain - loss)))
        return np.sign(loss - gain), log

    def slope(self, scale: float | None = 1.0) -> Array:
        """Return the derivative of the excess, divided by the larger of its two parts, shape (p,); never singular.

        If the best scale is below 1, it is divided by half of that.
        """
        log_a = np.minimum(self.cross - self.square, 0.0) if scale is None else math.log(scale)
        gain, loss = self.cross + math.log(2.0) + log_a, self.square + 2.0 * log_a
        larger = np.maximum(gain, loss)
        slope = np.exp(loss - larger) * self.square_slope - np.exp(gain - larger) * self.cross_slope
        return np.asarray(slope if scale is not None else np.where(log_a < 0.0, 2.0, 1.0) * slope)

    def log_slope(self, scale: float | None = 1.0) -> Array:
        """Return the derivative of log |excess|, shape (p,); the excess must not be 0."""
        a = self.best_scale(scale)
        if scale is None and a < 1:
            return -self.slope(scale)
        gap = abs(self.cross + math.log(2.0) - self.square - math.log(a))
        sign = self.score(scale).sign
        return sign * self.slope(scale) / -math.expm1(-gap)

    def best_scale(self, scale: float | None = None) -> Any:
        """Return the scale a = min(L̄/Q̄, 1) that minimizes the score, or the ``scale`` that was set."""
        return np.exp(np.minimum(self.cross - self.square, 0.0)) if scale is None else scale


def norm_terms(alpha: float, off: tuple[Any, Any], diag: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return log((1-α) e^off + α e^diag) and its derivative, from two logarithms with theirs."""
    log_off = off[0] + (math.log1p(-alpha) if alpha < 1 else -math.inf)
    log_diag = diag[0] + math.log(alpha)
    total = np.logaddexp(log_off, log_diag)
    return total, np.exp(log_off - total) * off[1] + np.exp(log_diag - total) * diag[1]


def diagonal_share(n: int, criterion: Criterion) -> float:
    """Return α, the share of the diagonal of Q in the squared norm: 1/n for the risk, else (one left out) 1/(n-1)."""
    if n < 2:
        raise ValueError(f"{n} row was passed; leaving one out needs at least two")
    return 1.0 / n if criterion == "risk" else 1.0 / (n - 1)


_TILE = 512


@dataclass(frozen=True)
class Means:
    r"""The three means that make up a score with a common noise, for kernels of any sign.

    Notes
    -----
    Without noise L̄ = U, the mean of k(x_i, x_j) over i ≠ j, and the best scale of the leave-one-out score is
    a = (n-1)U / ((n-2)U + ϱ), which is 1/(1+λ*) with λ* = n(ϱ-ρ)/((n-1)(nρ-ϱ)), ρ = mean(K): Muandet et al. (2014),
    Theorem 3 (S-KMSE). If U ≤ 0, no positive multiple of the empirical mean helps, and a = 0.
    """

    constant: float
    """ϱ = mean k(x_i, x_i)."""
    cross: float
    """L̄, the mean over i ≠ j of E k(x_i, x̃_j)."""
    square: float
    """Q̄, the mean squared norm of the leave-one-out estimates (or of the estimate: the risk criterion)."""

    def score(self, scale: float | None = 1.0) -> Score:
        """Return the score ϱ - 2 a L̄ + a² Q̄ at a = ``scale``, or at the best a in [0, 1] when it is None."""
        a = self.best_scale(scale)
        return Score.of(a * (a * self.square - 2 * self.cross), self.constant)

    def best_scale(self, scale: float | None = None) -> float:
        """Return the scale a = L̄/Q̄, clipped to [0, 1], that minimizes the score, or the ``scale`` that was set."""
        if scale is not None:
            return scale
        return min(self.cross / self.square, 1.0) if self.cross > 0 else 0.0


def means(kernel: Kernel, X: Array, noise: Noise, alpha: float) -> Means:
    """Return the means of a common ``noise`` in O(n² d) time and O(block²) memory, with α from ``diagonal_share``."""
    cross = _off_diagonal_mean(expected_blocks(kernel, X, Dirac(), X, noise), X)
    off = _off_diagonal_mean(expected_blocks(kernel, X, noise, X, noise), X)
    diag = mean_of(expected_diag(kernel, X, noise, noise))
    return Means(mean_of(kernel.diag(X)), cross, (1 - alpha) * off + alpha * diag)


def _off_diagonal_mean(blocks: Blocks, X: Array) -> float:
    """Return the mean over i ≠ j; the diagonal is left out, not subtracted, so that small sums keep their digits."""
    n, (size, _) = X.shape[0], tile_shape(X, (_TILE, _TILE), running().device_memory)
    whole: Any = 0.0
    for i in slices(n, size):
        for j in slices(n, size):
            whole += total(without_diagonal(blocks(i, j)) if i == j else blocks(i, j))
    return float(whole) / (n * (n - 1.0))
