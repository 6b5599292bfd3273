"""Marginalized estimates written as weights on the points: projected, to second order, or as printed."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.linalg import eigh

from ..core.array import Array
from ..expected import expected
from ..kernels.gaussian import Gaussian
from ..noise.dirac import Dirac
from ..noise.normal import as_normal
from .embedding import Embedding, embed

Method = Literal["projected", "second_order", "printed"]
LIMIT = 5000

_GAUSSIAN_ONLY = "the theorems are for Gaussian noise, not for {noise!r}; write method='projected'"


def linear_form(embedding: Embedding, method: Method = "projected", *, cutoff: float = 1e-12) -> Embedding:
    r"""Return :math:`Σ_i β_i k(x_i, ·)`, the linear form of a marginalized estimate (Theorems 1 and 2).

    The marginalized estimate Σ_i w_i E k(x̃_i, ·) is not in the span of the k(x_i, ·). This returns, by ``method``,

    * ``"projected"``: its best approximation there, :math:`β = K^{-1} L w`;
    * ``"second_order"``: with a Gaussian kernel and noise N(0, Σ),
      :math:`β = (1 - \tfrac{\operatorname{tr} Σ}{2θ^2}) w + \tfrac{1}{2θ^4} K^{-1} K' w`,
      :math:`K'_{ab} = k(x_a, x_b) (x_a-x_b)^⊤ Σ (x_a-x_b)`: Theorems 1 and 2, corrected, with error O(|Σ|²);
    * ``"printed"``: Theorems 1 and 2 as Xia et al. (2021) print them, with the square in k' restored; for comparison
      only. At Σ = 0 they give w/2, and their error does not vanish.

    Parameters
    ----------
    embedding : Embedding
        With one noise that all points share.
    method : {"projected", "second_order", "printed"}
    cutoff : float
        Eigenvalues of K below ``cutoff`` times the largest are left out of K^{-1}, because K is nearly singular for
        wide kernels.

    Returns
    -------
    Embedding
        On the same points, without noise.

    Raises
    ------
    ValueError
        Above 5,000 points, for an unknown method, and for the printed form of a full covariance.
    TypeError
        When "second_order" or "printed" is used with a kernel or noise that is not Gaussian.

    Notes
    -----
    O(n³) time. Xia et al. (2021), Theorems 1 and 2. Corrected: the sign and the factor 2 of the expansion; d, which
    wrongly multiplied K'; and e_j² where e_j is meant.

    Examples
    --------
    >>> import kernelmean as km
    >>> mu = km.embed([[0.0], [1.0]], km.kernels.Gaussian(1.0), noise=km.noise.Normal(0.1))
    >>> linear_form(mu).weights.round(3), linear_form(mu, "second_order").weights.round(3)
    (array([0.485, 0.485]), array([0.484, 0.484]))
    """
    points, noise = embedding.points, embedding.noise
    if len(points) > LIMIT:
        raise ValueError(f"{len(points)} points need an n × n matrix, the limit is {LIMIT}; subsample the embedding")
    if method not in ("projected", "second_order", "printed"):
        raise ValueError(f"method is {method!r}; write 'projected', 'second_order' or 'printed'")
    gram = embedding.kernel(points, points)
    if method == "projected":
        target = expected(embedding.kernel, points, points, Dirac(), noise) @ embedding.weights
        weights = solve_cut_off(gram, target, cutoff)
    else:
        form = _second_order if method == "second_order" else _printed
        weights = form(embedding, gram, cutoff)
    return replace(embed(points, embedding.kernel, weights=weights), names=embedding.names)


def solve_cut_off(gram: Array, target: Array, cutoff: float) -> Array:
    """Return K⁺ b, without the eigenvalues below ``cutoff`` times the largest."""
    values, vectors = eigh(gram)
    kept = values > cutoff * values[-1]
    return vectors[:, kept] @ ((vectors[:, kept].T @ target) / values[kept])


def _second_order(embedding: Embedding, gram: Array, cutoff: float) -> Array:
    points, covariance = _scaled(embedding)
    weights = embedding.weights
    curved = gram * _quadratic_gaps(points, covariance)
    return (1 - np.trace(covariance) / 2) * weights + solve_cut_off(gram, curved @ weights, cutoff) / 2


def _printed(embedding: Embedding, gram: Array, cutoff: float) -> Array:
    """Return the printed weights, in units where θ = 1 (one bandwidth only)."""
    kernel, noise = embedding.kernel, as_normal(embedding.noise, _GAUSSIAN_ONLY)
    if noise.form == "full" or np.ndim(getattr(kernel, "bandwidth", 0.0)) > 0:
        raise ValueError("the printed theorems are for one bandwidth and isotropic or diagonal noise")
    points, _ = _scaled(embedding)
    dim, squared = points.shape[1], float(np.square(kernel.bandwidth))  # type: ignore[attr-defined]
    total = float(noise.covariance) * dim if noise.form == "isotropic" else float(np.square(noise.covariance).sum())
    total /= squared
    curved = gram * _quadratic_gaps(points, np.eye(dim))
    weights = embedding.weights
    return (1 + total) / 2 * weights - total / 2 * solve_cut_off(gram, curved @ weights, cutoff)


def _scaled(embedding: Embedding) -> tuple[Array, Array]:
    """Return the points and the noise's covariance in units of the bandwidth."""
    kernel, noise = embedding.kernel, as_normal(embedding.noise, _GAUSSIAN_ONLY)
    if not isinstance(kernel, Gaussian):
        raise TypeError(f"the theorems are for Gaussian kernels, not for {kernel!r}; write method='projected'")
    if noise.per_point is not None:
        raise TypeError("the theorems are for a noise that all points share; write method='projected'")
    points = embedding.points
    theta = kernel.bandwidths(points.shape[1])
    return points / theta, noise.matrices(len(theta)) / np.outer(theta, theta)


def _quadratic_gaps(points: Array, covariance: Array) -> Array:
    """Return (x_a-x_b)ᵀ Σ (x_a-x_b), shape (n, n)."""
    points = points - points.mean(axis=0)
    product = points @ covariance @ points.T
    diagonal = np.diagonal(product)
    return np.maximum(diagonal[:, None] + diagonal - 2 * product, 0.0)
