"""The matching objective equals the embeddings' algebra; its gradients equal central differences."""

from dataclasses import replace

import numpy as np
import pytest

from kernelmean.embedding import embed
from kernelmean.kernels import Gaussian, Linear, Polynomial
from kernelmean.kernels.gaussian import QuadraticGaussian
from kernelmean.matching.mixture import Mixture
from kernelmean.matching.objective import Objective, weights_problem
from kernelmean.matching.parameters import COVARIANCE_TYPES, Layout
from kernelmean.matching.simplex_qp import solve_simplex_qp
from kernelmean.noise import Laplace, Normal

DIM, N, K = 3, 25, 4


def covariances(rng, count):
    factor = rng.normal(size=(count, DIM, DIM))
    return factor @ np.swapaxes(factor, 1, 2) + 0.1 * np.eye(DIM)


def kernels():
    return {
        "one bandwidth": Gaussian(1.3),
        "per axis": Gaussian(np.array([1.0, 2.0, 0.7])),
        "quadratic": QuadraticGaussian(covariances(np.random.default_rng(8), 1)[0]),
    }


def noises():
    rng = np.random.default_rng(9)
    return {
        "none": None,
        "isotropic": Normal(0.3),
        "diagonal": Normal.diagonal([0.1, 0.2, 0.3]),
        "full": Normal(covariances(rng, 1)[0]),
        "diagonal per point": Normal.diagonal(rng.uniform(0.1, 1.0, (N, DIM))),
        "full per point": Normal(covariances(rng, N)),
    }


def case(kernel, noise, offset=0.0):
    """A target with weights of any sign, and a mixture of either kind of covariance."""
    rng = np.random.default_rng(1)
    mu = embed(rng.normal(size=(N, DIM)) + offset, kernel, weights=rng.normal(size=N) / N, noise=noise)
    weights, means = rng.dirichlet(np.ones(K)), rng.normal(size=(K, DIM)) + offset
    axes = Mixture(weights, means, rng.uniform(0.1, 1.0, (K, DIM)))
    return mu, (axes, replace(axes, covariances=covariances(rng, K)))


def differences(function, x, step=1e-5):
    """Central differences of a function of one array; matrices move symmetrically."""
    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[index] = step
        if x.ndim == 3:
            move = 0.5 * (move + np.swapaxes(move, 1, 2))
        slopes[index] = (function(x + move) - function(x - move)) / (2 * step)
    return slopes


@pytest.mark.parametrize("noise", noises().values(), ids=noises().keys())
@pytest.mark.parametrize("kernel", kernels().values(), ids=kernels().keys())
def test_value_and_gradients(kernel, noise):
    mu, mixtures = case(kernel, noise)
    objective = Objective(mu)
    for mixture in mixtures:
        value, nu = objective(mixture), mixture.embedding(kernel)
        assert value.value == pytest.approx(nu @ nu - 2 * (mu @ nu), rel=1e-11, abs=1e-14)
        for name in ("weights", "means", "covariances"):
            truth = differences(lambda x, name=name, m=mixture: objective(replace(m, **{name: x})).value, getattr(mixture, name))
            np.testing.assert_allclose(getattr(value, name), truth, atol=1e-6 * np.abs(truth).max())


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_gradients_in_the_free_parameters(kind):
    mu, (axes, full) = case(Gaussian(1.3), Normal(0.3))
    layout, objective = Layout(kind, K, DIM, 0.05), Objective(mu)
    vector = layout.pack(full if kind in ("tied", "full") else axes)

    def function(x):
        return objective(layout.unpack(x)).value

    mixture = layout.unpack(vector)
    found = layout.pull(vector, mixture, objective(mixture))
    truth = differences(function, vector)
    np.testing.assert_allclose(found, truth, atol=1e-6 * np.abs(truth).max())


def test_an_offset_of_a_million_changes_nothing():
    near, far = case(Gaussian(1.3), Normal(0.3)), case(Gaussian(1.3), Normal(0.3), offset=1e6)
    for a, b in zip(near[1], far[1], strict=True):
        assert Objective(far[0])(b).value == pytest.approx(Objective(near[0])(a).value, rel=1e-7)


def test_tiles_change_nothing(monkeypatch):
    mu, mixtures = case(Gaussian(1.3), Normal(0.3))
    whole = [Objective(mu)(mixture) for mixture in mixtures]
    monkeypatch.setattr("kernelmean.matching.gaussians._TILE_NUMBERS", 7 * K * DIM)
    for before, mixture in zip(whole, mixtures, strict=True):
        after = Objective(mu)(mixture)
        np.testing.assert_allclose(after.covariances, before.covariances, rtol=1e-10, atol=1e-14)
        assert after.value == pytest.approx(before.value, rel=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(0.9), Linear(), Polynomial(2), 2.0 * Gaussian(1.0) + Gaussian(3.0)])
def test_the_weights_are_the_best_of_the_simplex(kernel):
    """The residual function of the best weights is non-negative on every component, zero on the support."""
    mu, mixtures = case(kernel, Normal(0.3))
    for mixture in mixtures:
        gram, linear = weights_problem(mu, mixture)
        best = replace(mixture, weights=solve_simplex_qp(gram, linear).weights)
        nu = best.embedding(kernel) if isinstance(kernel, Gaussian) else None
        distance = best.weights @ gram @ best.weights - 2 * linear @ best.weights
        if nu is not None:
            assert distance == pytest.approx(nu @ nu - 2 * (mu @ nu), rel=1e-10)
        for other in np.random.default_rng(0).dirichlet(np.ones(K), size=200):
            assert distance <= other @ gram @ other - 2 * linear @ other + 1e-12


def test_what_has_no_closed_form_says_so():
    rng = np.random.default_rng(0)
    with pytest.raises(TypeError, match="Gaussian kernel only"):
        Objective(embed(rng.normal(size=(4, 2)), Linear()))
    with pytest.raises(TypeError, match="Normal or no noise"):
        Objective(embed(rng.normal(size=(4, 2)), Gaussian(1.0), noise=Laplace(1.0)))
