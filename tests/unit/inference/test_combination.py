"""Rules that combine the members of an adaptive test, and the approximate p-values that they combine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import kernelmean as km
from dense_members import combined
from kernelmean.inference import Adaptive
from kernelmean.inference.adaptive.combination import COMBINATIONS, evidence
from kernelmean.inference.adaptive.many_kernels import snapped
from kernelmean.inference.multiple import standardized


def test_rules_are_their_definitions():
    rng = np.random.default_rng(10)
    values, weights = rng.gamma(0.7, size=(3, 400)), np.array([0.5, 0.3, 0.2])
    z = (values - values.mean(1, keepdims=True)) / values.std(1, keepdims=True)
    ranks = np.array([[(row >= value).mean() for value in row] for row in values])
    np.testing.assert_allclose(COMBINATIONS["max"](values, weights), z.max(0), rtol=1e-12)
    np.testing.assert_allclose(COMBINATIONS["mean"](values, weights), weights @ z, atol=1e-12)
    np.testing.assert_allclose(COMBINATIONS["log-mean-exp"](values, weights), np.log(weights @ np.exp(z)), rtol=1e-12)
    np.testing.assert_allclose(COMBINATIONS["aggregate"](values, weights), -np.log((ranks / weights[:, None]).min(0)))
    np.testing.assert_allclose(COMBINATIONS["harmonic"](values, weights), combined(values, weights), rtol=1e-9)


@pytest.mark.parametrize("test", [km.mmd_test, km.hsic_test, km.compare, lambda X, Y, **how: km.dependence(X, **how)])
def test_fuse_is_refused_with_what_it_is_called_and_why(test):
    X, Y = np.random.default_rng(0).normal(size=(2, 12, 2))
    with pytest.raises(ValueError, match=r"write estimator='log-mean-exp'\. It never was MMD-FUSE, which divides each"):
        test(X, Y, estimator="fuse")
    named, built = (km.mmd_test(X, Y, estimator=one, rng=0) for one in ("log-mean-exp", Adaptive("log-mean-exp")))
    assert named.pvalue == built.pvalue
    assert named.statistic_name.startswith("log-mean-exp combination")


def test_fuse_is_no_combination_either():
    with pytest.raises(ValueError, match=r"combination 'fuse' is now .*write combination='log-mean-exp'"):
        Adaptive("fuse")


def test_evidence_is_nearly_the_true_tail_of_a_chi_square_law():
    values = np.random.default_rng(11).chisquare(3, size=(1, 20000))
    found = evidence(standardized(values))[0]
    exact = -stats.chi2.logsf(values[0], 3)
    middle = (exact > 0.5) & (exact < 5)
    np.testing.assert_allclose(found[middle], exact[middle], rtol=0.05)


def test_snapped_joins_chains_and_nothing_else():
    values = np.array([1.0, 5.0, 1.0 + 1e-12, 5.0 - 1e-12, 2.0])
    np.testing.assert_array_equal(snapped(values, 1e-10), [1.0, 5.0 - 1e-12, 1.0, 5.0 - 1e-12, 2.0])


@pytest.mark.parametrize("freedom", [1, 5, 50])
def test_evidence_of_very_many_values_is_read_off_a_spline_that_is_as_exact(freedom):
    values = np.random.default_rng(0).chisquare(freedom, size=(2, 12_000))
    values[0, 0] = 40.0 + freedom  # a strong one
    scores = standardized(values)
    skewness = stats.skew(scores, axis=1)[:, None]
    shape = 4.0 / np.maximum(skewness, 0.05) ** 2
    literal = -stats.gamma.logsf(np.maximum(shape + scores * np.sqrt(shape), 0.1 * shape), shape)
    np.testing.assert_allclose(evidence(scores), literal, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(evidence(scores, 1), literal[:, :1], rtol=1e-11)


def test_evidence_where_nothing_varies():
    np.testing.assert_allclose(np.ptp(evidence(np.zeros((1, 12_000)))), 0.0)
