"""Tests of few rows on a cluster: the results of one process, whatever the partitions; many rows send sums only."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import kernelmean as km

da = pytest.importorskip("dask.array", reason="clusters need the extra 'dask'")
dd = pytest.importorskip("dask.dataframe", reason="clusters need the extra 'dask'")
pytestmark = pytest.mark.filterwarnings("default")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(230, 3)), RNG.normal(size=(170, 3)) * 1.1
Z = 0.1 * X[:, :1] + RNG.normal(size=(230, 1))


def there(array, size):
    return da.from_array(array, chunks=(size, 2))


def same(one, other):
    """Two results that differ in nothing."""
    assert (other.pvalue, other.statistic) == (one.pvalue, one.statistic)
    assert (other.kernel, other.noise, other.sizes, other.scheme) == (one.kernel, one.noise, one.sizes, one.scheme)
    assert other.notes == one.notes
    if one.null_distribution is not None:
        np.testing.assert_array_equal(other.null_distribution, one.null_distribution)


GROUPS = km.Design(strata=(np.arange(230) % 2, np.arange(170) % 2))


@pytest.mark.parametrize(
    "options",
    [{"estimator": "s-kmse"}, {"estimator": "adaptive"}, {"design": GROUPS}],
    ids=["s-kmse", "adaptive", "groups"],
)
def test_few_rows_of_two_samples_have_the_result_of_one_process(plan, options):
    options |= {"rng": 3, "n_resamples": 99}
    one = km.mmd_test(X, Y, **options)
    for sizes in ((57, 90), (230, 31)):
        same(one, km.mmd_test(there(X, sizes[0]), there(Y, sizes[1]), plan=plan, **options))


def test_few_pairs_have_the_result_of_one_process(plan):
    options = {"estimator": "mmkme", "rng": 3, "n_resamples": 99}
    same(km.hsic_test(X, Z, **options), km.hsic_test(there(X, 57), there(Z, 100), plan=plan, **options))


def test_columns_are_matched_by_name_or_named(plan):
    left = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    right = dd.from_pandas(frame[["c", "a", "b"]], npartitions=2)
    same(
        km.mmd_test(X, Y, rng=0, n_resamples=49, estimator="kme"),
        km.mmd_test(left, right, rng=0, n_resamples=49, plan=plan, estimator="kme"),
    )
    with pytest.raises(ValueError, match="X and Y differ in the columns b, z"):
        km.mmd_test(left, right.rename(columns={"b": "z"}), plan=plan, estimator="kme")
    with pytest.raises(ValueError, match="X has 3 columns and Y has 2"):
        km.mmd_test(left, right[["a", "b"]], plan=plan, estimator="kme")
    with pytest.raises(ValueError, match="X has 230 rows and Y has 170"):
        km.hsic_test(left, right, plan=plan, estimator="kme")


@pytest.mark.parametrize("test", [km.mmd_test, km.hsic_test])
def test_what_comes_back_in_bins_does_not_grow_with_the_rows(plan, monkeypatch, test):
    sizes = []

    def weighed(futures):
        values = original(futures)
        sizes.append(len(pickle.dumps(values)))
        return values

    original = plan.client.gather
    monkeypatch.setattr(plan.client, "gather", weighed)
    rng, weights = np.random.default_rng(0), []
    for n in (6000, 18_000):  # the pilot has some 5000 rows at most
        A, B = (da.from_array(rng.normal(size=(n, 3)), chunks=(n // parts, 3)) for parts in (2, 4))
        sizes.clear()
        test(A, B, scheme="bins", n_resamples=31, rng=0, plan=plan, estimator="kme")
        weights.append(max(sizes))
    assert weights[1] < 1.3 * weights[0]


@pytest.mark.parametrize("scheme", ["auto", "bins"])
def test_pairs_with_a_design_have_the_result_of_one_process(plan, scheme):
    design = km.Design(strata=np.arange(230) // 3 % 2, weights=1.0 + np.arange(230) % 4)
    options = {"scheme": scheme, "design": design, "kernel": "gaussian", "rng": 3, "n_resamples": 99}
    one = km.hsic_test(X, Z, **options)
    other = km.hsic_test(there(X, 57), there(Z, 100), plan=plan, **options)
    assert (other.pvalue, other.scheme, other.sizes) == (one.pvalue, one.scheme, one.sizes)
    assert other.statistic == pytest.approx(one.statistic, rel=1e-12)


@pytest.mark.parametrize("scheme", [pytest.param("auto", marks=pytest.mark.slow), "bins"])
def test_several_samples_have_the_result_of_one_process(plan, scheme):
    groups = (X[:90], Y, X[90:] + 0.2)
    designs = [None, km.Design(strata=tuple(np.arange(len(own)) % 2 for own in groups))]
    for design in designs:
        options = {"scheme": scheme, "design": design, "rng": 3, "n_resamples": 99}
        one = km.k_sample_test(*groups, **options)
        parts = (da.from_array(own, chunks=(size, 2)) for own, size in zip(groups, (57, 90, 31), strict=True))
        other = km.k_sample_test(*parts, plan=plan, **options)
        assert (other.pvalue, other.scheme, other.sizes) == (one.pvalue, one.scheme, one.sizes)
        assert other.statistic == pytest.approx(one.statistic, rel=1e-12)
        assert [pair.pvalue for pair in other.pairs] == [pair.pvalue for pair in one.pairs]


def test_several_samples_need_the_same_columns_and_no_pairs(plan):
    with pytest.raises(ValueError, match="table 1 has 3 columns and table 3 has 2"):
        km.k_sample_test(there(X, 57), there(Y, 90), there(Y[:, :2], 90), plan=plan)
    for scheme in ("auto", "bins"):
        with pytest.raises(ValueError, match=r"paired=True.* is for two samples"):
            km.k_sample_test(*[there(X, 57)] * 3, design=km.Design(paired=True), scheme=scheme, plan=plan)
