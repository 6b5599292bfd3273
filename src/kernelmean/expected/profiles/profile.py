"""One-dimensional stationary kernels as scaled densities: noise adds an independent variable."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from ...core.array import Array
from ...core.type_rules import NoClosedFormError
from .exponential import LaplacePowers, sum_of_powers
from .exponential_normal import BoxWithBoth, density_with_normal
from .exponential_spline import SplineWithExponential
from .half_line import normal_density
from .normal_spline import SplineWithNormal
from .spline import Spline, box

Density = Callable[[Array], Array]


class Smoothable(Protocol):
    """A stationary kernel on one axis to which the three noises can be added."""

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
    r"""The kernel ``height`` · density of Z_1 + Z_2 + Z_3, independent and symmetric, on one axis.

    Notes
    -----
    Closed under the three noises: a normal adds to ``variance``, a Laplace variable to ``exponentials``, a uniform
    one to ``spline``. All three at once have a stable closed form when ``spline`` is a single box.

    Examples
    --------
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
    """Z_2 is the sum of independent variables with these distributions, of distinct scales in ascending order."""
    spline: Spline | None = None
    """The distribution of Z_3."""

    def __post_init__(self) -> None:
        if self.variance and self.exponentials and self.spline:
            self._check_all_three(self.spline)

    def _check_all_three(self, spline: Spline) -> None:
        if not spline.is_box:
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
        return self._plus_powers(LaplacePowers(scale, (1.0,))) if scale else self

    def _plus_powers(self, powers: LaplacePowers) -> Profile:
        terms = {powers.scale: powers for powers in self.exponentials}
        if powers.scale in terms:
            powers = LaplacePowers(
                powers.scale, (0.0, *np.convolve(powers.weights, terms[powers.scale].weights).tolist())
            )
        terms[powers.scale] = powers
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
        """The densities that add up to the whole."""
        deviation, spline = math.sqrt(self.variance), self.spline
        if not self.exponentials:
            return [self._without_exponentials(deviation)]
        terms = sum_of_powers(self.exponentials)
        if deviation and spline:
            return [BoxWithBoth(spline.halfwidth, terms, deviation)]
        if deviation:
            return [partial(density_with_normal, powers, deviation) for powers in terms]
        return [SplineWithExponential(spline, powers) if spline else powers.density for powers in terms]

    def _without_exponentials(self, deviation: float) -> Density:
        if self.spline is None:
            return lambda gap: normal_density(gap / deviation) / deviation
        return SplineWithNormal(self.spline, deviation) if deviation else self.spline
