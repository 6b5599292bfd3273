"""Every leave-one-out shortcut equals the definition to 1e-10, every gradient central differences to 1e-6."""

from itertools import product

import mpmath
import numpy as np
import pytest

import kernelmean as km
from kernelmean import estimators as est
from kernelmean.embedding import diagonal_share, means
from kernelmean.estimators import (
    Cutoff,
    IteratedRidge,
    Landweber,
    NoiseProblem,
    NuMethod,
    Ridge,
    Weighing,
    loocv,
    search_free,
)
from kernelmean.kernels import Gaussian, Polynomial
from kernelmean.noise import Dirac, Normal

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
SHAPES = [(2, 1), (3, 2), (9, 3), (14, 6)]


def sample(n, dim, seed=0):
    rng = np.random.default_rng([seed, n, dim])
    return rng.normal(size=(n, dim)) * rng.uniform(0.3, 2.0, size=dim) + 5.0


def problem(X, theta, **options):
    return NoiseProblem(X, Gaussian(theta), **options)


# -- shortcuts against the definition ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("theta", [0.3, 1.7, 20.0])
@pytest.mark.parametrize("scale", [1.0, 0.6])
def test_shared_gaussian_noise(shape, theta, scale):
    X = sample(*shape)
    rng = np.random.default_rng(1)
    root = rng.normal(size=(shape[1], shape[1]))
    noises = [Dirac(), Normal(0.4), Normal.diagonal(rng.uniform(0.0, 2.0, shape[1])), Normal(root @ root.T)]
    for noise in noises:
        fitted = est.KernelMean(Gaussian(theta), noise=noise, filter="scale", strength=1 / scale - 1).fit(X)
        weights = np.full(len(X) - 1, scale / (len(X) - 1))
        brute = loocv.leave_one_out(
            lambda rest, w=weights, v=noise: km.embed(X[rest], Gaussian(theta), weights=w, noise=v), X
        )
        np.testing.assert_allclose(fitted.loocv_, brute, **TIGHT)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("r", "noise"), [(1.0, 0.5), (0.8, 0.0), (0.3, 2.0)])
def test_contraction_moves_the_mean(shape, r, noise):
    X, theta = sample(*shape), 1.3

    def fit(rest):
        center = X[rest].mean(axis=0)
        return km.embed(center + r * (X[rest] - center), Gaussian(theta), noise=Normal(noise))

    Y = (X - X.mean(axis=0)) / theta
    terms = loocv.contracted_terms(Y, r, noise / theta**2, diagonal_share(len(X), "loocv"), *X.shape)
    np.testing.assert_allclose(terms.score().value, loocv.leave_one_out(fit, X), **TIGHT)


def refit(X, kernel, noise, weights_of):
    """Brute force: weights from the matrices without the point."""

    def fit(rest):
        return km.embed(
            X[rest], kernel, noise=noise, weights=weights_of(km.expected(kernel, X[rest], X[rest], noise, noise))
        )

    return loocv.leave_one_out(fit, X)


def ridge_weights(Q, strength, times=1):
    target, weights = Q.mean(axis=1), np.zeros(len(Q))
    for _ in range(times):
        weights = weights + np.linalg.solve(Q + strength * np.eye(len(Q)), target - Q @ weights)
    return weights


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("theta", [0.3, 1.7, 10.0])
def test_ridge_path(shape, theta):
    X, kernel = sample(*shape), Gaussian(theta)
    strengths = np.array([1e-3, 0.1, 1.0, 30.0, 1e5])
    path = loocv.ridge_scores(loocv.GramSpectrum.of(kernel(X, X), 1.0), strengths)
    brute = [refit(X, kernel, Dirac(), lambda Q, lam=lam: ridge_weights(Q, lam)) for lam in strengths]
    np.testing.assert_allclose([score.value for score in path], brute, **TIGHT)


