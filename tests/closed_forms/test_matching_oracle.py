"""The matching objective equals the embeddings' algebra; its gradients equal central differences."""

from dataclasses import replace

import numpy as np
import pytest

from kernelmean.core import solve_simplex_qp
from kernelmean.density import COVARIANCE_TYPES, GaussianMixture, MatchingObjective, ParameterLayout, weights_problem
from kernelmean.embedding import embed
from kernelmean.kernels import Gaussian, Laplacian, Linear, Polynomial, QuadraticGaussian
from kernelmean.noise import Laplace, Normal

DIM, N, K = 3, 9, 4


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
    axes = GaussianMixture(weights, means, rng.uniform(0.1, 1.0, (K, DIM)))
    return mu, (axes, replace(axes, covariances=covariances(rng, K)))


def matrices(noise, count):
    """One covariance matrix per point."""
    if noise is None:
        return np.zeros((count, DIM, DIM))
    return np.broadcast_to(noise.matrices(DIM), (count, DIM, DIM))


def kernel_matrix(kernel):
    if isinstance(kernel, QuadraticGaussian):
        return np.asarray(kernel.covariance)
    return np.diag(np.broadcast_to(np.square(kernel.bandwidth), DIM))


def inner(T, X, A, beta, Y, B, gamma):
    """The bilinear form of two noisy mixtures, one pair of points after another."""
    total = 0.0
    for x, a, b in zip(X, A, beta, strict=True):
        for y, c, g in zip(Y, B, gamma, strict=True):
            C = T + a + c
            total += (
                b
                * g
                * np.sqrt(np.linalg.det(T) / np.linalg.det(C))
                * np.exp(-0.5 * (x - y) @ np.linalg.solve(C, x - y))
            )
    return total


def distance(mu, mixture, noise):
    """|ν|² - 2⟨μ, ν⟩ of a mixture's embedding ν."""
    S = mixture.covariances if mixture.covariances.ndim == 3 else mixture.covariances[..., None] * np.eye(DIM)
    nu, T = (mixture.means, S, mixture.weights), kernel_matrix(mu.kernel)
    return inner(T, *nu, *nu) - 2 * inner(T, mu.points, matrices(noise, N), mu.weights, *nu)


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


def slices_of(objective, mixture, name):
    """The objective as a function of one of the mixture's arrays."""
    return lambda x: objective(replace(mixture, **{name: x})).value


@pytest.mark.parametrize("noise", noises().values(), ids=noises().keys())
@pytest.mark.parametrize("kernel", kernels().values(), ids=kernels().keys())
def test_value_and_gradients(kernel, noise):
    mu, mixtures = case(kernel, noise)
    objective = MatchingObjective(mu)
    for mixture in mixtures:
        value = objective(mixture)
        assert value.value == pytest.approx(distance(mu, mixture, noise), rel=1e-11, abs=1e-14)
        for name in ("weights", "means", "covariances"):
            truth = differences(
                lambda x, name=name, m=mixture: objective(replace(m, **{name: x})).value, getattr(mixture, name)
            )
            np.testing.assert_allclose(getattr(value, name), truth, atol=1e-6 * np.abs(truth).max())


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_gradients_in_the_free_parameters(kind):
    mu, (axes, full) = case(Gaussian(1.3), Normal(0.3))
    layout, objective = ParameterLayout(kind, K, DIM, 0.05, unit=4.0), MatchingObjective(mu)
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
        assert MatchingObjective(far[0])(b).value == pytest.approx(MatchingObjective(near[0])(a).value, rel=1e-7)


def test_tiles_change_nothing(monkeypatch):
    mu, mixtures = case(Gaussian(1.3), Normal(0.3))
    whole = [MatchingObjective(mu)(mixture) for mixture in mixtures]
    monkeypatch.setattr("kernelmean.density.mixture._TILE_NUMBERS", 7 * K * DIM)
    for before, mixture in zip(whole, mixtures, strict=True):
        after = MatchingObjective(mu)(mixture)
        np.testing.assert_allclose(after.covariances, before.covariances, rtol=1e-10, atol=1e-14)
        assert after.value == pytest.approx(before.value, rel=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(0.9), Linear(), Polynomial(2), Laplacian(1.5)])
def test_the_weights_are_the_best_of_the_simplex(kernel):
    mu, (mixture, _) = case(kernel, Normal(0.3))
    gram, linear = weights_problem(mu, mixture)
    best = solve_simplex_qp(gram, linear)
    if kernel == Gaussian(0.9):
        nu = replace(mixture, weights=best).embedding(kernel)
        assert best @ gram @ best - 2 * linear @ best == pytest.approx(nu @ nu - 2 * (mu @ nu), rel=1e-10)
    for other in np.random.default_rng(0).dirichlet(np.ones(K), size=200):
        assert best @ gram @ best - 2 * linear @ best <= other @ gram @ other - 2 * linear @ other + 1e-12


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Laplacian(1.5), 2.0 * Gaussian(1.0) + Gaussian(3.0)])
def test_inner_products_of_other_kernels_equal_sampling(kernel):
    mu, (mixture, _) = case(kernel, None)
    gram, linear = weights_problem(mu, mixture)
    rng, draws = np.random.default_rng(0), 1500
    clouds = [
        m + rng.standard_normal((draws, DIM)) * np.sqrt(S)
        for m, S in zip(mixture.means, mixture.covariances, strict=True)
    ]
    values = np.array([mu(cloud) for cloud in clouds])
    assert np.all(np.abs(values.mean(axis=1) - linear) < 5 * values.std(axis=1) / np.sqrt(draws))
    cross = np.diagonal(kernel(clouds[0], clouds[1]))
    assert abs(cross.mean() - gram[0, 1]) < 5 * cross.std() / np.sqrt(draws)
    np.testing.assert_array_equal(gram, gram.T)


def test_what_has_no_closed_form_says_so():
    rng = np.random.default_rng(0)
    with pytest.raises(TypeError, match="Gaussian kernel only"):
        MatchingObjective(embed(rng.normal(size=(4, 2)), Linear()))
    with pytest.raises(TypeError, match="Normal or no noise"):
        MatchingObjective(embed(rng.normal(size=(4, 2)), Gaussian(1.0), noise=Laplace(1.0)))
