"""By what an estimator multiplies parts of the empirical mean: held to the estimate itself."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.estimators import Cutoff, IteratedRidge, KernelMean, Landweber, damping
from kernelmean.kernels import Gaussian, Laplacian, Linear
from kernelmean.noise import Normal

X = np.random.default_rng(2).normal(size=(25, 3)) * [1.0, 3.0, 0.3]


@pytest.mark.parametrize("filter_", ["ridge", IteratedRidge(2), Landweber()])
def test_the_factors_are_those_of_the_weights_along_eigenvectors(filter_):
    kernel = Gaussian(0.8)
    fitted = KernelMean(kernel, filter=filter_).fit(X)
    found = damping(fitted)
    values, vectors = np.linalg.eigh(kernel(X, X))
    exact = (vectors.T @ fitted.weights_) / (vectors.T @ np.full(25, 1 / 25))
    np.testing.assert_allclose(found.eigenvalues, values[::-1], rtol=1e-9)
    np.testing.assert_allclose(np.interp(values, found.places, found.factors[0]), exact, atol=2e-3)
    assert found.axis == "eigenvalue"


def test_a_cutoff_keeps_or_drops():
    fitted = KernelMean(Gaussian(0.8), filter=Cutoff(), strength=1.0).fit(X)
    found = damping(fitted)
    assert ((found.factors[0] == 1.0) == (found.places >= 1.0)).all()
    assert found.names == ("Cutoff(), λ = 1",)


def test_the_factors_are_those_of_the_characteristic_function():
    """The characteristic function of draws from the estimate is that of the rows times the factor."""
    theta = np.array([0.5, 1.5, 0.2])
    fitted = km.MMKME(Gaussian(theta)).fit(X)
    found = damping(fitted)
    assert found.names == ("x0", "x1", "x2")
    draws = fitted.sample(200_000, random_state=0)
    for j in range(3):
        for k in (20, 60):
            omega = found.places[k] / theta[j]
            ours = np.exp(1j * omega * X[:, j]).mean() * found.factors[j, k]
            assert abs(np.exp(1j * omega * draws[:, j]).mean() - ours) < 0.01
    np.testing.assert_allclose(found.weights, np.exp(-0.5 * found.places**2))


def test_a_scale_damps_all_alike_and_joins_the_noise():
    plain = damping(km.estimators.SKMSE(Gaussian(0.5)).fit(X))
    assert plain.names == ("x0, x1, x2",)
    assert np.ptp(plain.factors) == 0.0
    both = KernelMean(Gaussian(0.5), noise="isotropic", filter="scale").fit(X)
    assert damping(both).factors[0, 0] == pytest.approx(1.0 / (1.0 + both.strength_))


def test_columns_are_chosen_and_those_damped_alike_share_a_row():
    fitted = KernelMean(Gaussian(1.0), noise=Normal.diagonal([0.1, 0.1, 0.4])).fit(X)
    assert damping(fitted).names == ("x0, x1", "x2")
    assert damping(fitted, ["x2", "x1"]).names == ("x2", "x1")
    with pytest.raises(ValueError, match="no column 'z'"):
        damping(fitted, ["z"])


def test_other_kernels_have_frequencies_but_no_weights():
    found = damping(KernelMean(Laplacian(1.0), noise=Normal(0.1)).fit(X))
    assert found.unit == "bandwidth"
    assert found.weights.shape == (0,)


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        (km.KME(), ValueError, "damps nothing"),
        (km.estimators.VPMKME(), ValueError, "moves the points"),
        (KernelMean(Linear(), noise=Normal(0.1)), TypeError, "a kernel of x - y"),
        (KernelMean(noise=Normal.isotropic(np.linspace(0.1, 0.2, 25))), ValueError, "noise that all points share"),
    ],
)
def test_what_damps_no_frequency_by_a_factor_is_refused(estimator, error, words):
    with pytest.raises(error, match=words):
        damping(estimator.fit(X))
