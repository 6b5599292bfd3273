"""Features from landmarks: projections, with errors that are bounded for certain."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean import features
from kernelmean.kernels import Gaussian, Laplacian, Linear, Matern
from kernelmean.noise import Laplace, Normal, Uniform

from .problems import draw_data, with_truth, within

MAKERS = (features.nystrom, features.random_cholesky)


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
def test_bounds_hold_for_certain(make):
    rng = np.random.default_rng(0)
    for _ in range(30):
        kernel, X, Y, weights, noise = draw_data(rng)
        phi = make(kernel, np.concatenate([X, Y]), int(rng.integers(1, 30)), rng=rng)
        pair = with_truth(phi, kernel, X, Y, weights, noise)
        assert all(within(pair))
        assert features.inner(pair.mu, pair.nu).confidence == 1.0


@pytest.mark.parametrize("make", MAKERS)
def test_bounds_are_not_idle(make):
    """The bound of a norm is attained where all rows leave the same function behind."""
    X = np.array([[0.0], [1.0]])
    phi = make(Gaussian(1.0), X[:1], 1)
    found = features.embed(X[1:], phi)
    estimate = features.inner(found, found)
    assert estimate.bound == pytest.approx(1.0 - estimate.value, rel=1e-9)
    assert estimate.value == pytest.approx(np.exp(-1.0))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kernel", [Laplacian(1.0), Matern(1.5, 2.0), Linear()], ids=repr)
def test_all_rows_as_landmarks_give_the_kernel(make, kernel):
    X = np.random.default_rng(0).normal(size=(30, 2))
    phi = make(kernel, X, 30)
    found = phi(X)
    np.testing.assert_allclose(found @ found.T, kernel(X, X), atol=1e-8)
    assert phi.size <= (2 if kernel == Linear() else 30)


@pytest.mark.parametrize("noise", [Normal(0.3), Laplace(0.2), Uniform(0.4)], ids=repr)
def test_features_of_noisy_rows_are_means_of_features(noise):
    X, rng = np.array([[0.2], [1.5]]), np.random.default_rng(0)
    phi = features.nystrom(Gaussian(1.0), np.linspace(-1, 2, 5)[:, None], 5)
    drawn = noise.sample(np.repeat(X, 40_000, axis=0), rng)
    monte_carlo = Gaussian(1.0)(phi.points, drawn).reshape(5, 2, -1).mean(axis=2)
    np.testing.assert_allclose(phi.triangle @ phi(X, noise).T, monte_carlo, atol=8e-3)


def test_random_pivots_find_small_clusters_that_uniform_draws_miss():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(2000, 1)) * 0.01, 10.0 + 5 * np.arange(20.0)[:, None]])
    uniform, pivoted = (features.embed(X, make(Gaussian(1.0), X, 24, rng=0)).parts[0].residual for make in MAKERS)
    assert pivoted < 0.2 * uniform


def test_landmarks_are_distinct_and_no_more_than_there_are():
    X = np.repeat(np.arange(3.0)[:, None], 5, axis=0)
    for make in MAKERS:
        phi = make(Gaussian(0.2), X, 10)
        assert sorted(phi.points[:, 0]) == [0.0, 1.0, 2.0]


def test_triangle_is_a_cholesky_factor_of_the_reordered_matrix():
    A = np.random.default_rng(0).normal(size=(6, 4))
    gram = A @ A.T
    triangle, order = features.pivoted_triangle(gram.copy(), 1e-10)
    assert len(order) == 4
    lower = np.tril(triangle)
    np.testing.assert_allclose(lower @ lower.T, gram[np.ix_(order, order)], atol=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: features.nystrom(Gaussian(1.0), [[0.0]], 0), "rank is 0"),
        (lambda: features.nystrom(Linear(), [[0.0]], 3), "0 at all rows"),
        (lambda: features.random_cholesky(Linear(), [[0.0]], 3), "0 at all rows"),
        (lambda: features.random_cholesky(Gaussian(1.0), [[np.nan]], 3), "NaN"),
    ],
)
def test_what_is_wrong_is_said(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_what_landmarks_cannot_do_is_said():
    X = np.arange(4.0)[:, None]
    mu = features.embed(X, features.nystrom(Gaussian(1.0), X, 2))
    with pytest.raises(TypeError, match="fourier"):
        features.smoothed(mu, Normal(0.1))
    with pytest.raises(ValueError, match="one bound"):
        features.inner(mu, mu, guarantee="bernstein")
