"""From options to a fitted embedding: which search serves which combination."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from ..core.array import Array, as_host, column_variances, covariance, in_host_memory, like, namespace
from ..core.frozen import owned, sealed
from ..core.type_rules import NoClosedFormError
from ..core.validate import check_weights
from ..embedding.embedding import Embedding
from ..embedding.parts import PointPart
from ..embedding.score import Score, diagonal_share, means
from ..expected.expectations import check_noise
from ..kernels.base import Kernel
from ..kernels.gaussian import Gaussian
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..noise.normal import Normal
from ..plan.plan import serial_blas
from .base import NoiseForm, Options
from .filters import Filter
from .loocv.isotropic import PairDistances
from .loocv.spectral import LIMIT
from .noise_search import (
    NoiseProblem,
    ScoredNoise,
    search_diagonal,
    search_free,
    search_full,
    search_isotropic,
    search_tied,
    some_rows,
)
from .regularization import ScoreLimitError, Strength, Weighing
from .search import search_variance

SEARCHES: dict[str, Callable[[NoiseProblem], ScoredNoise]] = {
    "isotropic": search_isotropic,
    "diagonal": search_diagonal,
    "full": search_full,
    "tied": search_tied,
    "free": search_free,
}
HOST_ROWS = 1000
"""Up to this many rows on a device are fitted on the host, which takes no longer; so is any fit with a filter.

