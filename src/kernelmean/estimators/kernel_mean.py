"""The estimator, noise × filter × contraction, all parameters chosen by leaving one out; the papers name some."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any, final

from ..core.array import Array, column_spans, mean_of
from ..embedding.embedding import Embedding
from ..kernels.base import Kernel
from ..noise.base import Noise
from .base import MeanEstimator, by_likelihood, no_density_without_noise
from .density_bandwidth import likelihood_bandwidth
from .filters import Filter, Scale, as_filter
from .fitting import FittedMean, choose
from .loocv.isotropic import PairDistances
from .options import Contraction, FitOn, KernelLike, NoiseForm, check_options, make_kernel

_ROUNDED = 1e-11  # score in units of k(x, x), below which less than five digits are left


@final
@dataclass(eq=False, repr=False)
class KernelMean(MeanEstimator):
    r"""Estimate a kernel mean, :math:`\hat μ = Σ_i β_i E_{\tilde x ∼ v(·|x_i)} k(\tilde x, ·)`.

    Parameters
    ----------
    kernel : {"gaussian"}, Kernel, or a class of kernels such as ``kernels.Laplacian``
        A kernel that is a value keeps its own bandwidth; a name or a class takes that of ``bandwidth``.
    bandwidth : {"median", "median-unsquared", "silverman", "scott", "likelihood"}, float or array of shape (d,)
        θ, in the units of X. "likelihood" makes the estimate a good density: θ is the one whose noise has the
        largest leave-one-out likelihood on the training data (Gaussian kernels with a searched noise).
    noise : {None, "isotropic", "diagonal", "full"} or Noise
        v. None is the empirical points; "isotropic" searches σ²I (MKME), "diagonal" a variance per column (MMKME),
        "full" a multiple of the sample covariance; a noise is taken as it is.
    filter : {None, "scale", "ridge"} or Filter
        How the weights 1/n are shrunk: "scale" is S-KMSE, and with a searched noise both are searched jointly;
        "ridge" is F-KMSE. Spectral filters need noise None or fixed.
    strength : "loocv" or float
        λ of the filter (for iterations their number), chosen or given.
    contraction : {None, "tied", "free"}
        Draw the points to their mean by a factor r and give the lost variance back as noise (VPMKME): with
        σ² = (1 - r²) v tied to the mean variance v of the columns, or with σ² free. Needs noise="isotropic".
    criterion : {"loocv", "risk", "printed"}
        What parameters minimize: the leave-one-out score; the unbiased estimate of the risk (no spectral filter, no
        contraction); or, for filter="ridge" only, the score that Muandet et al. (2014) print, which drops a point as
        target but keeps it as basis point.
    fit_on : {"auto", "pooled", "each", "separate", "joint"}
        Where a test finds the parameters (noise, contraction, λ of a filter); :meth:`fit` has one sample, and no use
        for it. Of two samples "pooled" is the pooled rows (1000 that the seed draws when there are more), "each" is
        each sample on its own, anew under every permutation; "auto" is "each" with a filter, and "pooled" without. Of
        two variables "separate", which "auto" is, is each on its own, and "joint" one fit to the pairs, anew under
        every permutation. All of them are exact.

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
        The leave-one-out score at the chosen parameters (nan where it would take too long), to about 1e-16 times the
        mean of k(x, x): few digits under kernels 1e6 times as wide as the data, which are warned about.
    criterion_ : Score
        The score that was minimized, as a constant and the logarithm of the excess over it: kernels narrower than the
        gaps between points differ in the 26th digit and beyond, which ``loocv_`` cannot hold.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The bandwidth is that of the whole sample and stays when points are left out. For Gaussian kernels scores are
    exact in O(n² d) time and, beyond 5000 points, O(block²) memory, with analytic gradients; other kernels are
    searched in one variable without gradient. Spectral filters make n × n matrices and stop at 5000 points.
    Xia et al. (2021), eqs. (mkme), (loocv); Muandet et al. (2014) for the shrinkage estimators.

    Warns
    -----
    UserWarning
        When less than about five digits of ``loocv_`` are left.

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
    fit_on: FitOn = "auto"

    def _estimate(self, X: Array, pairs: PairDistances | None = None) -> None:
        kernel = make_kernel(self.kernel, self._bandwidth_for(X), X)
        fitted = self._fitted(X, kernel, pairs)
        self.embedding_ = fitted.embedding(kernel)
        self.bandwidth_ = getattr(kernel, "bandwidth", None)
        self.strength_, self.contraction_ = fitted.strength, fitted.contraction
        self.loocv_, self.criterion_ = max(fitted.loocv, 0.0), fitted.score
        self._warn_if_rounded(kernel, X)

    def under(self, kernel: Kernel, X: Array, pairs: PairDistances | None = None) -> Embedding:
        """Return the estimate under another kernel, nothing of which is kept.

        Parameters
        ----------
        kernel : Kernel
        X : array of shape (n, d)
        pairs : PairDistances, optional
            The distances of the rows of ``X``: made once, they serve any number of bandwidths.

        Examples
        --------
        >>> from kernelmean.kernels import Gaussian
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> KernelMean(noise="isotropic").under(Gaussian(2.0), X).noise
        Normal(0.07105255)
        """
        return self._fitted(X, kernel, pairs).embedding(kernel)

    def _fitted(self, X: Array, kernel: Kernel, pairs: PairDistances | None = None) -> FittedMean:
        options = check_options(self.noise, self.filter, self.strength, self.contraction, self.criterion, kernel)
        return choose(X, kernel, options, pairs)

    def _bandwidth_for(self, X: Array) -> Any:
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
        if self.filter is not None and not isinstance(as_filter(self.filter), Scale):
            return f"since {self.filter!r} may make weights negative; write filter=None or 'scale'"
        return no_density_without_noise(self.noise)

    def _warn_if_rounded(self, kernel: Kernel, X: Array) -> None:
        """Warn when a score of points that differ is what cancellation left of k(x, x)."""
        constant = mean_of(kernel.diag(X))
        if self.loocv_ < _ROUNDED * constant and column_spans(X).any():
            warnings.warn(
                f"loocv_ is {self.loocv_:.3g}, which is exact to {1e-16 * constant:.1g} only: the kernel is so wide "
                "(or the origin so far) that all points look alike to it; choose a narrower bandwidth, or center the "
                "data",
                UserWarning,
                stacklevel=4,
            )