@pytest.mark.parametrize("noise", [Dirac(), Normal(0.3)])
@pytest.mark.parametrize("kernel", [Gaussian(1.2), Polynomial(2)])
@pytest.mark.parametrize("times", [1, 3])
def test_resolvents_under_noise(noise, kernel, times):
    X = sample(9, 2) - 5.0
    filter_ = Ridge() if times == 1 else IteratedRidge(times)
    for strength in (0.01, 1.0, 50.0):
        found = Weighing(X, kernel, noise).at(filter_, strength).score.value
        brute = refit(X, kernel, noise, lambda Q, lam=strength: ridge_weights(Q, lam, times))
        np.testing.assert_allclose(found, brute, rtol=1e-9)


@pytest.mark.parametrize("noise", [Dirac(), Normal(0.3)])
@pytest.mark.parametrize("filter_", [Landweber(1.3), NuMethod(1.0), NuMethod(0.5)])
def test_iterations_refit_their_step_too(noise, filter_):
    X, kernel = sample(8, 2), Gaussian(1.2)
    weighing = Weighing(X, kernel, noise)

    def weights_of(Q):
        values, vectors = np.linalg.eigh(Q)
        return vectors @ (filter_.factor(np.maximum(values, 0.0), 6) * vectors.mean(axis=0))

    np.testing.assert_allclose(weighing.at(filter_, 6).score.value, refit(X, kernel, noise, weights_of), **TIGHT)


@pytest.mark.parametrize("noise", [Dirac(), Normal(0.3)])
def test_cutoffs(noise):
    X, kernel = sample(8, 2), Gaussian(1.2)
    weighing = Weighing(X, kernel, noise)
    for cutoff in (0.05, 0.3, 2.0, 100.0):
        brute = refit(X, kernel, noise, lambda Q, c=cutoff: Cutoff().weights(Q, c))
        np.testing.assert_allclose(weighing.at(Cutoff(), cutoff).score.value, brute, **TIGHT)


@pytest.mark.parametrize("kernel", [Gaussian(1.2), Gaussian([0.7, 2.0]), Polynomial(3), Gaussian(1.0) + Polynomial(2)])
def test_generic_means(kernel):
    X = sample(7, 2) - 5.0
    noise = Normal.diagonal([0.2, 0.5])
    found = means(kernel, X, noise, diagonal_share(7, "loocv")).score().value
    np.testing.assert_allclose(
        found, loocv.leave_one_out(lambda rest: km.embed(X[rest], kernel, noise=noise), X), **TIGHT
    )


def test_one_covariance_per_point():
    X, kernel = sample(7, 2), Gaussian(1.2)
    noise = Normal.diagonal(np.random.default_rng(2).uniform(0.1, 1.0, size=(7, 2)))
    fitted = est.KernelMean(kernel, noise=noise).fit(X)
    brute = loocv.leave_one_out(lambda rest: km.embed(X[rest], kernel, noise=noise.take(rest)), X)
    np.testing.assert_allclose(fitted.loocv_, brute, **TIGHT)


# -- optima and criteria ----------------------------------------------------------------------------------------------


def test_shrinkage_is_the_closed_form_and_the_minimum():
    X, kernel = sample(12, 3), Gaussian(2.0)
    fitted = est.SKMSE(kernel).fit(X)
    K, n = kernel(X, X), len(X)
    rho, trace = K.mean(), np.trace(K) / n
    np.testing.assert_allclose(fitted.strength_, n * (trace - rho) / ((n - 1) * (n * rho - trace)), rtol=1e-10)
    near = [est.SKMSE(kernel, strength=fitted.strength_ * factor).fit(X).loocv_ for factor in (0.9, 1.0, 1.1)]
    assert near[1] < min(near[0], near[2])
    np.testing.assert_allclose(near[1], fitted.loocv_, rtol=1e-12)


