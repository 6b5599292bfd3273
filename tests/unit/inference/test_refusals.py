"""What the tests refuse, word for word: what was passed, what is needed, and what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference.engine import choose
from kernelmean.inference.resampling_options import Shape, check_n_resamples
from kernelmean.inference.statistics import HSIC, MMD, check_kind
from kernelmean.kernels import Gaussian, Linear
from nulls import hsic_null, mmd_null

MESSAGES = [
    (
        lambda: choose(Shape(30, 99, 10), "fast"),
        ValueError,
        "scheme is 'fast'; pass one of 'auto', 'exact', 'random'",
    ),
    (
        lambda: choose(Shape(30, 99, 10), "gather"),
        ValueError,
        "scheme 'gather' does not fit: it serves independence tests",
    ),
    (
        lambda: choose(Shape(30, 99), "gemm"),
        ValueError,
        "scheme 'gemm' does not fit: it serves two-sample tests",
    ),
    (
        lambda: choose(Shape(30, 99), "blocks"),
        ValueError,
        "scheme 'blocks' does not fit: it serves two-sample tests",
    ),
    (
        lambda: choose(Shape(5001, 99), "gather"),
        ValueError,
        "scheme 'gather' does not fit: it holds n × n matrices, for at most 5000 rows; use scheme='auto'",
    ),
    (
        lambda: choose(Shape(9003, 99, 3), "blocks"),
        ValueError,
        "scheme 'blocks' does not fit: with 3 rows against 9000 it needs too many bins",
    ),
    (
        lambda: choose(Shape(40, 99, 20), "exact"),
        ValueError,
        "scheme 'exact' does not fit: there are more than 2,000,000 permutations to enumerate; use scheme='auto'",
    ),
    (lambda: check_n_resamples(0), ValueError, "n_resamples is 0; a whole number from 1 is needed, such as 999"),
    (lambda: check_n_resamples(True), ValueError, "n_resamples is True; a whole number from 1 is needed, such as 999"),
    (
        lambda: check_n_resamples(9, least=10),
        ValueError,
        "n_resamples is 9; a whole number from 10 is needed, such as 999",
    ),
    (lambda: km.Plan(threads=0), ValueError, "threads is 0, an integer ≥ 1 is needed"),
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


def test_a_rank_that_is_not_low_is_told_with_the_highest_that_is_tried(monkeypatch):
    monkeypatch.setattr("kernelmean.inference.low_rank_problem._MOST_NUMBERS", 2400)
    X = np.random.default_rng(0).standard_normal((300, 3))
    with pytest.raises(ValueError, match="low rank") as error:
        mmd_null(X, X + 1.0, [Gaussian(1.0)], scheme="cyclic-low-rank", n_resamples=9)
    assert str(error.value) == (
        "a Gram matrix over 600 rows is not of low rank: it has nearly as many significant directions as rows, or more "
        "than 4; write scheme='auto'"
    )
    with pytest.raises(ValueError, match="40 rows is not of low rank"):  # of two kernels one
        mmd_null(X[:20], X[20:40], [Linear(), Gaussian(0.01)], scheme="cyclic-low-rank", n_resamples=9)
    with pytest.raises(ValueError, match=r"300 rows is not of low rank.* or more than 2;"):
        hsic_null(X, X, [(Gaussian(1.0), Gaussian(0.01))], scheme="cyclic-low-rank", n_resamples=9)


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
