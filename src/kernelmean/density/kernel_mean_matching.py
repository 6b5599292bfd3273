"""Density estimation by kernel mean matching, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, field
from inspect import signature
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array
from ..core.frozen import FrozenAttributes, sealed
from ..core.points import points_like
from ..core.validate import check_integer, check_points, names_in, on_host, validated
from ..core.words import refuse
from ..embedding.embedding import Embedding
from ..estimators.loocv.isotropic import PairDistances
from ..kernels.bandwidth import bandwidth_from
from ..kernels.base import Kernel, check_kernel
from ..kernels.gaussian import Gaussian
from .joint import COVARIANCE_TYPES, CovarianceType, given_mixture, n_free, public_covariances, warn_of
from .mixture import GaussianMixture
from .prototypes import KMeansPrototypes
from .recipe import Recipe, Trial, Update, check_word, make_estimator
from .sample import Sample, split, unlike_scales

FACTORS = (0.1, 0.3, 1.0, 3.0)
"""The candidates for θ², in units of the median squared distance."""
_FALLBACK = "the median bandwidth is used, and a joint fit keeps its prototypes; pass kernel= and early_stopping=False"


@final
@dataclass(eq=False, repr=False)
class KernelMeanMatching(FrozenAttributes, DensityMixin, BaseEstimator):  # type: ignore[misc]
    r"""Fit the Gaussian mixture whose kernel mean is nearest to the estimated kernel mean of the data.

    .. math:: \min_{w, m, S} |\hat μ - Σ_k w_k μ[N(m_k, S_k)]|^2

    Parameters
    ----------
    n_components : int
        K.
    estimator : {"kme", "s-kmse", "f-kmse", "mkme", "mmkme", "vpmkme"} or estimator
        The estimator of μ̂. Its own kernel and bandwidth are replaced by the kernel below.
    kernel : Kernel, optional
        By default a Gaussian kernel, whose θ² is .1, .3, 1 or 3 times the median squared distance, whichever has the
        best score on held-out rows. ``Gaussian(2.0)`` sets θ in the units of X, ``Gaussian("median")`` by a rule.
        Other kernels need ``update="weights"`` and closed forms.
    update : {"all", "weights"}
        Match weights, means and covariances by gradient, or only the weights of fixed prototypes, exactly.
    covariance_type : {"spherical", "diag", "tied", "full"}
    prototypes : KMeansPrototypes or tuple (means, covariances), optional
        Where to start: clusters by other rules than the default ones, or these components; shapes as in ``means_`` and
        ``covariances_``.
    early_stopping : bool
        Stop a joint fit at the step that is best on held-out training rows, then fit all rows for as many steps.
    max_iter : int
        The largest number of steps of a joint fit.
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
        The bandwidths tried on held-out rows, with their scores.
    validation_score_ : float
        The best of these scores; nan when nothing was held out.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A joint step costs O(n K d + K² d) for spherical and diagonal covariances, O(n K d² + K² d³) for others. Joint fits
    that are not stopped can collapse on few rows: with KME as the target, components become ever narrower.
    A fifth of the rows is held out, where a bandwidth or a step is to be chosen. No variance is below one hundredth of
    the mean variance of the columns. To choose among numbers of components or covariances, take scikit-learn's
    ``GridSearchCV``. ``sample_weight`` multiplies the weights of the estimate; the parameters that the estimator
    searches are found on unweighted rows.
    Song et al. (2008), eqs. (6), (8); Xia et al. (2021), section "Kernel Density Estimation".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> mix = KernelMeanMatching(n_components=3, random_state=0).fit(X)
    >>> float(mix.weights_.sum().round(6)), mix.sample(5).shape
    (1.0, (5, 2))
    """

    n_components: int = 10
    _: KW_ONLY
    estimator: Any = "mkme"
    kernel: Kernel | None = None
    update: Update = "all"
    covariance_type: CovarianceType = "spherical"
    prototypes: KMeansPrototypes | tuple[Any, Any] | None = None
    early_stopping: bool = True
    max_iter: int = 1000
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
        if message := unlike_scales(X, names_in(self)):
            warnings.warn(message, UserWarning, stacklevel=2)
        sample = Sample.of(X, sample_weight)
        recipe, rng = self._prepare()
        self.trials_, pairs = [], None
        best = Trial(1.0, None, np.nan)
        if self.kernel is None or (self.early_stopping and self.update == "all"):
            self.trials_, pairs = self._trials(recipe, sample, rng)
            best = self._best(Trial(1.0, 0, np.nan))
            if not self.trials_:
                warnings.warn(f"{len(X)} rows are too few to hold some out; {_FALLBACK}", UserWarning, stacklevel=2)
        if self.kernel is not None:
            kernel = check_kernel(self.kernel).resolved(sample.points)
        else:
            kernel = Gaussian(np.sqrt(best.factor) * np.asarray(bandwidth_from(sample.points, "median")))
        return self._finish(recipe, sample, recipe.target(sample, kernel, pairs), best)

    def fit_embedding(self, mu: Embedding, X_val: Any = None) -> Self:
        """Match an embedding that you made elsewhere: streamed, weighted, or from another mixture.

        Parameters
        ----------
        mu : Embedding
            The target, instead of ``estimator`` and ``kernel``; prototypes are clusters of its points.
        X_val : array of shape (m, d), optional
            Rows that are not in the embedding: with ``early_stopping``, they choose the step at which to stop. Without
            them, a joint fit is not stopped early.

        Raises
        ------
        ValueError
            When no weight is positive, or you passed an option that has no effect for an embedding.
        TypeError
            When there is no closed form for the embedding's kernel and noise.
        """
        self._refuse("the embedding has its own kernel and estimate", "estimator", "kernel")
        sample = Sample.of_embedding(mu)
        recipe, _ = self._prepare()
        self.n_features_in_ = sample.points.shape[1]
        self.trials_ = []
        if X_val is not None:
            held = Sample.of(points_like(X_val, mu.names, "X_val", "the embedding"))
            self.trials_ = recipe.trials(sample, [(1.0, mu)], held, self.early_stopping)
        return self._finish(recipe, sample, mu, self._best(Trial(1.0, None, np.nan)))

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
        """Return the prototypes from which a fit to the rows of ``X`` starts."""
        return self._prepare()[0].start(Sample.of(check_points(X), sample_weight))

    def _prepare(self) -> tuple[Recipe, np.random.Generator]:
        """Check the options; return them as a recipe, with a generator that draws the rows to hold out."""
        check_word("update", self.update, ("all", "weights"))
        covariance_type = check_word("covariance_type", self.covariance_type, COVARIANCE_TYPES)
        n_components = check_integer(self.n_components, "n_components", 1)
        max_iter = check_integer(self.max_iter, "max_iter", 1)
        if self.update == "weights":
            self._refuse("update='weights' solves for the weights in one step", "early_stopping", "max_iter")
        prototypes: Any = KMeansPrototypes() if self.prototypes is None else self.prototypes
        if not isinstance(prototypes, KMeansPrototypes):
            self._refuse("prototypes= has components", "n_components")
            means, covariances = check_points(prototypes[0], "means"), np.asarray(prototypes[1], dtype=np.float64)
            prototypes, n_components = given_mixture(means, covariances, covariance_type), len(means)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        seed, estimator = int(rng.integers(2**31)), make_estimator(self.estimator)
        return Recipe(estimator, self.update, covariance_type, n_components, prototypes, max_iter, seed), rng

    def _refuse(self, reason: str, *names: str) -> None:
        """Raise when an option was passed that has no effect."""
        defaults = {name: each.default for name, each in signature(type(self)).parameters.items()}
        refuse(reason, **{name: (getattr(self, name), defaults[name]) for name in names})

    def _trials(
        self, recipe: Recipe, sample: Sample, rng: np.random.Generator
    ) -> tuple[list[Trial], PairDistances | None]:
        """Try the bandwidths on a part of the rows; none when that part has no two different rows.

        Also return the distances of all rows. Those of the part serve all bandwidths.
        """
        fit, held = split(len(sample.points), rng)
        part = sample.take(fit)
        if len(np.unique(part.points, axis=0)) < 2:
            return [], None
        pairs = part_pairs = None
        if self.kernel is not None:
            kernels = {1.0: check_kernel(self.kernel).resolved(part.points)}
        else:
            theta = np.asarray(bandwidth_from(part.points, "median"))
            kernels = {factor: Gaussian(np.sqrt(factor) * theta) for factor in FACTORS}
            least = float(np.sqrt(min(FACTORS)) * theta)  # the smallest bandwidth to be tried
            pairs = PairDistances(sample.points[np.concatenate([fit, held])], least)
            part_pairs = pairs.leading(len(fit))
        targets = ((f, recipe.target(part, kernel, part_pairs)) for f, kernel in kernels.items())
        return recipe.trials(part, targets, sample.take(held), self.early_stopping), pairs

    def _best(self, otherwise: Trial) -> Trial:
        return max(self.trials_, key=lambda trial: trial.score, default=otherwise)

    def _finish(self, recipe: Recipe, sample: Sample, target: Embedding, best: Trial) -> Self:
        """Match all rows, for as many steps as in the best trial."""
        end = recipe.run(target, recipe.start(sample), sample.floor, best.n_iter)
        warn_of(end, recipe.n_components, None if best.n_iter is not None else self.max_iter)
        self._mixture, self.target_, self.kernel_ = end.mixture, target, target.kernel
        self.weights_, self.means_ = end.mixture.weights, end.mixture.means
        self.covariances_ = public_covariances(end.mixture.covariances, self.covariance_type)
        self.n_components_, self.bandwidth_ = len(self.weights_), getattr(target.kernel, "bandwidth", None)
        self.objective_path_, self.converged_ = sealed(end.objective), end.converged
        self.n_iter_ = len(end.objective) - 1
        self.validation_score_ = best.score
        return self
