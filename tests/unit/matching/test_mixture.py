"""Mixtures are normalised densities, and their samples follow them."""

import numpy as np
import pytest
from scipy.stats import binomtest, kstest, multivariate_normal, norm

from kernelmean.density import GaussianMixture
from kernelmean.embedding import embed
from kernelmean.kernels import Gaussian

FULL = GaussianMixture(
    np.array([0.3, 0.7, 0.0]),
    np.array([[0.0, 1.0], [2.0, -1.0], [50.0, 50.0]]),
    np.array([[[1.0, 0.6], [0.6, 0.5]], [[0.3, -0.1], [-0.1, 2.0]], [[1.0, 0.0], [0.0, 1.0]]]),
)
AXES = GaussianMixture(FULL.weights, FULL.means, np.array([[1.0, 0.5], [0.3, 2.0], [1.0, 1.0]]))
LINE = GaussianMixture(np.array([0.2, 0.8]), np.array([[-1.0], [2.0]]), np.array([[0.01], [1.5]]))


@pytest.mark.parametrize("mixture", [FULL, AXES])
def test_logpdf_equals_scipy(mixture):
    Y = np.random.default_rng(0).normal(size=(50, 2)) * 3
    density = sum(
        w * multivariate_normal(m, S if S.ndim == 2 else np.diag(S)).pdf(Y)
        for w, m, S in zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
    )
    np.testing.assert_allclose(mixture.logpdf(Y), np.log(density), rtol=1e-10)


def test_integrates_to_one():
    x = np.linspace(-12, 12, 24001)
    assert np.exp(LINE.logpdf(x[:, None])).sum() * (x[1] - x[0]) == pytest.approx(1.0, abs=1e-10)
    x = np.linspace(-12, 12, 401)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    for mixture in (FULL, AXES):
        assert np.exp(mixture.logpdf(grid)).sum() * (x[1] - x[0]) ** 2 == pytest.approx(1.0, abs=1e-9)


def test_far_away_the_density_is_finite():
    assert np.isfinite(FULL.logpdf(np.array([[1e8, -1e8]]))).all()


@pytest.mark.parametrize("mixture", [FULL, AXES])
def test_samples_follow_the_density(mixture):
    """Kolmogorov-Smirnov on every axis and on the log density, and exact binomial counts of a half plane."""
    draws = mixture.sample(10_000, np.random.default_rng(1))
    variances = mixture.covariances if mixture.covariances.ndim == 2 else np.diagonal(mixture.covariances, 0, 1, 2)
    for axis in range(2):
        spread = np.sqrt(variances[:, axis])
        cdf = lambda t, a=axis, s=spread: norm.cdf((t[:, None] - mixture.means[:, a]) / s) @ mixture.weights  # noqa: E731
        assert kstest(draws[:, axis], cdf).pvalue > 1e-3
    x = np.linspace(-12, 12, 601)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    mass = np.exp(mixture.logpdf(grid)) * (x[1] - x[0]) ** 2
    share = float(mass[grid.sum(axis=1) > 0.02].sum())
    inside = int((draws.sum(axis=1) > 0.02).sum())
    assert binomtest(inside, 10_000, share).pvalue > 1e-3


def test_the_embedding_is_that_of_its_samples():
    kernel = Gaussian(1.0)
    nu = FULL.embedding(kernel)
    sample = embed(FULL.sample(10_000, np.random.default_rng(2)), kernel)
    expected_square = (1 - nu @ nu) / 10_000
    assert (nu - sample) @ (nu - sample) < 5 * expected_square
