"""Gaussian kernels under Gaussian noise: covariances add up, shared or one per point."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from .._array import Array, centered
from ..kernels.axes import check_axes
from ..kernels.base import Blocks, Kernel
from ..kernels.compose import Scaled
from ..kernels.gaussian import Gaussian, QuadraticGaussian
from ..noise.base import Additive, Noise
from ..noise.dirac import Dirac
from ..noise.normal import Normal
from ._core import difference_rules, per_point_rules, smoothed_rules

GaussianKernel: TypeAlias = Gaussian | QuadraticGaussian


@difference_rules.register(Normal, Normal)
def _sum_of_normals(v: Normal, w: Normal) -> Normal:
    """Covariances add up; the result has the wider form of the two."""
    dim = max(v.covariance.shape[-1:] + w.covariance.shape[-1:], default=1)
    if "full" in (v.form, w.form):
        return Normal(v.matrices(dim) + w.matrices(dim))
    if v.form == w.form == "isotropic":
        return Normal.isotropic(v.covariance + w.covariance)
    return Normal.diagonal(v.variances(dim) + w.variances(dim))


@smoothed_rules.register(Gaussian, Normal)
def _gaussian(kernel: Gaussian, noise: Normal, dim: int) -> Kernel:
    squared = np.square(check_axes(kernel.bandwidth, dim))
    if noise.form == "full":
        return _quadratic(QuadraticGaussian(squared * np.eye(dim)), noise, dim)
    variances = noise.covariance
    log_factor = -0.5 * np.sum(np.broadcast_to(np.log1p(variances / squared), (dim,)))
    return Scaled(float(np.exp(log_factor)), Gaussian(np.sqrt(squared + variances)))


@smoothed_rules.register(QuadraticGaussian, Normal)
def _quadratic(kernel: QuadraticGaussian, noise: Normal, dim: int) -> Kernel:
    before = np.asarray(kernel.covariance)
    after = before + noise.matrices(dim)
    return Scaled(float(np.exp(_log_root_det(before) - _log_root_det(after))), QuadraticGaussian(after))


def _log_root_det(covariance: Array) -> float:
    """Return ½ log |C|."""
    return float(np.log(np.diagonal(np.linalg.cholesky(covariance))).sum())


@per_point_rules.register(Gaussian, Additive, Additive)
def _per_point(kernel: Gaussian, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    """Prepare blocks when at least one side has one covariance per point (a Gaussian mixture's, say)."""
    dim = X.shape[1]
    left, right = _as_normal(v), _as_normal(w)
    squared = np.broadcast_to(np.square(check_axes(kernel.bandwidth, dim)), (dim,))
    X, Y = centered(X, Y)
    gram = _full if "full" in (left.form, right.form) else _axes
    return lambda i, j: gram(squared, X[i], left.take(i), Y[j], right.take(j))


def _as_normal(noise: Noise) -> Normal:
    if isinstance(noise, Dirac):
        return Normal(0.0)
    if not isinstance(noise, Normal):
        raise TypeError(f"one law per point has a closed form for Normal and Dirac noise, not for {noise!r}")
    return noise


def _axes(squared: Array, X: Array, v: Normal, Y: Array, w: Normal) -> Array:
    """Return the Gram matrix for axis-aligned covariances, one axis after another."""
    dim = X.shape[1]
    left = np.broadcast_to(v.variances(dim), X.shape)
    right = np.broadcast_to(w.variances(dim), Y.shape)
    exponent = np.zeros((len(X), len(Y)))
    for axis in range(dim):
        added = left[:, axis, None] + right[:, axis]
        gap = X[:, axis, None] - Y[:, axis]
        exponent -= np.log1p(added / squared[axis]) + gap**2 / (squared[axis] + added)
    return np.exp(0.5 * exponent)


def _full(squared: Array, X: Array, v: Normal, Y: Array, w: Normal) -> Array:
    """Return the Gram matrix for full covariances: one factorization per noisy point, or per pair."""
    if v.per_point is None:
        return _full(squared, Y, w, X, v).T
    dim = X.shape[1]
    base = np.diag(squared) + (w.matrices(dim) if w.per_point is None else 0.0)
    rows = np.empty((len(X), len(Y)))
    for i, covariance in enumerate(v.matrices(dim)):
        gap = Y - X[i]
        if w.per_point is None:
            rows[i] = _log_gaussian(base + covariance, gap)
        else:
            pairs = zip(w.matrices(dim), gap, strict=True)
            rows[i] = [_log_gaussian(base + covariance + other, g[None])[0] for other, g in pairs]
    return np.exp(rows + 0.5 * np.log(squared).sum())


def _log_gaussian(covariance: Array, gap: Array) -> Array:
    """Return -½ log|C| - ½ gᵀC⁻¹g for the rows g of ``gap``."""
    factor = cholesky(covariance, lower=True)
    white = solve_triangular(factor, gap.T, lower=True)
    return -0.5 * np.einsum("ij,ij->j", white, white) - np.log(np.diagonal(factor)).sum()