def test_shrinkage_is_to_zero_when_the_points_repel():
    X = np.array([[1.0], [-1.0]])
    fitted = est.SKMSE(km.kernels.Linear()).fit(X)
    assert (fitted.weights_ == 0).all()
    assert fitted.strength_ == np.inf
    assert fitted.loocv_ == 1.0  # mean k(x, x)


def test_the_printed_score_keeps_the_point_as_a_basis_point():
    X, kernel, strength = sample(8, 2), Gaussian(1.0), 0.5
    K, n = kernel(X, X), 8
    total = 0.0
    for i in range(n):
        others = np.where(np.arange(n) == i, 0.0, 1.0 / (n - 1))
        gap = np.linalg.solve(K + strength * np.eye(n), K @ others) - np.eye(n)[i]
        total += gap @ K @ gap
    spectrum = loocv.GramSpectrum.of(K, 1.0)
    np.testing.assert_allclose(loocv.printed_scores(spectrum, np.array([strength])), total / n, **TIGHT)
    assert abs(loocv.ridge_scores(spectrum, np.array([strength]))[0].value - total / n) > 1e-3


@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_risk_estimate_is_unbiased(noise):
    """All 27 samples of size 3 from three atoms: the mean of the estimate is the risk less the constant |μ|²."""
    atoms, kernel, v = np.array([[0.0], [1.0], [2.5]]), Gaussian(1.0), Normal(noise)
    truth = km.embed(atoms, kernel)
    estimates, risks = [], []
    for index in product(range(3), repeat=3):
        X = atoms[list(index)]
        estimates.append(problem(X, 1.0, criterion="risk").at(np.array([noise])).score.value)
        risks.append((km.embed(X, kernel, noise=v) - truth).norm() ** 2 - truth @ truth)
    np.testing.assert_allclose(np.mean(estimates), np.mean(risks), rtol=1e-12)


# -- gradients --------------------------------------------------------------------------------------------------------


def central(function, point):
    steps = 1e-5 * np.diag(np.maximum(point, 1e-2))
    return np.array([(function(point + h) - function(point - h)) / (2 * h.sum()) for h in steps])


@pytest.mark.parametrize("scale", [1.0, 0.7, None])
@pytest.mark.parametrize("theta", [0.2, 1.5, 8.0])
def test_gradients(scale, theta):
    X = sample(15, 4)
    Y, alpha = problem(X, theta).Y, diagonal_share(15, "loocv")
    distances = loocv.Distances(Y)
    cases = [
        (lambda e: loocv.axis_terms(Y, e, alpha), np.array([0.2, 1.1, 0.01, 3.0])),
        (lambda p: loocv.contracted_terms(Y, p[0], p[1], alpha, *Y.shape), np.array([0.7, 0.4])),
        (lambda p: loocv.isotropic.terms(distances, p[0], alpha), np.array([0.4])),
    ]
    for terms, point in cases:
        numeric = central(lambda p, f=terms: f(p).score(scale).log, point)
        found = terms(point).log_slope(scale)
        np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-6 * np.abs(numeric).max())


# -- narrow kernels, high dimensions, offsets -------------------------------------------------------------------------


def exact_excess(Y, noise):
    """Return the logarithm and the sign of the score less 1 with 60 digits, points in units of θ."""
    n, a = len(Y), [mpmath.mpf(float(x)) for x in noise]

    def mean_kernel(i, j, sides):
        exponent = sum(
            (mpmath.mpf(x) - mpmath.mpf(y)) ** 2 / (1 + sides * e) for x, y, e in zip(Y[i], Y[j], a, strict=True)
        )
        return mpmath.exp(-exponent / 2) / mpmath.sqrt(mpmath.fprod(1 + sides * e for e in a))

    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    cross = sum(mean_kernel(i, j, 1) for i, j in pairs) / (n * (n - 1))
    off = sum(mean_kernel(i, j, 2) for i, j in pairs) / (n * (n - 1))
    excess = -2 * cross + (n - 2) * off / (n - 1) + mean_kernel(0, 0, 2) / (n - 1)
    return mpmath.log(abs(excess)), mpmath.sign(excess)


