"""The Bayesian kernel mean: a Gaussian process on the mean function, observed through the empirical mean."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar

from ..core.array import Array
from ..core.validate import check_positive_number
from ..embedding.embedding import embed
from ..expected import expected
from ..kernels.base import Kernel
from ..noise.normal import Normal
from .base import KernelLike, MeanEstimator, make_kernel
from .loocv.spectral import Masked, score_of

LIMIT = 2000
_LOWEST, _HIGHEST, _GRID = 1e-10, 1e4, 15  # of λ, in units of r(x, x)
_RATIOS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)  # of s² to θ²


@final
@dataclass(eq=False, repr=False)
class BayesianKernelMean(MeanEstimator):
    r"""Estimate a kernel mean as the posterior mean of a Gaussian process, in its shrinkage form.

    The prior is μ ~ GP(0, A r), r(x, y) = E k(x, y + ε) with ε ~ N(0, s²I), which lies in the RKHS of k; the
    empirical mean :math:`z = \hat μ(x_i)` is observed at the points, z_i ~ N(μ(x_i), τ²/n). The posterior mean is

    .. math:: \hat μ = Σ_j w_j\, r(·, x_j), \qquad w = (R + λI)^{-1} K 1_n, \qquad λ = τ^2 / (n A),

    an embedding with noise N(0, s²I) and weights w. For a Gaussian k and s = θ, r is proportional to
    ∫ k(x, u) k(u, y) du, the prior of the paper. That prior is too smooth for a kernel mean in many dimensions (on
    normal data in five, its loss is ten times that of the empirical mean), so s is searched by default.

    Parameters
    ----------
    kernel : {"gaussian"}, Kernel, or a class of kernels
    bandwidth : rule, float or array
        θ, as in :class:`KernelMean`.
    smoothing : {"loocv", "bandwidth"} or float
        s², in squared units of X. "loocv" chooses it together with λ, by the leave-one-out score, among θ² times 1,
        0.3, 0.1, …, 0.003; "bandwidth" is θ².
    strength : {"loocv"} or float
        λ. "loocv" chooses it by the exact leave-one-out score in the RKHS. (The marginal likelihood of z cannot choose
        it: z is smooth, so it always prefers λ → 0.)

    Attributes
    ----------
    embedding_, kernel_, noise_, weights_, bandwidth_, strength_, loocv_
        As in :class:`KernelMean`.

    Raises
    ------
    ValueError
        Above 2,000 points: every λ costs O(n³).

    Notes
    -----
    Flaxman, Sejdinovic, Cunningham & Filippi (2016), "Bayesian learning of kernel embeddings". Weights may be negative.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 1))
    >>> estimate = BayesianKernelMean(bandwidth=1.0, smoothing=1.0).fit(X)
    >>> estimate.embedding_
    Embedding(n=20, d=1, kernel=Gaussian(bandwidth=1.0), noise=Normal(1.))
    """

    kernel: KernelLike = "gaussian"
    _: KW_ONLY
    bandwidth: Any = "median"
    smoothing: float | str = "loocv"
    strength: float | str = "loocv"

    def _estimate(self, X: Array) -> None:
        if len(X) > LIMIT:
            raise ValueError(
                f"the Bayesian estimate is limited to {LIMIT} points, {len(X)} were passed; subsample them"
            )
        kernel = make_kernel(self.kernel, self.bandwidth, X)
        posteriors = [_Posterior(X, kernel, Normal(variance)) for variance in self._smoothings(kernel)]
        pairs = [(posterior, self._strength(posterior)) for posterior in posteriors]
        posterior, self.strength_ = min(pairs, key=lambda pair: pair[0].loocv(pair[1]))
        self.loocv_ = posterior.loocv(self.strength_)
        self.embedding_ = embed(X, kernel, weights=posterior.weights(self.strength_), noise=posterior.noise)
        self.bandwidth_ = getattr(kernel, "bandwidth", None)

    def _no_density(self) -> str:
        return "since its weights may be negative; use KernelMean(noise='diagonal')"

    def _smoothings(self, kernel: Kernel) -> list[float]:
        if not isinstance(self.smoothing, str):
            return [check_positive_number(self.smoothing, "smoothing")]
        if self.smoothing not in ("loocv", "bandwidth"):
            raise ValueError(f"smoothing is {self.smoothing!r}; write 'loocv', 'bandwidth' or a variance")
        bandwidth = getattr(kernel, "bandwidth", None)
        if bandwidth is None or np.ndim(bandwidth) > 0:
            raise ValueError(f"{kernel!r} has no single bandwidth to take s² from; pass smoothing=<variance>")
        ratios = _RATIOS if self.smoothing == "loocv" else (1.0,)
        return [ratio * float(bandwidth) ** 2 for ratio in ratios]

    def _strength(self, posterior: _Posterior) -> float:
        if not isinstance(self.strength, str):
            return check_positive_number(self.strength, "strength")
        if self.strength == "loocv":
            return _minimize(posterior.loocv, posterior.scale)
        raise ValueError(f"strength is {self.strength!r}; write 'loocv' or a number")


class _Posterior:
    """The matrices K, R and the twice smoothed S of a sample, and what depends on λ."""

    def __init__(self, X: Array, kernel: Kernel, noise: Normal) -> None:
        self.noise = noise
        self.plain, self.once = expected(kernel, X, X), expected(kernel, X, X, noise)
        self.twice = expected(kernel, X, X, noise, noise)
        self.constant = float(kernel.diag(X).mean())
        self.scale = float(np.diagonal(self.once).mean())
        self._target = self.plain.mean(axis=1)
        self._values, self._vectors = eigh(self.once)
        self._projected = self._vectors.T @ self._target

    def weights(self, strength: float) -> Array:
        """Return w = (R + λI)^{-1} K 1_n, shape (n,)."""
        return self._vectors @ (self._projected / (self._values + strength))

    def loocv(self, strength: float) -> float:
        """Return the exact leave-one-out score, with w refitted without each point."""
        masked = Masked(self.once)
        targets = Masked(self.plain).apply(masked.start())
        return score_of(masked.solve(targets, strength), self.once, self.twice, self.constant).value


def _minimize(score: Any, unit: float) -> float:
    """Return the best λ: the best on a grid of logarithms, refined between its neighbours."""
    grid = np.log(unit * np.geomspace(_LOWEST, _HIGHEST, _GRID))
    values = [score(math.exp(u)) for u in grid]
    k = int(np.argmin(values))
    bounds = (grid[max(k - 1, 0)], grid[min(k + 1, _GRID - 1)])
    result = minimize_scalar(lambda u: score(math.exp(u)), bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return math.exp(result.x if result.fun < values[k] else grid[k])
