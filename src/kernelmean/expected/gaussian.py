"""Gaussian kernels under Gaussian noise: covariances, shared or one per point, are added."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..core.array import Array, array_api, as_float64, centered, joined, like, namespace, slices, total
from ..kernels.bandwidth import check_axes
from ..kernels.base import Kernel, Scaled
from ..kernels.distances import Blocks
from ..kernels.gaussian import Gaussian, QuadraticGaussian
from ..noise.base import Additive, Noise
from ..noise.normal import Normal, as_normal
from .expectations import difference_rules, per_point_rules, smoothed_rules


@difference_rules.register(Normal, Normal)
def _sum_of_normals(v: Normal, w: Normal) -> Normal:
    """Add the covariances; the result has the more general form of the two."""
    dim = v.dim or w.dim or 1
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


_PER_POINT = "one distribution per point has a closed form for Normal and Dirac noise, not for {noise!r}"


@per_point_rules.register(Gaussian, Additive, Additive)
def _per_point(kernel: Gaussian, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    """Prepare blocks when at least one side has one covariance per point, as in a Gaussian mixture."""
    dim = X.shape[1]
    left, right = as_normal(v, _PER_POINT), as_normal(w, _PER_POINT)
    squared = np.square(kernel.bandwidths(dim))
    X, Y = centered(X, Y)
    if "full" in (left.form, right.form):
        return _full_blocks(X, left, Y, right, squared)
    first, second = (like(np.broadcast_to(v.variances(dim), Z.shape), Z) for v, Z in ((left, X), (right, Y)))
    return lambda i, j: _axes(squared, X[i, :], first[i, :], Y[j, :], second[j, :])


def _axes(squared: Array, X: Array, left: Array, Y: Array, right: Array) -> Array:
    """Return the Gram matrix for the variances of every point, one axis after another."""
    exponent: Any = None
    xp = namespace(X)
    for axis, theta in enumerate(map(float, squared)):
        added = left[:, axis][:, None] + right[:, axis][None, :]
        gap = X[:, axis][:, None] - Y[:, axis][None, :]
        term = xp.log1p(added / theta) + gap**2 / (theta + added)
        if exponent is None:
            exponent = -term
        else:
            exponent -= term
    gram: Array = xp.exp(0.5 * exponent)
    return gram


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


_ROW_NUMBERS = 2**22  # numbers of whitened differences at a time


@array_api
def _full_blocks(X: Array, v: Normal, Y: Array, w: Normal, squared: Array) -> Blocks:
    """Prepare the Gram matrix for full covariances, in float64, many factors at once."""
    if v.per_point is None:
        flipped = _full_blocks(Y, w, X, v, squared)
        return lambda i, j: flipped(j, i).T
    dim, dtype = X.shape[1], X.dtype
    X, Y = as_float64(X), as_float64(Y)
    base = np.diag(squared) + (w.matrices(dim) if w.per_point is None else 0.0)
    left = like(base + np.broadcast_to(v.matrices(dim), (X.shape[0], dim, dim)), X)
    right = None if w.per_point is None else like(w.matrices(dim), X)
    xp, constant = namespace(X), float(0.5 * np.log(squared).sum())

    def rows(i: slice, j: slice) -> Array:
        gap = Y[j, :][None, :, :] - X[i, :][:, None, :]
        if right is None:
            return _log_gaussians(left[i, :, :], gap)
        pairs = left[i, :, :][:, None, :, :] + right[j, :, :][None, :, :, :]
        return _log_gaussians(pairs, gap[:, :, None, :])[:, :, 0]

    def block(i: slice, j: slice) -> Array:
        n, m = X[i, :].shape[0], Y[j, :].shape[0]
        size = max(1, _ROW_NUMBERS // (m * dim * (1 if right is None else dim)))
        first = i.indices(X.shape[0])[0]
        parts = [rows(slice(first + part.start, first + part.stop), j) for part in slices(n, size)]
        gram: Array = xp.astype(xp.exp(joined(parts) + constant), dtype, copy=False)
        return gram

    return block


@_full_blocks.numpy
def _(X: Array, v: Normal, Y: Array, w: Normal, squared: Array) -> Blocks:
    return lambda i, j: _full(squared, X[i], v.take(i), Y[j], w.take(j))


def _log_gaussians(covariances: Array, gaps: Array) -> Array:
    """Return -½ log|C| - ½ gᵀC⁻¹g for stacks of C, (…, d, d), and of rows g, (…, m, d); shape (…, m)."""
    linalg = namespace(gaps).linalg
    factors = linalg.cholesky(covariances)
    white = linalg.solve(factors, linalg.matrix_transpose(gaps))
    log_root_det = total(namespace(gaps).log(linalg.diagonal(factors)), axis=-1)
    return -0.5 * total(white * white, axis=-2) - log_root_det[..., None]