@pytest.mark.parametrize("ratio", [0.001, 0.01, 10.0])
@pytest.mark.parametrize("dim", [1, 8, 60])
def test_scores_of_narrow_kernels_keep_their_digits(ratio, dim):
    X = sample(6, dim)
    Y = problem(X, ratio * km.median_bandwidth(X)).Y
    noise = np.random.default_rng(3).uniform(0.5, 2.0, size=dim) * 2.0 / ratio**2 / dim
    score = loocv.axis_terms(Y, noise, diagonal_share(6, "loocv")).score()
    with mpmath.workdps(60):
        log, sign = exact_excess(Y, noise)
    assert sign == score.sign
    np.testing.assert_allclose(score.log, float(log), rtol=1e-12, atol=1e-11)


def test_ridge_scores_of_narrow_kernels_keep_their_digits():
    X, kernel = sample(7, 3), Gaussian(1.0)
    off = 1e-30 * kernel(X, X) * (1 - np.eye(7))
    strength = 1e29
    found = loocv.ridge_scores(loocv.GramSpectrum.of(np.eye(7) + off, 1.0), np.array([strength]))[0].excess
    with mpmath.workdps(120):
        total = mpmath.mpf(0)
        for i in range(7):
            rest = [j for j in range(7) if j != i]
            K = mpmath.matrix(np.eye(6).tolist()) + mpmath.matrix(off[np.ix_(rest, rest)].tolist())
            b = mpmath.lu_solve(K + strength * mpmath.eye(6), K * mpmath.matrix([mpmath.mpf(1) / 6] * 6))
            total += (b.T * K * b)[0] - 2 * (mpmath.matrix([off[i, rest].tolist()]) * b)[0]
        exact = float(total / 7)
    assert abs(exact) < 1e-57
    np.testing.assert_allclose(found, exact, rtol=1e-10)


def test_theta_to_the_d_does_not_overflow():
    X = 1e3 * np.random.default_rng(4).normal(size=(12, 2000))
    for ratio in (1e-3, 1.0):
        fitted = est.MKME(bandwidth=ratio * km.median_bandwidth(X)).fit(X)
        assert np.isfinite(fitted.criterion_.log)
        assert fitted.criterion_.sign == -1
        assert fitted.noise_.covariance > 0


@pytest.mark.parametrize("make", [est.KME, est.SKMSE, est.FKMSE, est.MKME, est.MMKME, est.VPMKME])
def test_an_offset_changes_nothing(make):
    X = np.random.default_rng(5).normal(size=(25, 3))
    near, far = make().fit(X), make().fit(X + 1e6)
    np.testing.assert_allclose(far.loocv_, near.loocv_, rtol=1e-6)
    np.testing.assert_allclose(far.weights_, near.weights_, rtol=1e-6)
    if make not in (est.KME, est.SKMSE, est.FKMSE):
        np.testing.assert_allclose(far.noise_.variances(3), near.noise_.variances(3), rtol=1e-6, atol=1e-7)


def test_the_free_contraction_gains_on_both_its_limits():
    X = sample(20, 3)
    found = search_free(problem(X, km.median_bandwidth(X)))
    assert 0 < found.contraction < 1
    assert found.score < problem(X, km.median_bandwidth(X)).at(found.noise).score


def test_printed_scores_of_many_strengths_are_those_of_each():
    X = np.random.default_rng(5).normal(size=(6, 2))
    spectrum = loocv.GramSpectrum.of(Gaussian(1.0)(X, X), 1.0)
    strengths = np.array([0.01, 0.3, 2.0])
    each = [loocv.printed_scores(spectrum, np.array([strength]))[0] for strength in strengths]
    np.testing.assert_allclose(loocv.printed_scores(spectrum, strengths), each, rtol=1e-13)
