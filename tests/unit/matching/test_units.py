"""The same table in other units has the same fit, to the last digits, although a descent makes much of little."""

import numpy as np
import pytest

from checkered import checkered
from kernelmean import KernelMean, KernelMeanMatching

FACTORS = [1e-6, 1 / 3, 1 + 1e-15]
OPTIONS = {
    "spherical": {},
    "full": {"covariance_type": "full"},
    "diagonal noise": {"estimator": "mmkme"},
    "full noise": {"estimator": KernelMean(noise="full")},
    "never stopped": {"early_stopping": False, "bandwidth": "median"},
    "Silverman": {"bandwidth": "silverman", "covariance_type": "diag"},
}


def rows(seed=0, dim=1):
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(size=(40, dim)), rng.normal(6, 0.3, size=(40, dim))]


def check_same(fitted, other, X, factor):
    shift = X.shape[1] * np.log(factor)
    assert other.n_iter_ == fitted.n_iter_
    assert other.score(factor * X) + shift == pytest.approx(fitted.score(X), abs=1e-11)
    assert other.validation_score_ + shift == pytest.approx(fitted.validation_score_, abs=1e-11, nan_ok=True)
    np.testing.assert_allclose(other.weights_, fitted.weights_, rtol=1e-12)
    np.testing.assert_allclose(other.means_ / factor, fitted.means_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(other.covariances_ / factor**2, fitted.covariances_, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(np.divide(other.bandwidth_, factor), fitted.bandwidth_, rtol=1e-12)
    np.testing.assert_allclose(other.target_.points / factor, fitted.target_.points, rtol=1e-12, atol=1e-12)
    assert other.target_.norm() == pytest.approx(fitted.target_.norm(), rel=1e-11)


@pytest.mark.filterwarnings("ignore:the fit did not converge")
@pytest.mark.parametrize(("name", "dim"), checkered(list(OPTIONS), [1, 2]))
def test_a_fit_does_not_depend_on_units_by_rounding(name, dim):
    X, options = rows(dim=dim), OPTIONS[name]
    fitted = KernelMeanMatching(4, random_state=0, **options).fit(X)
    for factor in FACTORS:
        check_same(fitted, KernelMeanMatching(4, random_state=0, **options).fit(factor * X), X, factor)


@pytest.mark.parametrize("factor", [0.1, 1e-6, 1000.0])
def test_nor_with_a_bandwidth_and_prototypes_in_these_units(factor):
    X, theta = rows(dim=2), np.array([0.7, 1.1])
    means, variances = np.array([[0.0, 0.3], [5.0, 6.0]]), np.array([1.0, 0.3])

    def fit(c):
        prototypes = (c * means, c**2 * variances)
        return KernelMeanMatching(prototypes=prototypes, bandwidth=c * theta, random_state=0).fit(c * X)

    check_same(fit(1.0), fit(factor), X, factor)
    np.testing.assert_allclose(fit(1.0).kernel_.bandwidth, theta, rtol=0)


def test_what_was_minimised_is_what_is_told():
    mix = KernelMeanMatching(3, random_state=0).fit(37.0 + 1e4 * rows(dim=2))
    gap = mix.embedding() - mix.target_
    assert gap @ gap == pytest.approx(mix.objective_path_[-1] + mix.target_ @ mix.target_, abs=1e-12)
    best = max(mix.trials_, key=lambda trial: trial.score)
    assert mix.validation_score_ == best.score


@pytest.mark.filterwarnings("ignore:the fit did not converge", "ignore:column . varies more than")
def test_columns_of_very_different_scales_keep_their_digits():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1e-9, 1.0, 1e9] + [0.0, 1.0, 2.0]
    back = KernelMeanMatching(2, max_iter=2, early_stopping=False, random_state=0).fit(X).target_.points
    assert back.shape == X.shape
    np.testing.assert_allclose(back[:, 0], X[:, 0], atol=1e-9 * 1e-9)
    np.testing.assert_allclose(back[:, 2], X[:, 2], atol=1e9 * 1e-9)
