"""The estimators of the papers by their names: points of noise × filter × contraction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from .kernel_mean import KernelMean
from .options import Contraction, FitOn, KernelLike


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
