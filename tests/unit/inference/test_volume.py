"""The volumes of two samples: the definition, what it finds, and where it is left out."""

from __future__ import annotations

import numpy as np
import pytest

from dense_members import labelings, rank, volume_values
from kernelmean.inference import Adaptive, Design, Member
from kernelmean.kernels import Linear
from nulls import mmd_test

RIDGE = 0.001
VOLUME = Member("volume", Linear(), ridge=RIDGE)
BESIDE = Member("data", Linear())


def samples(n, m, dim, seed=0, correlation=0.0):
    """Two samples, the second with equally correlated columns."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, dim)), rng.normal(size=(m, dim))
    return X, np.sqrt(1 - correlation) * Y + np.sqrt(correlation) * rng.normal(size=(m, 1))


def volume_of(result):
    """What the volume found, None where it took no part."""
    return next((own for own in result.members if " on volume" in own.label), None)


@pytest.mark.parametrize(("n", "m", "dim"), [(4, 5, 3), (3, 6, 2), (2, 7, 5), (5, 5, 30)])
@pytest.mark.parametrize("ridge", [0.1, 0.001])
def test_it_is_the_difference_of_log_determinants_over_all_labelings(n, m, dim, ridge):
    X, Y = samples(n, m, dim, seed=n)
    X[0], Y[1] = X[1], Y[0]  # repeated rows
    member = Member("volume", Linear(), ridge=ridge)
    result = mmd_test(X, Y, estimator=Adaptive(members=[BESIDE, member]), n_resamples=999, rng=0)
    expected = volume_values(np.vstack([X, Y]), labelings(n + m, n), ridge)
    assert result.scheme == "exact"
    assert volume_of(result).statistic == pytest.approx(expected[0], rel=1e-9)
    assert volume_of(result).pvalue == rank(expected)


def test_it_may_be_the_only_member():
    X, Y = samples(4, 5, 3)
    result = mmd_test(X, Y, estimator=Adaptive(members=[VOLUME]), n_resamples=999, rng=0)
    assert result.pvalue == rank(volume_values(np.vstack([X, Y]), labelings(9, 4), RIDGE))


def test_its_p_over_the_full_orbit_is_uniform():
    points = np.vstack(samples(4, 5, 3))
    chosen, members = labelings(9, 4) == 1, Adaptive(members=[BESIDE, VOLUME])
    found = [mmd_test(points[own], points[~own], estimator=members, n_resamples=999, rng=0) for own in chosen]
    for p in [volume_of(result).pvalue for result in found], [result.pvalue for result in found]:
        np.testing.assert_allclose(np.sort(p), np.arange(1, 127) / 126, atol=1e-12)


@pytest.mark.parametrize(("n", "m"), [(30, 30), (15, 45), (45, 15)])
def test_correlations_that_no_mean_sees_are_found_whichever_sample_has_them(n, m):
    for turn in (1, -1):
        X, Y = samples(*(n, m)[::turn], 60, correlation=0.3)
        result = mmd_test(*(X, Y)[::turn], estimator="adaptive", n_resamples=199, rng=0)
        assert volume_of(result).pvalue <= 0.01
        assert result.pvalue <= 0.02 or n != m


def test_swapping_the_samples_changes_nothing():
    X, Y = samples(20, 35, 40, correlation=0.1)
    members = Adaptive(members=[BESIDE, VOLUME])
    one, other = (mmd_test(*both, estimator=members, n_resamples=99, rng=0) for both in ((X, Y), (Y, X)))
    assert one.pvalue == other.pvalue
    assert volume_of(one).statistic == pytest.approx(volume_of(other).statistic, rel=1e-9)


def test_units_of_columns_change_nothing():
    X, Y = samples(20, 25, 40, correlation=0.1)
    units = np.logspace(-3, 6, 40)
    one, other = (
        mmd_test(X * unit, Y * unit, estimator=Adaptive(members=[BESIDE, VOLUME]), n_resamples=99, rng=0)
        for unit in (np.ones(40), units)
    )
    assert one.pvalue == other.pvalue
    assert one.statistic == pytest.approx(other.statistic, rel=1e-9)


def test_it_takes_part_where_columns_are_many():
    X, Y = samples(20, 20, 5)
    assert volume_of(mmd_test(X, Y, estimator="adaptive", n_resamples=19, rng=0)) is not None
    assert volume_of(mmd_test(X[:, :4], Y[:, :4], estimator="adaptive", n_resamples=19, rng=0)) is None
    assert volume_of(mmd_test(X[:4, :1], Y[:4, :1], estimator="adaptive", n_resamples=19, rng=0)) is None
    strata = np.arange(20) % 2
    for design in (
        Design(groups=(strata, strata)),
        Design(clusters=(np.arange(20) // 2, 100 + np.arange(20) // 2)),
        Design(weights=(np.ones(20) + strata, np.ones(20))),
        Design(paired=True),
    ):
        assert volume_of(mmd_test(X, Y, estimator="adaptive", design=design, n_resamples=19, rng=0)) is None


@pytest.mark.parametrize("scheme", ["cyclic", "blocks"])
def test_it_is_left_out_where_no_permutations_are_listed(scheme):
    X, Y = samples(40, 40, 20)
    result = mmd_test(X, Y, estimator="adaptive", scheme=scheme, n_resamples=39, rng=0)
    assert result.scheme == scheme
    assert volume_of(result) is None


@pytest.mark.parametrize("scheme", ["gemm", "low-rank", "auto"])
def test_it_takes_part_where_permutations_are_listed_and_its_own_p_is_that_of_these(scheme):
    X, Y = samples(30, 34, 20, correlation=0.2)
    result = mmd_test(X, Y, estimator="adaptive", scheme=scheme, n_resamples=99, rng=0)
    alone = mmd_test(X, Y, estimator=Adaptive(members=[BESIDE, VOLUME]), scheme=result.scheme, n_resamples=99, rng=0)
    assert volume_of(result).pvalue == volume_of(alone).pvalue
    assert volume_of(result).statistic == pytest.approx(volume_of(alone).statistic, rel=1e-12)


def test_large_samples_leave_it_out_and_arrays_of_other_libraries_do_not():
    X, Y = samples(257, 20, 60)
    assert volume_of(mmd_test(X, Y, estimator="adaptive", n_resamples=9, rng=0)) is None
    torch = pytest.importorskip("torch")
    both = torch.tensor(X[:15]), torch.tensor(Y)
    elsewhere = volume_of(mmd_test(*both, estimator="adaptive", n_resamples=9, rng=0))
    assert elsewhere is not None
    assert elsewhere == volume_of(mmd_test(X[:15], Y, estimator="adaptive", n_resamples=9, rng=0))
