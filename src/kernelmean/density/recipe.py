"""One fit with all settings fixed, from points to a mixture; and the choice of settings on held-out training rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from ..core.array import Array, IntArray
from ..core.simplex_qp import solve_simplex_qp
from ..core.validate import check_integer, check_points, check_positive, check_weights
from ..core.words import refuse
from ..embedding.embedding import Embedding, embed
from ..estimators import NAMED, KernelMean
from ..estimators.loocv.isotropic import PairDistances
from ..kernels.base import Kernel
from .joint import COVARIANCE_TYPES, CovarianceType, Descent, ParameterLayout, Watch, descend, given_mixture
from .mixture import Bumps, GaussianMixture
from .objective import MatchingObjective, mean_covariance, weights_problem
from .prototypes import PoolOver, kmeans_prototypes, lift

Update = Literal["weights", "all"]


@dataclass(frozen=True)
class Sample:
    """Points with positive weights that sum to one, and a known covariance of every point."""

    points: Array
    weights: Array
    spread: Array | float = 0.0

    @classmethod
    def of(cls, points: Array, weights: Any = None) -> Sample:
        """Return the points with positive weights."""
        if weights is None:
            return cls(points, np.full(len(points), 1.0 / len(points)))
        weights = check_weights(weights, len(points), "sample_weight")
        if (weights < 0).any() or weights.sum() <= 0:
            raise ValueError("sample_weight is zero everywhere, or has a negative number; pass weights ≥ 0")
        return cls(points[weights > 0], weights[weights > 0] / weights.sum())

    @classmethod
    def of_embedding(cls, mu: Embedding) -> Sample:
        """Return the points of an embedding with positive weights, and the mean covariance of their noise."""
        if not (mu.weights > 0).any():
            raise ValueError("no weight of the embedding is positive, so no mixture is near it")
        points, weights = mu.points, np.maximum(mu.weights, 0.0)
        return replace(cls.of(points, weights), spread=mean_covariance(mu))

    def take(self, index: IntArray) -> Sample:
        """Return some of the points, with weights rescaled to sum to one."""
        return replace(self, points=self.points[index], weights=self.weights[index] / self.weights[index].sum())

    @property
    def variance(self) -> float:
        """The mean variance of the columns."""
        within = np.mean(self.spread if np.ndim(self.spread) < 2 else np.diagonal(self.spread))
        return float((self.weights @ (self.points - self.weights @ self.points) ** 2).mean() + within)


@dataclass(frozen=True)
class Recipe:
    """The options of a fit that do not depend on the data."""

    estimator: Any
    update: Update
    covariance_type: CovarianceType
    variance_floor: float
    pooling: float
    ridge: float
    pool_over: PoolOver
    max_iter: int
    tol: float
    kmeans_n_init: int
    prototypes: GaussianMixture | None

    def floor(self, sample: Sample) -> float:
        """Return the smallest variance of a component."""
        return max(self.variance_floor * sample.variance, float(np.finfo(np.float64).tiny))

    def start(self, sample: Sample, n_components: int, seed: int) -> GaussianMixture:
        """Return the prototypes: the ones passed, or k-means clusters of a sample."""
        if self.prototypes is not None:
            return replace(self.prototypes, covariances=lift(self.prototypes.covariances, self.floor(sample)))
        return kmeans_prototypes(
            sample.points,
            sample.weights,
            n_components,
            self.covariance_type,
            floor=self.floor(sample),
            pooling=self.pooling,
            pool_over=self.pool_over,
            spread=self._spread(sample),
            n_init=self.kmeans_n_init,
            seed=seed,
        )

    def _spread(self, sample: Sample) -> Array | float:
        ridge = self.ridge * sample.variance
        return sample.spread + (ridge * np.eye(sample.points.shape[1]) if np.ndim(sample.spread) == 2 else ridge)

    def target(self, sample: Sample, kernel: Kernel, pairs: PairDistances | None = None) -> Embedding:
        """Return the estimated kernel mean of a sample; ``pairs`` has its distances, for use under several bandwidths.

        The estimator chooses its parameters on unweighted rows; then its weights are multiplied by the sample's.
        """
        e = self.estimator
        if isinstance(e, KernelMean) and not (e.noise or e.filter or e.contraction):
            # KME searches nothing, and its leave-one-out score, O(n² d), is not needed
            return embed(sample.points, kernel, weights=sample.weights)
        mu = _estimate(self.estimator, sample.points, kernel, pairs)
        factors = len(sample.weights) * sample.weights
        if np.ptp(factors) == 0.0:
            return mu
        if len(mu.parts) > 1 or len(mu.points) != len(factors):
            raise ValueError(f"{self.estimator!r} does not keep one weight per row, so rows cannot be weighted")
        return replace(mu, parts=(replace(mu.point_parts[0], weights=factors * mu.weights),))

    def run(
        self,
        target: Embedding,
        start: GaussianMixture,
        floor: float,
        n_iter: int | None = None,
        watch: Watch | None = None,
    ) -> Descent:
        """Match a start to a target: only the weights, exactly, or all parameters in at most ``n_iter`` steps."""
        if self.update == "weights":
            gram, linear = weights_problem(target, start)
            before = start.weights @ (gram @ start.weights - 2.0 * linear)
            solution = solve_simplex_qp(gram, linear)
            return Descent(replace(start, weights=solution.weights), np.array([before, 2.0 * solution.value]), True)
        layout = ParameterLayout(
            self.covariance_type, len(start.weights), start.means.shape[1], floor, length_unit(start)
        )
        limit = self.max_iter if n_iter is None else n_iter
        return descend(MatchingObjective(target), layout, start, limit, self.tol, watch)


def length_unit(mixture: GaussianMixture) -> float:
    """Return a mixture's standard deviation, unrounded, so that steps do not depend on the units of the data."""
    spread = mixture.means - mixture.weights @ mixture.means
    within = mixture.covariances if mixture.covariances.ndim == 2 else np.diagonal(mixture.covariances, 0, 1, 2)
    scale = max(float(np.abs(spread).max()), float(np.sqrt(within.max())))  # so that squares do not underflow
    variance = mixture.weights @ np.mean((spread / scale) ** 2 + within / scale**2, axis=1)
    return float(scale * np.sqrt(variance))


