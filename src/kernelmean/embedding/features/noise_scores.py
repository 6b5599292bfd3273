r"""Leave-one-out scores of embeddings by features, as functions of the noise, and their minima.

With landmarks, a row is :math:`P k(x_i, ·) = Σ_a α_{ia} k(s_a, ·)`, and noise and contractions act on the landmarks s.
Sums over pairs of rows i ≠ j are then sums over pairs of landmarks, with the mean α of the α_i and the mean A of
:math:`α_i α_i^⊤`:

.. math:: \frac{1}{n(n-1)} Σ_{i≠j} α_i^⊤ G α_j = \frac{n α^⊤ G α - \operatorname{tr} A G}{n-1}
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np
from scipy.optimize import Bounds, brentq, minimize

from ...core.array import Array
from ...expected import expected_blocks
from ...kernels.base import Stationary
from ...kernels.gaussian import Gaussian
from ...noise.base import Additive, Noise
from ...noise.dirac import Dirac
from ...plan.plan import Plan
from ..embedding import Embedding
from ..parts import PointPart
from ..score import Means
from .base import tiled
from .embedding import FeatureMoments, sums_of
from .fourier import Fourier
from .landmarks import ROUNDING, Landmarks

_LOWEST, _STEPS = 1e-16, 185  # of σ² in units of the score, and of its logarithm


class NoiseScore(ABC):
    """The score of Gaussian noise minus that without noise."""

    dim: int
    largest = 1e4
    """The largest variance to try, in units of ``unit``."""

    @abstractmethod
    def __call__(self, variances: Array) -> tuple[float, Array]:
        """Return the score at one variance per column (d,), and its gradient (d,)."""

    @property
    @abstractmethod
    def unit(self) -> float:
        """A variance that changes the score clearly."""

    @property
    @abstractmethod
    def flat(self) -> bool:
        """Whether no noise lowers the score, as for rows that are all equal."""

    def isotropic(self) -> float:
        """Return the σ² ≥ 0 with the lowest score, of all minima that a grid over log σ² separates."""
        if self.flat:
            return 0.0
        ones = np.ones(self.dim)

        def along(u: float) -> tuple[float, float]:
            value, gradient = self(math.exp(u) * ones)
            return value, float(gradient.sum())

        found = lowest(along, math.log(self.unit) + np.linspace(math.log(_LOWEST), math.log(self.largest), _STEPS))
        return 0.0 if found is None else math.exp(found)

    def diagonal(self) -> Array:
        """Return one variance per column: a local minimum of the score, not above that of the best common one."""
        common = self.isotropic() * np.ones(self.dim)
        if not common.any():
            return common
        bounds = math.log(self.unit) + np.tile(np.log([_LOWEST, self.largest]), (self.dim, 1))
        return np.exp(descended(lambda u: chained(self(np.exp(u)), np.exp(u)), np.log(common), bounds))


def lowest(score: Callable[[float], tuple[float, float]], grid: Array) -> float | None:
    """Return the lowest of all minima that a grid separates, of a score with its slope; None if none is below 0."""
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
    r"""The score of damping factors 1 - δ_j minus that without damping: a quadratic form without cancellation.

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


_NONE = Dirac()
_LOSSES = np.log(np.geomspace(1e-13, 1.0 - 1e-9, 105))  # log (1 - r)
_BOUNDS = np.log([[1e-13, 1.0 - 1e-9], [1e-13, 1e4]])  # of 1 - r, and of σ² in units of θ² and the mean variance
_WAYS = 4  # lowest points of a grid to start from


