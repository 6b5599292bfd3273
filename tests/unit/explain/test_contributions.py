"""Contributions against double loops, and the sums they must have."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from explained import contributions, dependence_contributions, dependence_witness
from kernelmean import hsic_test, mmd_test
from kernelmean.kernels import Gaussian, Laplacian, Polynomial

KERNELS = [Gaussian(0.8), Gaussian((0.5, 2.0)), Laplacian(1.0), Polynomial(2, 1.0), Gaussian(1.0) + Laplacian(3.0)]


def samples(n=7, m=11, dim=2):
    rng = np.random.default_rng(3)
    return rng.normal(size=(n, dim)), rng.normal(0.5, 1.5, size=(m, dim))


def by_loops(X, Y, kernel, unbiased):
    """What every row adds, from the definition of the witness without the row's own term."""
    added = []
    for own, other, sign in ((X, Y, 1), (Y, X, -1)):
        del sign
        for i, x in enumerate(own):
            keep = [j for j in range(len(own)) if not (unbiased and i == j)]
            inside = np.mean([kernel(x[None], own[j][None])[0, 0] for j in keep])
            outside = np.mean([kernel(x[None], y[None])[0, 0] for y in other])
            added.append((inside - outside) / len(own))
    return np.array(added)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("statistic", ["u", "v"])
def test_every_row_adds_what_the_definition_says(kernel, statistic):
    X, Y = samples()
    found = contributions(X, Y, kernel, statistic=statistic)
    expected = by_loops(X, Y, kernel, statistic == "u")
    scale = np.abs(expected).max()
    assert np.abs(found.values - expected).max() < 1e-12 * max(scale, 1.0)
    assert abs(found.values.sum() - found.statistic) <= 1e-15 * max(scale, 1.0) * len(expected)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("statistic", ["u", "v"])
def test_the_sum_is_the_statistic_of_the_test(kernel, statistic):
    X, Y = samples()
    found = contributions(X, Y, kernel, statistic=statistic)
    tested = mmd_test(X, Y, kernel=kernel, statistic=statistic, n_resamples=9, rng=0)
    magnitude = float(kernel.diag(np.concatenate([X, Y])).mean())
    assert abs(found.statistic - tested.statistic) < 1e-12 * max(magnitude, 1.0)
    assert tested.statistic_name == found.statistic_name


def test_swapping_the_samples_turns_the_witness_over_and_keeps_what_rows_add():
    X, Y = samples()
    there, back = contributions(X, Y), contributions(Y, X)
    np.testing.assert_allclose(there.by_sample[0], back.by_sample[1], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(there.witness[: len(X)], -back.witness[len(Y) :], rtol=1e-12, atol=1e-15)
    assert there.sizes == (7, 11)


def test_the_strongest_rows_come_first_and_a_cluster_of_one_sample_counts():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 1)), rng.normal(size=(30, 1))
    Y[:12] = 8.0
    found = contributions(X, Y, Gaussian(1.0))
    np.testing.assert_allclose(found.values[40:52], 11 / 29 / 30, rtol=1e-4)  # nobody else is near
    sizes = np.abs(found.values[found.strongest(70)])
    assert (np.diff(sizes) <= 0).all()
    assert len(found.strongest(5)) == 5
    assert found.values.min() < 0


def centered_loops(K):
    n = len(K)
    H = np.eye(n) - 1 / n
    return H @ K @ H


