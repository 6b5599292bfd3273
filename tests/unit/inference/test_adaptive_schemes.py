"""The adaptive tests are one statistic, whatever evaluates it: every scheme against dense Gram matrices."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dense_members import combined, independence_values, two_sample_values
from kernelmean import Design
from kernelmean.inference import Adaptive, dhsic_test, k_sample_test
from kernelmean.inference.adaptive.candidates import candidates
from nulls import PAIRS, TWO_SAMPLES, hsic_test, mmd_test

SIZES = 28, 34


def pairs(n, seed=0, dims=(2, 1)):
    """Two dependent variables, a few rows repeated."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, dims[0]))
    Y = X[:, : dims[1]] ** 2 + rng.normal(size=(n, dims[1]))
    X[3], Y[3] = X[4], Y[4]
    return X, Y


def whole(values, members):
    """The combination of the values of all members."""
    varies = np.ptp(values, axis=1) > 1e-9
    return combined(values[varies], np.array([own.weight for own in members])[varies])


@pytest.mark.parametrize("scheme", TWO_SAMPLES)
def test_two_samples_under_every_scheme_equal_dense_gram_matrices(brute, scheme):
    pooled = pairs(sum(SIZES))[0]
    how = {"estimator": "adaptive", "n_resamples": 59, "rng": 0}
    result = mmd_test(pooled[:28], pooled[28:], scheme=scheme, **how)
    assert result.scheme == scheme.replace("binned rows", "bins")
    members = candidates(Adaptive(), (pooled,), 30.7, np.random.default_rng(0)).members
    labels = brute.labelings_of(scheme, SIZES, 59, 0)
    values = np.array([two_sample_values(pooled, labels, member) for member in members])
    np.testing.assert_allclose(result.null_distribution, whole(values, result.members)[1:], atol=1e-6)
    assert [own.label for own in result.members] == [member.label for member in members]


@pytest.mark.parametrize("scheme", PAIRS)
def test_pairs_under_every_scheme_equal_dense_gram_matrices(brute, scheme):
    X, Y = pairs(60)
    result = hsic_test(X, Y, estimator="adaptive", scheme=scheme, n_resamples=59, rng=0)
    members = candidates(Adaptive(), (X, Y), 60, np.random.default_rng(0)).members
    orders = brute.permutations_of(scheme, 60, 59, 0)
    values = np.array([independence_values(X, Y, orders, pair) for pair in members])
    np.testing.assert_allclose(result.null_distribution, whole(values, result.members)[1:], atol=1e-6)


# -- rows that are hard to look at -------------------------------------------------------------------------------------

HARD = {
    "a huge value": lambda P: np.where(np.arange(P.size).reshape(P.shape) == 3, 1e300, P),
    "huge values": lambda P: P * 1e300,
    "tiny values": lambda P: P * 1e-300,
    "denormal values": lambda P: P * 1e-310,
    "a constant column": lambda P: np.column_stack([P, np.full(len(P), 1e9)]),
    "constant columns": lambda P: np.full_like(P, 0.1),
    "nearly constant": lambda P: 1e9 + np.round(P),
    "one value differs": lambda P: np.eye(len(P), P.shape[1]),
    "two values": np.sign,
    "no digits left": lambda P: 1e16 + P,
    "far apart": lambda P: np.sign(P) * 1e150 + P,
}


SHAPES = [(2, 1), (3, 2), (9, 2), (80, 2), (12, 40)]


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize(("n", "dim"), SHAPES)
def test_hard_rows_have_a_p_and_no_warning(kind, n, dim):
    rng = np.random.default_rng(0)
    rows = HARD[kind](rng.normal(size=(2 * n, dim)))
    other = HARD[kind](rng.normal(size=(n, dim)))
    calls = [lambda: mmd_test(rows[:n], rows[n:], estimator="adaptive", n_resamples=19, rng=0)]
    if n > 2:
        calls.append(lambda: hsic_test(rows[:n], other, estimator="adaptive", n_resamples=19, rng=0))
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = call()
        assert 0.0 < result.pvalue <= 1.0
        assert np.isfinite(result.null_distribution).all()
        assert all(np.isfinite([own.statistic, own.standardized, own.evidence]).all() for own in result.members)
        if kind == "constant columns":
            assert result.pvalue == 1.0


@pytest.mark.parametrize("test", [mmd_test, hsic_test])
def test_bad_rows_are_refused(test):
    good = np.random.default_rng(0).normal(size=(8, 2))
    bad = good.copy()
    bad[2, 1] = np.nan
    for one, other in ((bad, good), (good, bad)):
        with pytest.raises(ValueError, match=r"NaN|nan|missing"):
            test(one, other, estimator="adaptive", n_resamples=19, rng=0)
    with pytest.raises(ValueError, match=r"inf|finite"):
        test(good, np.where(np.isnan(bad), np.inf, bad), estimator="adaptive", n_resamples=19, rng=0)
    with pytest.raises(ValueError, match=r"row|pair"):
        test(good[:1], good[:1], estimator="adaptive", n_resamples=19, rng=0)


@pytest.mark.parametrize(
    ("test", "design"),
    [
        (mmd_test, None),
        (mmd_test, Design(paired=True)),
        (k_sample_test, None),
        (hsic_test, None),
        (hsic_test, Design(strata=np.arange(30) % 3)),
        (dhsic_test, None),
    ],
)
def test_a_generator_goes_on_with_every_test(test, design):
    X, Y = pairs(30)
    Z = np.random.default_rng(1).normal(size=(30, 1))
    tables = (X, Y, Z) if test is dhsic_test else (X[:, :1], Y)
    rng, how = np.random.default_rng(0), {} if design is None else {"design": design}
    first, second = (test(*tables, n_resamples=99, rng=rng, **how) for _ in range(2))
    assert first.statistic != second.statistic
    assert not np.isin(second.null_distribution, first.null_distribution).any()
    assert test(*tables, n_resamples=99, rng=0, **how).pvalue == first.pvalue
