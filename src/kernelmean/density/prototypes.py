"""Gaussian prototypes: k-means clusters with their covariances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from threadpoolctl import ThreadpoolController

from ..core.array import Array, IntArray
from ..core.validate import check_integer, check_positive
from .joint import CovarianceType
from .mixture import GaussianMixture
from .sample import Sample

PoolOver = Literal["clusters", "data"]
_SPREAD = 1e-3  # if pooled within-cluster variances are below this share of the data's, clusters are points


@dataclass(frozen=True)
class KMeansPrototypes:
    r"""One Gaussian per k-means cluster, :math:`S_k = (n_k \hat S_k + p \bar S) / (n_k + p) + R`.

    With fewer distinct rows than components, there is one component per distinct row.

    Parameters
    ----------
    pooling : float
        p ≥ 0, a number of pseudo-observations: they give a cluster of one point a typical shape.
    pool_over : {"clusters", "data"}
        S̄: the mean of the covariances Ŝ_k within clusters, or the covariance of all rows, which is wider and safer for
        discrete columns. If all clusters are points, it is that of all rows in any case.
    ridge : float
        R, a variance in every direction, as a share of the mean variance of the columns: with few rows in many columns,
        estimated covariances are too narrow in their narrow directions.
    n_init : int
        The number of k-means runs, of which the best is taken.

    Examples
    --------
    >>> KMeansPrototypes(ridge=0.1)
    KMeansPrototypes(pooling=1.0, pool_over='clusters', ridge=0.1, n_init=10)
    """

    pooling: float = 1.0
    pool_over: PoolOver = "clusters"
    ridge: float = 0.0
    n_init: int = 10

    def __post_init__(self) -> None:
        check_positive(self.pooling, "pooling", zero=True)
        check_positive(self.ridge, "ridge", zero=True)
        check_integer(self.n_init, "n_init", 1)
        if self.pool_over not in ("clusters", "data"):
            raise ValueError(f"pool_over is {self.pool_over!r}; write 'clusters' or 'data'")

    def of(
        self, sample: Sample, n_components: int, covariance_type: CovarianceType, floor: float, seed: int
    ) -> GaussianMixture:
        """Return the prototypes of a sample, weighted by the shares of the clusters.

        Their variances are at least the floor in every direction.
        """
        X, weights, dim = sample.points, sample.weights, sample.points.shape[1]
        labels = _labels(X, n_components, weights, self.n_init, seed)
        member = np.eye(labels.max() + 1)[labels] * weights[:, None]
        share = member.sum(axis=0)
        means = member.T @ X / share[:, None]
        scatter = _scatter(X - means[labels], member, covariance_type)
        within, everything = scatter.sum(axis=0), _scatter(X - weights @ X, weights[:, None], covariance_type)[0]
        if _trace(within) < _SPREAD * _trace(everything):
            within = everything
        counts = share.reshape(-1, *[1] * (scatter.ndim - 1))
        if covariance_type == "tied":
            scatter, counts = np.repeat(within[None], len(share), axis=0), np.ones_like(counts)
        pooled = everything if self.pool_over == "data" else within
        covariances = (len(X) * scatter + self.pooling * pooled) / (len(X) * counts + self.pooling)
        ridge = self.ridge * sample.variance
        spread = sample.spread + (ridge * np.eye(dim) if np.ndim(sample.spread) == 2 else ridge)
        return GaussianMixture(share, means, lift(covariances + _shaped(spread, covariance_type, dim), floor))


def lift(covariances: Array, floor: float) -> Array:
    """Return the covariances, raised to a variance of at least the floor in every direction."""
    if covariances.ndim == 2:
        return np.maximum(covariances, floor)
    values, vectors = np.linalg.eigh(covariances)
    return (vectors * np.maximum(values, floor)[:, None, :]) @ np.swapaxes(vectors, 1, 2)


def _labels(X: Array, n_components: int, weights: Array, n_init: int, seed: int) -> IntArray:
    """Return k-means clusters numbered from 0, none empty."""
    distinct, copies = np.unique(X, axis=0, return_inverse=True)
    labels: IntArray = copies
    if len(distinct) > n_components:
        from sklearn.cluster import KMeans  # slow to import

        kmeans = KMeans(n_components, n_init=n_init, random_state=seed)
        with _threads().limit(limits=1, user_api="openmp"):  # with more threads, sums depend on their number
            labels = np.asarray(kmeans.fit(X - weights @ X, sample_weight=weights * len(X)).labels_)
    return np.unique(labels, return_inverse=True)[1].ravel()


@cache
def _threads() -> ThreadpoolController:
    """Find the loaded libraries once, including those of k-means."""
    return ThreadpoolController()


def _scatter(gaps: Array, member: Array, covariance_type: CovarianceType) -> Array:
    """Return Σ_i member_ik gap_i gap_iᵀ, shape (K, d, d), or its diagonal, shape (K, d), averaged if spherical."""
    if covariance_type in ("tied", "full"):
        return np.stack([(column[:, None] * gaps).T @ gaps for column in member.T])
    scatter = member.T @ gaps**2
    if covariance_type == "spherical":
        return np.broadcast_to(scatter.mean(axis=1, keepdims=True), scatter.shape)
    return scatter


def _trace(covariance: Array) -> float:
    return float(covariance.sum() if covariance.ndim == 1 else np.trace(covariance))


def _shaped(spread: Array | float, covariance_type: CovarianceType, dim: int) -> Array:
    """Return a covariance in the form of its type: variances (d,), equal if spherical, or a matrix (d, d)."""
    matrix = np.asarray(spread) if np.ndim(spread) == 2 else np.diag(np.broadcast_to(spread, (dim,)))
    if covariance_type in ("tied", "full"):
        return matrix
    variances = np.diagonal(matrix)
    return np.full(dim, variances.mean()) if covariance_type == "spherical" else variances
