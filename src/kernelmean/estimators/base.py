"""What all estimators share: options checked before any work; ``fit``, densities and samples as in scikit-learn.

An estimator is a subclass of ``MeanEstimator``: those of the paper are in ``kernel_mean.py``.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array, as_host, like, mean_of
from ..core.frozen import FrozenAttributes
from ..core.table import Table
from ..core.validate import (
    check_positive,
    check_positive_number,
    check_spread,
    check_varying,
    name_columns,
    names_in,
    validated,
)
from ..core.words import refuse
from ..embedding.embedding import Embedding
from ..embedding.score import Criterion
from ..kernels.any_kernel import Precomputed, as_kernel
from ..kernels.bandwidth import bandwidth_from, median_bandwidth
from ..kernels.base import Kernel, Stationary
from ..kernels.gaussian import Gaussian
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import Plan, RemotePlan, check_plan, run_by
from .filters import Filter, Ridge, Scale

NoiseForm = Literal["isotropic", "diagonal", "full"]
Contraction = Literal["tied", "free"]
NOISE_FORMS = ("isotropic", "diagonal", "full")
KernelLike = Kernel | str | type[Kernel] | Callable[[Any, Any], Any]
"""A kernel, a class with a bandwidth, a function k(X, Y), "gaussian", or "precomputed" for Gram matrices."""


@dataclass(frozen=True)
class Options:
    """One combination of noise, filter and contraction, with the way its parameters are chosen."""

    noise: NoiseForm | Noise | None
    filter: Filter | None
    strength: float | None  # None: chosen
    contraction: Contraction | None
    criterion: Criterion

    @property
    def scale(self) -> float | None:
        """The factor of all weights: 1 without a filter, 1/(1+λ) with a scale, None when it is to be chosen."""
        if not isinstance(self.filter, Scale):
            return 1.0
        return None if self.strength is None else 1.0 / (1.0 + self.strength)

    @property
    def spectral(self) -> Filter | None:
        """The filter when it acts on eigenvalues; None without a filter or with a plain scale."""
        return None if isinstance(self.filter, Scale) else self.filter

    def check_contraction(self, kernel: Kernel) -> None:
        """Raise when a contraction does not go with the other options, or with the kernel."""
        if self.contraction not in ("tied", "free"):
            raise ValueError(f"contraction is {self.contraction!r}; write None, 'tied' or 'free'")
        if self.noise != "isotropic":
            raise ValueError(
                f"noise is {self.noise!r}, but a contraction restores the lost variance as isotropic noise; write "
                "noise='isotropic'"
            )
        if self.criterion != "loocv":
            raise ValueError(
                "a contraction moves the mean with every point, so it has no risk estimate; write criterion='loocv'"
            )
        if self.spectral is not None:
            raise ValueError(f"filter is {self.filter!r}; with a contraction, write filter=None or 'scale'")
        if not isinstance(kernel, Gaussian) or np.ndim(kernel.bandwidth) > 0:
            raise ValueError(
                f"a contraction needs a Gaussian kernel with one bandwidth for all columns, not {kernel!r}"
            )

    def check_spectral(self) -> None:
        """Raise when the other options do not go with a filter that acts on eigenvalues."""
        if self.noise in NOISE_FORMS:
            raise ValueError(
                f"{self.filter!r} acts on a Gram matrix, which a search for the noise would change at every step; "
                "pass a fixed noise such as Normal(0.1), or filter='scale', which is searched jointly"
            )
        if self.criterion == "risk":
            raise ValueError(f"there is no unbiased risk estimate for {self.filter!r}; write criterion='loocv'")
        if self.criterion == "printed" and not (self.noise is None or isinstance(self.noise, Dirac)):
            raise ValueError("the printed score is for points without noise; write noise=None")
        if self.strength == 0:
            raise ValueError("strength is 0; a spectral filter needs a positive one; write filter=None for no filter")


def check_options(noise: Any, filter_: Any, strength: Any, contraction: Any, criterion: Any, kernel: Kernel) -> Options:
    """Return the options, or say which combination is missing and what to write instead."""
    if criterion not in ("loocv", "risk", "printed"):
        raise ValueError(f"criterion is {criterion!r}; write 'loocv', 'risk' or 'printed'")
    if not (noise is None or isinstance(noise, Noise) or noise in NOISE_FORMS):
        raise ValueError(
            f"noise is {noise!r}; write None, 'isotropic', 'diagonal', 'full', or a value of kernelmean.noise"
        )
    if isinstance(strength, str) and strength != "loocv":
        raise ValueError(f"strength is {strength!r}; write 'loocv' or a number")
    if isinstance(kernel, Precomputed) and not (noise is None or isinstance(noise, Dirac)):
        raise ValueError(
            f"noise is {noise!r}, and a Gram matrix has no points to add it to; write noise=None, as in KME()"
        )
    number = None if isinstance(strength, str) else check_positive_number(strength, "strength", zero=True)
    options = Options(noise, as_filter(filter_), number, contraction, criterion)
    if options.strength is not None and options.filter is None:
        raise ValueError(f"strength is {strength!r}, but there is no filter; write filter='scale' or 'ridge'")
    if options.contraction is not None:
        options.check_contraction(kernel)
    if options.spectral is not None:
        options.check_spectral()
    if criterion == "printed" and not (isinstance(options.filter, Ridge) and isinstance(kernel, Stationary)):
        raise ValueError(
            "the printed score is that of filter='ridge' with a stationary kernel; write criterion='loocv'"
        )
    if options.noise == "diagonal" and not isinstance(kernel, Gaussian):
        raise ValueError(
            f"a noise per column is searched by gradient, which exists for Gaussian kernels only, not for {kernel!r}; "
            "use noise='isotropic', noise='full', or a fixed noise such as Normal.diagonal(e)"
        )
    return options


def is_precomputed(kernel: Any) -> bool:
    """Return whether a kernel is the name that stands for a Gram matrix in place of rows."""
    return isinstance(kernel, str) and kernel == "precomputed"


def make_kernel(
    kernel: KernelLike, bandwidth: Any, X: Array, bandwidth_of: Callable[[Array, str], Any] = bandwidth_from
) -> Kernel:
    """Return the kernel: the value passed, its rules applied to ``X``, or a family with a bandwidth for ``X``."""
    kernel = kernel if isinstance(kernel, str) else as_kernel(kernel)
    if isinstance(kernel, Kernel):
        refuse(f"kernel={kernel!r} has its bandwidth already", bandwidth=(bandwidth, "median"))
        return kernel.resolved(X, bandwidth_of)
    if is_precomputed(kernel):
        raise ValueError(
            "kernel is 'precomputed', and this needs rows with columns; tests and KernelMean take Gram matrices"
        )
    family: Any = {"gaussian": Gaussian}.get(kernel) if isinstance(kernel, str) else kernel
    if not callable(family):
        raise ValueError(  # noqa: TRY004 (mostly a name that is none)
            f"kernel is {kernel!r}; write 'gaussian', a class such as kernels.Laplacian, a Kernel or a function k(X, Y)"
        )
    theta = bandwidth_of(X, bandwidth)
    check_positive(theta, "bandwidth")
    try:
        made: Kernel = family(theta)
    except TypeError as error:
        name = getattr(family, "__name__", repr(family))
        raise TypeError(
            f"kernel is {name}, which needs more than a bandwidth ({error}); pass a value, such as "
            "kernels.Matern(1.5, 'median')"
        ) from error
    return made


_FILTERS: dict[str, Filter] = {"scale": Scale(), "ridge": Ridge()}


def as_filter(value: Any) -> Filter | None:
    """Return the filter of a name, the filter itself, or None."""
    if value is None or isinstance(value, Filter):
        return value
    if isinstance(value, str) and value in _FILTERS:
        return _FILTERS[value]
    raise ValueError(
        f"filter is {value!r}; write None, 'scale', 'ridge', or a value of kernelmean.estimators.filters, "
        "such as IteratedRidge(3), Landweber(), NuMethod(), Cutoff()"
    )


WIDE = 0.05  # θ² in units of the median squared distance, above which the noise is too small for a density


def _density_exists(estimator: MeanEstimator) -> bool:
    reason = estimator._no_density()
    if reason:
        raise AttributeError(f"this estimate has no density, {reason}")
    return True


class MeanEstimator(FrozenAttributes, BaseEstimator):  # type: ignore[misc]
    """An estimator that fits an embedding to a sample. Abstract: subclasses say how."""

    embedding_: Embedding
    kernel_: Kernel
    noise_: Noise
    weights_: Array
    bandwidth_: Any
    n_features_in_: int
    _anywhere: ClassVar[bool] = False  # whether arrays of other libraries are fitted where they are, or as NumPy's

    def fit(self, X: Any, y: Any = None, *, plan: Plan | RemotePlan | None = None) -> Self:
        """Estimate the kernel mean of the distribution that the rows of ``X`` come from.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            At least two rows. :class:`KernelMean` also takes whatever :func:`kernelmean.read` takes (files, folders,
            batches), and, where it searches no noise, sums: an embedding by features from
            ``features.embed(X, features, moments=True)``. It fits arrays of torch, or of another library with the
            array API, on their device.
        y : None
            Ignored; here for pipelines.
        plan : Plan or DaskPlan, optional
            How to run the sums over pairs, also those of ``embedding_``: threads, tiles. On a cluster, pass X as a
            dask array, a dask data frame or a folder of Parquet files; see :class:`kernelmean.DaskPlan`.

        Raises
        ------
        ValueError, TypeError
            When X is not a finite table of numbers (no text, dates or masked cells), or options do not go together.
        """
        del y
        plan = check_plan(plan)
        if isinstance(plan, RemotePlan):
            plan.fit(self, X)
        else:
            self._fit_here(X, plan)
        self.kernel_, self.noise_ = self.embedding_.kernel, self.embedding_.noise
        return self

    def _fit_here(self, X: Any, plan: Plan) -> None:
        points = validated(self, X, ensure_min_samples=2)
        if isinstance(X, Table):
            self.name_columns(X.names, named=X.named)
        points = points if self._anywhere else as_host(points)
        check_spread(points)
        with run_by(plan):
            self._estimate(points)
        self.weights_ = self.embedding_.weights
        names = None if isinstance(self.embedding_.kernel, Precomputed) else names_in(self)
        self.embedding_ = replace(self.embedding_, names=names, plan=plan)

    def name_columns(self, names: Sequence[str], *, named: bool = True) -> None:
        """Set the attributes that scikit-learn keeps about the columns of a fit."""
        name_columns(self, names, named=named)

    @abstractmethod
    def _estimate(self, X: Array) -> None:
        """Set ``embedding_`` and what else was learned from finite points, shape (n, d)."""

    def evaluate(self, Z: Any) -> Array:
        """Return the estimated kernel mean μ(z) at the rows of ``Z``, shape (m,), in O(n m d) time.

        After ``kernel="precomputed"``, Z is the matrix k(z_j, x_i), shape (m, n), of new rows and those of the fit.
        """
        Z = self._check(Z)
        values: Array = Z @ self.weights_ if isinstance(self.kernel_, Precomputed) else self.embedding_(Z)
        return values

    @abstractmethod
    def _no_density(self) -> str:
        """Return why the options rule out a density and what to do, or nothing when they do not."""

    @available_if(_density_exists)  # type: ignore[untyped-decorator]
    def score_samples(self, Z: Any) -> Array:
        r"""Return the log density of the marginalized estimate, :math:`\log Σ_i β_i v(z|x_i) / Σ_i β_i`.

        Parameters
        ----------
        Z : array of shape (m, d)

        Returns
        -------
        array of shape (m,)

        Raises
        ------
        AttributeError
            Without noise, or with a filter that may make weights negative: then the method does not exist.
        ValueError
            When a variance was chosen to be 0, or the noise was chosen for data with a constant column.

        Warns
        -----
        UserWarning
            When the kernel is wide: θ² above 0.05 of the median squared distance. A wide kernel does not see small
            scales: at the median bandwidth, the chosen noise is 10 to 70 times too small for a density. Fit with
            ``bandwidth="likelihood"`` instead. It never warns: if that kernel is wide, the likelihood chose it.

        Notes
        -----
        A row of the fit lies on top of its own bump of the density, so its score is too high, the more so in many
        columns. For the usual scores, as for a threshold of unusual rows, score rows that were not in the fit.
        """
        Z = self._check(Z)
        self._check_density()
        return self.embedding_.logpdf(Z)

    def score(self, X: Any, y: Any = None) -> float:
        r"""Return how well the estimate fits new data; larger is better.

        With a density, it is the mean log density at the rows of ``X``. Without one, it is minus the mean squared
        distance :math:`|k(x, ·) - \hat μ|^2` in the RKHS. Compare it only between estimates that both have a
        density, or that both have none and the same kernel: a wider kernel gives smaller distances.
        """
        del y
        if not self._no_density():
            return mean_of(self.score_samples(X))
        X, mu = self._check(X), self.embedding_
        return 2 * mean_of(mu(X)) - mu @ mu - mean_of(mu.kernel.diag(X))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the estimate, points by their weights with noise added; shape (n_samples, d).

        Raises
        ------
        ValueError
            When a weight is negative, or the rows were a Gram matrix.
        """
        check_is_fitted(self)
        if isinstance(self.kernel_, Precomputed):
            raise ValueError(  # noqa: TRY004 (of the estimate)
                "rows are drawn from points, and this estimate has a Gram matrix; draw numbers of its rows"
            )
        if not isinstance(random_state, np.random.Generator):
            random_state = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
        return self.embedding_.sample(n_samples, random_state)

    def _check(self, Z: Any) -> Array:
        check_is_fitted(self)
        return validated(self, Z, reset=False)

    def _check_density(self) -> None:
        searched = isinstance(getattr(self, "noise", None), str)
        if searched:
            check_varying(self.embedding_.points, "there is no density along it", "the data of fit")
        covariance = getattr(self.noise_, "covariance", None)
        if covariance is not None and np.min(np.linalg.eigvalsh(self.noise_.matrices(self.n_features_in_))) <= 0:  # type: ignore[attr-defined]
            raise ValueError(
                "the chosen noise has variance 0 in a direction, so the estimate has no density; drop constant "
                "columns, or fit with bandwidth='likelihood'"
            )
        if not by_likelihood(getattr(self, "bandwidth", None)):
            self._warn_if_wide()

    def _warn_if_wide(self) -> None:
        """Warn where θ² is large beside the squared distances of the points before a contraction."""
        if not isinstance(self.kernel_, Gaussian):
            return
        points = self.embedding_.points / getattr(self, "contraction_", 1.0)
        median = median_bandwidth(points / like(self.kernel_.bandwidth, points), exact_up_to=1000)
        if median**-2 > WIDE:
            warnings.warn(
                f"θ² is {median**-2:.3g} times the median squared distance: with so wide a kernel, the chosen noise is "
                "too small for a density; fit with bandwidth='likelihood' or with θ² below 0.01 of the median",
                UserWarning,
                stacklevel=4,
            )


def by_likelihood(bandwidth: Any) -> bool:
    """Return whether θ was chosen for the density, so that no other would suit it better."""
    return isinstance(bandwidth, str) and bandwidth == "likelihood"


def no_density_without_noise(noise: Any) -> str:
    """Return why there is no density without a noise."""
    if noise is None or isinstance(noise, Dirac):
        return "since it has no noise; write KernelMean(noise='diagonal') or MMKME()"
    return ""
