import pickle

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import kernelmean as km
from kernelmean.kernels import bandwidth_from, normal_rule_bandwidth

X = np.random.default_rng(0).normal(size=(60, 3))


def test_both_conventions():
    assert km.median_bandwidth(X) ** 2 == pytest.approx(np.median(pdist(X) ** 2), rel=1e-14)
    assert km.median_bandwidth(X, squared=False) ** 2 == pytest.approx(np.median(pdist(X)), rel=1e-14)


def test_an_offset_or_an_order_changes_nothing():
    assert km.median_bandwidth(X + 1e6) == pytest.approx(km.median_bandwidth(X), rel=1e-9)
    assert km.median_bandwidth(X[::-1]) == pytest.approx(km.median_bandwidth(X), rel=1e-14)


def test_a_subsample_says_so_and_is_seeded():
    exact, first, again = (km.median_bandwidth(X, exact_up_to=n, rng=1) for n in (60, 30, 30))
    assert exact.exact
    assert exact.n_points == 60
    assert not first.exact
    assert first.n_points == 30
    assert first == again
    assert first == pytest.approx(exact, rel=0.2)


def test_ties_beyond_half_are_named():
    tied = np.r_[np.zeros(20), np.arange(1, 4.0)][:, None]
    theta = km.median_bandwidth(tied)
    assert theta > 0
    assert theta.rule.endswith("not 0")


def test_constant_data_raise():
    with pytest.raises(ValueError, match="all 5 rows are equal"):
        km.median_bandwidth(np.ones((5, 2)))
    with pytest.raises(ValueError, match="all 1 rows"):
        km.median_bandwidth(np.ones((1, 2)))


@pytest.mark.parametrize("large", [[[1.7e308], [-1.7e308]], [[1.7e308], [1.6e308]]])
def test_differences_must_not_overflow(large):
    with pytest.raises(ValueError, match="whose differences overflow; rescale"):
        km.median_bandwidth(large)
    assert km.median_bandwidth([[1e300], [-1e300]]) == pytest.approx(2e300, rel=1e-14)


@pytest.mark.parametrize("number", [0, 1, -1, 2.5, "all"])
def test_a_subsample_has_at_least_two_rows(number):
    with pytest.raises(ValueError, match=r"exact_up_to is .*, an integer ≥ 2"):
        km.median_bandwidth(X, exact_up_to=number)


def test_what_is_known_survives_pickling():
    theta = pickle.loads(pickle.dumps(km.median_bandwidth(X)))
    assert theta.rule == "median of squared distances"


def test_normal_rules():
    n, dim = X.shape
    np.testing.assert_allclose(normal_rule_bandwidth(X, "scott"), X.std(axis=0, ddof=1) * n ** (-1 / (dim + 4)))
    ratio = normal_rule_bandwidth(X, "silverman") / normal_rule_bandwidth(X, "scott")
    np.testing.assert_allclose(ratio, (4 / (dim + 2)) ** (1 / (dim + 4)))
    with pytest.raises(ValueError, match="column 1 of X is constant"):
        normal_rule_bandwidth([[0.0, 1.0], [1.0, 1.0]])


def test_rules_by_name():
    assert bandwidth_from(X, 0.3) == 0.3
    assert bandwidth_from(X, "median") == km.median_bandwidth(X)
    assert bandwidth_from(X, "median-unsquared") == km.median_bandwidth(X, squared=False)
    assert np.shape(bandwidth_from(X, "scott")) == (3,)
    with pytest.raises(ValueError, match="'median'"):
        bandwidth_from(X, "mean")


@pytest.mark.parametrize("unit", [1e-200, 1e-150, 1e150])
def test_any_unit_works(unit):
    assert km.median_bandwidth(unit * X) == pytest.approx(unit * km.median_bandwidth(X), rel=1e-12)
    assert km.median_bandwidth(unit * X, squared=False) == pytest.approx(
        unit**0.5 * km.median_bandwidth(X, squared=False), rel=1e-12
    )


@pytest.mark.parametrize("far", [1e12, 1e20, 1e37, 1e120])
def test_a_fill_value_does_not_blur_the_distances_of_the_others(far):
    X = np.random.default_rng(3).normal(size=(21, 2))
    X[0, 0] = 1e6
    plain = km.median_bandwidth(X)
    X[0, 0] = far
    assert km.median_bandwidth(X) == pytest.approx(plain, rel=1e-14)
