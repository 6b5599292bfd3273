"""Products of kernels on one axis, as the factors of a sum of precisions and a sum of rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from ...core.array import Array
from ...core.type_rules import NoClosedFormError
from .exponential import product_of_densities
from .half_line import SQRT_2PI, normal_density
from .profile import Profile, Smoothable


@dataclass(frozen=True)
class Tilted:
    r"""A Gaussian kernel times another profile, :math:`e^{-t²/2θ²} f(t)`, smoothed by N(0, variance).

    Notes
    -----
    The product of the two Gaussians is a Gaussian again, so with ρ = θ²/(θ² + σ²) the smoothed product is
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
    """Return the pointwise product of kernels on one axis: Gaussians times Matérn kernels, or times one other.

    Raises
    ------
    TypeError
        When more than one factor is neither, or one is a product that was smoothed already.
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
    """Take a Gaussian times a profile apart again."""
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
