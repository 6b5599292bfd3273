import numpy as np
import pytest

import kernelmean as km
from checkered import checkered
from kernelmean_paper.mixtures import OBSERVATION, WEIGHTS, Drawn, Mixture

pytestmark = pytest.mark.slow


def test_a_large_sample_has_the_moments_of_the_mixture():
    mixture = Mixture.random(9, np.random.default_rng(0))
    sample = mixture.sample(200_000, np.random.default_rng(1))
    mean = np.array(WEIGHTS) @ mixture.means
    gaps = mixture.means - mean
    covariance = np.einsum("c,cde->de", WEIGHTS, mixture.covariances) + np.einsum("c,cd,ce->de", WEIGHTS, gaps, gaps)
    error = np.sqrt(np.diagonal(covariance) / len(sample))
    assert (np.abs(sample.mean(axis=0) - mean) < 5 * error).all()
    np.testing.assert_allclose(np.cov(sample.T), covariance, atol=0.02 * np.diagonal(covariance).max())


def test_the_law_is_that_of_the_paper():
    drawn = [Mixture.random(4, np.random.default_rng(seed)) for seed in range(2000)]
    means = np.array([mixture.means for mixture in drawn])
    assert -10 < means.min() < -9.9
    assert 9.9 < means.max() < 10
    covariances = np.array([mixture.covariances for mixture in drawn])
    np.testing.assert_allclose(covariances.mean(axis=(0, 1)), (7 * 2 + OBSERVATION) * np.eye(4), atol=0.4)
    # Var of a diagonal entry of Wishart(2 I, 7): 2 · 7 · 2²
    assert covariances[:, :, 0, 0].var() == pytest.approx(56, rel=0.1)


def test_covariances_are_singular_but_for_the_noise():
    mixture = Mixture.random(12, np.random.default_rng(0))
    values = np.linalg.eigvalsh(mixture.covariances)
    np.testing.assert_allclose(values[:, :5], OBSERVATION, rtol=1e-9)
    assert (values[:, 5:] > 1).all()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_means_move_by_a_share(share):
    mixture = Mixture.random(3, np.random.default_rng(0))
    moved = mixture.moved(share, np.random.default_rng(1))
    others = mixture.moved(1.0, np.random.default_rng(1))
    np.testing.assert_allclose(moved.means - mixture.means, share * (others.means - mixture.means), atol=1e-12)
    assert moved.factors is mixture.factors


@pytest.mark.parametrize("rule", ["median", "median-unsquared"])
def test_losses_are_distances_to_the_exact_mean(rule):
    drawn = Drawn.random(8, 3, rule, np.random.default_rng(0))
    assert float(drawn.kernel.bandwidth) == km.median_bandwidth(drawn.X, squared=rule == "median")
    for variance in (0.0, 2.5):
        noise = km.noise.Normal(variance)
        distance = (km.embed(drawn.X, drawn.kernel, noise=noise) - drawn.truth).norm()
        assert drawn.marginalized_loss(variance) == pytest.approx(distance**2, rel=1e-9)


def test_the_truth_is_the_limit_of_large_samples():
    mixture = Mixture.random(2, np.random.default_rng(0))
    kernel = km.kernels.Gaussian(3.0)
    n = 20_000
    error = (km.embed(mixture.sample(n, np.random.default_rng(1)), kernel) - mixture.embed(kernel)).norm()
    assert error**2 < 5 / n


@pytest.mark.parametrize(("dim", "rule"), checkered([1, 5, 20], ["median", "median-unsquared"]))
def test_no_variance_is_better_than_the_best(rule, dim):
    drawn = Drawn.random(12, dim, rule, np.random.default_rng(dim))
    variance, loss = drawn.best_variance()
    assert loss == drawn.marginalized_loss(variance)
    squared = float(drawn.kernel.bandwidth) ** 2
    tried = [drawn.marginalized_loss(value) for value in [0.0, *np.geomspace(1e-6 * squared, 1e3 * squared, 150)]]
    assert loss <= min(tried) * (1 + 1e-9)


def test_where_noise_only_harms_the_best_is_none():
    drawn = Drawn.random(40, 1, "median", np.random.default_rng(0))
    exact = Drawn(drawn.X, drawn.kernel, km.embed(drawn.X, drawn.kernel))  # the sample is the law
    assert exact.best_variance() == (0.0, pytest.approx(0.0, abs=1e-14))
