"""The distance of a Gaussian mixture's embedding from a target, with analytic derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.array import Array, slices
from ..embedding.embedding import Embedding, embed
from ..embedding.parts import PointPart
from ..kernels.base import Kernel
from ..kernels.gaussian import Gaussian, QuadraticGaussian
from ..noise.base import Additive, Noise
from ..noise.dirac import Dirac
from ..noise.normal import Normal
from .mixture import Bumps, GaussianMixture, overlaps


@dataclass(frozen=True)
class Value:
    """The objective with its derivatives at a mixture, and the quadratic programme of the weights: gram and linear."""

    value: float
    weights: Array
    means: Array
    covariances: Array
    gram: Array
    linear: Array


class MatchingObjective:
    r"""The function :math:`|Σ_k w_k μ[N(m_k, S_k)]|^2 - 2 ⟨\hat μ, Σ_k w_k μ[N(m_k, S_k)]⟩` of a mixture.

    It is :math:`|\hat μ - Σ_k w_k μ[N(m_k, S_k)]|^2` without the constant :math:`|\hat μ|^2`, which would cost O(n² d).

    Parameters
    ----------
    target : Embedding
        μ̂, with a Gaussian kernel, weights of any sign, and parts with Gaussian or no noise.

    Raises
    ------
    TypeError
        When the kernel or a noise is not Gaussian.

    Notes
    -----
    An evaluation costs O(n K d + K² d) for axis-aligned covariances, O(n K d² + K² d³) for full ones.
    Song et al. (2008), eq. (6).
    """

    def __init__(self, target: Embedding) -> None:
        points = target.points
        self.dim, self._origin = points.shape[1], points.mean(axis=0)
        self._base = kernel_covariance(target.kernel, self.dim)
        base = self._base
        self._shift = 0.5 * float(np.log(base).sum() if base.ndim == 1 else np.linalg.slogdet(base)[1])
        groups = [group for part in target.point_parts for group in _shared_covariances(part, self.dim)]
        self._groups = [(Bumps(x - self._origin), beta, noise) for x, beta, noise in groups]
        self._full = self._base.ndim == 2 or any(noise.ndim == 2 for _, _, noise in groups)

    def __call__(self, mixture: GaussianMixture) -> Value:
        """Return the value and the derivatives."""
        axes = mixture.covariances.ndim == 2
        full = self._full or not axes
        S = _as_full(mixture.covariances) if self._full and axes else mixture.covariances
        base = _matrix(self._base) if full else self._base
        means, weights = mixture.means - self._origin, mixture.weights
        sums = [
            bumps.sums(beta, means, S + base + (_matrix(noise) if full else noise), self._shift)
            for bumps, beta, noise in self._groups
        ]
        gram, overlap = overlaps(weights, means, S, base, self._shift)
        linear = np.asarray(sum(s.values for s in sums))
        slope = overlap.means - weights[:, None] * sum(s.means for s in sums)
        rate = weights.reshape(-1, *[1] * (S.ndim - 1))
        widening = overlap.covariances - rate * sum(s.covariances for s in sums)
        if axes and full:
            widening = np.diagonal(widening, axis1=1, axis2=2)
        value = float(weights @ (overlap.values - 2.0 * linear))
        return Value(value, 2.0 * (overlap.values - linear), 2.0 * slope, 2.0 * widening, gram, linear)


def weights_problem(target: Embedding, mixture: GaussianMixture) -> tuple[Array, Array]:
    """Return the inner products of the components with each other (K, K) and with the target (K,).

    A Gaussian kernel with Gaussian or no noise takes a fast path; others need closed forms under Gaussian noise.

    Raises
    ------
    TypeError
        When the kernel or the target's noise has no closed form under Gaussian noise.
    """
    simple = all(isinstance(part.noise, (Normal, Dirac)) for part in target.point_parts)
    if simple and isinstance(target.kernel, (Gaussian, QuadraticGaussian)):
        value = MatchingObjective(target)(mixture)
        return value.gram, value.linear
    noises = [Normal.diagonal(S) if S.ndim == 1 else Normal(S) for S in mixture.covariances]
    parts = [embed(m[None], target.kernel, noise=v) for m, v in zip(mixture.means, noises, strict=True)]
    gram = np.array([[a @ b if i <= j else 0.0 for j, b in enumerate(parts)] for i, a in enumerate(parts)])
    return gram + np.triu(gram, 1).T, np.array([target @ one for one in parts])


def mean_covariance(mu: Embedding) -> Array:
    """Return the covariance of additive noise, averaged over the positive weights: (d,), or (d, d) if one is full."""
    dim = mu.points.shape[1]
    shares = [np.maximum(part.weights, 0.0) for part in mu.point_parts]
    noises = [_noise_covariance(part.noise, dim) for part in mu.point_parts]
    sums = [
        share.sum() * C if part.noise.per_point is None else np.tensordot(share, C, axes=1)
        for part, share, C in zip(mu.point_parts, shares, noises, strict=True)
    ]
    if any(C.ndim == 2 for C in sums):
        sums = [_matrix(C) for C in sums]
    return np.asarray(sum(sums) / np.concatenate(shares).sum())


def _noise_covariance(noise: Noise, dim: int) -> Array:
    """Return the covariance of a noise, per point if the noise is; 0 for a noise that is not additive."""
    if isinstance(noise, Normal) and noise.form == "full":
        return noise.matrices(dim)
    return noise.moments(2, dim)[2] if isinstance(noise, Additive) else np.zeros(dim)


def kernel_covariance(kernel: Kernel, dim: int) -> Array:
    """Return the covariance of a Gaussian kernel, θ² per axis (d,) or a matrix (d, d)."""
    if isinstance(kernel, Gaussian):
        return np.square(kernel.bandwidths(dim))
    if isinstance(kernel, QuadraticGaussian):
        return np.asarray(kernel.covariance, dtype=np.float64)
    raise TypeError(
        f"means and covariances can be matched under a Gaussian kernel only, not under {kernel!r}; "
        'write update="weights", or pass kernels.Gaussian(bandwidth)'
    )


def _shared_covariances(part: PointPart, dim: int) -> list[tuple[Array, Array, Array]]:
    """Return points, weights and the covariance that they share, in one group or one per point."""
    if not isinstance(part.noise, Normal | Dirac):
        raise TypeError(f"matching has a closed form for a target with Normal or no noise, not with {part.noise!r}")
    covariances = _noise_covariance(part.noise, dim)
    if part.noise.per_point is None:
        return [(part.points, part.weights, covariances)]
    return [(part.points[i], part.weights[i], covariances[i.start]) for i in slices(len(part.points), 1)]


def _matrix(covariance: Array) -> Array:
    """Return variances as a diagonal matrix, and a matrix as it is."""
    return _as_full(covariance) if covariance.ndim == 1 else covariance


def _as_full(variances: Array) -> Array:
    """Return variances (..., d) as diagonal matrices (..., d, d)."""
    return variances[..., None] * np.eye(variances.shape[-1])
