"""Marginalized estimators in tests: another kernel, found from rows that no relabeling changes."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.expected import expected
from kernelmean.kernels import Gaussian, Laplacian

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(14, 3)) * [1.0, 2.0, 0.5], RNG.normal(size=(11, 3)) + 0.4
POOLED = np.concatenate([X, Y])


def unbiased_mmd(E, n):
    within = [(block.sum() - np.trace(block)) / (len(block) * (len(block) - 1)) for block in (E[:n, :n], E[n:, n:])]
    return sum(within) - 2 * E[:n, n:].mean()


@pytest.mark.parametrize(("name", "make"), [("mkme", km.MKME), ("mmkme", km.MMKME)])
def test_the_statistic_is_the_marginalized_mmd_of_the_pooled_noise(name, make):
    fitted = make().fit(POOLED)
    E = expected(fitted.kernel_, POOLED, POOLED, fitted.noise_, fitted.noise_)
    result = km.mmd_test(X, Y, estimator=name, rng=0)
    assert result.statistic == pytest.approx(unbiased_mmd(E, len(X)), rel=1e-9)
    np.testing.assert_allclose(result.noise.covariance, fitted.noise_.covariance, rtol=1e-6)


@pytest.mark.parametrize("name", ["mkme", "mmkme"])
def test_swapping_the_samples_changes_nothing(name):
    one, other = km.mmd_test(X, Y, estimator=name, rng=0), km.mmd_test(Y, X, estimator=name, rng=0)
    assert one.statistic == pytest.approx(other.statistic, rel=1e-9)
    assert one.pvalue == other.pvalue


def test_hsic_takes_the_noise_of_each_variable_from_that_variable():
    Z = X[:, :1] ** 2 + 0.1 * RNG.normal(size=(14, 1))
    grams = []
    for V in (X, Z):
        fitted = km.MKME().fit(V)
        gram = expected(fitted.kernel_, V, V, fitted.noise_, fitted.noise_)
        center = np.eye(14) - 1 / 14
        grams.append(center @ gram @ center)
    result = km.hsic_test(X, Z, estimator="mkme", rng=0)
    assert result.statistic == pytest.approx(np.trace(grams[0] @ grams[1]) / 14**2, rel=1e-7)


def test_an_estimator_brings_its_own_kernel_and_noise():
    kernel = Laplacian(1.3)
    noise = km.noise.Uniform(0.4)
    result = km.mmd_test(X, Y, estimator=km.KernelMean(kernel, noise=noise), rng=0)
    E = expected(kernel, POOLED, POOLED, noise, noise)
    assert result.statistic == pytest.approx(unbiased_mmd(E, len(X)), rel=1e-9)
    plain = km.mmd_test(X, Y, estimator=km.KME(Gaussian(0.7)), rng=0)
    assert plain.kernel == Gaussian(0.7)


def test_many_rows_are_fitted_on_some_and_the_result_says_so():
    big = np.random.default_rng(1).normal(size=(1400, 2))
    result = km.mmd_test(big[:700], big[700:], estimator="mkme", n_resamples=99, rng=0)
    assert any("noise of the pooled sample: fitted to 1000 of 1400 rows" in note for note in result.notes)


def test_constant_data_have_p_one():
    assert km.mmd_test(np.ones((4, 2)), np.ones((5, 2)), estimator="mmkme", rng=0).pvalue == 1.0


def test_unknown_names_are_refused_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"estimator is 'mkm'; pass one of 'kme', 'mkme', 'mmkme', 's-kmse', 'f-kmse'"):
        km.mmd_test(X, Y, estimator="mkm")