def unbiased_hsic(K, Z):
    """Song et al. (2012), eq. (5), term by term."""
    n = len(K)
    K, Z = K - np.diag(np.diag(K)), Z - np.diag(np.diag(Z))
    one = np.ones(n)
    parts = np.trace(K @ Z) + (one @ K @ one) * (one @ Z @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * one @ K @ Z @ one
    return parts / (n * (n - 3))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_dependence_by_matrices(kernel):
    X, Y = samples(12, 12)
    K, Z = kernel(X, X), Laplacian(2.0)(Y, Y)
    v = dependence_contributions(X, Y, (kernel, Laplacian(2.0)))
    expected = (centered_loops(K) * centered_loops(Z)).sum(axis=1) / 144
    np.testing.assert_allclose(v.values, expected, rtol=0, atol=1e-13 * max(1.0, K.max()))
    u = dependence_contributions(X, Y, (kernel, Laplacian(2.0)), statistic="u")
    assert abs(u.values.sum() - unbiased_hsic(K, Z)) < 1e-13 * max(1.0, K.max())


@pytest.mark.parametrize("statistic", ["u", "v"])
def test_dependence_sums_to_the_statistic_of_the_test(statistic):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    Y = X[:, :1] ** 2 + 0.1 * rng.normal(size=(40, 1))
    found = dependence_contributions(X, Y, statistic=statistic)
    tested = hsic_test(X, Y, statistic=statistic, n_resamples=9, rng=0, estimator="kme")
    assert abs(found.statistic - tested.statistic) < 1e-13
    assert tested.statistic > 1e-3
    swapped = dependence_contributions(Y, X, statistic=statistic)
    np.testing.assert_allclose(swapped.values, found.values, rtol=0, atol=1e-16)


def u_centered(K):
    """Székely & Rizzo (2014), section 2.1."""
    n, K = len(K), K - np.diag(np.diag(K))
    rows = K.sum(axis=0) / (n - 2)
    centered = K - rows - rows[:, None] + K.sum() / ((n - 1) * (n - 2))
    return centered - np.diag(np.diag(centered))


@pytest.mark.parametrize("n", [9, 700])
def test_unbiased_centering_has_no_diagonal_and_rows_that_sum_to_zero(n):
    X, Y = samples(n, n)
    kernels = Gaussian(1.0), Laplacian(2.0)
    left, right = (u_centered(kernel(Z, Z)) for kernel, Z in zip(kernels, (X, Y), strict=True))
    assert np.abs(left.sum(axis=0)).max() < 1e-12 < np.abs(left).max()
    found = dependence_contributions(X, Y, kernels, statistic="u").values
    np.testing.assert_allclose(found, (left * right).sum(axis=1) / (n * (n - 3)), rtol=1e-9, atol=1e-16)


def test_bad_input_says_what_to_do():
    X, Y = samples()
    with pytest.raises(ValueError, match="pass 'u'"):
        contributions(X, Y, statistic="w")
    with pytest.raises(ValueError, match="at least 2 in each"):
        contributions(X[:1], Y)
    with pytest.raises(ValueError, match="needs at least 4"):
        dependence_contributions(X[:3], Y[:3], statistic="u")
    with pytest.raises(ValueError, match="tuple of 3"):
        dependence_contributions(X, Y[:7], (Gaussian(1.0),) * 3)


def test_weighted_noisy_means_have_contributions_too():
    X, Y = samples()
    kernel, variance = Gaussian(1.0), 0.4
    weights = np.linspace(-0.2, 0.6, len(X))
    mu = km.embed(X, kernel, weights=weights, noise=km.noise.Normal(variance))
    nu = km.embed(Y, kernel)
    found = contributions(mu, nu, statistic="v")
    assert found.statistic == pytest.approx((mu - nu).norm() ** 2, rel=1e-12)
    places = np.concatenate([X, Y])
    assert found.sizes == (7, 11)
    np.testing.assert_allclose(found.witness[7:], (mu - nu)(places)[7:], rtol=0, atol=1e-14)
    smooth = [km.embed(x[None], kernel, noise=km.noise.Normal(variance)) @ (mu - nu) for x in X]
    np.testing.assert_allclose(found.values[:7], weights * smooth, rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match="statistic='v'"):
        contributions(mu, nu, statistic="u")


@pytest.mark.parametrize("estimator", ["mkme", "mmkme"])
def test_noise_explains_the_test_with_noise(estimator):
    X, Y = samples(20, 15)
    found = contributions(X, Y, estimator=estimator)
    tested = mmd_test(X, Y, estimator=estimator, n_resamples=9, rng=0)
    pooled = np.concatenate([X, Y])
    np.testing.assert_allclose(found.kernel(pooled, X), tested.kernel(pooled, X), rtol=1e-6)
    assert found.statistic == pytest.approx(tested.statistic, abs=1e-13)
    pairs = dependence_contributions(X[:15], Y, estimator=estimator)
    assert pairs.statistic == pytest.approx(
        hsic_test(X[:15], Y, estimator=estimator, n_resamples=9, rng=0).statistic, abs=1e-13
    )
    with pytest.raises(ValueError, match=r"estimator is KernelMean\(filter='scale'\), with weights"):
        contributions(X, Y, estimator="s-kmse")


def test_equal_samples_and_constant_columns():
    X, _ = samples()
    assert np.abs(contributions(X, X, statistic="v").values).max() < 1e-16
    constant = contributions(np.ones((4, 2)), np.ones((3, 2)))
    assert (constant.values == 0.0).all()
    assert (dependence_contributions(np.ones((5, 1)), X[:5]).values == 0.0).all()


def test_the_witness_of_dependence_by_definition():
    X, Y = samples(9, 9)
    x, y = np.random.default_rng(0).normal(size=(2, 4, 2))
    kernels = Gaussian(0.8), Laplacian(1.0)
    w = dependence_witness(X, Y, kernels)
    K, Z = kernels[0](x, X), kernels[1](y, Y)
    raw = (K * Z).mean(axis=1) - K.mean(axis=1) * Z.mean(axis=1)
    found = dependence_contributions(X, Y, kernels)
    assert w.norm == pytest.approx(np.sqrt(found.statistic), rel=1e-12)
    np.testing.assert_allclose(w(x, y) * w.norm, raw, rtol=0, atol=1e-14)
    grid = np.repeat(np.arange(9), 9), np.tile(np.arange(9), 9)
    joint = w(X, Y).mean() - w(X[grid[0]], Y[grid[1]]).mean()
    assert joint == pytest.approx(w.norm, rel=1e-10)  # a unit function that tells the two means apart by their distance
    np.testing.assert_allclose(dependence_witness(Y, X, kernels[::-1])(y, x), w(x, y), rtol=1e-12)
    with pytest.raises(ValueError, match="HSIC is 0"):
        dependence_witness(np.ones((9, 1)), Y)
    with pytest.raises(ValueError, match="row i of x and row i of y"):
        w(x, y[:2])
    with pytest.raises(ValueError, match="columns"):
        w(x[:, :1], y)
