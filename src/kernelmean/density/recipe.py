"""One fit with all settings fixed, from points to a mixture; and its trials on held-out rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from ..core.array import Array
from ..core.simplex_qp import solve_simplex_qp
from ..embedding.embedding import Embedding, embed
from ..estimators import NAMED, KernelMean
from ..estimators.loocv.isotropic import PairDistances
from ..kernels.base import Kernel
from .joint import CovarianceType, Descent, ParameterLayout, Watch, descend
from .mixture import Bumps, GaussianMixture
from .objective import MatchingObjective, weights_problem
from .prototypes import KMeansPrototypes, lift
from .sample import Sample

Update = Literal["weights", "all"]
_TOL = 1e-10
"""A joint fit has converged when a step gains less than this share of the objective at the start."""
PATIENCE = 50
"""A fit is stopped when so many steps have not improved the score of the held-out rows."""


@dataclass(frozen=True)
class Recipe:
    """The options of a fit that do not depend on the data."""

    estimator: Any
    update: Update
    covariance_type: CovarianceType
    n_components: int
    prototypes: KMeansPrototypes | GaussianMixture
    max_iter: int
    seed: int

    def start(self, sample: Sample) -> GaussianMixture:
        """Return the prototypes: the ones passed, or k-means clusters of a sample."""
        p = self.prototypes
        if isinstance(p, GaussianMixture):
            return replace(p, covariances=lift(p.covariances, sample.floor))
        return p.of(sample, self.n_components, self.covariance_type, sample.floor, self.seed)

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
            weights = solve_simplex_qp(gram, linear)
            values = [w @ (gram @ w - 2.0 * linear) for w in (start.weights, weights)]
            return Descent(replace(start, weights=weights), np.array(values), True)
        layout = ParameterLayout(
            self.covariance_type, len(start.weights), start.means.shape[1], floor, length_unit(start)
        )
        limit = self.max_iter if n_iter is None else n_iter
        return descend(MatchingObjective(target), layout, start, limit, _TOL, watch)

    def trials(
        self, sample: Sample, targets: Iterable[tuple[float, Embedding]], held: Sample, early_stopping: bool
    ) -> list[Trial]:
        """Return how every target, with its factor, does on held-out rows; with early stopping, at its best step."""
        start, stops = self.start(sample), early_stopping and self.update == "all"
        trials = []
        for factor, target in targets:
            watch = Stopper(held.points, held.weights)
            watch(0, start)
            end = self.run(target, start, sample.floor, watch=watch if stops else None).mixture
            score = watch.score if stops else float(held.weights @ end.logpdf(held.points))
            trials.append(Trial(factor, watch.step if stops else None, score))
        return trials


def length_unit(mixture: GaussianMixture) -> float:
    """Return a mixture's standard deviation, so that steps do not depend on the units of the data."""
    spread = mixture.means - mixture.weights @ mixture.means
    within = mixture.covariances if mixture.covariances.ndim == 2 else np.diagonal(mixture.covariances, 0, 1, 2)
    scale = max(float(np.abs(spread).max()), float(np.sqrt(within.max())))  # so that squares do not underflow
    variance = mixture.weights @ np.mean((spread / scale) ** 2 + within / scale**2, axis=1)
    return float(scale * np.sqrt(variance))


def _estimate(estimator: Any, X: Array, kernel: Kernel, pairs: PairDistances | None) -> Embedding:
    """Return the embedding of an estimator of any class under this kernel with its bandwidth."""
    if isinstance(estimator, KernelMean):
        return estimator.under(kernel, X, pairs)
    params = {"kernel": kernel, "bandwidth": "median"}
    known = estimator.get_params(deep=False)
    other = clone(estimator).set_params(**{name: value for name, value in params.items() if name in known})
    mu: Embedding = other.fit(X).embedding_
    return mu


def check_word(name: str, word: Any, known: tuple[str, ...]) -> Any:
    """Return an option that is one of several words."""
    if word not in known:
        raise ValueError(f"{name} is {word!r}; write one of {', '.join(map(repr, known))}")
    return word


def make_estimator(estimator: Any) -> Any:
    """Return the estimator of a name, or the one passed."""
    if isinstance(estimator, str):
        return NAMED[check_word("estimator", estimator, tuple(NAMED))]()
    if not (hasattr(estimator, "fit") and hasattr(estimator, "set_params")):
        raise TypeError(f"estimator is {estimator!r}; pass a name such as 'mkme', or km.KernelMean(...)")
    return estimator


@dataclass(frozen=True)
class Trial:
    """A bandwidth and a number of steps with their held-out score."""

    factor: float
    """θ² in units of the median squared distance; 1 for a kernel that was passed."""
    n_iter: int | None
    """The step at which to stop; None never stops."""
    score: float
    """Mean log density of the held-out rows."""


@dataclass
class Stopper:
    """Watches a descent on held-out rows, remembers the best step, and ends the descent long enough after it."""

    points: Array
    weights: Array
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
        return step - self.step >= PATIENCE