def KME(kernel: KernelLike = "gaussian", *, bandwidth: Any = "median") -> KernelMean:  # noqa: N802 (the paper's name)
    """Return the empirical kernel mean: no noise, equal weights.

    Examples
    --------
    >>> KME()
    KernelMean()
    """
    return KernelMean(kernel, bandwidth=bandwidth)


def SKMSE(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    strength: float | str = "loocv",
    fit_on: FitOn = "auto",
) -> KernelMean:
    """Return the simple shrinkage estimator of Muandet et al. (2014): weights 1/(n (1+λ)), λ in closed form.

    Muandet et al. (2016) call it R-KMSE.

    Examples
    --------
    >>> SKMSE()
    KernelMean(filter='scale')
    """
    return KernelMean(kernel, bandwidth=bandwidth, filter="scale", strength=strength, fit_on=fit_on)


def FKMSE(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    strength: float | str = "loocv",
    fit_on: FitOn = "auto",
) -> KernelMean:
    """Return the flexible shrinkage estimator of Muandet et al. (2014): weights (K+λI)^{-1} K 1/n.

    Muandet et al. (2016) call it S-KMSE, with λ_2014 = n λ_2016.

    Examples
    --------
    >>> FKMSE()
    KernelMean(filter='ridge')
    """
    return KernelMean(kernel, bandwidth=bandwidth, filter="ridge", strength=strength, fit_on=fit_on)


def MKME(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    criterion: str = "loocv",
    fit_on: FitOn = "auto",
) -> KernelMean:
    """Return the marginalized estimator with one variance for all columns, Xia et al. (2021).

    Examples
    --------
    >>> MKME()
    KernelMean(noise='isotropic')
    """
    return KernelMean(kernel, bandwidth=bandwidth, noise="isotropic", criterion=criterion, fit_on=fit_on)


def MMKME(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    criterion: str = "loocv",
    fit_on: FitOn = "auto",
) -> KernelMean:
    """Return the marginalized estimator with one variance per column, Xia et al. (2021).

    Examples
    --------
    >>> MMKME()
    KernelMean(noise='diagonal')
    """
    return KernelMean(kernel, bandwidth=bandwidth, noise="diagonal", criterion=criterion, fit_on=fit_on)


def VPMKME(  # noqa: N802
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    contraction: Contraction = "free",
    fit_on: FitOn = "auto",
) -> KernelMean:
    """Return the variance-preserving marginalized estimator: points drawn to their mean, the lost variance as noise.

    Examples
    --------
    >>> VPMKME(contraction="tied")
    KernelMean(contraction='tied', noise='isotropic')
    """
    return KernelMean(kernel, bandwidth=bandwidth, noise="isotropic", contraction=contraction, fit_on=fit_on)


NAMED: Mapping[str, Callable[..., KernelMean]] = MappingProxyType(
    {"kme": KME, "s-kmse": SKMSE, "f-kmse": FKMSE, "mkme": MKME, "mmkme": MMKME, "vpmkme": VPMKME}
)
"""What ``estimator=`` takes by name; every one takes a kernel."""
