"""The result: a frozen value that unpacks, speaks and serializes."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from kernelmean.inference import hsic_test, mmd_test
from kernelmean.kernels import Gaussian
from kernelmean.noise import Dirac


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    return mmd_test(rng.standard_normal((30, 2)), rng.standard_normal((40, 2)) + 1.0, rng=0, n_resamples=199)


def test_it_unpacks(result):
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue)


def test_the_p_value_is_recovered_from_the_null_distribution(result):
    reached = (result.null_distribution >= result.statistic - result.tolerance).sum()
    assert result.pvalue == (1 + reached) / (1 + result.n_resamples)
    assert result.null_distribution.shape == (199,) == (result.n_resamples,)


def test_it_names_everything(result):
    assert result.scheme == "gemm"
    assert result.sizes == (30, 40)
    assert isinstance(result.kernel, Gaussian)
    assert isinstance(result.noise, Dirac)
    assert result.statistic_name == "MMD² (unbiased)"
    text = result.summary()
    for part in (
        result.method,
        "p-value: 0.005",
        "199 rearrangements",
        "gemm (random labelings",
        "Gaussian",
        "30 and 40",
        "MiB",
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


def test_it_is_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.pvalue = 0.0


def test_a_single_arrangement_has_no_quantiles():
    result = hsic_test([[0.0], [1.0]], [[1.0], [0.0]])  # both permutations give the same statistic
    assert (result.pvalue, result.n_resamples) == (1.0, 1)
    assert mmd_test([[0.0]], [[1.0]], statistic="v").pvalue == 1.0
