"""Separable kernels under noise that is independent between the axes: one profile at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import final

import numpy as np

from ..core.type_rules import NoClosedFormError, Rules
from ..kernels.base import Kernel, Product, Separable, Stationary
from ..kernels.gaussian import Gaussian
from ..kernels.laplacian import Laplacian
from ..kernels.matern import Matern
from ..kernels.wendland import Wendland
from ..noise.base import Additive, Noise
from ..noise.dirac import Dirac
from ..noise.laplace import Laplace
from ..noise.normal import Normal
from ..noise.sums import IndependentSum
from ..noise.uniform import Uniform
from .expectations import difference_rules, smoothed, smoothed_rules
from .profiles import LaplacePowers, Profile, Smoothable, product_of_profiles, wendland

Profiles = list[Smoothable]
profile_rules: Rules[Callable[..., Profiles]] = Rules("profiles")
axis_noise_rules: Rules[Callable[..., Profiles]] = Rules("noise on each axis")


@final
@dataclass(frozen=True)
class SmoothedSeparable(Separable):
    r"""The kernel :math:`E\,k(x + ε, y)` for a kernel k that is a product over the axes; it is such a product, too.

    Raises
    ------
    TypeError
        On evaluation, when the kernel has no closed form under these noises; ``smoothed`` raises at once.

    Notes
    -----
    O(n m d) time with a constant of 10 to 100 exponentials, O(n m) memory. The relative error of a value is about
    1e-12, also in the tails, for widths of kernel and noise that differ by a factor of up to 10⁶. The kernel is
    positive semi-definite if the noise is Normal, Laplace, or the difference of two copies of one distribution. Under a
    single Uniform noise (one noisy side) it may not be, because the characteristic function changes sign.

    Examples
    --------
    >>> SmoothedSeparable(Laplacian(1.0), (Laplace(1.0),))(np.zeros((1, 1)), np.zeros((1, 1)))
    array([[0.5]])
    """

    kernel: Kernel
    """Gaussian, separable, or a product of such kernels."""
    noises: tuple[Additive, ...] = ()
    """The independent terms of ε; empty for no noise."""

    def profiles(self, dim: int) -> Profiles:
        """Return the smoothed profile of every axis; equal axes share one."""
        profiles = find_profiles(self.kernel, dim)
        for noise in self.noises:
            rule = axis_noise_rules.find(noise)
            if rule is None:
                *names, last = (family.__name__ for (family,) in axis_noise_rules)
                raise NoClosedFormError(f"{noise!r} is not {', '.join(names)} or {last}")
            profiles = rule(noise, profiles)
        distinct: dict[Smoothable, Smoothable] = {}
        return [distinct.setdefault(profile, profile) for profile in profiles]

    def __repr__(self) -> str:
        return f"SmoothedSeparable({', '.join(map(repr, (self.kernel, *self.noises)))})"


def find_profiles(kernel: Kernel, dim: int) -> Profiles:
    """Return the profiles of a kernel that is a product over ``dim`` axes, or raise."""
    rule = profile_rules.find(kernel)
    if rule is None:
        raise NoClosedFormError(f"{kernel!r} has no closed form on an axis of its own")
    return rule(kernel, dim)


def axis_noise(
    family: type[Additive], kernels: tuple[type[Kernel], ...] = (Separable, Gaussian)
) -> Callable[[Callable[..., Profiles]], Callable[..., Profiles]]:
    """Return a decorator that registers how a noise that is independent between the axes smooths every profile.

    Such a noise needs nothing else: ``smoothed`` finds the rule for every kernel of these classes, and errors list it.

    Parameters
    ----------
    family : type
        The class of the noise.
    kernels : tuple of type
        The classes of kernels that it smooths axis by axis. Leave out classes that have their own rule for this noise.
    """

    def decorate(rule: Callable[..., Profiles]) -> Callable[..., Profiles]:
        for kernel in kernels:
            smoothed_rules.register(kernel, family)(smooth_separable)
        return axis_noise_rules.register(family)(rule)

    return decorate


def smooth_separable(kernel: Kernel, noise: Additive, dim: int) -> Kernel:
    """Return ``kernel`` smoothed by a noise that is independent between the axes.

    Parameters
    ----------
    kernel : Kernel
        Gaussian, separable, or a product of such kernels.
    noise : Additive
        Dirac, a noise with a rule for its axes (for a Normal one, the covariance must be diagonal), or a sum of these.
    dim : int
        The number of columns.

    Raises
    ------
    TypeError
        When there is no closed form; the message gives the reason.
    """
    base, noises = (kernel.kernel, kernel.noises) if isinstance(kernel, SmoothedSeparable) else (kernel, ())
    terms = noise.terms if isinstance(noise, IndependentSum) else (noise,)
    smooth = SmoothedSeparable(base, noises + tuple(term for term in terms if not isinstance(term, Dirac)))
    try:
        smooth.profiles(dim)
    except NoClosedFormError as reason:
        raise NoClosedFormError(
            f"{kernel!r} under {noise!r} has no closed form: {reason}; kernelmean.support() lists what has; for "
            f"explicit Monte Carlo write noise.Sampled({noise!r}, n_samples=256)"
        ) from reason
    return smooth


def fused_separable(kernel: Product, dim: int) -> Separable:
    """Return a product of Gaussian and separable kernels on shared columns as one separable kernel.

    Raises
    ------
    TypeError
        When there is no closed form even without noise; see ``product_of_profiles``.
    """
    fused = SmoothedSeparable(kernel)
    fused.profiles(dim)
    return fused


def separable_pairs() -> list[tuple[type[Kernel], type[Noise]]]:
    """Return the pairs (kernel class, noise class) of this file, each with a closed form on one and on both sides."""
    kernels = [kernel for (kernel,) in profile_rules if kernel is not Product]
    return [(kernel, noise) for kernel in kernels for (noise,) in axis_noise_rules]


@smoothed_rules.register(Stationary, IndependentSum)
def _one_by_one(kernel: Kernel, noise: IndependentSum, dim: int) -> Kernel:
    return reduce(lambda smooth, term: smoothed(smooth, term, dim), noise.terms, kernel)


@difference_rules.register(Additive, Additive)
def _sum_of_both(v: Additive, w: Additive) -> Additive:
    """Additive noises are symmetric, so the difference is the sum."""
    return IndependentSum((v, w))


@profile_rules.register(Gaussian)
def _gaussian(kernel: Gaussian, dim: int) -> Profiles:
    return [Profile(math.sqrt(2 * math.pi) * theta, variance=theta**2) for theta in kernel.bandwidths(dim).tolist()]


@profile_rules.register(Laplacian)
def _laplacian(kernel: Laplacian, dim: int) -> Profiles:
    return [_exponential(theta, 1) for theta in kernel.bandwidths(dim).tolist()]


@profile_rules.register(Matern)
def _matern(kernel: Matern, dim: int) -> Profiles:
    return [_exponential(scale, kernel.degree + 1) for scale in kernel.scales(dim)]


def _exponential(scale: float, power: int) -> Profile:
    """Return the density of a power of the Laplace distribution, scaled to 1 at 0."""
    powers = LaplacePowers(scale, (0.0,) * (power - 1) + (1.0,))
    return Profile(scale / powers.coefficients[0], exponentials=(powers,))


@profile_rules.register(Wendland)
def _wendland(kernel: Wendland, dim: int) -> Profiles:
    mass = 1.0 if kernel.order == 0 else 0.8
    return [Profile(mass * theta, spline=wendland(kernel.order, theta)) for theta in kernel.bandwidths(dim).tolist()]


@profile_rules.register(SmoothedSeparable)
def _smoothed(kernel: SmoothedSeparable, dim: int) -> Profiles:
    return kernel.profiles(dim)


@profile_rules.register(Product)
def _product(kernel: Product, dim: int) -> Profiles:
    factors = [find_profiles(factor, dim) for factor in kernel.factors]
    return [product_of_profiles(axis) for axis in zip(*factors, strict=True)]


@axis_noise(Normal, kernels=(Separable,))  # a Gaussian stays a Gaussian: expected/gaussian.py
def _normal(noise: Normal, profiles: Profiles) -> Profiles:
    if noise.per_point is not None:
        raise NoClosedFormError("one covariance per point needs a Gaussian kernel")
    if noise.form == "full" and np.count_nonzero(noise.covariance - np.diag(np.diagonal(noise.covariance))):
        raise NoClosedFormError("a product over the axes needs noise that is independent between them")
    variances = noise.variances(len(profiles))
    return [profile.plus_normal(float(e)) for profile, e in zip(profiles, variances, strict=True)]


@axis_noise(Laplace)
def _laplace(noise: Laplace, profiles: Profiles) -> Profiles:
    scales = noise.widths(len(profiles))
    return [profile.plus_laplace(float(b)) for profile, b in zip(profiles, scales, strict=True)]


@axis_noise(Uniform)
def _uniform(noise: Uniform, profiles: Profiles) -> Profiles:
    halfwidths = noise.widths(len(profiles))
    return [profile.plus_box(float(h)) for profile, h in zip(profiles, halfwidths, strict=True)]
