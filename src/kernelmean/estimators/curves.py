"""The score by which parameters were chosen, along each of them, for pictures of a choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array, as_host
from ..core.frozen import Frozen
from ..core.words import listed
from ..embedding.score import Score, diagonal_share, means
from ..kernels.gaussian import Gaussian
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..noise.normal import Normal
from .base import Options, check_options
from .filters import Filter, Iterative
from .fitting import choose, relative
from .kernel_mean import KernelMean
from .loocv.pair_sums import contracted_terms
from .noise_problem import NoiseProblem
from .regularization import ITERATIONS, Weighing

_MOST_CURVES = 6
_BELOW, _ABOVE = 0.05, 5.0
"""How far a curve reaches to either side of what was chosen, as factors."""
_SMALLEST, _LARGEST = 1e-3, 3.0
"""Noise along the curve where none was chosen, in standard deviations of the column."""


@final
@dataclass(frozen=True, eq=False)
class ScoreCurve(Frozen):
    """A score along one parameter, with all others as they were chosen.

    Attributes
    ----------
    name : str
        The column of the noise; empty where the parameter belongs to all columns.
    values : array of shape (m,)
        Ascending; the chosen value is one of them, unless it is 0 or infinite.
    scores : array of shape (m,)
    chosen : float
    """

    name: str
    values: Array
    scores: Array
    chosen: float


@final
@dataclass(frozen=True, eq=False)
class ScoreCurves:
    """The score by which parameters were chosen, along each of them.

    Attributes
    ----------
    parameter : {"noise", "strength", "iterations", "contraction"}
        What was chosen: the standard deviation σ of the noise, in the units of the column; λ; the number of steps; r.
    curves : tuple of ScoreCurve
    score : float
        At the chosen parameters.
    without : float
        Without the noise, the filter or the contraction.
    criterion : {"loocv", "risk", "printed"}
    """

    parameter: str
    curves: tuple[ScoreCurve, ...]
    score: float
    without: float
    criterion: str


def score_curves(estimator: KernelMean, columns: Sequence[str] = (), *, size: int = 61) -> ScoreCurves:
    """Return the score that a fitted estimator minimized, along each parameter that it chose.

    MKME has one curve over σ. MMKME has one per column over its σ_j, with all other variances as they were chosen. The
    shrinkage estimators have one over λ or the number of steps, VPMKME one over r ("tied") or over σ at the chosen r.
    With both a noise and the filter "scale", the scale is the best one at every σ.

    Parameters
    ----------
    estimator : KernelMean
        Fitted, with a noise, a strength or a contraction that it chose.
    columns : sequence of str
        For a noise per column: which columns to show; by default the first six.
    size : int
        The number of points of a curve.

    Raises
    ------
    ValueError
        When nothing was chosen, or a column is unknown.

    Notes
    -----
    The score is evaluated once per point: O(n² d) for a noise, O(n²) for "scale" and "ridge" once the Gram matrix is
    decomposed. Xia et al. (2021), eq. (loocv).

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> found = score_curves(KernelMean(noise="diagonal").fit(X))
    >>> [curve.name for curve in found.curves], bool(found.score < found.without)
    (['x0', 'x1'], True)
    """
    check_is_fitted(estimator)
    kernel = estimator.kernel_
    options = check_options(
        estimator.noise, estimator.filter, estimator.strength, estimator.contraction, estimator.criterion, kernel
    )
    scores = _Scores(estimator, options, sample_of(estimator), size)
    if isinstance(options.noise, str):
        return scores.of_contraction() if options.contraction == "tied" else scores.of_noise(columns)
    if options.filter is not None and options.strength is None:
        return scores.of_strength(options.filter)
    raise ValueError(f"{estimator!r} chose nothing by its score; fit km.MKME(), km.MMKME(), km.SKMSE() or km.FKMSE()")


def sample_of(estimator: KernelMean) -> Array:
    """Return the rows that an estimator was fitted to, shape (n, d), before any contraction."""
    if getattr(estimator, "features_", None) is not None:
        raise ValueError(f"{estimator!r} was fitted to sums of features and kept no rows; fit a part of the rows")
    points = as_host(estimator.embedding_.points)
    if estimator.contraction_ == 1.0:
        return points
    center = points.mean(axis=0)
    return np.asarray(center + (points - center) / estimator.contraction_)


def column_names(estimator: KernelMean) -> tuple[str, ...]:
    """Return the names of the columns of the fit, or x0, x1, … where they have none."""
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)])
    return tuple(str(name) for name in names)


def chosen_columns(estimator: KernelMean, columns: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of some columns, by default of the first six.

    Raises
    ------
    ValueError
        When a column is unknown.
    """
    names = column_names(estimator)
    for name in columns:
        if name not in names:
            raise ValueError(f"there is no column {name!r}; the estimator was fitted to {listed(names)}")
    return tuple(names.index(name) for name in columns) or tuple(range(min(len(names), _MOST_CURVES)))