@dataclass(frozen=True, eq=False)
class ProjectedRows:
    """The rows of an embedding by landmarks."""

    features: Landmarks
    n: int
    weights: Array
    """α, shape (r,)."""
    second: Array
    """A, shape (r, r)."""
    squared_norm: float
    """The mean of |P k(x_i, ·)|²."""
    moments: FeatureMoments

    @classmethod
    def of(cls, mu: Embedding, features: Landmarks) -> ProjectedRows:
        """Return the rows of an embedding with moments."""
        sums = sums_of(mu)
        moments = sums.moments_of(features)
        second = features.weights(features.weights(moments.second).T)
        return cls(features, sums.count, features.weights(sums.mean), second, float(np.trace(moments.second)), moments)

    @property
    def pairs(self) -> tuple[Array, Array]:
        """The weights of pairs of landmarks in L̄, and those in Q̄ minus these, shape (r, r)."""
        outer, n = np.outer(self.weights, self.weights), self.n
        return (n * outer - self.second) / (n - 1.0), n * (self.second - outer) / (n - 1.0) ** 2

    def moved(self, factor: float) -> Array:
        """Return the landmarks moved towards the mean row by a factor, shape (r, d)."""
        center = self.moments.center
        return self.features.points if factor == 1.0 else center + factor * (self.features.points - center)

    def means(self, noise: Noise, contraction: float = 1.0) -> Means:
        """Return L̄ and Q̄ under a noise, with points contracted to the mean of the others; O(r² d)."""
        kernel = self.features.kernel
        if not (isinstance(kernel, Stationary) and isinstance(noise, Additive | Dirac)) or noise.per_point is not None:
            raise TypeError(
                f"{noise!r} under {kernel!r} does not act on landmarks alone: this needs a kernel of x - y and an "
                "additive noise that all rows share; pass it to features.embed(X, features, noise=...)"
            )
        targets, points = (self.moved(factor) for factor in (1.0 + (1.0 - contraction) / (self.n - 1.0), contraction))
        everything = slice(None)
        cross = expected_blocks(kernel, targets, Dirac(), points, noise)(everything, everything)
        square = expected_blocks(kernel, points, noise, points, noise)(everything, everything)
        first, more = self.pairs
        return Means(self.squared_norm, float(np.vdot(first, cross)), float(np.vdot(first + more, square)))

    def embedding(self, noise: Noise, scale: float = 1.0, contraction: float = 1.0) -> Embedding:
        """Return the estimate, an embedding of the landmarks."""
        part = PointPart(self.moved(contraction), scale * self.weights, noise)
        return Embedding(self.features.kernel, (part,))

    def distance(
        self,
        batches: Iterator[Array],
        plan: Plan,
        noise: Noise = _NONE,
        contraction: float = 1.0,
        direction: Array | None = None,
    ) -> float:
        r"""Return a bound of the norm of :math:`Σ_i w_i E (I-P) k(\tilde x_i, ·)`; this reads the rows again.

        The points are moved towards the mean row by ``contraction``; w is 1, or the value at a row of the function with
        coordinates ``direction`` (m,) in feature space. The norms of tiles of rows are added: O(n r (r + d)) time.
        """
        features, center = self.features, self.moments.center
        kernel, points, everything = features.kernel, self.moved(contraction), slice(None)
        inner = expected_blocks(kernel, points, noise, points, noise)(everything, everything)

        def run(X: Array) -> float:
            vectors, Z = np.empty((len(X), features.size)), center + contraction * (X - center)
            features.fill(X, Dirac(), vectors)
            w = np.ones(len(X)) if direction is None else vectors @ direction
            weights = features.weights(w @ vectors)
            own = float(w @ expected_blocks(kernel, Z, noise, Z, noise)(everything, everything) @ w)
            mixed = float(w @ expected_blocks(kernel, Z, noise, points, noise)(everything, everything) @ weights)
            left = own - 2.0 * mixed + float(weights @ inner @ weights)
            return math.sqrt(max(left, 0.0) + ROUNDING * abs(own))

        return sum(plan.map(run, tiled(features, batches), self.n * features.size))