RECIPE_OPTIONS = frozenset(field.name for field in fields(Recipe))


def make_recipe(n_components: Any, *, prototypes: Any, **options: Any) -> tuple[Recipe, list[int]]:
    """Check the options of a fit; return them as a recipe, and the numbers of components to try."""
    _check_word("update", options["update"], ("all", "weights"))
    _check_word("pool_over", options["pool_over"], ("clusters", "data"))
    covariance_type = _check_word("covariance_type", options["covariance_type"], COVARIANCE_TYPES)
    counts = [check_integer(K, "n_components", 1) for K in (n_components if np.ndim(n_components) else [n_components])]
    check_at_least_one(max_iter=options["max_iter"], kmeans_n_init=options["kmeans_n_init"])
    for name, zero in (("variance_floor", False), ("pooling", True), ("ridge", True), ("tol", True)):
        options[name] = float(check_positive(options[name], name, zero=zero))
    given = None
    if prototypes is not None:
        means, covariances = check_points(prototypes[0], "means"), np.asarray(prototypes[1], dtype=np.float64)
        given, counts = given_mixture(means, covariances, covariance_type), [len(means)]
    options["estimator"] = _make_estimator(options["estimator"])
    return Recipe(prototypes=given, **options), counts


def check_at_least_one(**numbers: int) -> None:
    """Raise when a count is below one."""
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} is {number}; at least 1 is needed")


def _estimate(estimator: Any, X: Array, kernel: Kernel, pairs: PairDistances | None) -> Embedding:
    """Return the embedding of an estimator of any class under this kernel with its bandwidth."""
    if isinstance(estimator, KernelMean):
        return estimator.under(kernel, X, pairs)
    params = {"kernel": kernel, "bandwidth": "median"}
    known = estimator.get_params(deep=False)
    other = clone(estimator).set_params(**{name: value for name, value in params.items() if name in known})
    mu: Embedding = other.fit(X).embedding_
    return mu


def _check_word(name: str, word: Any, known: tuple[str, ...]) -> Any:
    if word not in known:
        raise ValueError(f"{name} is {word!r}; write one of {', '.join(map(repr, known))}")
    return word


