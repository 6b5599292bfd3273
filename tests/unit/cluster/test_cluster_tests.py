"""Exact tests on a cluster: the p-values of one process, whatever the partitions; only sums come back."""

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
    """Two results that differ in what they say about the cluster only."""
    assert other.pvalue == one.pvalue
    assert other.statistic == pytest.approx(one.statistic, rel=1e-11)
    assert other.null_distribution == pytest.approx(one.null_distribution, rel=1e-9, abs=1e-12)
    assert (other.kernel, other.noise, other.sizes, other.scheme) == (one.kernel, one.noise, one.sizes, one.scheme)
    assert other.notes[:-1] == one.notes


@pytest.mark.parametrize("scheme", ["auto", "blocks", "cyclic-tiles", "gemm"])
@pytest.mark.parametrize("estimator", ["kme", "s-kmse"])
def test_two_samples(plan, shared, scheme, estimator):
    options = {"scheme": scheme, "estimator": estimator, "rng": 3, "n_resamples": 99}
    one, other = km.mmd_test(X, Y, **options), km.mmd_test(there(X, 57), there(Y, 90), plan=plan, **options)
    same(one, other)
    assert ("shared out" in other.notes[-1]) == (scheme != "gemm")


@pytest.mark.parametrize("estimator", ["kme", "scose", "mmkme"])
def test_pairs(plan, shared, estimator):
    options = {"scheme": "cyclic-tiles", "estimator": estimator, "rng": 3, "n_resamples": 99}
    one, other = km.hsic_test(X, Z, **options), km.hsic_test(there(X, 57), there(Z, 100), plan=plan, **options)
    same(one, other)
    assert "3 tiles shared out" in other.notes[-1]


def test_tiles_of_several_blocks_and_a_rest(plan, shared, monkeypatch):
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(2100, 1)), rng.normal(size=(2100, 1))
    options = {"scheme": "cyclic-tiles", "estimator": "kme", "n_resamples": 99, "rng": 0}
    same(km.hsic_test(A, B, **options), km.hsic_test(there(A, 500), there(B, 2100), plan=plan, **options))
    options["scheme"] = "blocks"
    one, other = (
        km.mmd_test(A, B + 0.1, **options),
        km.mmd_test(there(A, 500), there(B + 0.1, 999), plan=plan, **options),
    )
    same(one, other)
    assert np.array_equal(one.null_distribution, other.null_distribution)  # bin sums are never added up


def test_partitions_do_not_change_the_last_bit(plan, shared):
    results = [
        km.mmd_test(
            there(X, size), there(Y, other), rng=0, scheme="cyclic-tiles", n_resamples=99, plan=plan, estimator="kme"
        )
        for size, other in ((230, 170), (57, 31))
    ]
    assert len({result.statistic for result in results}) == 1
    assert all(np.array_equal(result.null_distribution, results[0].null_distribution) for result in results)


def test_few_rows_are_done_by_one_worker_which_is_said(plan):
    result = km.mmd_test(there(X, 57), there(Y, 90), rng=0, plan=plan, estimator="kme")
    same(km.mmd_test(X, Y, rng=0, estimator="kme"), result)
    assert result.notes[-1] == "on a Dask cluster: one worker did all, since 400 rows are few"


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": "adaptive", "n_resamples": 99},
        {"design": km.Design(groups=(np.arange(230) % 2, np.arange(170) % 2)), "n_resamples": 99},
    ],
    ids=["adaptive", "groups"],
)
def test_what_has_no_tiles_is_done_by_one_worker(plan, shared, options):
    one, other = (
        km.mmd_test(X, Y, rng=0, **options),
        km.mmd_test(there(X, 57), there(Y, 90), rng=0, plan=plan, **options),
    )
    same(one, other)
    assert "one worker did all, since there were no tiles to share out" in other.notes[-1]


def test_a_generator_goes_on_as_in_one_process(plan, shared):
    here, far = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(2):
        options = {"scheme": "blocks", "n_resamples": 49}
        same(
            km.mmd_test(X, Y, rng=here, **options),
            km.mmd_test(there(X, 57), there(Y, 90), rng=far, plan=plan, **options),
        )
    assert here.bit_generator.state == far.bit_generator.state


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


def test_errors_of_workers_are_those_of_one_process(plan, shared):
    with pytest.raises(ValueError, match="scheme is 'none'; pass 'auto'"):
        km.mmd_test(there(X, 57), there(Y, 90), scheme="none", plan=plan, estimator="kme")
    with pytest.raises(MemoryError, match="the limit is 100 bytes"):
        km.mmd_test(there(X, 57), there(Y, 90), plan=km.DaskPlan(plan.client, memory=100), estimator="kme")


def test_what_comes_back_does_not_grow_with_the_rows(plan, shared, monkeypatch):
    sizes = []

    def weighed(futures):
        values = original(futures)
        sizes.append(len(pickle.dumps(values)))
        return values

    original = plan.client.gather
    monkeypatch.setattr(plan.client, "gather", weighed)
    rng = np.random.default_rng(0)
    weights = []
    for n in (200, 1500):
        A, B = (da.from_array(rng.normal(size=(n, 10)), chunks=(n // parts, 10)) for parts in (2, 4))
        sizes.clear()
        km.mmd_test(A, B, rng=0, scheme="blocks", n_resamples=99, plan=plan, estimator="kme")
        km.hsic_test(A, B, rng=0, scheme="cyclic-tiles", n_resamples=99, plan=plan, estimator="kme")
        weights.append(list(sizes))
    assert len(weights[0]) > 4
    for small, large in zip(*weights, strict=True):
        assert large < max(small + 3000, 15_000)  # the smallest partition has 30,000 bytes
    for test in (km.mmd_test, km.hsic_test):
        weights.clear()
        for n in (6000, 18_000):  # the pilot has some 5000 rows at most
            A, B = (da.from_array(rng.normal(size=(n, 3)), chunks=(n // parts, 3)) for parts in (2, 4))
            sizes.clear()
            test(A, B, scheme="bins", n_resamples=31, rng=0, plan=plan, estimator="kme")
            weights.append([max(sizes)])
        assert weights[1][0] < 1.3 * weights[0][0]


def test_trials_in_the_order_of_their_seeds(plan):
    found = list(plan.map(_trial, range(5)))
    assert found == [_trial(seed) for seed in range(5)]


def _trial(seed):
    rng = np.random.default_rng(seed)
    return km.mmd_test(
        rng.normal(size=(20, 1)), rng.normal(size=(20, 1)), n_resamples=49, rng=seed, estimator="kme"
    ).pvalue
