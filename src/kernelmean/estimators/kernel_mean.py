"""The estimator, noise × filter × contraction, all parameters chosen by leave-one-out; and those that papers name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..core.array import Array, as_host, column_spans
from ..core.validate import names_in
from ..core.words import refuse
from ..embedding.embedding import Embedding
from ..kernels.any_kernel import Precomputed
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..plan.plan import DEFAULT, Plan
from .base import (
    Contraction,
    KernelLike,
    MeanEstimator,
    NoiseForm,
    Options,
    as_filter,
    by_likelihood,
    check_options,
    is_precomputed,
    make_kernel,
    no_density_without_noise,
)
from .density_bandwidth import likelihood_bandwidth
from .filters import Filter, Scale
from .fitting import choose
from .loocv.isotropic import PairDistances

if TYPE_CHECKING:
    from ..embedding.features import FeatureMap
    from .by_features import FeatureFit

_SHORT = 5000  # rows that every estimator fits exactly
_ROUNDED = 1e-11  # score in units of k(x, x), below which fewer than five digits are left


@final
@dataclass(eq=False, repr=False)
class KernelMean(MeanEstimator):
    r"""Estimate a kernel mean, :math:`\hat μ = Σ_i β_i E_{\tilde x ∼ v(·|x_i)} k(\tilde x, ·)`.

    Parameters
    ----------
    kernel : {"gaussian", "precomputed"}, Kernel, class such as ``kernels.Laplacian``, or function
        A kernel value keeps its own bandwidth; "gaussian" or a class takes it from ``bandwidth``. A function k(X, Y)
        goes with no noise or a ``noise.Sampled``, and "precomputed", with a Gram matrix as X, with none
        (:doc:`/guides/kernels`).
    bandwidth : {"median", "median-unsquared", "silverman", "scott", "likelihood"}, float or array of shape (d,)
        θ, in the units of X. "likelihood" makes the estimate a good density: it takes the θ whose noise has the
        largest leave-one-out likelihood on the training data (for Gaussian kernels with a searched noise).
    noise : {None, "isotropic", "diagonal", "full"} or Noise
        v. None keeps the points as they are; "isotropic" searches σ²I (MKME), "diagonal" a variance per column
        (MMKME), "full" a multiple of the sample covariance. A Noise is used as it is.
    filter : {None, "scale", "ridge"} or Filter
        How to shrink the weights 1/n: "scale" is S-KMSE, searched jointly with a searched noise; "ridge" is F-KMSE.
        Spectral filters need no noise or a fixed one.
    strength : "loocv" or float
        λ of the filter (the number of iterations for iterative ones, at most 100 in a search): chosen by the
        criterion, or given.
    contraction : {None, "tied", "free"}
        Move the points towards their mean by a factor r (VPMKME): with "tied" the noise σ² = (1 - r²) v restores the
        mean variance v of the columns, with "free" σ² is searched too. Needs noise="isotropic".
    criterion : {"loocv", "risk", "printed"}
        What the parameters minimize: the leave-one-out score; the unbiased estimate of the risk (no spectral filter, no
        contraction); or, for filter="ridge" only, the score that Muandet et al. (2014) print, which drops a point as
        target but keeps it as basis point.
    features : FeatureMap or int, optional
        Fit sums of features instead of the rows: landmarks or Fourier features of the kernel, or how many landmarks to
        make. By default, rows in memory are fitted exactly up to 20,000 where a noise is searched, 5,000 with
        filter="ridge", and 100,000 otherwise; 512 landmarks represent more rows. 0 fits any array exactly.

    Attributes
    ----------
    embedding_ : Embedding
        The estimate.
    kernel_, noise_, weights_ : Kernel, Noise, array of shape (n,)
        k, v and β of the estimate.
    bandwidth_ : float or array of shape (d,), or None
        θ; None for a kernel without one.
    strength_ : float or None
        λ; infinite when the estimate is 0, None without a filter.
    contraction_ : float
        r; 1 without contraction.
    loocv_ : float
        The leave-one-out score at the chosen parameters (nan where it would take too long), accurate to about 1e-16
        times the mean of k(x, x). Kernels 1e6 times as wide as the data leave few digits, with a warning.
    criterion_ : Score
        The minimized score, as a constant and the logarithm of the excess over it: under kernels narrower than the
        gaps between points, scores differ in the 26th digit and beyond, which ``loocv_`` cannot hold.
    features_ : FeatureMap or None
        The features that represent the rows, if there were too many for the exact estimate or you passed ``features``.
    error_ : float
        A bound of the distance, in the RKHS, of ``embedding_`` from the exact estimate at the same parameters: 0 for an
        exact fit, nan for Fourier features, whose standard error is in ``notes_``.
    notes_ : tuple of str
        Which features represent the rows, and how far off they may be.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The bandwidth is that of the whole sample and stays fixed when points are left out. For Gaussian kernels, scores
    are exact and have analytic gradients, in O(n² d) time and, beyond 5,000 points, O(block²) memory. Under other
    kernels, one variable is searched, without gradient. Spectral filters make n × n matrices, for at most 5,000 points.
    Xia et al. (2021), eqs. (7), (24); Muandet et al. (2014) for the shrinkage estimators.

    Warns
    -----
    UserWarning
        When fewer than about five digits of ``loocv_`` are left.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> plain = KernelMean().fit(X)
    >>> noisy = KernelMean(noise="diagonal").fit(X)
    >>> noisy.loocv_ < plain.loocv_
    True
    """

    _anywhere = True

    kernel: KernelLike = "gaussian"
    _: KW_ONLY
    bandwidth: Any = "median"
    noise: NoiseForm | Noise | None = None
    filter: Filter | str | None = None
    strength: float | str = "loocv"
    contraction: Contraction | None = None
    criterion: str = "loocv"
    features: FeatureMap | int | None = None

    def _fit_here(self, X: Any, plan: Plan) -> None:
        if (
            self.features in (None, 0)
            and isinstance(X, np.ndarray)
            and (self.features == 0 or X.shape[:1] <= (_SHORT,))
        ):
            super()._fit_here(X, plan)  # without loading what reads files
            return
        from . import by_features

        if isinstance(X, Embedding):
            refuse("an embedding by features has its features", features=(self.features, None))
            self.name_columns(X.names or ("",) * X.shape[1], named=X.names is not None)
            fit = by_features.fit_embedding(self, X, plan)
        else:
            rows = by_features.rows_of(self, X)
            if not isinstance(rows, by_features.BatchedRows):
                super()._fit_here(rows, plan)
                return
            fit = by_features.fit_rows(self, rows, plan)
        self.adopt(fit, plan)

    def adopt(self, fit: FeatureFit, plan: Plan = DEFAULT) -> None:
        """Set what was found by features."""
        self.embedding_ = replace(fit.embedding, names=names_in(self), plan=plan)
        self.bandwidth_ = getattr(self.embedding_.kernel, "bandwidth", None)
        self.strength_, self.contraction_ = fit.strength, fit.contraction
        self.loocv_, self.criterion_ = fit.score.value, fit.score
        self.features_: FeatureMap | None = fit.features
        self.error_, self.notes_ = fit.error, fit.notes
        if self.embedding_.features is None:
            self.weights_ = self.embedding_.weights

    def _estimate(self, X: Array, pairs: PairDistances | None = None) -> None:
        if not is_precomputed(self.kernel):
            kernel = make_kernel(self.kernel, self.bandwidth_for(X), X)
        else:
            refuse("kernel='precomputed' has no bandwidth", bandwidth=(self.bandwidth, "median"))
            kernel = Precomputed(as_host(X))
            X = kernel.rows
        fitted = choose(X, kernel, self.options(kernel), pairs)
        self.embedding_ = fitted.embedding(kernel)
        self.bandwidth_ = getattr(kernel, "bandwidth", None)
        self.strength_, self.contraction_ = fitted.strength, fitted.contraction
        self.loocv_, self.criterion_ = max(fitted.loocv, 0.0), fitted.score
        self.features_, self.error_, self.notes_ = None, 0.0, ()
        self._warn_if_rounded(fitted.constant, X)

    def under(self, kernel: Kernel, X: Array, pairs: PairDistances | None = None) -> Embedding:
        """Return the estimate under another kernel; the estimator itself does not change.

        Parameters
        ----------
        kernel : Kernel
        X : array of shape (n, d)
        pairs : PairDistances, optional
            The distances of the rows of ``X``: computed once, they serve any number of bandwidths.

        Examples
        --------
        >>> from kernelmean.kernels import Gaussian
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> KernelMean(noise="isotropic").under(Gaussian(2.0), X).noise
        Normal(0.07105255)
        """
        return choose(X, kernel, self.options(kernel), pairs).embedding(kernel)

    def options(self, kernel: Kernel) -> Options:
        """Return the options of an estimate under a kernel, or raise when they do not go together."""
        return check_options(self.noise, self.filter, self.strength, self.contraction, self.criterion, kernel)

    def bandwidth_for(self, X: Array) -> Any:
        """Return what was passed, or θ of the largest likelihood."""
        if not by_likelihood(self.bandwidth):
            return self.bandwidth
        if self.kernel != "gaussian" or not isinstance(self.noise, str) or self.contraction is not None:
            raise ValueError(
                "bandwidth='likelihood' needs kernel='gaussian', no contraction and a noise to search; write "
                "noise='diagonal', or pass a bandwidth"
            )
        return likelihood_bandwidth(X, noise=self.noise).bandwidth

    def _no_density(self) -> str:
        if getattr(self, "features_", None) is not None:
            return "since features stand for the rows, with weights of either sign; fit a part of the rows"
        if self.filter is not None and not isinstance(as_filter(self.filter), Scale):
            return f"since {self.filter!r} may make weights negative; write filter=None or 'scale'"
        return no_density_without_noise(self.noise)

    def _warn_if_rounded(self, constant: float, X: Array) -> None:
        """Warn when points differ and their score is what cancellation left of k(x, x), the constant."""
        if self.loocv_ < _ROUNDED * constant and column_spans(X).any():
            warnings.warn(
                f"loocv_ is {self.loocv_:.3g}, which is exact to {1e-16 * constant:.1g} only: the kernel is so wide "
                "(or the origin so far) that all points look alike to it; choose a narrower bandwidth, or center the "
                "data",
                UserWarning,
                stacklevel=4,
            )


def KME(  # noqa: N802 (the paper's name)
    kernel: KernelLike = "gaussian", *, bandwidth: Any = "median", features: FeatureMap | int | None = None
) -> KernelMean:
    r"""Return the empirical kernel mean, :math:`\frac{1}{n} Σ_i k(x_i, ·)`.

    Xia et al. (2021), eq. (2). All parameters and what ``fit`` sets: :class:`KernelMean`.

    Examples
    --------
    >>> KME()
    KernelMean()
    """
    return KernelMean(kernel, bandwidth=bandwidth, features=features)


def SKMSE(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    strength: float | str = "loocv",
    features: FeatureMap | int | None = None,
) -> KernelMean:
    r"""Return the simple shrinkage estimator, :math:`\frac{1}{1+λ} \frac{1}{n} Σ_i k(x_i, ·)`.

    λ minimizes the leave-one-out score, in closed form. Muandet et al. (2014); Muandet et al. (2016) call it R-KMSE.
    All parameters and what ``fit`` sets: :class:`KernelMean`.

    Examples
    --------
    >>> SKMSE()
    KernelMean(filter='scale')
    """
    return KernelMean(kernel, bandwidth=bandwidth, filter="scale", strength=strength, features=features)


def FKMSE(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    strength: float | str = "loocv",
    features: FeatureMap | int | None = None,
) -> KernelMean:
    r"""Return the flexible shrinkage estimator, with weights :math:`β = (K+λI)^{-1} K 1_n / n`.

    λ minimizes the leave-one-out score; O(n³) time, for at most 5,000 points. Muandet et al. (2014); Muandet et al.
    (2016) call it S-KMSE, with λ_2014 = n λ_2016. All parameters and what ``fit`` sets: :class:`KernelMean`.

    Examples
    --------
    >>> FKMSE()
    KernelMean(filter='ridge')
    """
    return KernelMean(kernel, bandwidth=bandwidth, filter="ridge", strength=strength, features=features)


def MKME(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    criterion: str = "loocv",
    features: FeatureMap | int | None = None,
) -> KernelMean:
    r"""Return the marginalized estimator, :math:`\frac{1}{n} Σ_i E_{\tilde x ∼ N(x_i, σ^2 I)} k(\tilde x, ·)`.

    σ² minimizes the leave-one-out score, with exact expectations; O(n² d) time. Xia et al. (2021), eqs. (7), (9), (24).
    All parameters and what ``fit`` sets: :class:`KernelMean`.

    Examples
    --------
    >>> MKME()
    KernelMean(noise='isotropic')
    """
    return KernelMean(kernel, bandwidth=bandwidth, noise="isotropic", criterion=criterion, features=features)


def MMKME(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    criterion: str = "loocv",
    features: FeatureMap | int | None = None,
) -> KernelMean:
    r"""Return the marginalized estimator with a variance for every column, :math:`N(x_i, \mathrm{diag}(e))`.

    The variances minimize the leave-one-out score, with exact expectations and gradients; O(n² d) time a step. Xia et
    al. (2021), eqs. (7), (10), (24). All parameters and what ``fit`` sets: :class:`KernelMean`.

    Examples
    --------
    >>> MMKME()
    KernelMean(noise='diagonal')
    """
    return KernelMean(kernel, bandwidth=bandwidth, noise="diagonal", criterion=criterion, features=features)


def VPMKME(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    contraction: Contraction = "free",
    features: FeatureMap | int | None = None,
) -> KernelMean:
    r"""Return the marginalized estimator of contracted points, which preserves the variance if "tied".

    :math:`\frac{1}{n} Σ_i E_{\tilde x ∼ N(\bar x + r (x_i - \bar x), σ^2 I)} k(\tilde x, ·)`: r and σ² minimize the
    leave-one-out score. With "free", the default, the estimate may vary less than the rows; "tied" takes σ² = (1 - r²)
    times the mean variance of the columns, so that it varies as much. Ours:
    :doc:`/evidence/vpmkme`. All parameters and what ``fit`` sets: :class:`KernelMean`.

    Examples
    --------
    >>> VPMKME(contraction="tied")
    KernelMean(contraction='tied', noise='isotropic')
    """
    return KernelMean(kernel, bandwidth=bandwidth, noise="isotropic", contraction=contraction, features=features)


NAMED: Mapping[str, Callable[..., KernelMean]] = MappingProxyType(
    {"kme": KME, "s-kmse": SKMSE, "f-kmse": FKMSE, "mkme": MKME, "mmkme": MMKME, "vpmkme": VPMKME}
)
"""The names that ``estimator=`` takes; each estimator takes a kernel."""
