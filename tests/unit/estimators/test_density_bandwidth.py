import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from kernelmean.estimators import MKME, MMKME, KernelMean, leave_one_out_likelihood, likelihood_bandwidth
from kernelmean.noise import Normal


def sample(n=40, dim=2):
    return np.random.default_rng(n).normal(size=(n, dim)) * np.array([1.0, 3.0])[:dim]


@pytest.mark.parametrize(
    "noise", [Normal(0.3), Normal.diagonal([0.1, 0.6]), Normal(np.array([[0.3, 0.1], [0.1, 0.5]]))]
)
def test_the_likelihood_is_the_definition(noise):
    X = sample()
    logs = []
    for i in range(len(X)):
        rest = np.delete(X, i, axis=0)
        logs.append(np.log(np.mean([multivariate_normal(x, noise.matrices(2)).pdf(X[i]) for x in rest])))
    assert leave_one_out_likelihood(X, noise) == pytest.approx(np.mean(logs), rel=1e-10)


def test_far_points_do_not_underflow():
    X = np.array([[0.0], [1.0], [1e4]])
    assert leave_one_out_likelihood(X, Normal(1.0)) < -1e6


@pytest.mark.parametrize("form", ["isotropic", "diagonal", "full"])
def test_the_chosen_candidate_has_the_largest_likelihood(form):
    found = likelihood_bandwidth(sample(), noise=form)
    assert found.noise.form == form
    assert max(found.log_likelihoods) == leave_one_out_likelihood(sample(), found.noise)
    fitted = MMKME(bandwidth=found.bandwidth).fit(sample())
    if form == "diagonal":
        np.testing.assert_allclose(fitted.noise_.covariance, found.noise.covariance, rtol=1e-6)


def test_a_good_density_of_a_real_table():
    """Wine, columns standardized, a third held out: near the best variance in hindsight."""
    X = load_wine().data
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:125], order[125:]
    scaler = StandardScaler().fit(X[train])
    train, test = scaler.transform(X[train]), scaler.transform(X[test])
    chosen = MKME(bandwidth="likelihood").fit(train).score(test)
    fixed = [KernelMean(noise=Normal(v), bandwidth=0.1).fit(train).score(test) for v in np.geomspace(0.05, 1.5, 25)]
    with pytest.warns(UserWarning, match="bandwidth='likelihood'"):
        at_the_median = MKME().fit(train).score(test)
    assert chosen > max(fixed) - 1.0  # the best variance in hindsight
    assert chosen > at_the_median + 30.0


@pytest.mark.parametrize("form", ["isotropic", "diagonal", "full"])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
def test_constant_columns_have_no_density(form, value):
    X = np.column_stack([sample(), np.full(40, value)])
    with pytest.raises(ValueError, match=r"column 2 of X is constant; .* drop constant columns"):
        likelihood_bandwidth(X, noise=form)
    for bandwidth in (0.1, 1.0, 10.0):
        fitted = KernelMean(noise=form, bandwidth=bandwidth).fit(X)
        assert np.isfinite(fitted.loocv_)
        with pytest.raises(ValueError, match="column 2 of the data of fit is constant"):
            fitted.score_samples(X)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ratios": []}, "ratios is empty"),
        ({"ratios": [-1.0]}, "finite positive"),
        ({"ratios": [np.nan]}, "finite positive"),
        ({"noise": "x"}, "noise is 'x'; write 'isotropic'"),
        ({"noise": None}, "noise is None; write 'isotropic'"),
    ],
)
def test_candidates_and_forms_are_checked(options, text):
    with pytest.raises(ValueError, match=text):
        likelihood_bandwidth(sample(), **options)
    with pytest.raises(ValueError, match="one row"):
        likelihood_bandwidth(sample()[:1])


def test_columns_that_others_determine_have_no_density():
    X = np.column_stack([sample(), sample().sum(axis=1)])
    with pytest.raises(ValueError, match="drop columns that others determine"):
        likelihood_bandwidth(X, noise="full")
