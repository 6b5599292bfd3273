"""Noises that are not additive: those that replace coordinates, and those given by draws.

For kernels that are products over axes, each axis of a replaced row is a mixture of two atoms. Sampled noise averages
over its draws, for every kernel and every noise on the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add, mul
from typing import final

import numpy as np

from ..core.array import Array, namespace, take_columns
from ..core.type_rules import NoClosedFormError, Rules
from ..kernels.base import AxisProfile, Kernel, Product, Separable
from ..kernels.categorical import Categorical
from ..kernels.distances import Blocks
from ..kernels.gaussian import Gaussian
from ..kernels.polynomial import Polynomial
from ..kernels.tensor_product import TensorProduct
from ..noise.base import Noise
from ..noise.blankout import Blankout, Switch
from ..noise.dirac import Dirac
from ..noise.sampled import Sampled
from .expectations import blocks_rules, check_independent, expected_blocks, missing
from .independent_axes import Profiles, SmoothedSeparable, profile_rules

axis_rules: Rules[Callable[..., Iterable[Kernel]]] = Rules("axis factors")


@axis_rules.register(Gaussian)
def _gaussian_axes(kernel: Gaussian, dim: int) -> Iterable[Kernel]:
    return [Gaussian(theta) for theta in kernel.bandwidths(dim)]


@axis_rules.register(Categorical)
def _categorical_axes(kernel: Categorical, dim: int) -> Iterable[Kernel]:
    return [kernel] * dim


@final
@dataclass(frozen=True)
class AxisOf(Separable):
    """One axis of a separable kernel, as a kernel on one column."""

    kernel: Separable
    axis: int
    dim: int

    def profiles(self, dim: int) -> Sequence[AxisProfile]:
        """Return the profile of this axis."""
        del dim
        return [self.kernel.profiles(self.dim)[self.axis]]


@profile_rules.register(AxisOf)
def _axis_profile(kernel: AxisOf, dim: int) -> Profiles:
    del dim
    return [SmoothedSeparable(kernel.kernel).profiles(kernel.dim)[kernel.axis]]


@axis_rules.register(Separable)
def _separable_axes(kernel: Separable, dim: int) -> Iterable[Kernel]:
    return [AxisOf(kernel, axis, dim) for axis in range(dim)]


@blocks_rules.register(Kernel, Blankout, Blankout)
@blocks_rules.register(Kernel, Blankout, Noise)
@blocks_rules.register(Kernel, Noise, Blankout)
def _blankout(kernel: Kernel, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    rule = axis_rules.find(kernel)
    if rule is None:
        raise NoClosedFormError(missing(kernel, v, w))
    check_independent([(axis,) for axis in range(X.shape[1])], v, w)
    axes = [
        _axis(factor, take_columns(X, (a,)), v.columns((a,)), take_columns(Y, (a,)), w.columns((a,)))
        for a, factor in enumerate(rule(kernel, X.shape[1]))
    ]
    return lambda i, j: reduce(mul, (axis(i, j) for axis in axes))


def _axis(kernel: Kernel, x: Array, v: Noise, y: Array, w: Noise) -> Blocks:
    """Prepare one axis: the sum over the atoms of both sides (the point itself, or the value that replaces it)."""
    terms = [
        (p * q, expected_blocks(kernel, a, noise_a, b, noise_b))
        for p, a, noise_a in _atoms(x, v)
        for q, b, noise_b in _atoms(y, w)
    ]
    return lambda i, j: reduce(add, (weight * block(i, j) for weight, block in terms))


def _atoms(x: Array, noise: Noise) -> list[tuple[float, Array, Noise]]:
    """Return (probability, points, remaining noise) of one side."""
    if not isinstance(noise, Blankout):
        return [(1.0, x, noise)]
    p = float(np.ravel(noise.probability)[0])
    blank = namespace(x).full_like(x, float(np.ravel(noise.value)[0]))
    return [(1.0 - p, x, Dirac()), (p, blank, Dirac())]


@blocks_rules.register(Categorical, Switch, Switch)
@blocks_rules.register(Categorical, Switch, Dirac)
@blocks_rules.register(Categorical, Dirac, Switch)
def _switch(kernel: Categorical, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    """Agreement has probability a + (1 - a)/L on equal codes and (1 - a)/L on others, a = (1 - p)(1 - q)."""
    switches = [noise for noise in (v, w) if isinstance(noise, Switch)]
    if len({noise.levels for noise in switches}) > 1:
        raise ValueError(f"{v!r} and {w!r} have different numbers of levels for the same columns")
    for points in (X, Y):
        switches[0].check_codes(points)
    kept = float(np.prod([1.0 - noise.probability for noise in switches]))
    gain = (1.0 - kernel.similarity) * kept
    base = kernel.similarity + (1.0 - kernel.similarity) * (1.0 - kept) / switches[0].levels
    total = base + gain
    agreement = Categorical(base / total).blocks(X, Y)
    return lambda i, j: total ** X.shape[1] * agreement(i, j)


def _sampled(kernel: Kernel, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    left, right = _copies(X, v), _copies(Y, w)
    inner = [expected_blocks(kernel, a, va, b, wb) for (a, va), (b, wb) in product(left, right)]

    def block(i: slice, j: slice) -> Array:
        total = inner[0](i, j)
        for other in inner[1:]:
            total = total + other(i, j)
        return total / len(inner)

    return block


def _copies(X: Array, noise: Noise) -> list[tuple[Array, Noise]]:
    if not isinstance(noise, Sampled):
        return [(X, noise)]
    copies = noise.copies(X)
    return [(copies[k, :, :], Dirac()) for k in range(noise.n_samples)]


# Also for families with a rule for any noise: draws from a joint distribution must not be split by axes.
for family in (Kernel, Product, TensorProduct, Polynomial):
    for sides in ((Sampled, Sampled), (Sampled, Noise), (Noise, Sampled), (Sampled, Blankout), (Blankout, Sampled)):
        blocks_rules.register(family, *sides)(_sampled)
