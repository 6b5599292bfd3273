"""Prototypes are the clusters' moments, and every degenerate cluster has a positive variance."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from kernelmean.density import COVARIANCE_TYPES, KMeansPrototypes
from kernelmean.density.joint import given_mixture
from kernelmean.density.sample import Sample

OPTIONS = {"floor": 1e-3, "pooling": 0.0, "n_init": 3, "seed": 0}


def kmeans_prototypes(X, weights, n_components, kind, *, floor, seed, spread=0.0, **options):
    return KMeansPrototypes(**options).of(Sample(X, weights, spread), n_components, kind, floor, seed)


def uniform(X):
    return np.full(len(X), 1.0 / len(X))


def two_clusters():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(30, 2)) @ [[1.0, 0.5], [0.0, 0.3]], rng.normal(size=(10, 2)) + 20])


def test_moments_of_clusters():
    X = two_clusters()
    found = kmeans_prototypes(X, uniform(X), 2, "full", **OPTIONS)
    order = np.argsort(found.means[:, 0])
    np.testing.assert_allclose(found.weights[order], [0.75, 0.25])
    np.testing.assert_allclose(found.means[order], [X[:30].mean(axis=0), X[30:].mean(axis=0)])
    truth = [np.cov(X[:30].T, bias=True), np.cov(X[30:].T, bias=True)]
    np.testing.assert_allclose(found.covariances[order], truth)
    axes = kmeans_prototypes(X, uniform(X), 2, "diag", **OPTIONS)
    np.testing.assert_allclose(axes.covariances[order], [np.diag(C) for C in truth])
    ball = kmeans_prototypes(X, uniform(X), 2, "spherical", **OPTIONS)
    np.testing.assert_allclose(ball.covariances[order, 0], [np.trace(C) / 2 for C in truth])
    tied = kmeans_prototypes(X, uniform(X), 2, "tied", **OPTIONS)
    np.testing.assert_allclose(tied.covariances[0], 0.75 * truth[0] + 0.25 * truth[1])


def test_a_double_row_is_a_double_weight():
    X = two_clusters()
    twice = np.vstack([X, X[30:]])
    weights = np.r_[np.ones(30), np.full(10, 2.0)] / 50
    a, b = (kmeans_prototypes(Y, w, 2, "diag", **OPTIONS) for Y, w in ((X, weights), (twice, uniform(twice))))
    np.testing.assert_allclose(np.sort(a.covariances, axis=0), np.sort(b.covariances, axis=0))
    np.testing.assert_allclose(np.sort(a.weights), np.sort(b.weights))


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_the_floor_holds_for_points_and_constant_columns(kind):
    X = np.column_stack([np.repeat([0.0, 1.0, 5.0], 4), np.zeros(12)])
    found = kmeans_prototypes(X, uniform(X), 8, kind, floor=0.02, pooling=1.0, n_init=2, seed=0)
    assert len(found.weights) == 3
    full = found.covariances if found.covariances.ndim == 3 else found.covariances[..., None] * np.eye(2)
    assert np.linalg.eigvalsh(full).min() >= 0.02 * (1 - 1e-12)


@pytest.mark.parametrize("over", ["clusters", "data"])
def test_pooling_adds_rows_of_the_pooled_covariance(over):
    X = two_clusters()
    options = OPTIONS | {"pooling": 5.0}
    found = kmeans_prototypes(X, uniform(X), 2, "full", **options, pool_over=over)
    order = np.argsort(found.means[:, 0])
    own = [np.cov(X[:30].T, bias=True), np.cov(X[30:].T, bias=True)]
    pooled = 0.75 * own[0] + 0.25 * own[1] if over == "clusters" else np.cov(X.T, bias=True)
    truth = [(n * C + 5 * pooled) / (n + 5) for n, C in zip((30, 10), own, strict=True)]
    np.testing.assert_allclose(found.covariances[order], truth)


def test_given_prototypes_are_checked():
    with pytest.raises(ValueError, match="have shape"):
        given_mixture(np.zeros((2, 3)), np.ones(3), "spherical")
    with pytest.raises(ValueError, match="positive variances"):
        given_mixture(np.zeros((2, 3)), np.zeros(2), "spherical")


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@pytest.mark.parametrize("spread", [0.0, np.diag([1.0, 2.0])], ids=["points", "noisy points"])
def test_a_ridge_is_a_share_of_the_variance_in_every_direction(kind, spread):
    sample = Sample(two_clusters(), uniform(two_clusters()), spread)
    plain, wider = (KMeansPrototypes(ridge=ridge).of(sample, 2, kind, 1e-6, seed=0) for ridge in (0.0, 0.5))
    added = 0.5 * sample.variance * (np.ones(2) if kind in ("spherical", "diag") else np.eye(2))
    gained = wider.covariances - plain.covariances
    np.testing.assert_allclose(gained, np.broadcast_to(added, gained.shape), atol=1e-9)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_clusters_are_those_of_scikit_learn_whatever_the_threads(seed, threads):
    X = np.random.default_rng(seed).normal(size=(600, 3))
    weights = np.random.default_rng(1).random(600)
    weights /= weights.sum()
    with threadpool_limits(1, user_api="openmp"):
        labels = KMeans(6, n_init=5, random_state=seed).fit(X - weights @ X, sample_weight=600 * weights).labels_
    with threadpool_limits(threads, user_api="openmp"):
        found = kmeans_prototypes(X, weights, 6, "diag", **OPTIONS | {"n_init": 5, "seed": seed})
    np.testing.assert_allclose(found.weights, [weights[labels == k].sum() for k in range(6)], rtol=1e-12)
    np.testing.assert_allclose(found.means[0], np.average(X[labels == 0], axis=0, weights=weights[labels == 0]))


@pytest.mark.parametrize(
    ("option", "value"), [("pooling", -1.0), ("ridge", np.inf), ("n_init", 0), ("pool_over", "rows")]
)
def test_options_out_of_range_raise(option, value):
    with pytest.raises(ValueError, match=f"{option} is"):
        KMeansPrototypes(**{option: value})
