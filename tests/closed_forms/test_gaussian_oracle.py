"""Gaussian kernels under Gaussian noise equal quadrature, for every form of covariance, on one and on both sides."""

import numpy as np
import pytest

from kernelmean.expected import difference, expected, smoothed
from kernelmean.kernels import Gaussian
from kernelmean.noise import Dirac, Normal

N_DRAWS = 240


def gap_integral(gap, theta, deviation):
    """∫ exp(-(gap + t)²/2θ²) N(t; 0, s²) dt by the trapezoid rule around the integrand's peak."""
    if deviation == 0.0:
        return np.exp(-0.5 * (gap / theta) ** 2)
    width = min(theta, deviation)
    peak = -gap * deviation**2 / (deviation**2 + theta**2)
    t = peak + width * np.linspace(-14, 14, 801)
    integrand = np.exp(-0.5 * ((gap + t) / theta) ** 2 - 0.5 * (t / deviation) ** 2)
    return integrand.sum() * (t[1] - t[0]) / (deviation * np.sqrt(2 * np.pi))


def oracle(x, y, theta, covariance):
    """The expectation in d dimensions as a product of integrals along the eigenvectors of Σ in units of θ."""
    values, vectors = np.linalg.eigh(covariance / np.outer(theta, theta))
    gaps = vectors.T @ ((x - y) / theta)
    return np.prod([gap_integral(g, 1.0, np.sqrt(max(v, 0.0))) for g, v in zip(gaps, values, strict=True)])


def random_covariance(rng, dim, scale):
    factor = rng.normal(size=(dim, dim))
    return scale**2 * (factor @ factor.T + 0.1 * np.eye(dim))


def noise_of(form, rng, dim, scale, n):
    """One noise of a form, and the covariance of every one of n points."""
    if form == "dirac":
        return Dirac(), np.zeros((n, dim, dim))
    if form == "isotropic":
        return Normal(scale**2), np.tile(scale**2 * np.eye(dim), (n, 1, 1))
    if form == "diagonal":
        e = scale**2 * rng.uniform(0.1, 2.0, dim)
        return Normal.diagonal(e), np.tile(np.diag(e), (n, 1, 1))
    if form == "full":
        C = random_covariance(rng, dim, scale)
        return Normal(C), np.tile(C, (n, 1, 1))
    if form == "diagonal per point":
        e = scale**2 * rng.uniform(0.1, 2.0, (n, dim))
        return Normal.diagonal(e), np.stack([np.diag(row) for row in e])
    C = np.stack([random_covariance(rng, dim, scale) for _ in range(n)])
    return Normal(C), C


FORMS = ["dirac", "isotropic", "diagonal", "full", "diagonal per point", "full per point"]


@pytest.mark.parametrize("right", FORMS)
@pytest.mark.parametrize("left", FORMS)
def test_equals_quadrature(left, right):
    rng = np.random.default_rng([FORMS.index(left), FORMS.index(right)])
    n, m = 2, 3
    for draw in range(N_DRAWS // (n * m)):
        dim = 1 + draw % 3
        theta = np.exp(rng.normal(size=dim)) if draw % 2 else np.full(dim, np.exp(rng.normal()))
        scales = theta.mean() * 10.0 ** rng.uniform(-3, 3, 2)
        v, A = noise_of(left, rng, dim, scales[0], n)
        w, B = noise_of(right, rng, dim, scales[1], m)
        spread = theta.mean() + rng.uniform(0, 2) * max(scales)
        X, Y = spread * rng.normal(size=(n, dim)), spread * rng.normal(size=(m, dim))
        found = expected(Gaussian(theta if draw % 2 else theta[0]), X, Y, v, w)
        truth = [[oracle(X[i], Y[j], theta, A[i] + B[j]) for j in range(m)] for i in range(n)]
        np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-14)


def test_the_difference_of_two_normals_has_the_sum_of_their_covariances_and_the_wider_form():
    full = np.array([[1.0, 0.5], [0.5, 2.0]])
    noises = {
        "isotropic": Normal(0.3),
        "diagonal": Normal.diagonal([0.1, 0.2]),
        "full": Normal(full),
        "isotropic, one per point": Normal.isotropic([0.1, 0.2, 0.4]),
        "diagonal, one per point": Normal.diagonal(np.arange(6.0).reshape(3, 2)),
        "full, one per point": Normal(full * np.arange(1.0, 4.0)[:, None, None]),
    }
    forms = ["isotropic", "diagonal", "full"]
    for first, v in noises.items():
        for second, w in noises.items():
            both = difference(v, w)
            found, wanted = np.broadcast_arrays(both.matrices(2), v.matrices(2) + w.matrices(2))
            np.testing.assert_allclose(found, wanted, rtol=1e-14)
            assert both.form == max(first.split(",")[0], second.split(",")[0], key=forms.index)
            assert both.per_point == (3 if "," in first + second else None)


def test_smoothing_is_a_semigroup():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 3))
    C = random_covariance(rng, 3, 1.0)
    twice = smoothed(smoothed(Gaussian(1.3), Normal(0.4), 3), Normal(C), 3)
    once = smoothed(Gaussian(1.3), Normal(C + 0.4 * np.eye(3)), 3)
    np.testing.assert_allclose(twice(X, X), once(X, X), rtol=1e-13)


def test_constant_does_not_overflow_in_2000_dimensions():
    X = np.random.default_rng(0).normal(size=(3, 2000))
    narrow = expected(Gaussian(1e-3), X, X, Normal(1.0))
    assert np.all(narrow == 0.0)
    wide = expected(Gaussian(1e3), X, X, Normal(1.0), Normal(1.0))
    np.testing.assert_allclose(np.diag(wide), (1 + 2e-6) ** -1000, rtol=1e-12)
    X = X[:, :500]  # a determinant of 10^3000
    wide = expected(Gaussian(1e3), X, X, Normal(1.0), Normal(1.0))
    np.testing.assert_allclose(expected(Gaussian(1e3), X, X, Normal(np.eye(500)), Normal(1.0)), wide, rtol=1e-11)


@pytest.mark.parametrize(
    "noise", [Normal(0.3), Normal.diagonal([0.1, 0.2]), Normal(np.array([[1.0, 0.5], [0.5, 1.0]]))]
)
def test_an_offset_of_a_million_changes_nothing(noise):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    near, far = (expected(Gaussian(0.7), X + s, Y + s, noise, Normal(0.1)) for s in (0.0, 1e6))
    np.testing.assert_allclose(far, near, rtol=1e-6)


def test_gram_matrices_are_positive_semi_definite():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    for form in FORMS:
        noise, _ = noise_of(form, rng, 2, 0.5, 30)
        gram = expected(Gaussian(0.8), X, X, noise, noise)
        np.testing.assert_allclose(gram, gram.T, rtol=1e-13)
        assert np.linalg.eigvalsh(gram).min() > -1e-13
