"""Comparing two tables: the joint test, the columns, and what is told about them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import compare
from kernelmean.inference import holm
from kernelmean.kernels import Gaussian
from kernelmean.noise import Normal
from kernelmean.studies import Comparison

RNG = np.random.default_rng(6)
X = RNG.normal(size=(30, 3)) * [1.0, 100.0, 0.01]
Y = RNG.normal([0.0, 0.0, 0.015], [1.0, 100.0, 0.01], size=(25, 3))


def quick(A: Any = X, B: Any = Y, **kwargs: Any) -> Comparison:
    return compare(A, B, n_resamples=99, **kwargs)


def test_the_column_that_differs_is_found() -> None:
    result = compare(X, Y)
    assert result.differ()
    assert result.columns[0].name == "x2"
    assert result.columns[0].adjusted < 0.05
    assert min(column.adjusted for column in result.columns[1:]) > 0.05
    assert result.sizes == (30, 25)


def test_equal_laws_are_not_called_different_nor_equal() -> None:
    result = quick(X, RNG.normal(size=(25, 3)) * [1.0, 100.0, 0.01], names=("before", "after"))
    assert not result.differ()
    assert result.verdict().startswith(
        "No difference between before and after was found, all columns taken together: p = "
    )
    assert "does not show that there is none" in result.verdict()


@pytest.mark.parametrize("estimator", ["kme", "mkme", "mmkme"])
def test_the_joint_statistic_is_the_unbiased_mmd_of_the_noisy_scaled_samples(estimator: str) -> None:
    result = quick(estimator=estimator)
    pooled = np.concatenate([X, Y]) / np.concatenate([X, Y]).std(axis=0)
    A, B, kernel = pooled[:30], pooled[30:], Gaussian(km.median_bandwidth(pooled))
    fit = {"kme": km.KME, "mkme": km.MKME, "mmkme": km.MMKME}[estimator](kernel).fit(pooled)
    within = [km.expected(kernel, Z, Z, fit.noise_, fit.noise_) for Z in (A, B)]
    means = [(gram.sum() - np.trace(gram)) / (len(gram) * (len(gram) - 1)) for gram in within]
    literal = sum(means) - 2 * km.expected(kernel, A, B, fit.noise_, fit.noise_).mean()
    assert result.test.statistic == pytest.approx(literal, rel=1e-9)
    assert result.bandwidth == pytest.approx(kernel.bandwidth, rel=1e-12)


def test_gap_means_and_noise_are_in_the_units_of_the_columns() -> None:
    result = quick(estimator="mmkme")
    pooled, n, m = np.concatenate([X, Y]), len(X), len(Y)
    within = np.sqrt(((n - 1) * X[:, 1].var(ddof=1) + (m - 1) * Y[:, 1].var(ddof=1)) / (n + m - 2))
    column = next(column for column in result.columns if column.name == "x1")
    assert column.means == pytest.approx((X[:, 1].mean(), Y[:, 1].mean()))
    assert column.gap == pytest.approx((X[:, 1].mean() - Y[:, 1].mean()) / within)
    assert isinstance(result.test.noise, Normal)
    (axis,) = result.encoded.groups["x1"]
    assert column.noise == pytest.approx(np.sqrt(result.test.noise.variances(3)[axis]) * pooled[:, 1].std())


@pytest.mark.parametrize("estimator", ["adaptive", "mmkme"])
def test_units_change_nothing_when_columns_are_scaled(estimator: str) -> None:
    unit = np.array([1e-3, 1.0, 1e6])
    first, second = (quick(A, B, estimator=estimator) for A, B in ((X, Y), (X * unit, Y * unit)))
    assert second.test.pvalue == first.test.pvalue
    assert second.test.statistic == pytest.approx(first.test.statistic, rel=1e-6)


def test_without_scaling_the_wide_column_weighs_most() -> None:
    assert quick(scale=False, estimator="kme").test.pvalue == pytest.approx(
        quick(X[:, 1:2], Y[:, 1:2], scale=False, estimator="kme").test.pvalue, abs=0.1
    )
    assert quick(scale=False, estimator="mmkme").differ() is False


def test_constant_columns_are_left_out_and_told() -> None:
    result = quick(np.insert(X, 1, 0.1, axis=1), np.insert(Y, 1, 0.1, axis=1))
    assert [column.name for column in result.columns if column.name == "x1"] == []
    assert any("constant over both tables, so left out: x1" in note for note in result.notes)


def test_a_column_that_is_constant_in_each_table_but_not_the_same_is_a_difference() -> None:
    result = quick(np.insert(X, 0, 1.0, axis=1), np.insert(Y, 0, 2.0, axis=1))
    assert result.columns[0].name == "x0"
    assert np.isnan(result.columns[0].gap)
    assert result.columns[0].content()["gap"] is None
    cells = dict(zip(result.grid().header, result.grid().rows[0], strict=True))
    assert (cells["gap/sd"], cells["mean A"], cells["mean B"]) == ("", "1", "2")


def test_repeated_rows_are_told_when_they_are_most() -> None:
    assert any("repeat another row" in note for note in quick(np.tile(X[:5], (6, 1)), np.tile(Y[:5], (5, 1))).notes)
    assert not any("repeat" in note for note in quick().notes)


def test_columns_get_permutations_enough_for_holm() -> None:
    result = quick(RNG.normal(size=(40, 12)), RNG.normal(2.0, size=(40, 12)), estimator="kme")
    assert max(column.adjusted for column in result.columns) <= 12 / (50 * 12)


def test_the_dictionary_is_json_and_complete() -> None:
    content = json.loads(json.dumps(quick(names=("A", "B")).to_dict(), allow_nan=False))
    assert content["names"] == ["A", "B"]
    assert content["sizes"] == [30, 25]
    assert {column["name"] for column in content["columns"]} == {"x0", "x1", "x2"}
    assert content["n_resamples"] >= 99
    assert 0 < content["pvalue"] <= 1


@pytest.mark.parametrize(
    ("A", "B", "text"),
    [
        (X[:1], Y, "A has 1 row; a comparison needs at least 2"),
        (X, Y[:1], "B has 1 row"),
        (X, Y[:, :2], "differ"),
        (np.ones((4, 2)), np.ones((3, 2)), "constant and the same in both"),
        (X, np.where(Y > 0, np.nan, Y), "NaN"),
    ],
)
def test_bad_tables(A: Any, B: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        quick(A, B)


@pytest.mark.parametrize(("option", "value"), [("bandwidth", "wide"), ("bandwidth", 0.0)])
@pytest.mark.parametrize("estimator", ["adaptive", "kme"])
def test_bad_options(estimator: str, option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=option):
        quick(estimator=estimator, **{option: value})


def test_unknown_estimators() -> None:
    with pytest.raises(ValueError, match="adaptive"):
        quick(estimator="magic")


def test_holm_is_its_definition() -> None:
    p = RNG.uniform(size=20) ** 3
    order = np.argsort(p)
    stepped = [min(1.0, max((20 - i) * p[order[i]] for i in range(rank + 1))) for rank in range(20)]
    np.testing.assert_allclose(holm(p.tolist())[order], stepped, rtol=1e-15)
    assert holm([0.5]).tolist() == [0.5]


def test_columns_are_matched_by_name() -> None:
    first, second = (pd.DataFrame(sample, columns=["a", "b", "c"]) for sample in (X, Y))
    straight, moved = quick(first, second), quick(first, second[["c", "a", "b"]])
    assert straight.to_dict() == moved.to_dict()


@pytest.mark.parametrize("estimator", ["s-kmse", "f-kmse"])
def test_shrinking_estimators_are_those_of_the_test(estimator: str) -> None:
    pooled = np.concatenate([X, Y])
    unit = pooled.std(axis=0)
    theta = km.median_bandwidth(pooled / unit)
    rng = np.random.default_rng(0).spawn(4)[0]
    mean = km.estimators.NAMED[estimator](Gaussian(theta))
    direct = km.mmd_test(X / unit, Y / unit, estimator=mean, n_resamples=99, rng=rng)
    assert tuple(quick(estimator=estimator).test) == pytest.approx(tuple(direct), rel=1e-12)


def test_no_order_of_the_rows_changes_the_bandwidth_of_many() -> None:
    pooled = RNG.normal(size=(6000, 2))
    shuffled = pooled[RNG.permutation(6000)]
    first, second = (
        compare(Z[:5500], Z[5500:], estimator="kme", scale=False, n_resamples=1).bandwidth for Z in (pooled, shuffled)
    )
    assert first == second


@pytest.mark.parametrize(("pvalue", "words"), [(0.05, "p = 0.05, at most 0.05"), (0.051, "p = 0.051, above 0.05")])
def test_the_verdict_is_true_of_a_pvalue_at_the_level(pvalue: float, words: str) -> None:
    result = compare(np.arange(8.0).reshape(4, 2), np.arange(8.0).reshape(4, 2) + 1, n_resamples=19)
    assert words in replace(result, test=replace(result.test, pvalue=pvalue)).verdict(0.05)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"names": "x"}, "names is 'x'; write one for each table"),
        ({"names": ("x",)}, "write one for each table"),
        ({"seed": 1}, "no option 'seed' (the seed is rng=); it may be names"),
        ({"drop": ["x0"]}, "no option 'drop' (leave columns out before"),
        ({"n_resample": 9}, "no option 'n_resample' (did you mean 'n_resamples'?)"),
    ],
)
def test_a_wrong_option_says_what_to_write(options: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        compare(X, Y, **options)


def test_the_frame_has_differences_in_units_and_shares_of_categories() -> None:
    rng = np.random.default_rng(3)
    first, second = (
        pd.DataFrame({"x": rng.normal(m, 5.0, 200), "plan": rng.choice(["free", "pro"], 200, p=[1 - p, p])})
        for m, p in ((10.0, 0.2), (14.0, 0.6))
    )
    result = compare(first, second, n_resamples=99, rng=0)
    frame = result.to_frame().set_index("column")
    x, plan = frame.loc["x"], frame.loc["plan"]
    assert x["difference"] == pytest.approx(first["x"].mean() - second["x"].mean(), rel=1e-12)
    assert x["low"] < x["difference"] < x["high"]
    shares = [(own["plan"] == plan["category"]).mean() for own in (first, second)]
    assert [plan["mean_first"], plan["mean_second"]] == pytest.approx(shares)
    assert plan["difference"] == pytest.approx(shares[0] - shares[1])
    assert np.isnan(plan["gap"])


def test_the_kernel_does_not_know_which_row_is_in_which_table() -> None:
    pooled = np.concatenate([X, Y])
    shuffled = RNG.permutation(pooled)
    first, second = (quick(Z[:30], Z[30:], estimator="mmkme").test.kernel for Z in (pooled, shuffled))
    assert first.factor == pytest.approx(second.factor, rel=1e-6)
    np.testing.assert_allclose(first.kernel.bandwidth, second.kernel.bandwidth, rtol=1e-6)
