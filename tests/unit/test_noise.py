import numpy as np
import pytest
from scipy import stats

from kernelmean.expected import expected
from kernelmean.kernels import Categorical, Linear
from kernelmean.noise import Blankout, Dirac, Normal, Sampled, Switch

C = np.array([[1.0, 0.3], [0.3, 0.5]])


@pytest.mark.parametrize("noise", [Normal(0.4), Normal.diagonal([0.2, 0.6]), Normal(C)], ids=repr)
def test_normal_draws_have_their_covariance(noise):
    draws = noise.sample(np.ones((40_000, 2)), np.random.default_rng(0)) - 1.0
    np.testing.assert_allclose(np.cov(draws.T), noise.matrices(2), atol=0.02)


def test_per_point_draws_and_slices():
    noise = Normal(np.stack([1e-8 * np.eye(2), C]))
    draws = noise.sample(np.zeros((2, 2)), np.random.default_rng(0))
    assert np.abs(draws[0]).max() < 1e-3 < np.abs(draws[1]).max()
    np.testing.assert_array_equal(noise.take(slice(1, 2)).covariance[0], C)
    assert noise.take(np.array([1, 1, 0])).per_point == 3


@pytest.mark.parametrize("noise", [Normal(0.4), Normal.diagonal([0.2, 0.6]), Normal(C)], ids=repr)
def test_normal_density_and_characteristic_function(noise):
    gaps = np.random.default_rng(0).normal(size=(5, 2))
    law = stats.multivariate_normal(np.zeros(2), noise.matrices(2))
    np.testing.assert_allclose(noise.logpdf(gaps), law.logpdf(gaps), rtol=1e-12)
    truth = [np.exp(-0.5 * w @ noise.matrices(2) @ w) for w in gaps]
    np.testing.assert_allclose(noise.characteristic(gaps), truth, rtol=1e-13)


def test_marginals_on_columns():
    assert Normal(0.3).columns((1,)) == Normal(0.3)
    assert Normal.diagonal([0.1, 0.2, 0.3]).columns((2, 0)) == Normal.diagonal([0.3, 0.1])
    np.testing.assert_array_equal(Normal(C).columns((1,)).covariance, [[0.5]])
    assert Blankout([0.1, 0.2], [1.0, 2.0]).columns((1,)) == Blankout((0.2,), (2.0,))


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ([0.1, 0.2], "ambiguous"),
        (-1.0, "variance"),
        (np.nan, "variance"),
        (np.ones((2, 3)), "full covariance has shape"),
        (np.zeros((0, 0)), "covariance is empty"),
        (np.zeros((0, 2, 2)), "covariance is empty"),
        (np.ma.array(np.eye(2), mask=np.eye(2)), "masked cells"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), "not symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "negative eigenvalue"),
    ],
)
def test_a_bad_covariance_is_refused(bad, text):
    with pytest.raises(ValueError, match=text):
        Normal(bad)


@pytest.mark.parametrize("bad", [1 + 0j, np.eye(2) * (1 + 0j), "0.1", [["1", "0"], ["0", "1"]]])
def test_variances_are_real_numbers(bad):
    with pytest.raises(TypeError, match=r"complex numbers|numbers (is|are) needed"):
        Normal(bad)


def test_a_part_of_a_noise_may_be_empty():
    assert Normal(np.stack([C, C])).take(slice(0, 0)).per_point == 0
    with pytest.raises(ValueError, match="variance is empty"):
        Normal.diagonal([])


def test_moments_of_normal_noise():
    noise = Normal.diagonal([0.5, 2.0])
    np.testing.assert_allclose(noise.moments(6, 2)[[1, 2, 3, 4, 6], 1], [0, 2.0, 0, 3 * 4.0, 15 * 8.0])
    with pytest.raises(TypeError, match="dependent"):
        Normal(C).moments(2, 2)
    np.testing.assert_array_equal(Dirac().moments(2, 3), [[1, 1, 1], [0, 0, 0], [0, 0, 0]])


def test_blankout_and_switch_draw_what_they_say():
    rng = np.random.default_rng(0)
    X = np.full((40_000, 2), 5.0)
    share = (Blankout([0.2, 0.7], -1.0).sample(X, rng) == -1.0).mean(axis=0)
    np.testing.assert_allclose(share, [0.2, 0.7], atol=0.01)
    moments = Blankout(0.2, -1.0).raw_moments(X[:1], 2)[:, 0, 0]
    np.testing.assert_allclose(moments, [1.0, 0.8 * 5 - 0.2, 0.8 * 25 + 0.2])
    switched = Switch(0.6, 3).sample(np.zeros((40_000, 1)), rng)
    np.testing.assert_allclose(np.bincount(switched[:, 0].astype(int)) / 40_000, [0.6, 0.2, 0.2], atol=0.01)


def test_moments_of_switch_noise_are_those_of_enumeration():
    X, p = np.array([[0.0, 2.0], [1.0, 1.0]]), 0.3
    truth = [(1 - p) * X**r + p * np.mean([k**r for k in (0.0, 1.0, 2.0)]) for r in range(4)]
    np.testing.assert_allclose(Switch(p, 3).raw_moments(X, 3), truth, rtol=1e-14)


@pytest.mark.parametrize("bad", [[[1.0], [3.0]], [[-1.0]], [[0.5]]])
def test_switch_goes_with_codes_from_0(bad):
    noise, codes = Switch(0.5, 3), np.array([[0.0], [2.0]])
    calls = [
        lambda: expected(Categorical(0.0), bad, codes, noise),
        lambda: expected(Categorical(0.0), codes, bad, noise),
        lambda: expected(Linear(), bad, codes, noise),
        lambda: noise.sample(np.array(bad), np.random.default_rng(0)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="code the categories from 0 on"):
            call()


@pytest.mark.parametrize("levels", [2.5, 3.0, 1, "3"])
def test_switch_needs_a_whole_number_of_levels(levels):
    with pytest.raises(ValueError, match="an integer ≥ 2"):
        Switch(0.5, levels)
    with pytest.raises(ValueError, match="one number for all columns"):
        Switch([0.1, 0.2], 3)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_probabilities_lie_between_0_and_1(bad):
    with pytest.raises(ValueError, match="probability"):
        Blankout(bad)
    with pytest.raises(ValueError, match="probability"):
        Switch(bad, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, [0.0, np.nan]])
def test_a_coordinate_is_not_replaced_by_what_is_no_number(bad):
    with pytest.raises(ValueError, match="finite numbers"):
        Blankout(0.1, bad)
    with pytest.raises(TypeError, match=r"numbers (is|are) needed"):
        Blankout(0.1, "a")


def test_sampled_noise_is_fixed_by_its_seed():
    X = np.zeros((3, 2))
    np.testing.assert_array_equal(Sampled(Normal(1.0), 4).copies(X), Sampled(Normal(1.0), 4).copies(X))
    assert Sampled(Normal(1.0), 4).copies(X).shape == (4, 3, 2)
    assert not np.array_equal(Sampled(Normal(1.0), 4).copies(X), Sampled(Normal(1.0), 4, seed=1).copies(X))
    with pytest.raises(ValueError, match="n_samples"):
        Sampled(Normal(1.0), 0)
