"""The wild bootstrap, held to its definition in plain matrices, and what its results say of themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kernelmean import DaskPlan, Design
from kernelmean.estimators import SKMSE
from kernelmean.inference import Adaptive, hsic_test, k_sample_test, mmd_test
from kernelmean.kernels import Gaussian
from series import autoregressions, wild_multipliers

KERNEL = Gaussian(1.0)


def series(n, seed, memory=5.0):
    return autoregressions(n, memory, 2, np.random.default_rng(seed))


def test_the_series_have_variance_one_and_fade():
    drawn = autoregressions(40, 8.0, 20000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.var(axis=1), 1.0, atol=0.05)
    np.testing.assert_allclose(np.mean(drawn[:-8] * drawn[8:], axis=1), np.exp(-1), atol=0.05)


def test_the_multipliers_have_mean_zero_and_mean_square_one():
    whole = wild_multipliers((40, 20), 12, 20000, np.random.default_rng(0))
    for part in (whole[:40, 1:], whole[40:, 1:]):
        np.testing.assert_allclose(part.mean(axis=0), 0.0, atol=1e-14)
        assert np.square(part).mean() == pytest.approx(1.0, abs=0.03)


def test_the_draws_do_not_depend_on_the_batch():
    """Of 30 + 25 rows 76,260 draws are one batch."""
    X, Y = series(30, 0), series(25, 1)
    found = mmd_test(X, Y, design=Design(series=7), kernel=KERNEL, n_resamples=78_000, rng=3).null_distribution
    whole = wild_multipliers((30, 25), 7, 78_000, np.random.default_rng(3)) / np.repeat([30, -25], [30, 25])[:, None]
    pooled = np.concatenate([X, Y])
    values = np.einsum("ip,ip->p", whole, KERNEL(pooled, pooled) @ whole)
    np.testing.assert_allclose(found, values[1:], rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("length", [4, 7.0])
def test_mmd_is_its_definition(length):
    X, Y = series(30, 0), series(25, 1)
    result = mmd_test(X, Y, design=Design(series=length), kernel=KERNEL, n_resamples=50, rng=3)
    whole = wild_multipliers((30, 25), length, 50, np.random.default_rng(3))
    drawn = whole[:30], whole[30:]
    values = [
        (a[:, None] * a * KERNEL(X, X)).mean() + (b[:, None] * b * KERNEL(Y, Y)).mean()
        - 2 * (a[:, None] * b * KERNEL(X, Y)).mean()
        for a, b in zip(drawn[0].T, drawn[1].T, strict=True)
    ]  # fmt: skip
    assert result.statistic == pytest.approx(values[0], rel=1e-10)
    np.testing.assert_allclose(result.null_distribution, values[1:], rtol=1e-9)
    assert result.pvalue == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-12))


def test_hsic_is_its_definition():
    X, Y = series(30, 0), series(30, 1)
    result = hsic_test(X, Y, design=Design(series=4), kernel=KERNEL, n_resamples=50, rng=3)
    center = np.eye(30) - 1 / 30
    product = (center @ KERNEL(X, X) @ center) * (center @ KERNEL(Y, Y) @ center)
    drawn = wild_multipliers((30,), 4, 50, np.random.default_rng(3))
    values = [w @ product @ w / 30**2 for w in drawn.T]
    assert result.statistic == pytest.approx(values[0], rel=1e-10)
    np.testing.assert_allclose(result.null_distribution, values[1:], rtol=1e-9)
    assert result.pvalue == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-12))


@pytest.mark.parametrize("test", [mmd_test, hsic_test])
def test_the_result_says_that_it_is_not_exact(test):
    result = test(series(60, 0), series(60, 1), design=Design(series=5), n_resamples=99, rng=0)
    assert result.scheme == "wild bootstrap"
    assert "wild bootstrap" in result.method.lower()
    assert any("asymptotic, not exact" in note for note in result.notes)
    assert "asymptotic, not exact, from 99 draws" in result.summary()
    assert json.loads(result.to_json())["scheme"] == "wild bootstrap"
    assert 0 < result.pvalue <= 1


def test_no_p_value_is_zero():
    X = series(200, 0)
    assert mmd_test(X, X + 50.0, design=Design(series=5), n_resamples=99, rng=0).pvalue == 0.01
    assert hsic_test(X, X, design=Design(series=5), n_resamples=99, rng=0).pvalue == 0.01


@pytest.mark.parametrize("test", [mmd_test, hsic_test])
@pytest.mark.parametrize(
    ("n", "options", "error", "words"),
    [
        (10, {"series": 11}, ValueError, "10 rows for series=11"),
        (3, {"series": 1}, ValueError, "3 rows"),
        (10, {"series": 0}, ValueError, "series is 0"),
        (10, {"n_resamples": 0}, ValueError, "n_resamples is 0"),
        (10, {"statistic": "u"}, ValueError, "V-statistic only; leave scheme= and statistic= out"),
        (10, {"scheme": "exact"}, ValueError, "permutes nothing"),
        (10, {"scheme": "bins"}, ValueError, "permutes nothing"),
        (10, {"estimator": Adaptive()}, ValueError, "pass one of 'kme', 'mkme', 'mmkme'"),
        (10, {"estimator": "s-kmse"}, ValueError, "pass one of 'kme', 'mkme', 'mmkme'"),
        (10, {"estimator": SKMSE()}, ValueError, "the wild bootstrap"),
        (10, {"plan": object.__new__(DaskPlan)}, ValueError, "pass arrays or data frames, and no cluster"),
    ],
)
def test_what_is_refused(test, n, options, error, words):
    how = {"series": 2, **options}
    design = Design(series=how.pop("series"))
    with pytest.raises(error, match=words):
        test(series(n, 0), series(n, 1), design=design, **how)


@pytest.mark.parametrize("test", [mmd_test, hsic_test])
def test_batches_are_refused(test):
    with pytest.raises(ValueError, match="in the order of time; pass arrays or data frames"):
        test(iter([series(9, 0), series(9, 1)]), series(18, 2), design=Design(series=2))


@pytest.mark.parametrize("others", [{"strata": [0, 1]}, {"clusters": [0, 1]}, {"weights": [1, 1]}, {"paired": True}])
def test_a_series_has_no_other_design(others):
    with pytest.raises(ValueError, match="goes without the rest of a design"):
        Design(series=2, **others)


def test_several_samples_are_no_series():
    with pytest.raises(ValueError, match=r"Design\(series=2\) is for two samples or for pairs"):
        k_sample_test(*(series(9, seed) for seed in range(3)), design=Design(series=2))
