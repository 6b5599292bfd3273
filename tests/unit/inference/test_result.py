"""The result: a frozen value that unpacks, speaks and serializes."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from kernelmean import KME
from kernelmean.inference import TestResult, hsic_test, mmd_test
from kernelmean.kernels import Gaussian
from kernelmean.noise import Dirac


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    return mmd_test(
        rng.standard_normal((30, 2)), rng.standard_normal((40, 2)) + 1.0, rng=0, n_resamples=199, estimator="kme"
    )


def test_it_unpacks(result):
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue)


def test_the_p_value_is_recovered_from_the_null_distribution(result):
    reached = (result.null_distribution >= result.statistic - result.tolerance).sum()
    assert result.pvalue == (1 + reached) / (1 + result.n_resamples)
    assert result.null_distribution.shape == (199,) == (result.n_resamples,)


def test_it_names_everything(result):
    assert result.scheme == "random"
    assert result.sizes == (30, 40)
    assert isinstance(result.kernel, Gaussian)
    assert isinstance(result.noise, Dirac)
    assert result.statistic_name == "MMD² (unbiased)"
    text = result.summary()
    for part in (
        result.method,
        "p-value    0.005, exact if what is permuted is exchangeable, from",
        "random (independent random permutations",
        "Gaussian",
        "30 and 40",
        "median",
    ):
        assert part in text
    assert repr(result).startswith("TestResult(statistic=0.")


def test_it_serializes(result):
    content = json.loads(result.to_json())
    assert content["pvalue"] == result.pvalue
    assert content["sizes"] == [30, 40]
    assert content["null_quantiles"]["0.95"] == pytest.approx(np.quantile(result.null_distribution, 0.95))
    assert "null_distribution" not in content
    assert json.loads(result.to_json(null_distribution=True))["null_distribution"] == result.null_distribution.tolist()


@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
def test_it_comes_back_from_json(result, estimator):
    if estimator == "adaptive":
        rng = np.random.default_rng(0)
        result = hsic_test(rng.normal(size=(20, 1)), rng.normal(size=(20, 1)), estimator=estimator, rng=0)
    text = result.to_json(null_distribution=True)
    back = TestResult.from_json(text)
    assert back.to_json(null_distribution=True) == text
    np.testing.assert_array_equal(back.null_distribution, result.null_distribution)
    assert (back.members, back.notes, back.sizes) == (result.members, result.notes, result.sizes)
    assert back.summary() == result.summary()


def test_json_that_is_none_is_refused(result):
    text = result.to_json(null_distribution=True)
    content = json.loads(text)
    for bad, message in (
        (result.to_json(), "null_distribution=True"),
        ("{", "no TestResult"),
        ("[]", "an object in braces"),
        (json.dumps({name: content[name] for name in content if name != "scheme"}), "scheme"),
        (json.dumps(content | {"pvalue": "small"}), "no TestResult"),
        ("3", r"no TestResult in JSON \(an object in braces is needed\)"),
    ):
        with pytest.raises(ValueError, match=message):
            TestResult.from_json(bad)


@pytest.mark.parametrize("bandwidth", [1e9, 1e-9])
def test_a_kernel_that_does_not_tell_rows_apart_is_noted(bandwidth):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 2)), rng.normal(2.0, size=(15, 2))
    blind, seeing = (
        mmd_test(X, Y, estimator=KME(bandwidth=bandwidth), rng=0),
        mmd_test(X, Y, estimator=KME(bandwidth=1.0), rng=0),
    )
    assert (blind.pvalue, seeing.pvalue) == (1.0, 0.001)
    assert "the kernel does not tell them apart" in " ".join(blind.summary().split())
    assert "does not tell" not in seeing.summary()
    assert TestResult.from_json(blind.to_json(null_distribution=True)).is_flat


def test_a_single_differing_row_is_noted_as_too_few():
    coins = np.zeros((40, 1))
    coins[3] = 1.0
    blind = mmd_test(coins[:20], coins[20:], estimator=KME(bandwidth=1.0), rng=0)
    assert blind.is_flat
    assert "too few rows differ" in dict(blind.facts())["permutations"]


@pytest.mark.parametrize("name", ["statistic", "pvalue", "tolerance"])
def test_json_with_lists_for_numbers_is_refused(result, name):
    content = json.loads(result.to_json(null_distribution=True))
    with pytest.raises(ValueError, match="this is no TestResult in JSON"):
        TestResult.from_json(json.dumps({**content, name: [1.0, 2.0]}))


@pytest.mark.parametrize(("reached", "close"), [(4, False), (35, False), (37, True), (62, True), (66, False)])
def test_a_p_value_that_other_permutations_may_move_across_the_level_is_a_close_call(result, reached, close):
    """The standard error of a share of .05 in 1000 permutations is .0069."""
    null = np.where(np.arange(999) < reached - 1, 1.0, -1.0)
    found = dataclasses.replace(result, statistic=0.5, null_distribution=null, pvalue=reached / 1000, scheme="random")
    words = dict(found.in_short(0.05, "exact")).get("close call")
    assert words == (
        f"{reached / 1000:.3g} ± 0.0069 by the choice of permutations; more of them decide (n_resamples=9999)"
        if close
        else None
    )
    assert ("close call" in dict(found.facts())) is close
    whole = dataclasses.replace(found, scheme="exact")
    assert "close call" not in dict(whole.in_short(0.05, "exact"))


def test_a_close_call_of_a_default_test_says_that_the_seed_draws_more_than_permutations() -> None:
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 2))
    found = dataclasses.replace(mmd_test(X, Y, rng=0), pvalue=0.05, scheme="random")
    words = dict(found.facts())["close call"]
    assert words.startswith(
        "0.05 ± 0.0069 by the choice of permutations, and more by that of rows to stand for kernels"
    )
    assert "more of them decide" not in words
