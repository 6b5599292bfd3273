"""Mean losses on random mixtures of Gaussians, against the exact mean, meet independent figures within two errors."""

import functools

import numpy as np
import pytest

import kernelmean as km
from kernelmean.estimators import FKMSE, KME, MKME, MMKME, SKMSE, VPMKME

pytestmark = pytest.mark.slow

MAKERS = {"kme": KME, "s-kmse": SKMSE, "f-kmse": FKMSE, "mkme": MKME, "mmkme": MMKME, "vpmkme": VPMKME}
DRAWS = 30
CASES = [(10, True), *(pytest.param(*case, marks=pytest.mark.slow) for case in [(20, True), (10, False)])]

# squared median, rounded: KME, S-KMSE, F-KMSE, MKME, MMKME on 30 other draws, d = 20
SQUARED = {10: (0.0311, 0.0295, 0.0299, 0.0293, 0.0295), 20: (0.0182, 0.0176, 0.0178, 0.0176, 0.0176)}


def random_mixture(dim, rng):
    """π, means U(-10, 10), covariances Wishart(2I, 7) + 0.2 I (singular plus noise for d > 7)."""
    factors = rng.normal(scale=np.sqrt(2.0), size=(4, 7, dim))
    covariances = np.einsum("ckd,cke->cde", factors, factors) + 0.2 * np.eye(dim)
    return np.array([0.05, 0.3, 0.4, 0.25]), rng.uniform(-10, 10, size=(4, dim)), covariances


@functools.cache
def losses(n, dim, squared):
    """Return {estimator: array of losses} over seeded draws; the truth is an embedding, without Monte Carlo error."""
    found = {name: [] for name in MAKERS}
    for seed in range(DRAWS):
        rng = np.random.default_rng([seed, n, dim])
        weights, means, covariances = random_mixture(dim, rng)
        chosen = rng.choice(4, size=n, p=weights)
        X = np.stack([rng.multivariate_normal(means[c], covariances[c]) for c in chosen])
        kernel = km.kernels.Gaussian(km.median_bandwidth(X, squared=squared))
        truth = km.embed(means, kernel, weights=weights, noise=km.noise.Normal(covariances))
        for name, make in MAKERS.items():
            found[name].append((make(kernel).fit(X).embedding_ - truth).norm() ** 2)
    return {name: np.array(values) for name, values in found.items()}


def error(values):
    return values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("n", [10, pytest.param(20, marks=pytest.mark.slow)])
def test_mean_losses_with_the_squared_median(n):
    found = losses(n, 20, True)
    for name, figure in zip(MAKERS, SQUARED[n], strict=False):
        of_difference = np.sqrt(2) * error(found[name])  # both are means of 30 draws
        assert abs(found[name].mean() - figure) < 2 * of_difference, name


@pytest.mark.slow
def test_mean_losses_with_the_unsquared_median():
    found = losses(10, 20, False)
    assert abs(found["kme"].mean() - 0.098) < 0.002
    for name in ("s-kmse", "f-kmse", "mkme", "mmkme"):
        assert abs(found[name].mean() - 0.008) < 0.001, name


@pytest.mark.parametrize(("n", "squared"), CASES)
def test_marginalizing_beats_the_empirical_mean(n, squared):
    found = losses(n, 20, squared)
    for name in ("s-kmse", "f-kmse", "mkme", "mmkme", "vpmkme"):
        gain = found["kme"] - found[name]
        assert gain.mean() > 2 * error(gain), name


@pytest.mark.parametrize(("n", "squared"), CASES)
def test_preserving_the_variance_beats_marginalizing(n, squared):
    found = losses(n, 20, squared)
    gain = found["mkme"] - found["vpmkme"]
    assert gain.mean() > 2 * error(gain)