Points in host memory always are: NumPy's sums are faster there, and results are the same to the last digit.
"""


@dataclass(frozen=True)
class FittedMean:
    """What an estimator found."""

    points: Array
    """Shape (n, d)."""
    weights: Array
    """Shape (n,)."""
    noise: Noise
    constant: float
    """The mean of k(x, x)."""
    score: Score
    """Of the chosen criterion."""
    loocv: float
    """The leave-one-out score; nan where it would take too long."""
    strength: float | None = None
    """λ of the filter."""
    contraction: float = 1.0
    """r; 1 when the points were not moved."""

    def embedding(self, kernel: Kernel) -> Embedding:
        """Return the estimate."""
        points = owned(self.points, self.points)
        weights = sealed(check_weights(self.weights, points.shape[0]))
        return Embedding(kernel, (PointPart(points, like(weights, points, "float64"), self.noise),))


def choose(X: Array, kernel: Kernel, options: Options, pairs: PairDistances | None = None) -> FittedMean:
    """Return the estimate with all free parameters of ``options`` chosen; ``pairs`` has the distances of X."""
    if isinstance(options.noise, Noise):
        check_noise(options.noise, *X.shape)
    if in_host_memory(X) or X.shape[0] <= (HOST_ROWS if options.spectral is None else LIMIT):
        fitted = _chosen(as_host(X), kernel, options, pairs)
        return replace(fitted, points=X if fitted.contraction == 1.0 else like(fitted.points, X))
    return _chosen(X, kernel, options, pairs)


def _chosen(X: Array, kernel: Kernel, options: Options, pairs: PairDistances | None) -> FittedMean:
    if options.spectral is not None:
        assert not isinstance(options.noise, str)
        return _filtered(Weighing(X, kernel, options.noise or Dirac()), options.spectral, options)
    if isinstance(kernel, Gaussian):
        problem = NoiseProblem(X, kernel, options.criterion, options.scale, pairs)
        fixed = relative(options.noise, problem)
        if fixed is not None or isinstance(options.noise, str):
            return _gaussian(X, problem, options, fixed)
    return _generic(X, kernel, options)


# -- Gaussian kernels: everything in units of θ and in logarithms ------------------------------------------------------


def _gaussian(X: Array, problem: NoiseProblem, options: Options, fixed: ScoredNoise | None) -> FittedMean:
    with serial_blas:
        choice = fixed or SEARCHES[options.contraction or str(options.noise)](problem)
        scale = choice.terms.best_scale(options.scale)
        center = namespace(X).mean(X, axis=0)
        r = float(choice.contraction)
        by_loocv = options.criterion == "loocv"
        return FittedMean(
            points=X if r == 1.0 else sealed(center + r * (X - center)),
            weights=np.full(X.shape[0], scale / X.shape[0]),
            noise=noise_of(problem, choice, options.noise),
            constant=1.0,
            score=choice.score,
            loocv=(choice.score if by_loocv else problem.rescored(choice, "loocv", scale)).value,
            strength=_strength(scale, options),
            contraction=r,
        )


def noise_for(n: int, X: Array, kernel: Kernel, options: Options) -> tuple[Noise, float]:
    """Return the noise and the contraction chosen for a sample of ``n`` rows in some of them, ``X``."""
    if isinstance(kernel, Gaussian):
        problem = NoiseProblem(X, kernel, options.criterion, options.scale, n=n)
        choice = SEARCHES[options.contraction or str(options.noise)](problem)
        return noise_of(problem, choice, options.noise), choice.contraction
    sums = partial(means, kernel, X, alpha=diagonal_share(n, options.criterion))
    variance, form = float(column_variances(X).mean()), cast("NoiseForm", options.noise)
    return search_variance(variance, _family(X, form), sums, sums, options.scale).noise, 1.0


def relative(noise: NoiseForm | Noise | None, problem: NoiseProblem) -> ScoredNoise | None:
    """Return the score of a fixed noise that all points share, when it is Gaussian or none."""
    if noise is None or isinstance(noise, Dirac):
        return problem.without()
    if not isinstance(noise, Normal) or noise.per_point is not None:
        return None
    if noise.form != "full":
        return problem.at(noise.variances(problem.dim) / problem.bandwidths**2)
    values, vectors = np.linalg.eigh(noise.covariance / np.outer(problem.bandwidths, problem.bandwidths))
    return problem.at(np.maximum(values, 0.0), vectors)


def noise_of(problem: NoiseProblem, choice: ScoredNoise, noise: NoiseForm | Noise | None) -> Noise:
    """Return the chosen noise in the units of the data."""
    if not isinstance(noise, str):
        return noise or Dirac()
    if choice.vectors is not None or noise == "full":
        vectors = np.eye(problem.dim) if choice.vectors is None else choice.vectors
        covariance = (vectors * choice.noise) @ vectors.T * np.outer(problem.bandwidths, problem.bandwidths)
        return Normal((covariance + covariance.T) / 2)
    variances = choice.noise * problem.bandwidths**2
    return Normal.diagonal(variances) if noise == "diagonal" else Normal(float(variances[0]))


def _strength(scale: float, options: Options) -> float | None:
    """Return λ with scale = 1/(1+λ), None without a filter."""
    if options.filter is None:
        return None
    return 1.0 / scale - 1.0 if scale > 0 else math.inf


# -- other kernels and noises: sums of L and Q ------------------------------------------------------------------------


def _generic(X: Array, kernel: Kernel, options: Options) -> FittedMean:
    alpha = diagonal_share(X.shape[0], options.criterion)
    if isinstance(options.noise, str):
        exact, coarse = (partial(means, kernel, rows, alpha=alpha) for rows in (X, some_rows(X)))
        variance = float(column_variances(X).mean())
        try:
            chosen = search_variance(variance, _family(X, options.noise), exact, coarse, options.scale)
        except NoClosedFormError as reason:
            raise NoClosedFormError(
                f"noise={options.noise!r} searches a variance by closed forms, which {kernel!r} has not; pass a noise "
                "that you choose to KernelMean, such as noise=noise.Sampled(noise.Normal.isotropic(0.1), n_samples=256)"
            ) from reason
        noise, averages = chosen.noise, chosen.means
    else:
        noise = options.noise or Dirac()
        averages = means(kernel, X, noise, alpha)
    scale = averages.best_scale(options.scale)
    by_risk, score = options.criterion == "risk", averages.score(scale)
    loocv = means(kernel, X, noise, diagonal_share(X.shape[0], "loocv")) if by_risk else averages
    return FittedMean(
        points=X,
        weights=np.full(X.shape[0], scale / X.shape[0]),
        noise=noise,
        constant=averages.constant,
        score=replace(score, constant=0.0) if by_risk else score,
        loocv=loocv.score(scale).value,
        strength=_strength(scale, options),
    )


def _family(X: Array, form: NoiseForm) -> Callable[[float], Noise]:
    """Return Normal noises as a function of one parameter: σ², or the factor of the sample covariance."""
    if form == "isotropic":
        return Normal
    whole = covariance(X)
    unit = whole / max(float(np.trace(whole)) / X.shape[1], 1e-300)
    return lambda variance: Normal(variance * unit)


# -- spectral filters -------------------------------------------------------------------------------------------------


def _filtered(weighing: Weighing, filter_: Filter, options: Options) -> FittedMean:
    if options.strength is not None:
        try:
            strength = weighing.at(filter_, options.strength)
        except ScoreLimitError:
            strength = Strength(options.strength, Score(math.nan, 0, -math.inf))
    else:
        strength = weighing.best_printed() if options.criterion == "printed" else weighing.best(filter_)
    by_loocv = options.criterion == "loocv"
    return FittedMean(
        points=weighing.X,
        weights=weighing.weights(filter_, strength.value),
        noise=weighing.noise,
        constant=weighing.constant,
        score=strength.score,
        loocv=(strength.score if by_loocv else weighing.at(filter_, strength.value).score).value,
        strength=strength.value,
    )