@dataclass(frozen=True)
class _Scores:
    """The scores of one sample."""

    estimator: KernelMean
    options: Options
    X: Array
    size: int

    def _curves(self, parameter: str, curves: Sequence[ScoreCurve], without: Score) -> ScoreCurves:
        score = self.estimator.criterion_.value
        return ScoreCurves(parameter, tuple(curves), score, without.value, self.options.criterion)

    def _curve(self, name: str, values: Array, score: Callable[[float], Score], chosen: float) -> ScoreCurve:
        return ScoreCurve(name, values, np.array([score(float(value)).value for value in values]), chosen)

    # -- noise ---------------------------------------------------------------------------------------------------------

    def of_noise(self, columns: Sequence[str]) -> ScoreCurves:
        """Return the score over σ: of each column, or of all together."""
        noise, dim = self.estimator.noise_, self.X.shape[1]
        chosen = np.sqrt(noise.variances(dim)) if isinstance(noise, Normal) else np.zeros(dim)
        score, deviations = self._score_of_noise(), self.X.std(axis=0)
        if self.options.noise == "diagonal":
            names, every = column_names(self.estimator), chosen_columns(self.estimator, columns)
            curves = [
                self._curve(names[j], self._around(chosen[j], deviations[j]), _along(score, chosen, j), chosen[j])
                for j in every
            ]
            return self._curves("noise", curves, score(0.0 * chosen))
        shape = deviations if self.options.noise == "full" else np.ones_like(deviations)
        unit = float(np.sqrt(np.mean(shape**2))) or 1.0
        sigma = float(np.sqrt(np.mean(chosen**2)))
        values = self._around(sigma, float(np.sqrt(np.mean(deviations**2))))
        curve = self._curve("", values, lambda s: score(s / unit * shape), sigma)
        return self._curves("noise", [curve], score(0.0 * chosen))

    def _around(self, chosen: float, deviation: float) -> Array:
        """Return values around the chosen one, and itself; where none was chosen, the range of the search."""
        unit = deviation or 1.0
        if chosen == 0:
            return np.geomspace(_SMALLEST, _LARGEST, self.size) * unit
        low = min(max(_BELOW * chosen, _SMALLEST * unit), 0.5 * chosen)
        return np.union1d(np.geomspace(low, max(_ABOVE * chosen, 0.5 * unit), self.size), [chosen])

    def _score_of_noise(self) -> Callable[[Array], Score]:
        """Return the score as a function of the standard deviations of the columns, shape (d,)."""
        kernel, options, r = self.estimator.kernel_, self.options, self.estimator.contraction_
        covariance = np.atleast_2d(np.cov(self.X.T, bias=True))

        def noise_of(sigma: Array) -> Noise:
            if not sigma.any():
                return Dirac()
            if options.noise == "full":
                return Normal(covariance * (np.sum(sigma**2) / np.trace(covariance)))
            return Normal.diagonal(sigma**2) if np.ptp(sigma) else Normal(float(sigma[0] ** 2))

        if not isinstance(kernel, Gaussian):
            return lambda sigma: choose(self.X, kernel, replace(options, noise=noise_of(sigma))).score
        problem = self._problem(kernel)
        if options.contraction is not None:
            return lambda sigma: _contracted(problem, r, float((sigma[0] / problem.bandwidths[0]) ** 2))

        def score(sigma: Array) -> Score:
            found = relative(noise_of(sigma), problem)
            assert found is not None, "Gaussian noise of all points has a closed form"
            return found.score

        return score

    def _problem(self, kernel: Gaussian) -> NoiseProblem:
        return NoiseProblem(self.X, kernel, self.options.criterion, self.options.scale)

    # -- contraction ---------------------------------------------------------------------------------------------------

    def of_contraction(self) -> ScoreCurves:
        """Return the score over r, where the noise restores the lost variance."""
        kernel, chosen = self.estimator.kernel_, self.estimator.contraction_
        assert isinstance(kernel, Gaussian), "others have no contraction"
        problem = self._problem(kernel)
        variance = float(problem.variances.mean())
        low = max(1.0 - 4.0 * (1.0 - chosen), 0.0) if chosen < 1.0 else 0.5
        values = np.union1d(np.linspace(max(low, 1e-3), 1.0, self.size), [chosen])
        curve = self._curve("", values, lambda r: _contracted(problem, r, (1.0 - r**2) * variance), chosen)
        return self._curves("contraction", [curve], problem.without().score)

    # -- strength ------------------------------------------------------------------------------------------------------

    def of_strength(self, filter_: Filter) -> ScoreCurves:
        """Return the score over λ, or the number of steps."""
        strength = float(self.estimator.strength_ or 0.0)
        if self.options.spectral is None:
            score = self._score_of_scale()
            curve = self._curve("", self._strengths(strength, 1.0), lambda lam: score(1.0 / (1.0 + lam)), strength)
            return self._curves("strength", [curve], score(1.0))
        assert not isinstance(self.options.noise, str)
        weighing = Weighing(self.X, self.estimator.kernel_, self.options.noise or Dirac())
        path = weighing.printed_path if self.options.criterion == "printed" else partial(weighing.path, filter_)
        steps = isinstance(filter_, Iterative)
        values = np.arange(1.0, ITERATIONS + 1) if steps else self._strengths(strength, float(weighing.n))
        found = path(values)
        curve = ScoreCurve("", values, np.array([one.score.value for one in found]), strength)
        without = found[-1] if steps else path(np.array([1e-9 * weighing.constant]))[0]
        return self._curves("iterations" if steps else "strength", [curve], without.score)

    def _strengths(self, chosen: float, largest: float) -> Array:
        if 0 < chosen < math.inf:
            return np.union1d(np.geomspace(1e-2 * chosen, 1e2 * chosen, self.size), [chosen])
        return np.geomspace(1e-4, 1e2, self.size) * largest

    def _score_of_scale(self) -> Callable[[float], Score]:
        """Return the score as a function of the factor of all weights."""
        kernel, noise = self.estimator.kernel_, self.estimator.noise_
        if isinstance(kernel, Gaussian):
            problem = self._problem(kernel)
            found = relative(noise, problem)
            if found is not None:
                return lambda scale: found.terms.score(scale, constant=problem.constant)
        criterion = self.options.criterion
        sums = means(kernel, self.X, noise, diagonal_share(len(self.X), criterion))
        constant = 0.0 if criterion == "risk" else sums.constant
        return lambda scale: replace(sums.score(scale), constant=constant)


def _along(score: Callable[[Array], Score], chosen: Array, j: int) -> Callable[[float], Score]:
    return lambda sigma: score(np.where(np.arange(len(chosen)) == j, sigma, chosen))


def _contracted(problem: NoiseProblem, r: float, noise: float) -> Score:
    """Return the score of a contraction with a noise in units of θ²."""
    terms = contracted_terms(problem.spanned[0], r, noise, problem.alpha, problem.n, problem.dim)
    return terms.score(problem.scale, constant=problem.constant)
