"""What other libraries get wrong, one test each: the engine must not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from checkered import checkered
from kernelmean import Design
from kernelmean.kernels import Gaussian
from nulls import TWO_SAMPLES, hsic_test, mmd_test


def normal(n, dim=2, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim))


def share_rejected(pvalues, level):
    return int((np.array(pvalues) <= level + 1e-12).sum())


@pytest.mark.parametrize("scheme", TWO_SAMPLES)
def test_unequal_sizes_are_weighted_by_their_own_sizes(brute, scheme):
    small, large = normal(64), 1.25 * normal(192, seed=1)
    kernel, pooled = Gaussian(2.0), np.vstack([small, large])
    definition = brute.mmd(kernel(pooled, pooled), np.repeat([1, 0], [64, 192]), "u")
    results = [mmd_test(*pair, kernel=kernel, scheme=scheme, rng=0) for pair in ((small, large), (large, small))]
    for result in results:
        assert result.statistic == pytest.approx(definition, rel=1e-9)
    assert results[0].pvalue == results[1].pvalue


@pytest.mark.slow
@pytest.mark.parametrize("scheme", TWO_SAMPLES)
def test_power_does_not_depend_on_which_sample_is_larger(scheme):
    sizes, how = [(64, 192), (192, 64)], {"estimator": "kme", "scheme": scheme, "n_resamples": 99}
    pvalues = [
        [mmd_test(normal(n, seed=2 * s), 1.6 * normal(m, seed=2 * s + 1), **how, rng=s).pvalue for s in range(40)]
        for n, m in sizes
    ]
    powers = [share_rejected(own, 0.05) for own in pvalues]
    assert min(powers) >= 24
    assert abs(powers[0] - powers[1]) <= 12


def test_the_condition_enters_the_conditional_test_and_its_p_values_are_uniform():
    strata, pvalues = np.arange(40) // 10, []
    for s in range(200):
        X, Y = normal(40, 1, seed=2 * s) + 3 * strata[:, None], normal(40, 1, seed=2 * s + 1) + 3 * strata[:, None]
        one = hsic_test(X, Y, estimator="kme", design=Design(strata=strata), n_resamples=19, rng=s)
        pvalues.append(one.pvalue)
    for level in (0.05, 0.2, 0.5):
        low, high = binom.ppf([0.0005, 0.9995], 200, level)
        assert low <= share_rejected(pvalues, level) <= high
    assert hsic_test(X, Y, rng=0).pvalue == 0.001  # dependent where nothing is given
    assert hsic_test(X, Y + X, design=Design(strata=strata), rng=0).pvalue <= 0.01  # and where the stratum is


def test_the_p_value_is_that_of_permutations_at_every_size():
    """With one kernel here; tests/statistical has the level of the adaptive test."""
    draws = ((normal(30, seed=2 * s), normal(30, seed=2 * s + 1), s) for s in range(200))
    pvalues = [mmd_test(X, Y, estimator="kme", n_resamples=39, rng=s).pvalue for X, Y, s in draws]
    for level in (0.05, 0.1, 0.2, 0.5):  # an approximation that holds at .05 only fails at .2
        low, high = binom.ppf([0.0005, 0.9995], 200, level)
        assert low <= share_rejected(pvalues, level) <= high
    assert set(np.round(np.array(pvalues) * 40, 9)) <= set(range(1, 41))


@pytest.mark.parametrize(("test", "n"), checkered([mmd_test, hsic_test], [10, 20]))
def test_ties_count_against_the_observed_value(test, n):
    rng = np.random.default_rng(n)
    pvalues = [
        test(*rng.integers(0, 2, (2, n, 1)).astype(float), kernel=Gaussian(1.0), n_resamples=59, rng=s).pvalue
        for s in range(200)
    ]
    for level in (0.05, 0.1):
        assert share_rejected(pvalues, level) <= binom.ppf(0.9995, 200, level)


def test_the_null_is_resampled_from_the_pooled_sample_and_the_right_tail_counts():
    X, Y = normal(100, 1), normal(100, 1, seed=1)
    assert mmd_test(X, Y, rng=0).pvalue > 0.05
    far = mmd_test(X, Y + 3.0, rng=0)
    assert far.pvalue == 1 / 1000
    assert far.null_distribution.max() < far.statistic
    pooled_null = mmd_test(Y + 3.0, X, rng=1).null_distribution  # neither sample alone has such a spread
    assert np.quantile(pooled_null, 0.95) == pytest.approx(np.quantile(far.null_distribution, 0.95), rel=0.3)
    assert mmd_test(np.arange(20.0)[:, None] * 2, np.arange(20.0)[:, None] * 2 + 1, rng=0).pvalue > 0.9
