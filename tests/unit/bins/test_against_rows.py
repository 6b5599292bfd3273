"""Tests in bins beside those of the same rows in memory: one statistic of few rows, about the same power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelmean as km
from in_bins import hsic, mmd
from kernelmean.kernels import Gaussian, Laplacian


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Laplacian(2.0), Gaussian((1.0, 3.0))], ids=repr)
@pytest.mark.parametrize("statistic", ["u", "v"])
def test_landmarks_on_all_rows_hold_the_whole_kernel_of_two_samples(kernel: Any, statistic: Any) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(140, 2)), 1.2 * rng.normal(size=(100, 2))
    options = {"kernel": kernel, "statistic": statistic, "n_resamples": 19}
    found, exact = mmd(X, Y, **options), km.mmd_test(X, Y, rng=0, **options)
    assert found.statistic == pytest.approx(exact.statistic, rel=1e-6)
    assert (found.kernel, found.statistic_name, found.sizes) == (kernel, exact.statistic_name, (140, 100))


def test_landmarks_on_all_rows_hold_the_whole_kernels_of_two_variables() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(128, 2)), rng.normal(size=(128, 1))
    options = {"kernel": (Gaussian(1.5), Laplacian(1.0)), "n_resamples": 31}
    found, exact = hsic(X, Y, **options), km.hsic_test(X, Y, rng=0, **options)
    assert found.statistic == pytest.approx(exact.statistic, rel=1e-6)


def powers(test: Any, in_bins: Any, trials: int, estimator: str | None) -> Any:
    """Return the shares of rejections at .05 in bins and of the rows themselves.

    Rotations by rows are as many as there are pairs, so there are about as many in bins: 64 alone cost a seventh.
    """
    rng, found, resamples = np.random.default_rng(6), [], 63 if test is km.mmd_test else 255
    for seed in range(trials):
        X = rng.normal(size=(260, 1))
        Y = 1.25 * rng.normal(size=(300, 1)) if test is km.mmd_test else 0.15 * X**2 + rng.normal(size=(260, 1))
        options = {"estimator": estimator, "n_resamples": resamples}
        pvalues = in_bins(X, Y, seed=seed, **options).pvalue, test(X, Y, rng=seed, **options).pvalue
        found.append([pvalue <= 0.05 for pvalue in pvalues])
    return np.mean(found, axis=0)


CASES = pytest.mark.parametrize(("test", "in_bins"), [(km.mmd_test, mmd), (km.hsic_test, hsic)], ids=["mmd", "hsic"])


@pytest.mark.slow  # counted at length in benchmarks/bins_power.py
@CASES
def test_power_is_near_that_of_the_rows(test: Any, in_bins: Any) -> None:
    found, exact = powers(test, in_bins, 50, "kme")
    assert 0.2 < exact < 0.95
    assert found >= exact - 0.12


@pytest.mark.slow
@CASES
@pytest.mark.parametrize("estimator", ["kme", None])
def test_power_is_near_that_of_the_rows_on_many_samples(test: Any, in_bins: Any, estimator: str | None) -> None:
    found, exact = powers(test, in_bins, 300, estimator)
    assert 0.2 < exact < 0.95
    assert found >= exact - 0.06
