"""Density estimation by kernel mean matching, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array
from ..core.frozen import FrozenAttributes, sealed
from ..core.points import points_like
from ..core.validate import check_points, names_in, on_host, validated
from ..embedding.embedding import Embedding
from ..estimators.loocv.isotropic import PairDistances
from ..kernels.bandwidth import bandwidth_from
from ..kernels.base import Kernel
from ..kernels.gaussian import Gaussian
from .joint import CovarianceType, n_free, public_covariances, warn_of
from .mixture import GaussianMixture
from .prototypes import PoolOver
from .recipe import (
    RECIPE_OPTIONS,
    Grid,
    Recipe,
    Sample,
    Trial,
    Update,
    check_at_least_one,
    check_conflicts,
    check_embedding_conflicts,
    make_recipe,
    split,
    try_targets,
)
from .units import Units, units_of, unlike_scales

FACTORS = (0.1, 0.3, 1.0, 3.0)
_FALLBACK = (
    "the median bandwidth is used, and a joint fit keeps its prototypes; pass bandwidth and early_stopping=False"
)


@final
@dataclass(eq=False, repr=False)
class KernelMeanMatching(FrozenAttributes, DensityMixin, BaseEstimator):  # type: ignore[misc]
    r"""Fit the Gaussian mixture whose kernel mean is nearest to the estimated kernel mean of the data.

    .. math:: \min_{w, m, S} |\hat μ - Σ_k w_k μ[N(m_k, S_k)]|^2

    Parameters
    ----------
    n_components : int or sequence of int
        K. If you pass several, the one with the best held-out score wins.
    estimator : {"kme", "s-kmse", "f-kmse", "mkme", "mmkme", "vpmkme"} or estimator
        The estimator of μ̂. Its own kernel and bandwidth are replaced by those below.
    kernel : Kernel, optional
        Gaussian by default; rules for bandwidths are applied to X. Other kernels need ``update="weights"`` and closed
        forms.
    bandwidth : "validation", a rule of ``km.kernels.bandwidth``, float or array of shape (d,)
        θ of the Gaussian kernel, in the units of X. "validation" tries for θ² each of ``bandwidth_factors`` times the
        median squared distance, and takes the one with the best held-out score.
    bandwidth_factors : sequence of float
    update : {"all", "weights"}
        Match weights, means and covariances by gradient, or only the weights of fixed prototypes, exactly.
    covariance_type : {"spherical", "diag", "tied", "full"}
    variance_floor : float
        Smallest variance of a component in any direction, as a share of the mean variance of the columns.
    pooling : float
        The covariance of a prototype is averaged with a pooled one, which counts as this many rows.
    pool_over : {"clusters", "data"}
        The pooled covariance: the mean within clusters, or that of all rows, which is wider and safer for discrete
        columns.
    ridge : float
        Added to the variances of k-means prototypes in every direction, as a share of the mean variance of the columns:
        with few rows in many columns, estimated covariances are too narrow in their narrow directions.
    prototypes : tuple (means, covariances), optional
        Start from these instead of k-means clusters; shapes as in ``means_`` and ``covariances_``.
    early_stopping : bool
        Stop a joint fit at the step that is best on held-out training rows, then fit all rows for as many steps.
    validation_fraction : float
        Share of the training rows to hold out, in (0, 1).
    n_iter_no_change : int
        Stop when held-out scores have not improved for this many steps.
    max_iter : int
        The largest number of steps of a joint fit.
    tol : float
        A joint fit has converged when a step lowers the objective by less than this share of its size at the start.
    n_init : int
        Number of starts, each from different k-means clusters. The best held-out score wins, or without one the lowest
        objective.
    kmeans_n_init : int
        Number of k-means runs per start.
    random_state : int, RandomState or None
        Seeds k-means, the choice of held-out rows, and ``sample``.

    Attributes
    ----------
    weights_, means_, covariances_ : array
        The mixture, read-only; shapes of covariances as in scikit-learn's ``GaussianMixture``.
    n_components_ : int
    kernel_ : Kernel
    bandwidth_ : float or array of shape (d,), or None
        θ; None for a kernel without one.
    target_ : Embedding
        μ̂, estimated on all rows.
    objective_path_ : array of shape (n_iter_ + 1,)
        :math:`|μ̂ - Σ_k w_k μ_k|^2 - |μ̂|^2` at the start and after every step; it never increases.
    n_iter_ : int
    converged_ : bool
        Whether a joint fit that was not stopped early converged.
    trials_ : list of Trial
        All settings tried on held-out rows, with their scores.
    validation_score_ : float
        The best of these scores; nan when nothing was held out.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A joint step costs O(n K d + K² d) for spherical and diagonal covariances, O(n K d² + K² d³) for others. Joint fits
    that are not stopped can collapse on few rows: with KME as the target, components become ever narrower.
    A joint fit works in units of the data, rounded to 32 binary digits of the standard deviation of every column. So
    the fit is the same whatever the units of the table; without this, its steps would amplify rounding errors more than
    a million times. ``sample_weight`` multiplies the weights of the estimate; the parameters that the estimator
    searches are found on unweighted rows.
    Song et al. (2008), eqs. (6), (8); Xia et al. (2021), section "Density Estimation".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> mix = KernelMeanMatching(n_components=3, random_state=0).fit(X)
    >>> float(mix.weights_.sum().round(6)), mix.sample(5).shape
    (1.0, (5, 2))
    """

    n_components: int | Sequence[int] = 10
    _: KW_ONLY
    estimator: Any = "mkme"
    kernel: Kernel | None = None
    bandwidth: Any = "validation"
    bandwidth_factors: Sequence[float] = FACTORS
    update: Update = "all"
    covariance_type: CovarianceType = "spherical"
    variance_floor: float = 0.01
    pooling: float = 1.0
    ridge: float = 0.0
    pool_over: PoolOver = "clusters"
    prototypes: tuple[Any, Any] | None = None
    early_stopping: bool = True
    validation_fraction: float = 0.2
    n_iter_no_change: int = 50
    max_iter: int = 1000
    tol: float = 1e-10
    n_init: int = 1
    kmeans_n_init: int = 10
    random_state: Any = None

    weights_: Array = field(init=False)
    means_: Array = field(init=False)
    covariances_: Array = field(init=False)
    n_components_: int = field(init=False)
    kernel_: Kernel = field(init=False)
    bandwidth_: Any = field(init=False)
    target_: Embedding = field(init=False)
    objective_path_: Array = field(init=False)
    n_iter_: int = field(init=False)
    converged_: bool = field(init=False)
    trials_: list[Trial] = field(init=False)
    validation_score_: float = field(init=False)
    n_features_in_: int = field(init=False)
    _mixture: GaussianMixture = field(init=False)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture to the rows of ``X``.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            At least two different rows.
        y : None
            Ignored; here for pipelines.
        sample_weight : array of shape (n,), optional
            Non-negative; rows with weight 0 are left out.

        Raises
        ------
        ValueError
            When X is not a finite table of numbers, all its rows are equal, or an option is out of range.

        Warns
        -----
        UserWarning
            When there are fewer distinct rows than components, too few rows to hold some out, or columns of very
            different scales: one bandwidth, one floor of variances and spherical components serve all columns.
        """
        del y
        X = validated(self, on_host(X), ensure_min_samples=2)
        if told := unlike_scales(X, names_in(self)):
            warnings.warn(told, UserWarning, stacklevel=2)
        given = Sample.of(X, sample_weight)
        recipe, grid, rng = self._prepare()
        units = units_of(given, recipe, self.kernel, self.bandwidth)
        sample, recipe = (given, recipe) if units is None else (units.sample(given), units.recipe(recipe))
        self.trials_, pairs = [], None
        if self._needs_validation(grid):
            self.trials_, pairs = self._trials(recipe, sample, grid, rng, units)
        best = self._best()
        if best is None and self._needs_validation(grid):
            warnings.warn(f"{len(X)} rows are too few to hold some out; {_FALLBACK}", UserWarning, stacklevel=2)
            best = Trial(grid[0][0], 1.0, grid[0][1], 0, np.nan)
        factor, theta = best.factor if best else 1.0, self._bandwidth(sample.points, units)
        target = recipe.target(sample, self._kernel(theta, factor, sample.points), pairs)
        self._finish(recipe, sample, target, grid, best)
        if units is not None:
            own = theta * units.unit if isinstance(self.bandwidth, str) else self.bandwidth
            self._convert(units, self._kernel(own, factor, X))
        return self

    def _convert(self, units: Units, kernel: Kernel) -> None:
        self.trials_ = [replace(trial, score=units.log_density_back(trial.score)) for trial in self.trials_]
        self.validation_score_ = units.log_density_back(self.validation_score_)
        self._describe(units.mixture_back(self._mixture), units.embedding_back(self.target_, kernel))

    def fit_embedding(self, mu: Embedding, X_val: Any = None) -> Self:
        """Match an embedding that you made elsewhere: streamed, weighted, or from another mixture.

        Parameters
        ----------
        mu : Embedding
            The target, instead of ``estimator``, ``kernel``, ``bandwidth``; prototypes are clusters of its points.
        X_val : array of shape (m, d), optional
            Rows that are not in the embedding: they choose the start, the number of components and, with
            ``early_stopping``, the step at which to stop. Without them, a joint fit is not stopped early.

        Raises
        ------
        ValueError
            When no weight is positive, or you passed an option that has no effect for an embedding.
        TypeError
            When there is no closed form for the embedding's kernel and noise.
        """
        check_embedding_conflicts(self, held_out=X_val is not None)
        sample = Sample.of_embedding(mu)
        recipe, grid, _ = self._prepare()
        self.n_features_in_ = sample.points.shape[1]
        self.trials_ = []
        if X_val is not None:
            held = Sample.of(points_like(X_val, mu.names, "X_val", "the embedding"))
            self.trials_ = try_targets(recipe, sample, [(1.0, mu)], grid, held, self._patience)
        return self._finish(recipe, sample, mu, grid, self._best())

    @property
    def mixture(self) -> GaussianMixture:
        """The fitted mixture as a value."""
        check_is_fitted(self)
        return self._mixture

    def score_samples(self, X: Any) -> Array:
        """Return the log density of the mixture at the rows of ``X``, shape (m,)."""
        check_is_fitted(self)
        return self._mixture.logpdf(validated(self, on_host(X), reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density at the rows of ``X``; larger is better."""
        del y
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the mixture, shape (n_samples, d)."""
        check_is_fitted(self)
        seeds = check_random_state(self.random_state if random_state is None else random_state)
        return self._mixture.sample(n_samples, np.random.default_rng(seeds.randint(2**31, size=4)))

    def bic(self, X: Any) -> float:
        """Return -2 Σ log p(x_i) + log(n) · (free parameters); smaller is better.

        Matching does not maximise the likelihood, so use this only to compare fits.
        """
        return self._penalized(X, np.log(len(X)))

    def aic(self, X: Any) -> float:
        """Return -2 Σ log p(x_i) + 2 · (free parameters); see ``bic``."""
        return self._penalized(X, 2.0)

    def _penalized(self, X: Any, price: float) -> float:
        free = n_free(self.covariance_type, *self.means_.shape)
        return float(-2.0 * self.score_samples(X).sum() + price * free)

    def embedding(self, kernel: Kernel | None = None) -> Embedding:
        """Return the embedding of the fitted mixture, by default under the kernel of the fit.

        ``(mix.embedding() - mix.target_).norm()`` is the distance that was minimised.
        """
        check_is_fitted(self)
        return self._mixture.embedding(kernel or self.kernel_)

    def start(self, X: Any, sample_weight: Any = None) -> GaussianMixture:
        """Return the prototypes from which a fit to the rows of ``X`` starts (for the first start and the first K)."""
        recipe, grid, _ = self._prepare()
        sample = Sample.of(check_points(X), sample_weight)
        units = units_of(sample, recipe, self.kernel, self.bandwidth)
        if units is None:
            return recipe.start(sample, *grid[0])
        return units.mixture_back(units.recipe(recipe).start(units.sample(sample), *grid[0]))

    def _prepare(self) -> tuple[Recipe, Grid, np.random.Generator]:
        """Check the options; return them as values, with the pairs of K and seed to try, and a generator."""
        check_conflicts(self)
        options = {key: value for key, value in self.get_params(deep=False).items() if key in RECIPE_OPTIONS}
        recipe, counts = make_recipe(self.n_components, **options)
        check_at_least_one(n_init=self.n_init, n_iter_no_change=self.n_iter_no_change)
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction is {self.validation_fraction}; pass a number between 0 and 1")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        seeds = [int(seed) for seed in rng.integers(2**31, size=self.n_init)]
        return recipe, [(K, seed) for K in counts for seed in seeds], rng

    @property
    def _patience(self) -> int | None:
        return self.n_iter_no_change if self.early_stopping else None

    @property
    def _searches_bandwidth(self) -> bool:
        return self.kernel is None and isinstance(self.bandwidth, str) and self.bandwidth == "validation"

    def _needs_validation(self, grid: Grid) -> bool:
        stops = self.early_stopping and self.update == "all"
        return stops or self._searches_bandwidth or len({K for K, _ in grid}) > 1

    def _trials(
        self, recipe: Recipe, sample: Sample, grid: Grid, rng: np.random.Generator, units: Units | None
    ) -> tuple[list[Trial], PairDistances | None]:
        """Try all settings on a part of the rows; none when that part has no two different rows.

        Also return the distances of all rows: one pass serves all bandwidths, for the part and for all rows.
        """
        fit, held = split(len(sample.points), self.validation_fraction, rng)
        part = sample.take(fit)
        if len(np.unique(part.points, axis=0)) < 2:
            return [], None
        factors = self.bandwidth_factors if self._searches_bandwidth else (1.0,)
        theta = self._bandwidth(part.points, units)
        pairs = None
        if self.kernel is None and np.ndim(theta) == 0:  # for the smallest bandwidth to be tried
            least = float(np.sqrt(min(factors)) * theta)
            pairs = PairDistances(sample.points[np.concatenate([fit, held])], least, len(fit))
        first = pairs and pairs.first
        targets = ((float(f), recipe.target(part, self._kernel(theta, f, part.points), first)) for f in factors)
        return try_targets(recipe, part, targets, grid, sample.take(held), self._patience), pairs

    def _best(self) -> Trial | None:
        return max(self.trials_, key=lambda trial: trial.score, default=None)

    def _bandwidth(self, points: Array, units: Units | None) -> Any:
        """Return θ before any factor; None when a kernel was passed."""
        if self.kernel is not None:
            return None
        if units is not None and not isinstance(self.bandwidth, str):
            return units.length(self.bandwidth)
        return bandwidth_from(points, "median" if self._searches_bandwidth else self.bandwidth)

    def _kernel(self, theta: Any, factor: float, points: Array) -> Kernel:
        """Return the kernel passed, its rules applied to these rows, or a Gaussian one with θ² times a factor."""
        return Gaussian(np.sqrt(factor) * np.asarray(theta)) if self.kernel is None else self.kernel.resolved(points)

    def _finish(self, recipe: Recipe, sample: Sample, target: Embedding, grid: Grid, best: Trial | None) -> Self:
        """Match all rows: the best trial's start for as many steps, or every start, keeping the nearest fit."""
        pairs = grid if best is None else [(best.n_components, best.seed)]
        floor, n_iter = recipe.floor(sample), best.n_iter if best else None
        ends = [recipe.run(target, recipe.start(sample, K, seed), floor, n_iter) for K, seed in pairs]
        end = min(ends, key=lambda descent: float(descent.objective[-1]))
        warn_of(end, pairs[0][0], None if n_iter is not None else self.max_iter)
        self._describe(end.mixture, target)
        self.objective_path_, self.converged_ = sealed(end.objective), end.converged
        self.n_iter_ = len(end.objective) - 1
        self.validation_score_ = best.score if best else np.nan
        return self

    def _describe(self, mixture: GaussianMixture, target: Embedding) -> None:
        self._mixture, self.target_, self.kernel_ = mixture, target, target.kernel
        self.weights_, self.means_ = mixture.weights, mixture.means
        self.covariances_ = public_covariances(mixture.covariances, self.covariance_type)
        self.n_components_, self.bandwidth_ = len(self.weights_), getattr(target.kernel, "bandwidth", None)
