"""What the tests refuse, word for word: what was passed, what is needed, and what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference.resampling import check_n_resamples
from kernelmean.inference.statistics import HSIC, MMD, check_kind

X = np.arange(5001.0)[:, None]
MESSAGES = [
    (
        lambda: km.hsic_test(X[:30], X[:30], scheme="fast"),
        ValueError,
        "scheme is 'fast'; pass one of 'auto', 'exact', 'random', 'bins'",
    ),
    (
        lambda: km.hsic_test(X, X, scheme="random", estimator="kme"),
        ValueError,
        "scheme 'random' does not fit: it holds n × n matrices, for at most 5000 rows; use scheme='auto'",
    ),
    (
        lambda: km.hsic_test(X[:40], X[:40], scheme="exact", estimator="kme"),
        ValueError,
        "there are more than 2,000,000 permutations to enumerate; use scheme='auto'",
    ),
    (lambda: check_n_resamples(0), ValueError, "n_resamples is 0; a whole number from 1 is needed, such as 999"),
    (lambda: check_n_resamples(True), ValueError, "n_resamples is True; a whole number from 1 is needed, such as 999"),
    (
        lambda: check_n_resamples(9, least=10),
        ValueError,
        "n_resamples is 9; a whole number from 10 is needed, such as 999",
    ),
    (lambda: km.Plan(threads=0), ValueError, "threads is 0, an integer ≥ 1 is needed"),
    (lambda: km.Plan(threads=True), ValueError, "threads is True, an integer ≥ 1 is needed"),
    (lambda: km.Plan(threads="2"), ValueError, "threads is '2', an integer ≥ 1 is needed"),
    (lambda: km.Plan(memory="1GB"), ValueError, "memory is '1GB', a finite positive number is needed"),
    (lambda: km.Plan(memory=-1), ValueError, "memory is -1, a finite positive number is needed"),
    (
        lambda: MMD(1, 5, "u"),
        ValueError,
        "samples of 1 and 5 rows: the unbiased statistic needs two rows in each; pass statistic='v'",
    ),
    (
        lambda: MMD(5, 1, "u"),
        ValueError,
        "samples of 5 and 1 rows: the unbiased statistic needs two rows in each; pass statistic='v'",
    ),
    (lambda: HSIC(3, "u"), ValueError, "3 pairs were passed, the HSIC (unbiased) needs at least 4; pass statistic='v'"),
    (
        lambda: HSIC(2, "u"),
        ValueError,
        "2 pairs were passed, the HSIC (unbiased) needs at least 4; pass statistic='v'",
    ),
    (lambda: HSIC(1, "u"), ValueError, "1 pair was passed, the HSIC (unbiased) needs at least 4"),
    (lambda: HSIC(1, "v"), ValueError, "1 pair was passed, the HSIC (V-statistic) needs at least 2"),
    (lambda: check_kind("w"), ValueError, "statistic is 'w'; pass 'u' (unbiased) or 'v'"),
]


@pytest.mark.parametrize(("call", "kind", "message"), MESSAGES, ids=[message for *_, message in MESSAGES])
def test_a_refusal_says_what_to_write_instead(call, kind, message):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize("maker", [km.KernelMean, km.MKME, km.estimators.SKMSE], ids=lambda maker: maker.__name__)
@pytest.mark.parametrize("test", [km.mmd_test, km.hsic_test, km.k_sample_test])
def test_what_makes_estimators_is_to_be_called(test: Any, maker: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(TypeError, match=rf"call it: estimator={maker.__name__}\(\)"):
        test(rows, rows, estimator=maker)
    with pytest.raises(ValueError, match="BayesianKernelMean'>; pass one of"):
        test(rows, rows, estimator=km.estimators.BayesianKernelMean)


def test_a_family_that_needs_more_than_a_bandwidth() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(TypeError, match=r"kernel is Matern.*pass a value, such as kernels\.Matern\(1\.5, 'median'\)"):
        km.mmd_test(rows, rows, kernel=km.kernels.Matern)


@pytest.mark.parametrize(
    "call",
    [
        lambda: km.KernelMean(features=True).fit(np.eye(4)),
        lambda: km.match_weights(np.eye(4), np.eye(4), cap=True),
        lambda: km.kernels.Gaussian(True),
        lambda: km.noise.Normal(np.True_),
        lambda: km.GroupMeans(sharing=True).fit(np.eye(4), groups=[0, 0, 1, 1]),
        lambda: km.DistributionEncoder(directions=True).fit(np.ones((3, 4, 2))),
    ],
)
def test_a_truth_value_is_no_number(call):
    with pytest.raises((TypeError, ValueError), match=r"is (np\.)?True"):
        call()