def _make_estimator(estimator: Any) -> Any:
    if isinstance(estimator, str):
        return NAMED[_check_word("estimator", estimator, tuple(NAMED))]()
    if not (hasattr(estimator, "fit") and hasattr(estimator, "set_params")):
        raise TypeError(f"estimator is {estimator!r}; pass a name such as 'mkme', or km.KernelMean(...)")
    return estimator


def check_conflicts(model: Any) -> None:
    """Raise when an option of a ``KernelMeanMatching`` has no effect because of another one."""
    if model.kernel is not None:
        _refuse(model, f"kernel={model.kernel!r} has its bandwidth already", "bandwidth", "bandwidth_factors")
    if not (isinstance(model.bandwidth, str) and model.bandwidth == "validation"):
        _refuse(model, f"bandwidth={model.bandwidth!r} is not searched", "bandwidth_factors")
    if model.prototypes is not None:
        unused = ("n_components", "pooling", "pool_over", "ridge", "kmeans_n_init", "n_init")
        _refuse(model, "prototypes= sets the start", *unused)
    if model.update == "weights":
        reason = "update='weights' solves for the weights in one step"
        _refuse(model, reason, "early_stopping", "n_iter_no_change", "max_iter", "tol")
    if model.update == "all" and not model.early_stopping:
        _refuse(model, "early_stopping=False stops at max_iter or tol only", "n_iter_no_change")


def check_embedding_conflicts(model: Any, held_out: bool) -> None:
    """Raise when an option has no effect in a fit to an embedding, with or without ``held_out`` rows."""
    _refuse(model, "the embedding has its own kernel and estimate", "estimator", "kernel")
    _refuse(model, "the embedding has its own kernel", "bandwidth", "bandwidth_factors")
    _refuse(model, "an embedding has no rows to hold out; pass them as X_val=", "validation_fraction")
    if not held_out:
        _refuse(model, "without X_val= a joint fit is not stopped early", "n_iter_no_change")


def _refuse(model: Any, reason: str, *names: str) -> None:
    defaults = {name: each.default for name, each in signature(type(model)).parameters.items()}
    refuse(reason, **{name: (getattr(model, name), defaults[name]) for name in names})


Grid = list[tuple[int, int]]  # numbers of components with seeds of k-means


@dataclass(frozen=True)
class Trial:
    """Settings with their held-out score."""

    n_components: int
    factor: float
    """θ² in units of that of the bandwidth rule."""
    seed: int
    """Of k-means."""
    n_iter: int | None
    """The step at which to stop; None never stops."""
    score: float
    """Mean log density of the held-out rows."""


@dataclass
class Stopper:
    """Watches a descent on held-out rows, remembers the best step, and ends the descent long enough after it."""

    points: Array
    weights: Array
    patience: int
    score: float = -np.inf
    step: int = 0
    _bumps: Bumps = field(init=False)
    _origin: Array = field(init=False)

    def __post_init__(self) -> None:
        self._origin = self.points.mean(axis=0)
        self._bumps = Bumps(self.points - self._origin)

    def __call__(self, step: int, mixture: GaussianMixture) -> bool:
        """Note the score of a step; return whether to end."""
        score = float(self.weights @ mixture.logpdf_at(self._bumps, self._origin))
        if score > self.score:
            self.score, self.step = score, step
        return step - self.step >= self.patience


def split(n: int, fraction: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the rows to fit and the rows to hold out, at least one of each if n > 1."""
    held = min(max(1, round(fraction * n)), n - 1)
    order = rng.permutation(n)
    return np.sort(order[held:]), np.sort(order[:held])


def try_targets(
    recipe: Recipe,
    sample: Sample,
    targets: Iterable[tuple[float, Embedding]],
    grid: Grid,
    held: Sample,
    patience: int | None,
) -> list[Trial]:
    """Return one trial for every target (with its factor) and every start; without patience, none is stopped."""
    starts = [(K, seed, recipe.start(sample, K, seed)) for K, seed in grid]
    stops = recipe.update == "all" and patience is not None
    trials = []
    for factor, target in targets:
        for K, seed, start in starts:
            watch = Stopper(held.points, held.weights, patience or 0)
            watch(0, start)
            end = recipe.run(target, start, recipe.floor(sample), watch=watch if stops else None).mixture
            score = watch.score if stops else float(held.weights @ end.logpdf(held.points))
            trials.append(Trial(K, factor, seed, watch.step if stops else None, score))
    return trials
