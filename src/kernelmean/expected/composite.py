"""Expectations of composite kernels: sums and scalings recurse; products do if the noise is independent by blocks."""

from __future__ import annotations

from functools import reduce
from operator import add, mul

import numpy as np

from ..core.array import Array, take_columns
from ..core.type_rules import NoClosedFormError
from ..kernels.base import Kernel, Product, Scaled, Separable, Sum
from ..kernels.distances import Blocks, scaled_blocks
from ..kernels.gaussian import Gaussian, QuadraticGaussian
from ..kernels.tensor_product import TensorProduct
from ..noise.base import Noise
from .expectations import blocks_rules, check_independent, expected_blocks, missing, smoothed, smoothed_rules
from .independent_axes import fused_separable


@smoothed_rules.register(Scaled, Noise)
def _scaled(kernel: Scaled, noise: Noise, dim: int) -> Kernel:
    inner = smoothed(kernel.kernel, noise, dim)
    if isinstance(inner, Scaled):
        return Scaled(kernel.factor * inner.factor, inner.kernel)
    return Scaled(kernel.factor, inner)


@smoothed_rules.register(Sum, Noise)
def _sum(kernel: Sum, noise: Noise, dim: int) -> Kernel:
    return Sum(tuple(smoothed(term, noise, dim) for term in kernel.terms))


@smoothed_rules.register(Product, Noise)
def _product(kernel: Product, noise: Noise, dim: int) -> Kernel:
    return smoothed(fused(kernel, dim, noise), noise, dim)


@blocks_rules.register(Scaled, Noise, Noise)
def _scaled_blocks(kernel: Scaled, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    return scaled_blocks(kernel.factor, expected_blocks(kernel.kernel, X, v, Y, w))


@blocks_rules.register(Sum, Noise, Noise)
def _sum_blocks(kernel: Sum, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    inner = [expected_blocks(term, X, v, Y, w) for term in kernel.terms]
    return lambda i, j: reduce(add, (block(i, j) for block in inner))


@blocks_rules.register(Product, Noise, Noise)
def _product_blocks(kernel: Product, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    return expected_blocks(fused(kernel, X.shape[1], v, w), X, v, Y, w)


@blocks_rules.register(TensorProduct, Noise, Noise)
def _tensor_blocks(kernel: TensorProduct, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    """Blocks of columns are separate when the noise is independent between them."""
    check_independent(kernel.columns, v, w)
    inner = [
        expected_blocks(factor, take_columns(X, c), v.columns(c), take_columns(Y, c), w.columns(c))
        for factor, c in zip(kernel.kernels, kernel.columns, strict=True)
    ]
    return lambda i, j: reduce(mul, (block(i, j) for block in inner))


def fused(kernel: Product, dim: int, *noises: Noise) -> Kernel:
    """Return a product on shared columns as one kernel: precisions of Gaussians are added, profiles multiplied."""
    factor, kernels = 1.0, []
    for part in kernel.factors:
        scale, inner = _unscaled(part)
        if isinstance(inner, Product):
            more, inner = _unscaled(fused(inner, dim, *noises))
            scale *= more
        factor *= scale
        kernels.append(inner)
    if not all(isinstance(part, Gaussian | QuadraticGaussian) for part in kernels):
        if not all(isinstance(part, Gaussian | Separable) for part in kernels):
            raise NoClosedFormError(missing(kernel, *noises))
        return Scaled(factor, fused_separable(Product(tuple(kernels)), dim))
    precision = sum(np.linalg.inv(_covariance(part, dim)) for part in kernels)
    if all(isinstance(part, Gaussian) for part in kernels):
        return Scaled(factor, Gaussian(1.0 / np.sqrt(np.diagonal(precision))))
    return Scaled(factor, QuadraticGaussian(np.linalg.inv(precision)))


def _unscaled(kernel: Kernel) -> tuple[float, Kernel]:
    """Return the product of the factors in front of a kernel, and the kernel."""
    factor = 1.0
    while isinstance(kernel, Scaled):
        factor, kernel = factor * kernel.factor, kernel.kernel
    return factor, kernel


def _covariance(kernel: Kernel, dim: int) -> Array:
    if isinstance(kernel, QuadraticGaussian):
        return np.asarray(kernel.covariance)
    assert isinstance(kernel, Gaussian)
    return np.square(kernel.bandwidth) * np.eye(dim)
