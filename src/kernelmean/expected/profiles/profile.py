"""One-dimensional stationary kernels as scaled densities, to which noise adds a variable; and their products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Protocol

from ...core.array import Array
from ...core.cached import cached_property
from ...core.type_rules import NoClosedFormError
from .exponential import BoxWithBoth, LaplacePowers, density_with_normal, product_of_densities, sum_of_powers
from .half_line import SQRT_2PI, normal_density
from .spline import Spline, SplineWithExponential, SplineWithNormal, box

Density = Callable[[Array], Array]


class Smoothable(Protocol):
    """A stationary kernel on one axis that the three noises can smooth."""

    def __call__(self, gap: Array) -> Array:
        """Return the kernel at the differences ``gap`` ≥ 0."""

    def plus_normal(self, variance: float) -> Smoothable:
        """Return the kernel smoothed by N(0, variance)."""

    def plus_laplace(self, scale: float) -> Smoothable:
        """Return the kernel smoothed by the Laplace distribution of scale b."""

    def plus_box(self, halfwidth: float) -> Smoothable:
        """Return the kernel smoothed by the uniform distribution on [-h, h]."""


@dataclass(frozen=True)
class Profile:
    r"""The kernel ``height`` · density of Z_1 + Z_2 + Z_3 on one axis; the Z_i are independent and symmetric.

    Notes
    -----
    Closed under the three noises: a normal variable adds to ``variance``, a Laplace variable to ``exponentials``, a
    uniform one to ``spline``. All three together have a stable closed form if ``spline`` is a single box.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian = Profile(height=2.0, exponentials=(LaplacePowers(1.0, (1.0,)),))
    >>> laplacian(np.array([0.0, 1.0])).round(6)
    array([1.      , 0.367879])
    >>> laplacian.plus_laplace(1.0)(np.array([0.0]))
    array([0.5])
    """

    height: float
    """The integral of the kernel."""
    variance: float = 0.0
    """Z_1 ~ N(0, variance)."""
    exponentials: tuple[LaplacePowers, ...] = ()
    """Z_2 is the sum of independent variables with these distributions, whose scales are distinct and ascending."""
    spline: Spline | None = None
    """The distribution of Z_3."""

    def __post_init__(self) -> None:
        if self.variance and self.exponentials and self.spline and not self.spline.is_box:
            raise NoClosedFormError(
                "on one axis a Gaussian, a Laplace or Matérn and a compact part, be they kernels or noises, have a "
                "closed form only when the compact part is one Uniform noise, not two or a Wendland kernel"
            )

    def __call__(self, gap: Array) -> Array:
        """Return the kernel at the differences ``gap`` ≥ 0, to a relative error of about 1e-12."""
        densities = iter(self._densities)
        value = next(densities)(gap)
        for density in densities:
            value += density(gap)
        value *= self.height
        return value

    def plus_normal(self, variance: float) -> Profile:
        """Return the kernel smoothed by N(0, variance)."""
        return replace(self, variance=self.variance + variance)

    def plus_laplace(self, scale: float) -> Profile:
        """Return the kernel smoothed by the Laplace distribution of scale b."""
        if not scale:
            return self
        terms = {powers.scale: powers for powers in self.exponentials}
        weights = (0.0, *terms[scale].weights) if scale in terms else (1.0,)
        terms[scale] = LaplacePowers(scale, weights)
        return replace(self, exponentials=tuple(terms[scale] for scale in sorted(terms)))

    def plus_box(self, halfwidth: float) -> Profile:
        """Return the kernel smoothed by the uniform distribution on [-h, h]."""
        if not halfwidth:
            return self
        return replace(self, spline=self.spline.plus_box(halfwidth) if self.spline else box(halfwidth))

    @property
    def is_gaussian(self) -> bool:
        """Whether the kernel is a Gaussian."""
        return not self.exponentials and self.spline is None

    @property
    def is_exponential(self) -> bool:
        """Whether the kernel is a Matérn kernel, or a mixture of them with one scale."""
        return not self.variance and self.spline is None and len(self.exponentials) == 1

    @cached_property
    def _densities(self) -> list[Density]:
        deviation, spline = math.sqrt(self.variance), self.spline
        if not self.exponentials:
            if spline:
                return [SplineWithNormal(spline, deviation) if deviation else spline]
            return [lambda gap: normal_density(gap / deviation) / deviation]
        terms = sum_of_powers(self.exponentials)
        if deviation and spline:
            return [BoxWithBoth(spline.halfwidth, terms, deviation)]
        if deviation:
            return [partial(density_with_normal, powers, deviation) for powers in terms]
        return [SplineWithExponential(spline, powers) if spline else powers.density for powers in terms]


@dataclass(frozen=True)
class Tilted:
    r"""A Gaussian kernel times another profile, :math:`e^{-t²/2θ²} f(t)`, smoothed by N(0, variance).

    Notes
    -----
    The product of the two Gaussians is again a Gaussian. So with ρ = θ²/(θ² + σ²) the smoothed product is
    :math:`\sqrt{ρ}\, e^{-ρ t²/2θ²} (f * N(0, ρσ²))(ρ t)`. Other noises have no closed form.
    """

    bandwidth: float
    """θ of the Gaussian factor."""
    profile: Profile
    """f."""
    variance: float = 0.0
    """The variance of the noise."""

    def __post_init__(self) -> None:
        _ = self._inner  # raises when there is no closed form

    def __call__(self, gap: Array) -> Array:
        """Return the kernel at the differences ``gap`` ≥ 0."""
        value = self._inner(self._shrunk * gap)
        value *= math.sqrt(self._shrunk) * SQRT_2PI * normal_density(math.sqrt(self._shrunk) * gap / self.bandwidth)
        return value

    @cached_property
    def _shrunk(self) -> float:
        return 1.0 / (1.0 + self.variance / self.bandwidth**2)

    @cached_property
    def _inner(self) -> Profile:
        return self.profile.plus_normal(self._shrunk * self.variance)

    def plus_normal(self, variance: float) -> Tilted:
        """Return the kernel smoothed by N(0, variance)."""
        return replace(self, variance=self.variance + variance)

    def plus_laplace(self, scale: float) -> Tilted:
        """Raise, unless the scale is zero."""
        return self._only_normal("Laplace") if scale else self

    def plus_box(self, halfwidth: float) -> Tilted:
        """Raise, unless the halfwidth is zero."""
        return self._only_normal("Uniform") if halfwidth else self

    def _only_normal(self, name: str) -> Tilted:
        raise NoClosedFormError(
            f"a Gaussian kernel times another on the same axis has no closed form under {name} noise, only under Normal"
        )


def product_of_profiles(factors: Sequence[Smoothable]) -> Smoothable:
    """Return the pointwise product of kernels on one axis: Gaussians times Matérn kernels, or times one other kernel.

    Raises
    ------
    TypeError
        When more than one factor is neither Gaussian nor Matérn, or one is a product that was already smoothed.
    """
    parts = [part for factor in factors for part in _unpacked(factor)]
    gaussians = [part for part in parts if part.is_gaussian]
    others = [part for part in parts if not part.is_gaussian]
    amplitude = math.prod(part.height / (SQRT_2PI * math.sqrt(part.variance)) for part in gaussians)
    precision = math.fsum(1.0 / part.variance for part in gaussians)
    if not others:
        return Profile(amplitude * SQRT_2PI / math.sqrt(precision), variance=1.0 / precision)
    rest = reduce(_product_of_matern, others)
    rest = replace(rest, height=rest.height * amplitude)
    return Tilted(1.0 / math.sqrt(precision), rest) if gaussians else rest


def _unpacked(factor: Smoothable) -> list[Profile]:
    if isinstance(factor, Profile):
        return [factor]
    if isinstance(factor, Tilted) and not factor.variance:
        return [Profile(SQRT_2PI * factor.bandwidth, variance=factor.bandwidth**2), factor.profile]
    raise NoClosedFormError(f"{_NO_PRODUCT}; multiply first and smooth the product once")


def _product_of_matern(first: Profile, second: Profile) -> Profile:
    if not all(part.is_exponential for part in (first, second)):
        raise NoClosedFormError(_NO_PRODUCT)
    mass, powers = product_of_densities(first.exponentials[0], second.exponentials[0])
    return Profile(first.height * second.height * mass, exponentials=(powers,))


_NO_PRODUCT = (
    "on one axis there are closed forms of products of Gaussian and Matérn kernels, and of Gaussians times one "
    "other kernel, not of this product"
)
