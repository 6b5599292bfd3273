"""Gaussian mixtures as values, with density, samples and embedding; and sums of Gaussian bumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..core.array import Array, slices
from ..core.cached import cached_property
from ..core.frozen import Frozen
from ..embedding.embedding import Embedding, embed
from ..kernels.base import Kernel
from ..noise.normal import Normal

# A bump is exp(s - ½ log|C| - ½ (x - m)ᵀ C⁻¹ (x - m)), with s from the caller; C is diagonal (K, d) or full (K, d, d).
_TILE_NUMBERS = 2**18


@dataclass(frozen=True)
class BumpSums:
    """Sums c_k = Σ_i β_i bump_k(x_i) and the derivatives of c_k with respect to m_k and C_k."""

    values: Array
    means: Array
    covariances: Array


class Bumps:
    """Points prepared for many evaluations of bumps."""

    def __init__(self, X: Array) -> None:
        self.points = X

    @cached_property
    def lifted(self) -> Array:
        """The columns (x², x, 1), in which axis-aligned quadratics are linear, shape (n, 2d + 1)."""
        return np.column_stack([self.points**2, self.points, np.ones(len(self.points))])

    def log(self, means: Array, covariances: Array, shift: float = 0.0) -> Array:
        """Return the logarithms, shape (n, K), in O(n K d) time, or O(n K d²) if full."""
        if covariances.ndim == 2:
            return self.lifted @ _quadratics(means, 1.0 / covariances, shift).T
        roots = _inverse_roots(covariances)
        shifts = shift + np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        rows = [((self.points - m) @ root.T) for m, root in zip(means, roots, strict=True)]
        return np.stack([s - 0.5 * np.einsum("ij,ij->i", r, r) for s, r in zip(shifts, rows, strict=True)], axis=1)

    def sums(self, beta: Array, means: Array, covariances: Array, shift: float) -> BumpSums:
        """Return the weighted sums and their derivatives, tile by tile."""
        rows = slices(len(self.points), max(1, _TILE_NUMBERS // means.size))
        tile = self._axis_tile if covariances.ndim == 2 else self._full_tile
        return tile(beta, means, covariances, shift, rows)

    def _axis_tile(self, beta: Array, means: Array, variances: Array, shift: float, rows: list[slice]) -> BumpSums:
        precision, dim = 1.0 / variances, means.shape[1]
        quadratics = _quadratics(means, precision, shift).T
        moments = np.zeros((len(means), 2 * dim + 1))
        for i in rows:
            terms = self.lifted[i] @ quadratics
            np.exp(terms, out=terms)
            terms *= beta[i, None]
            moments += terms.T @ self.lifted[i]
        mass = moments[:, -1:]
        first = moments[:, dim:-1] - mass * means
        second = moments[:, :dim] - means * (2.0 * first + mass * means)
        return BumpSums(mass[:, 0], first * precision, 0.5 * precision * (second * precision - mass))

    def _full_tile(self, beta: Array, means: Array, covariances: Array, shift: float, rows: list[slice]) -> BumpSums:
        roots = _inverse_roots(covariances)
        shifts = shift + np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        count, dim = means.shape
        mass, first, second = np.zeros(count), np.zeros((count, dim)), np.zeros((count, dim, dim))
        for i in rows:
            for k in range(count):
                white = (self.points[i] - means[k]) @ roots[k].T
                terms = beta[i] * np.exp(shifts[k] - 0.5 * np.einsum("ij,ij->i", white, white))
                mass[k] += terms.sum()
                first[k] += terms @ white
                second[k] += (terms[:, None] * white).T @ white
        inner = second - mass[:, None, None] * np.eye(dim)
        back = np.swapaxes(roots, 1, 2)
        return BumpSums(mass, np.einsum("kji,kj->ki", roots, first), 0.5 * back @ inner @ roots)


def _quadratics(means: Array, precision: Array, shift: float) -> Array:
    """Return the coefficients of the log bumps in the lifted columns, shape (K, 2d + 1)."""
    scaled = means * precision
    constant = shift + 0.5 * (np.log(precision) - scaled * means).sum(axis=1)
    return np.column_stack([-0.5 * precision, scaled, constant])


def _inverse_roots(covariances: Array) -> Array:
    """Return L⁻¹ for C = L Lᵀ, shape (K, d, d)."""
    return np.linalg.inv(np.linalg.cholesky(covariances))


def overlaps(weights: Array, means: Array, covariances: Array, base: Array, shift: float) -> tuple[Array, BumpSums]:
    r"""Return G_kl, the bump of T + S_k + S_l at m_k - m_l, and G w with the derivatives of ½ wᵀGw in all m_k and S_k.

    ``covariances`` are the S_k, (K, d) or (K, d, d), and ``base`` is T, (d,) or (d, d). O(K² d), or O(K² d³) if full.
    """
    gaps = means[:, None] - means
    axes = covariances.ndim == 2
    if axes:
        precision: Array = 1.0 / (covariances[:, None] + covariances + base)
        half_log_det, along = -0.5 * np.log(precision).sum(axis=-1), gaps * precision
    else:
        precision, half_log_det = _full_precisions(covariances, base)
        along = np.einsum("klij,klj->kli", precision, gaps)
    gram = np.exp(shift - half_log_det - 0.5 * np.einsum("klj,klj->kl", gaps, along))
    terms = weights[:, None] * gram * weights
    slope = -np.einsum("kl,klj->kj", terms, along)
    if axes:
        widening = 0.5 * np.einsum("kl,klj->kj", terms, along**2 - precision)
    else:
        outer = np.swapaxes(terms[:, :, None] * along, 1, 2) @ along
        widening = 0.5 * (outer - np.einsum("kl,klij->kij", terms, precision))
    return gram, BumpSums(gram @ weights, slope, widening)


def _full_precisions(covariances: Array, base: Array) -> tuple[Array, Array]:
    """Return (T + S_k + S_l)⁻¹, shape (K, K, d, d), and half the log determinants, every unordered pair once."""
    count = len(covariances)
    k, j = np.triu_indices(count)
    pairs = covariances[k] + covariances[j] + base
    half = np.log(np.diagonal(np.linalg.cholesky(pairs), axis1=1, axis2=2)).sum(axis=1)
    precision, half_log_det = np.empty((count, *covariances.shape)), np.empty((count, count))
    precision[k, j] = precision[j, k] = np.linalg.inv(pairs)
    half_log_det[k, j] = half_log_det[j, k] = half
    return precision, half_log_det


_BLOCK_NUMBERS = 2**21


@dataclass(frozen=True)
class GaussianMixture(Frozen):
    """The mixture Σ_k w_k N(m_k, S_k), S_k positive definite.

    Attributes
    ----------
    weights : array of shape (K,)
        Non-negative, summing to one.
    means : array of shape (K, d)
    covariances : array of shape (K, d) or (K, d, d)
        Variances of the axes, or full matrices.
    """

    weights: Array
    means: Array
    covariances: Array

    def logpdf(self, Y: Array) -> Array:
        """Return the log density at the rows of ``Y``, shape (m,), in O(m K d) time, O(m K d²) if full."""
        size = max(1, _BLOCK_NUMBERS // self.means.size)
        return np.concatenate([self.logpdf_at(Bumps(Y[i] - self._origin)) for i in slices(len(Y), size)])

    @property
    def _origin(self) -> Array:
        return self.weights @ self.means

    def logpdf_at(self, bumps: Bumps, origin: Array | None = None) -> Array:
        """Return the log density at prepared points that were shifted by ``origin``."""
        alive = self.weights > 0
        shift = self._origin if origin is None else origin
        logs = bumps.log(self.means[alive] - shift, self.covariances[alive])
        constant = 0.5 * self.means.shape[1] * np.log(2 * np.pi)
        return np.asarray(logsumexp(logs + np.log(self.weights[alive]), axis=1) - constant)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw ``n`` rows: for each, a component by weight, then a point from its Gaussian."""
        owner = rng.choice(len(self.weights), size=n, p=self.weights)
        gaps = rng.standard_normal((n, self.means.shape[1]))
        for k in np.unique(owner):
            mine = owner == k
            if self.covariances.ndim == 2:
                gaps[mine] *= np.sqrt(self.covariances[k])
            else:
                gaps[mine] = gaps[mine] @ np.linalg.cholesky(self.covariances[k]).T
        return self.means[owner] + gaps

    def embedding(self, kernel: Kernel) -> Embedding:
        """Return the embedding Σ_k w_k μ[N(m_k, S_k)]."""
        axes = self.covariances.ndim == 2
        noise = Normal.diagonal(self.covariances) if axes else Normal(self.covariances)
        return embed(self.means, kernel, weights=self.weights, noise=noise)