@final
class ProjectedScore(NoiseScore):
    r"""The score of Gaussian noise under a Gaussian kernel minus that without noise, without cancellation.

    With :math:`G_1 = G_0 e^{u_1}` and :math:`G_2 = G_0 e^{u_2}` the kernels of L and Q at two landmarks, w and w + v
    the weights of a pair in L̄ and Q̄, it is :math:`Σ w G_0 [(e^{u_2} - 1) - 2 (e^{u_1} - 1)] + v G_0 (e^{u_2} - 1)`.

    Parameters
    ----------
    rows : ProjectedRows
        Under a Gaussian kernel.
    """

    def __init__(self, rows: ProjectedRows) -> None:
        kernel = rows.features.kernel
        if not isinstance(kernel, Gaussian):
            raise TypeError(
                f"a noise is searched by gradient, for Gaussian kernels only, not for {kernel!r}; pass a fixed noise "
                "such as Normal(0.1)"
            )
        self.n, self.dim = rows.n, rows.features.dim
        self.theta = kernel.bandwidths(self.dim) * np.ones(self.dim)
        self.Y = (rows.features.points - rows.moments.center) / self.theta
        self.spread = float((rows.moments.variances / self.theta**2).mean())
        self.largest *= 1.0 + self.spread
        self.first, self.more = rows.pairs
        self.logs = -0.5 * self._squared_distances(self.Y)

    @property
    def unit(self) -> float:
        """The mean squared bandwidth."""
        return float(np.mean(self.theta**2))

    @property
    def flat(self) -> bool:
        """Whether there is one landmark, so that all rows look alike."""
        return len(self.Y) == 1

    def __call__(self, variances: Array) -> tuple[float, Array]:
        """Return the score at a variance per column (d,), and its gradient (d,)."""
        a = variances / self.theta**2
        slope, exponents = np.zeros(self.dim), []
        for sides in (1.0, 2.0):
            s = 1.0 + sides * a
            squares = self._squared_distances(self.Y * np.sqrt(sides * a / s))
            exponents.append(0.5 * (squares - np.log1p(sides * a).sum()))
        value, weights = self._weighted(*exponents)
        for sides, W in zip((1.0, 2.0), weights, strict=True):
            s, sums = 1.0 + sides * a, W.sum(axis=1)
            spread = self.Y.T**2 @ (sums + W.sum(axis=0)) - 2.0 * np.einsum("aj,aj->j", self.Y, W @ self.Y)
            slope += 0.5 * sides * (spread / s - sums.sum()) / s
        return value, slope / self.theta**2

    def contracted(self, loss: float, noise: float) -> tuple[float, Array]:
        r"""Return the score where r = 1 - ``loss`` draws points to the mean, σ²/θ² = ``noise``, and its gradient (2,).

        A row is drawn to the mean of the others, which in units of θ and from the mean of all is -y/(n-1).
        """
        inner, k, r = self.Y @ self.Y.T, 1.0 / (self.n - 1.0), 1.0 - loss
        left, right = inner.diagonal()[:, None], inner.diagonal()[None, :]
        t = left + right - 2.0 * inner
        mixed, pull = k * left + (1.0 - k) * inner - right, k**2 * left + 2.0 * k * inner + right
        shift, gained = loss * (2.0 * mixed + loss * pull), loss * (2.0 - loss)
        s, s2 = 1.0 + noise, 1.0 + 2.0 * noise
        one = 0.5 * (noise * t - shift) / s - 0.5 * self.dim * math.log1p(noise)
        two = 0.5 * t * (2.0 * noise + gained) / s2 - 0.5 * self.dim * math.log1p(2.0 * noise)
        value, (W1, W2) = self._weighted(one, two)
        by_loss = np.vdot(W1, -(mixed + loss * pull) / s) + np.vdot(W2, t * r / s2)
        by_noise = np.vdot(W1, 0.5 * (t + shift) / s**2 - 0.5 * self.dim / s)
        by_noise += np.vdot(W2, t * r**2 / s2**2 - self.dim / s2)
        return value, np.array([by_loss, by_noise])

    def tied(self) -> float:
        """Return the best 1 - r where σ² = (1 - r²) v, v the mean variance of the columns; 0 where none is better."""

        def along(u: float) -> tuple[float, float]:
            loss = math.exp(u)
            value, (by_loss, by_noise) = self.contracted(loss, loss * (2.0 - loss) * self.spread)
            return value, loss * (by_loss + 2.0 * (1.0 - loss) * self.spread * by_noise)

        found = lowest(along, _LOSSES)
        return 0.0 if found is None else math.exp(found)

    def free(self) -> tuple[float, float]:
        """Return a local minimum (1 - r, σ²/θ²), never above the best tied pair and the best σ² alone."""
        tied, alone = self.tied(), self.isotropic() / self.unit
        pairs = [(tied, tied * (2.0 - tied) * self.spread), (0.0, alone)]
        best = min(pairs, key=lambda pair: self.contracted(*pair)[0])
        if self.contracted(*best)[0] >= 0:
            return 0.0, 0.0
        bounds = _BOUNDS + np.array([[0.0], [math.log1p(self.spread)]])

        def score(u: Array) -> tuple[float, Array]:
            return chained(self.contracted(*np.exp(u)), np.exp(u))

        steps = [np.linspace(low, high, 14)[1:-1] for low, high in bounds.tolist()]
        grid = sorted(map(np.array, product(*steps)), key=lambda u: score(u)[0])[:_WAYS]
        starts = [*grid, *(np.clip(np.log(np.maximum(pair, 1e-300)), *bounds.T) for pair in pairs)]
        ends = [tuple(np.exp(descended(score, u, bounds))) for u in starts if score(u)[0] < 0]
        return min([best, *ends], key=lambda pair: self.contracted(*pair)[0])

    def _weighted(self, one: Array, two: Array) -> tuple[float, tuple[Array, Array]]:
        """Return the score of exponents u₁ and u₂, shape (r, r), and its derivatives with respect to them."""
        kernel, grown, twice = np.exp(self.logs), self._grown(one), self._grown(two)
        value = np.vdot(self.first, twice - 2.0 * grown) + np.vdot(self.more, twice)
        return float(value), (-2.0 * self.first * (grown + kernel), (self.first + self.more) * (twice + kernel))

    def _grown(self, exponents: Array) -> Array:
        """Return G₀ (e^u - 1), where G₀ may be below the smallest number and e^u above the largest."""
        return np.asarray(
            -np.sign(exponents) * np.exp(self.logs + np.maximum(exponents, 0.0)) * np.expm1(-np.abs(exponents))
        )

    @staticmethod
    def _squared_distances(Z: Array) -> Array:
        squares = np.square(Z).sum(axis=1)
        return np.maximum(squares[:, None] + squares - 2.0 * (Z @ Z.T), 0.0)
