import numpy as np
import pytest
from scipy.optimize import minimize

import kernelmean as km
from kernelmean.estimators import KME, MedianOfMeans, geometric_median
from kernelmean.noise import Normal


def sample(n=60):
    return np.random.default_rng(n).normal(size=(n, 2))


def test_the_geometric_median_minimizes_the_sum_of_distances():
    Z = np.random.default_rng(0).normal(size=(7, 3))
    found = geometric_median(Z @ Z.T) @ Z

    def total(z):
        return np.linalg.norm(Z - z, axis=1).sum()

    best = minimize(total, Z.mean(axis=0), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}).x
    np.testing.assert_allclose(found, best, atol=1e-7)


def test_a_median_that_is_one_of_the_elements():
    Z = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [2.0, -1.0]])
    np.testing.assert_allclose(geometric_median(Z @ Z.T) @ Z, [0.0, 0.0], atol=1e-6)
    assert geometric_median(np.ones((1, 1))) == pytest.approx([1.0])


def test_one_block_is_the_empirical_mean():
    X = sample()
    np.testing.assert_allclose(MedianOfMeans(n_blocks=1).fit(X).weights_, KME().fit(X).weights_, rtol=1e-12)


def test_outliers_move_it_less_than_the_mean():
    clean = sample(100)
    dirty = clean.copy()
    dirty[:4] = 50.0
    kernel = km.kernels.Linear() + km.kernels.Gaussian(1.0)
    truth = KME(kernel).fit(clean).embedding_
    robust = MedianOfMeans(n_blocks=12, kernel=kernel, random_state=0).fit(dirty)
    mean = KME(kernel).fit(dirty)
    assert (robust.embedding_ - truth).norm() < 0.3 * (mean.embedding_ - truth).norm()
    spoiled = np.unique(robust.blocks_[:4])
    assert robust.block_weights_[spoiled].max() < np.delete(robust.block_weights_, spoiled).min()


def test_weights_are_those_of_a_law_and_noise_gives_a_density():
    X = sample()
    fitted = MedianOfMeans(n_blocks=5, bandwidth=0.2, noise=Normal(0.1), random_state=0).fit(X)
    assert fitted.weights_.sum() == pytest.approx(1.0)
    assert (fitted.weights_ > 0).all()
    assert np.isfinite(fitted.score_samples(X)).all()
    assert not hasattr(MedianOfMeans(), "score_samples")


def test_more_blocks_than_points_are_single_points():
    fitted = MedianOfMeans(n_blocks=1000).fit(sample(8))
    assert len(fitted.block_weights_) == 8


@pytest.mark.parametrize("n_blocks", [0, 2.5, "a"])
def test_blocks_are_counted(n_blocks):
    with pytest.raises(ValueError, match=f"n_blocks is {n_blocks!r}, an integer ≥ 1"):
        MedianOfMeans(n_blocks=n_blocks).fit(sample())


@pytest.mark.parametrize("noise", ["isotropic", 0.1])
def test_the_noise_is_a_value(noise):
    with pytest.raises(TypeError, match="None or a value such as noise"):
        MedianOfMeans(noise=noise).fit(sample())
