"""Tests in bins and estimators on a cluster: what one process finds, whatever the partitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_bins import hsic, mmd
from kernelmean import features
from kernelmean.estimators import FKMSE, SKMSE, VPMKME, KernelMean, MedianOfMeans
from kernelmean.kernels import Gaussian

da = pytest.importorskip("dask.array", reason="clusters need the extra 'dask'")
pytestmark = pytest.mark.filterwarnings("default")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2300, 2)), RNG.normal(size=(1700, 2)) * 1.05
A, B = RNG.normal(size=(6500, 1)), RNG.normal(size=(6500, 1))
B[:, 0] += 0.05 * A[:, 0]
PHI = features.fourier(Gaussian(1.0), 2, 16)


def there(array, size):
    return da.from_array(array, chunks=(size, 1))


def same(one, other):
    assert other.pvalue == one.pvalue
    assert other.statistic == pytest.approx(one.statistic, rel=1e-9)
    assert (other.kernel, other.noise, other.sizes, other.scheme) == (one.kernel, one.noise, one.sizes, one.scheme)
    assert set(one.notes) < set(other.notes)


STRATA = np.arange(2300) % 3, np.arange(1700) % 3
EVERY = km.Design(
    strata=STRATA,
    clusters=(np.arange(2300) % 900, 900 + np.arange(1700) % 900),
    weights=(RNG.uniform(1, 9, 2300), RNG.uniform(1, 9, 1700)),
)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"estimator": "mkme", "statistic": "v"},
        {"kernel": Gaussian(1.0)},
        {"design": km.Design(strata=STRATA)},
        {"design": EVERY},
    ],
    ids=["adaptive", "mkme", "kernel", "strata", "strata clusters weights"],
)
def test_two_samples_in_bins(plan, options):
    options |= {"seed": 4, "n_resamples": 99}
    same(mmd(X, Y, **options), mmd(there(X, 611), there(Y, 900), plan=plan, **options))


@pytest.mark.parametrize("options", [{}, {"estimator": "kme"}], ids=["adaptive", "kme"])
def test_pairs_of_two_samples_in_bins(plan, options):
    options = {"seed": 4, "n_resamples": 99, "design": km.Design(paired=True)} | options
    one = mmd(A, A + 0.2 * B, **options)
    for size in (6500, 700):
        same(one, mmd(there(A, size), there(A + 0.2 * B, 3000), plan=plan, **options))
    with pytest.raises(ValueError, match="6500 rows and Y has 6499"):
        mmd(there(A, 900), there(B[1:], 900), plan=plan, **options)


@pytest.mark.parametrize("options", [{}, {"estimator": km.MKME(bandwidth=1.0)}], ids=["adaptive", "kernel"])
def test_pairs_in_bins(plan, options):
    options = {"seed": 4, "n_resamples": 31} | options  # windows of 2048 rows
    one = hsic(A, B, **options)
    for size in (6500, 700):
        same(one, hsic(there(A, size), there(B, 3000), plan=plan, **options))


def test_parquet_files_in_bins(plan, tmp_path):
    for name, array in (("x", X), ("y", Y)):
        (tmp_path / name).mkdir()
        for k, part in enumerate(np.array_split(array, 3)):
            pd.DataFrame(part, columns=["a", "b"]).to_parquet(tmp_path / name / f"{k}.parquet")
    options = {"seed": 1, "n_resamples": 99}
    paths = tmp_path / "x", tmp_path / "y"
    same(mmd(*paths, **options), mmd(*paths, plan=plan, **options))


def test_beyond_the_limit_of_one_kernel_a_test_goes_by_bins_and_says_so(plan, monkeypatch):
    monkeypatch.setattr("kernelmean.tables.limits.TEST_LIMIT", 2000)
    how = {"n_resamples": 31, "estimator": "kme"}
    found = km.mmd_test(there(X, 600), there(Y, 900), rng=7, plan=plan, **how)
    same(mmd(X, Y, seed=7, **how), found)
    assert found.notes[-1].endswith("beyond 2,000 rows")
    found = km.hsic_test(there(A, 3000), there(B, 3000), rng=7, plan=plan, **how)
    same(hsic(A, B, seed=7, **how), found)
    assert found.notes[-1].endswith("beyond 2,000 rows")
    here, few = (
        km.mmd_test(X[:2000], Y, rng=7, **how),
        km.mmd_test(there(X[:2000], 600), there(Y, 900), rng=7, plan=plan, **how),
    )
    assert (few.pvalue, few.notes) == (here.pvalue, here.notes)
    assert not any("bins" in note for note in few.notes)


def test_the_default_goes_by_bins_above_the_limit_of_one_process(plan, monkeypatch):
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 2000)
    found = km.mmd_test(there(X, 600), there(Y, 900), rng=7, plan=plan, n_resamples=31)
    same(km.mmd_test(X, Y, rng=7, n_resamples=31), found)
    assert (found.scheme, found.notes[-1][-17:]) == ("bins", "beyond 2,000 rows")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"estimator": "s-kmse"}, r"estimator = KernelMean\(filter='scale'\) does not go with a test in bins"),
        ({"estimator": SKMSE()}, r"estimator = KernelMean\(.*filter='scale'.* does not go"),
    ],
)
def test_what_does_not_go_with_bins_is_named(plan, monkeypatch, options, text):
    monkeypatch.setattr("kernelmean.tables.limits.TEST_LIMIT", 1000)
    with pytest.raises(ValueError, match=text + ".*; take a part of the rows"):
        km.mmd_test(there(X, 600), there(Y, 900), plan=plan, **options)


def test_refusals_of_bins(plan):
    with pytest.raises(ValueError, match="has the V-statistic, 'v'"):
        km.hsic_test(there(A, 3000), there(B, 3000), scheme="bins", statistic="u", plan=plan, estimator="kme")
    with pytest.raises(ValueError, match="needs two rows in each"):
        mmd(there(X[:1], 600), there(Y, 900), plan=plan)


@pytest.mark.parametrize("estimator", [km.MKME(), FKMSE(), VPMKME()], ids=["mkme", "ridge", "contracted"])
def test_few_rows_are_fitted_as_in_one_process(plan, estimator):
    here = KernelMean(**estimator.get_params()).fit(X[:150])
    far = KernelMean(**estimator.get_params()).fit(there(X[:150], 61), plan=plan)
    assert (far.loocv_, far.kernel_, far.noise_, far.n_features_in_) == (here.loocv_, here.kernel_, here.noise_, 2)
    np.testing.assert_array_equal(far.weights_, here.weights_)
    np.testing.assert_array_equal(far.evaluate(Y[:4]), here.evaluate(Y[:4]))


def test_estimators_that_read_the_rows_twice_or_are_no_kernel_means_are_refused(plan, monkeypatch):
    monkeypatch.setattr("kernelmean.estimators.by_features.LIMIT", 1000)
    with pytest.raises(ValueError, match="a ridge reads the rows twice"):
        FKMSE().fit(there(X, 600), plan=plan)
    with pytest.raises(TypeError, match="has no fit on a cluster; pass a KernelMean"):
        MedianOfMeans().fit(there(X, 600), plan=plan)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        km.MKME().fit(there(X[:1], 600), plan=plan)


@pytest.mark.parametrize("make", [km.MMKME, VPMKME, lambda: FKMSE(strength=0.1)])
def test_many_rows_are_fitted_by_features(make, plan, monkeypatch):
    for name, value in {"LIMIT": 300, "ADAPTIVE_LIMIT": 300, "RANK": 128}.items():
        monkeypatch.setattr(f"kernelmean.estimators.by_features.{name}", value)
    fit = make().fit(there(X[:600], 170), plan=plan)
    own = make().set_params(features=fit.features_).fit(X[:600])
    assert (fit.embedding_ - own.embedding_).norm() < 1e-7
    here = make().set_params(features=128).fit(X[:600])
    np.testing.assert_array_equal(fit.features_.points, here.features_.points)
    assert 0 < fit.error_ < (0.1 if fit.contraction_ == 1.0 else 2.0)
