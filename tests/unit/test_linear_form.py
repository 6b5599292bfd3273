"""Linear forms of marginalized estimates, and the paper's errata as tested statements."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean import linear_form
from kernelmean.noise import Normal

COVARIANCE = np.array([[1.0, 0.3, 0.0], [0.3, 0.5, -0.2], [0.0, -0.2, 2.0]])
FORMS = {
    "isotropic": Normal,
    "diagonal": lambda s: Normal.diagonal(s * np.array([1.0, 0.2, 3.0])),
    "full": lambda s: Normal(s * COVARIANCE),
}


def estimate(noise, theta=1.0, weights=None):
    points = np.random.default_rng(0).normal(size=(12, 3))
    return km.embed(points, km.kernels.Gaussian(theta), noise=noise, weights=weights)


def distance(embedding, method):
    """Distance within the span of the points: what a linear form can be blamed for."""
    return (linear_form(embedding, method) - linear_form(embedding, "projected")).norm()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("theta", [1.3, np.array([0.9, 1.4, 2.0])])
def test_second_order_error_falls_16_times_when_the_variance_falls_4_times(form, theta):
    coarse, fine = (distance(estimate(FORMS[form](s), theta), "second_order") for s in (4e-3, 1e-3))
    assert 15.0 < coarse / fine < 17.0


@pytest.mark.parametrize("form", ["isotropic", "diagonal"])
def test_the_printed_error_does_not_vanish(form):
    coarse, fine = (distance(estimate(FORMS[form](s)), "printed") for s in (4e-3, 1e-3))
    assert 0.9 < coarse / fine < 1.1
    assert fine > 0.4 * estimate(Normal(0.0)).norm()


def test_without_noise_the_printed_weights_are_half():
    nothing = estimate(Normal(0.0))
    np.testing.assert_allclose(linear_form(nothing, "printed").weights, nothing.weights / 2, rtol=1e-9)
    for method in ("projected", "second_order"):
        np.testing.assert_allclose(linear_form(nothing, method).weights, nothing.weights, rtol=1e-8)


@pytest.mark.parametrize("noise", [Normal(0.3), Normal(0.3 * COVARIANCE)])
def test_the_projection_is_the_nearest(noise):
    mu = estimate(noise, weights=np.linspace(0.01, 0.2, 12))
    nearest = linear_form(mu)
    best = (mu - nearest).norm()
    for direction in np.random.default_rng(1).normal(size=(5, 12)):
        moved = km.embed(mu.points, mu.kernel, weights=nearest.weights + 1e-3 * direction)
        assert (mu - moved).norm() > best
    assert best > 1e-4  # the estimate is not in the span of the points
    np.testing.assert_allclose(nearest(mu.points), mu(mu.points), rtol=1e-8)


def test_weights_of_any_sign_and_per_point_noise_can_be_projected():
    noise = Normal.diagonal(np.random.default_rng(2).uniform(0.1, 0.5, size=(12, 3)))
    mu = estimate(noise, weights=np.linspace(-1.0, 1.0, 12))
    np.testing.assert_allclose(linear_form(mu)(mu.points), mu(mu.points), rtol=1e-8, atol=1e-12)


def test_small_eigenvalues_are_cut_off():
    wide = estimate(Normal(0.1), theta=1e3)
    form = linear_form(wide)
    assert np.abs(form.weights).max() < 1e3
    assert (form - wide).norm() < 1e-6


def test_what_the_theorems_do_not_cover():
    with pytest.raises(ValueError, match="write 'projected'"):
        linear_form(estimate(Normal(0.1)), "third_order")
    with pytest.raises(TypeError, match="Gaussian kernels"):
        linear_form(km.embed([[0.0], [1.0]], km.kernels.Linear(), noise=Normal(0.1)), "second_order")
    with pytest.raises(ValueError, match="isotropic or diagonal"):
        linear_form(estimate(Normal(0.1 * COVARIANCE)), "printed")
    with pytest.raises(TypeError, match="all points share"):
        linear_form(estimate(Normal.isotropic(np.full(12, 0.1))), "second_order")
