"""The feature means of effect sizes and the simulation of their fluctuations, against explicit matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelmean.inference.explain import feature_mean, fluctuation
from kernelmean.inference.explain.effects import cross_covariance, difference_of_means
from kernelmean.inference.explain.fluctuation import Fluctuations, fluctuations, largest_eigenvalue
from kernelmean.inference.explain.pairs import PairSubject
from kernelmean.inference.explain.samples import SampleSubject
from kernelmean.kernels import Gaussian, Laplacian, Polynomial
from kernelmean.plan import DEFAULT


def samples(n=14, m=9):
    rng = np.random.default_rng(8)
    return rng.normal(size=(n, 2)), rng.normal(1.0, 1.4, size=(m, 2))


def subject(X, Y, kernel):
    return SampleSubject.of(X, Y, kernel)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(2.0), Polynomial(2, 1.0)], ids=repr)
def test_the_feature_mean_is_that_of_explicit_features(kernel):
    X, Y = samples()
    found = difference_of_means(subject(X, Y, kernel)).mean
    pooled = np.concatenate([X, Y])
    K = kernel(pooled, pooled)
    a = np.repeat([1 / 14, -1 / 9], [14, 9])
    np.testing.assert_allclose(found.projections, K @ a, rtol=0, atol=1e-12 * K.max())
    assert found.total == pytest.approx(a @ K @ a, rel=1e-12)
    W = np.random.default_rng(0).normal(size=(23, 4))
    np.testing.assert_allclose(found.features.product(W), K @ W, rtol=0, atol=1e-12 * K.max())
    covariances = [borrowing(0), borrowing(1)]
    parts = [np.trace((K @ center(p))[p, p]) / (k * (k - 1)) for p, k in zip(HALVES, (14, 9), strict=True)]
    assert found.spreads == pytest.approx(parts, rel=1e-12)
    for g, M in enumerate(covariances):
        assert found.noise(g) == pytest.approx(np.trace(K @ M), rel=1e-12)
    M = sum(covariances)
    assert found.direction_variance() == pytest.approx(a @ K @ M @ K @ a / (a @ K @ a), rel=1e-12)


HALVES = [slice(0, 14), slice(14, 23)]


def center(rows):
    """The matrix that centers some of 23 rows and forgets the others."""
    H = np.zeros((23, 23))
    size = rows.stop - rows.start
    H[rows, rows] = np.eye(size) - 1 / size
    return H


def borrowing(g):
    """The covariance of multipliers: of the mean of n rows whose law is 3 / (n + 3) parts of the other sample."""
    sizes, a = (14, 9), np.repeat([1 / 14, -1 / 9], [14, 9])
    n, own = sizes[g], sizes[g] / (sizes[g] + 3)
    within = own * center(HALVES[g]) / (n - 1) + (1 - own) * center(HALVES[1 - g]) / (sizes[1 - g] - 1)
    return (within + own * (1 - own) * np.outer(a, a)) / n


@pytest.mark.parametrize("g", [0, 1])
def test_multipliers_have_that_covariance(g):
    mean = difference_of_means(subject(*samples(), Gaussian(1.0))).mean
    drawn = mean.multipliers(g, 40000, np.random.default_rng(g))
    found, expected = drawn @ drawn.T / 40000, borrowing(g)
    deviation = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 40000)
    assert (np.abs(found - expected) < 5 * deviation).all()


def test_the_influence_on_the_variance_is_its_derivative():
    X, Y = samples()
    kernel, pooled = Gaussian(1.0), np.concatenate(samples())
    K = kernel(pooled, pooled)

    def log_variance(weights):
        parts = [slice(0, 14), slice(14, 23)]
        shares = [weights[p] / weights[p].sum() for p in parts]
        return np.log(sum(1 - s @ K[p, p] @ s for s, p in zip(shares, parts, strict=True)) / 2)

    effect = difference_of_means(subject(X, Y, kernel))
    influence = effect.mean.scale_influence
    own = np.concatenate([influence[:14, 0], influence[14:, 1]])[:, None]
    centered = effect.mean.cells.centered(own)[:, 0]
    counts = np.repeat([14, 9], [14, 9])
    step = 1e-6 * np.eye(23) / counts[:, None]
    uniform = 1.0 / counts
    slopes = np.array([(log_variance(uniform + s) - log_variance(uniform - s)) / 2e-6 for s in step])
    plain = np.mean([1 - K[p, p].mean() for p in (slice(0, 14), slice(14, 23))])
    np.testing.assert_allclose(centered / counts * effect.scale / plain, slopes, rtol=0, atol=1e-7)
    assert np.abs(slopes).max() > 1e-3


def test_dependence_of_explicit_matrices():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 1))
    Y = X + 0.5 * rng.normal(size=(25, 1))
    found = cross_covariance(PairSubject((X, Y), (Gaussian(1.0), Laplacian(1.0)), DEFAULT)).mean
    H = np.eye(25) - 1 / 25
    partner = np.random.default_rng(0).permutation(25)
    K, Z = H @ Gaussian(1.0)(X, X) @ H, H @ Laplacian(1.0)(Y, Y) @ H
    twice, other = np.tile(np.arange(25), 2), np.concatenate([np.arange(25), partner])
    M = K[np.ix_(twice, twice)] * Z[np.ix_(other, other)]
    np.testing.assert_allclose(found.projections, M[:, :25].mean(axis=1), rtol=0, atol=1e-14)
    assert found.spreads == pytest.approx([np.trace((K * Z) @ H) / (25 * 24)], rel=1e-12)
    W = np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_allclose(found.features.product(W), M @ W, rtol=0, atol=1e-13)


@pytest.mark.parametrize("rows", [520])
def test_products_on_factors_are_those_of_the_gram_matrix(rows):
    rng = np.random.default_rng(0)
    X, Y, W = rng.normal(size=(rows, 1)), rng.normal(size=(rows - 20, 1)), rng.normal(size=(rows, 3))
    pairs = PairSubject((X, np.r_[Y, Y[:20]]), (Gaussian(3.0), Gaussian(3.0)), DEFAULT)
    H = np.eye(rows) - 1 / rows
    M = np.ones((rows, rows))
    for table in pairs.tables:
        M *= H @ Gaussian(3.0)(table, table) @ H
    twice = np.concatenate([W, np.zeros_like(W)])
    np.testing.assert_allclose(cross_covariance(pairs).mean.features.product(twice)[:rows], M @ W, rtol=0, atol=1e-6)
    both = subject(X, Y, Gaussian(1.0))
    W = rng.normal(size=(both.n, 3))
    dense = Gaussian(1.0)(both.pooled, both.pooled) @ W
    np.testing.assert_allclose(
        difference_of_means(both).mean.features.product(W), dense, rtol=0, atol=1e-6 * np.abs(dense).max()
    )


def test_fluctuations_have_the_covariance_of_the_means():
    X, Y = samples(40, 60)
    mean = difference_of_means(subject(X, Y, Gaussian(1.0))).mean
    drawn = fluctuations(mean, 20000, np.random.default_rng(0))
    error = drawn.squared.std() / np.sqrt(20000)
    assert abs(drawn.squared.mean() - sum(mean.spreads)) < 4 * error
    assert drawn.along.var() >= 0.97 * mean.direction_variance()
    assert error < 0.01 * sum(mean.spreads)


@pytest.mark.parametrize("nearness", [0.0, 0.3, 1.0])
def test_distributions_nearer_to_each_other_have_that_distance(monkeypatch, nearness):
    alike = replace(difference_of_means(subject(*samples(), Gaussian(1.0))).mean, nearness=0.0)
    assert (alike.own_share(0), alike.own_share(1)) == (0.5, 0.5)
    monkeypatch.setattr(feature_mean, "_BORROWED", 0.0)
    X, Y = samples(7, 5)
    two = replace(difference_of_means(subject(X, Y, Gaussian(1.0))).mean, nearness=nearness)
    assert two.own_share(0) + two.own_share(1) - 1 == pytest.approx(nearness, abs=1e-15)  # as |D| of the mixtures is
    one = replace(cross_covariance(coins(0)).mean, nearness=nearness)
    assert one.own_share(0) == nearness


def test_two_steps_reach_the_limit_that_they_are_for(monkeypatch):
    low = {}
    for steps in (0, 2, 8):
        monkeypatch.setattr(fluctuation, "_STEPS", steps)
        found = (fluctuations(cross_covariance(coins(k)).mean, 299, np.random.default_rng(0), 0.9) for k in range(8))
        low[steps] = np.array([drawn.interval(0.9, scaled=False)[0] for drawn in found])
    assert (low[8] > 0).all()
    assert np.abs(low[2] / low[8] - 1).max() < 0.03 < np.abs(low[0] / low[8] - 1).max()


def coins(seed):
    """Return 50 throws of two coins that often agree."""
    rng = np.random.default_rng(seed)
    x = rng.random((50, 1)) < 0.3
    y = np.where(rng.random((50, 1)) < 0.5, x, rng.random((50, 1)) < 0.3)
    return PairSubject((x.astype(float), y.astype(float)), (Gaussian(1.0), Gaussian(1.0)), DEFAULT)


def test_the_sketched_eigenvalue_is_the_largest():
    rng = np.random.default_rng(0)
    A = np.cov(rng.normal(size=(30, 50)) * np.linspace(1, 4, 30)[:, None])
    omega = rng.normal(size=(30, 30))
    assert largest_eigenvalue(omega, A @ omega) == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-6)
    assert largest_eigenvalue(omega, 0 * omega) == 0.0


def test_distances_solve_the_equation():
    rng = np.random.default_rng(1)
    drawn = Fluctuations(2.0, rng.normal(size=500), 3 * rng.random(500), 0.2 * rng.normal(size=500))
    for scaled, slope in ((False, 1.0), (True, np.maximum(1 - drawn.relative, 0.1))):
        lower, upper = drawn.distances(scaled=scaled)
        seen = slope * upper**2 + 2 * upper * drawn.along + drawn.squared
        solved = upper > 0
        np.testing.assert_allclose(seen[solved], 2.0, rtol=1e-12)
        assert (lower[drawn.squared < 2.0] == upper[drawn.squared < 2.0]).all()
        assert (lower[drawn.squared >= 2.0] == 0.0).all()
        beyond = slope * (upper + 1) ** 2 + 2 * (upper + 1) * drawn.along + drawn.squared
        assert (beyond > 2.0).all()
