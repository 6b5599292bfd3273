"""Laplace and uniform noise, and sums of independent noises: draws, densities, moments, characteristic functions."""

import numpy as np
import pytest
from scipy import stats

from kernelmean.noise import Blankout, Dirac, IndependentSum, Laplace, Normal, Uniform

LAWS = [
    (Laplace((0.5, 2.0)), [stats.laplace(scale=0.5), stats.laplace(scale=2.0)]),
    (Uniform((0.5, 2.0)), [stats.uniform(-0.5, 1.0), stats.uniform(-2.0, 4.0)]),
]
SUM = IndependentSum((Normal(0.3), Laplace((0.5, 2.0)), Uniform(0.8)))
NAMES = [str(noise) for noise, _ in LAWS]


@pytest.mark.parametrize(("noise", "axes"), LAWS, ids=NAMES)
def test_draws_follow_the_law(noise, axes):
    X = np.array([[1.0, -3.0]] * 4000)
    gaps = noise.sample(X, np.random.default_rng(0)) - X
    for column, law in zip(gaps.T, axes, strict=True):
        assert stats.kstest(column, law.cdf).pvalue > 0.01
        assert stats.kstest(1.05 * column, law.cdf).statistic > stats.kstest(column, law.cdf).statistic
    assert abs(stats.spearmanr(gaps[:, 0], gaps[:, 1]).statistic) < 0.05


@pytest.mark.parametrize(("noise", "axes"), LAWS, ids=NAMES)
def test_density(noise, axes):
    gaps = np.random.default_rng(0).normal(size=(3, 7, 2))
    truth = sum(law.logpdf(gaps[..., j]) for j, law in enumerate(axes))
    np.testing.assert_allclose(noise.logpdf(gaps), truth, rtol=1e-14)
    assert np.isneginf(truth).any() == isinstance(noise, Uniform)


@pytest.mark.parametrize(("noise", "axes"), LAWS, ids=NAMES)
def test_characteristic_function_and_moments_by_quadrature(noise, axes):
    frequencies = np.array([[0.0, 0.0], [0.3, -2.0], [5.0, 0.7]])
    truth = [
        np.prod([law.expect(lambda t, w=w: np.cos(w * t)) for law, w in zip(axes, row, strict=True)])
        for row in frequencies
    ]
    np.testing.assert_allclose(noise.characteristic(frequencies), truth, rtol=1e-7)
    np.testing.assert_allclose(noise.moments(4, 2), [[law.moment(r) for law in axes] for r in range(5)], atol=1e-10)


def test_sums_of_independent_noises():
    frequencies = np.random.default_rng(0).normal(size=(5, 2))
    factors = [term.characteristic(frequencies) for term in SUM.terms]
    np.testing.assert_allclose(SUM.characteristic(frequencies), np.prod(factors, axis=0), rtol=1e-15)
    moments = SUM.moments(6, 2)
    np.testing.assert_allclose(moments[2], 0.3 + 2 * np.array([0.5, 2.0]) ** 2 + 0.64 / 3, rtol=1e-14)
    np.testing.assert_array_equal(moments[[1, 3, 5]], 0)
    draws = SUM.sample(np.zeros((200_000, 2)), np.random.default_rng(0))
    error = np.sqrt((moments[4] - moments[2] ** 2) / len(draws))
    assert (np.abs((draws**2).mean(axis=0) - moments[2]) < 4 * error).all()
    fourth = np.array([stats.laplace(scale=b).moment(4) for b in (0.5, 2.0)])
    kurtosis = fourth + 3 * 0.3**2 + 0.8**4 / 5
    variances = np.array([[0.3, 0.3], [0.5, 8.0], [0.64 / 3] * 2])
    cross = 6 * (variances[0] * variances[1] + variances[0] * variances[2] + variances[1] * variances[2])
    np.testing.assert_allclose(moments[4], kurtosis + cross, rtol=1e-14)


def test_sums_flatten_slice_and_print():
    nested = IndependentSum((Normal(0.3), IndependentSum((Laplace((0.5, 2.0)), Uniform(0.8)))))
    assert nested == SUM
    assert SUM.columns((1,)) == IndependentSum((Normal(0.3), Laplace((2.0,)), Uniform(0.8)))
    assert repr(SUM) == "IndependentSum(Normal(0.3), Laplace(scale=(0.5, 2.0)), Uniform(halfwidth=0.8))"
    per_point = IndependentSum((Laplace(0.1), Normal.isotropic([0.1, 0.2, 0.3])))
    assert per_point.per_point == 3
    assert per_point.take(slice(1, 3)) == IndependentSum((Laplace(0.1), Normal.isotropic([0.2, 0.3])))
    for terms in ((), (Blankout(0.1),)):
        with pytest.raises(TypeError, match="at least one additive noise"):
            IndependentSum(terms)
    with pytest.raises(TypeError, match="has no density"):
        SUM.logpdf(np.zeros((1, 2)))


@pytest.mark.parametrize("family", [Laplace, Uniform])
def test_widths_are_checked(family):
    assert family([0.5, 1]) == family((0.5, 1.0)) != family(0.5)
    for bad in (-0.1, np.nan, [0.1, -1.0]):
        with pytest.raises(ValueError, match="non-negative"):
            family(bad)
    with pytest.raises(ValueError, match="has shape"):
        family(np.ones((2, 2)))
    with pytest.raises(ValueError, match="the noise has 2"):
        family([0.1, 0.2]).sample(np.zeros((4, 3)), np.random.default_rng(0))


@pytest.mark.parametrize("family", [Laplace, Uniform])
def test_a_zero_width_is_no_noise_on_that_axis(family):
    noise = family([0.0, 1.0])
    draws = noise.sample(np.zeros((5, 2)), np.random.default_rng(0))
    assert not draws[:, 0].any()
    assert draws[:, 1].all()
    np.testing.assert_array_equal(family(0.0).characteristic(np.ones((3, 2))), Dirac().characteristic(np.ones((3, 2))))
    with pytest.raises(ValueError, match="has no density"):
        noise.logpdf(np.zeros((1, 2)))
