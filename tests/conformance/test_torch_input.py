"""Tensors on the CPU are taken like arrays by every public function that takes a table, and give the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import explained
import kernelmean as km
from kernelmean import compare, dependence
from kernelmean.studies import fit_densities

torch = pytest.importorskip("torch", reason="torch is not installed")
ROWS = np.random.default_rng(0).normal(size=(2, 30, 3)) + np.array([0.0, 0.5])[:, None, None]

CASES: dict[str, Callable[[Any, Any], Any]] = {
    "mmd_test": lambda X, Y: km.mmd_test(X, Y, rng=0, estimator="kme").pvalue,
    "adaptive mmd_test": lambda X, Y: km.mmd_test(X, Y, estimator="adaptive", rng=0).pvalue,
    "hsic_test": lambda X, Y: km.hsic_test(X, Y, rng=0, estimator="kme").pvalue,
    "dhsic_test": lambda X, Y: km.dhsic_test(X, Y, Y[:, :1], rng=0, estimator="kme").pvalue,
    "k_sample_test": lambda X, Y: km.k_sample_test(X, Y, rng=0, estimator="kme").pvalue,
    "mmd_test of pairs": lambda X, Y: km.mmd_test(X, Y, design=km.Design(paired=True), rng=0, estimator="kme").pvalue,
    "mmd_test of series": lambda X, Y: km.mmd_test(X, Y, design=km.Design(series=3), rng=0).pvalue,
    "median_bandwidth": lambda X, Y: float(km.median_bandwidth(X)),
    "KernelMeanMatching": lambda X, Y: (
        km.KernelMeanMatching(n_components=2, random_state=0).fit(X).score_samples(Y).sum()
    ),
    "compare": lambda X, Y: compare(X, Y, n_resamples=49).test.pvalue,
    "dependence": lambda X, Y: [pair.pvalue for pair in dependence(X, n_resamples=49).pairs],
    "fit_densities": lambda X, Y: fit_densities(X, estimator="mkme", n_components=[2]).candidates[0].loss,
    "contributions": lambda X, Y: explained.contributions(X, Y).strongest(3).tolist(),
    "effect_size": lambda X, Y: explained.effect_size(X, Y, rng=0).statistic,
    **{
        name: lambda X, Y, make=make: float(make().fit(X).loocv_)
        for name, make in [("KME", km.KME), ("FKMSE", km.estimators.FKMSE), ("MKME", km.MKME), ("MMKME", km.MMKME)]
    },
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["plain", "with a gradient"])
def test_a_tensor_is_taken_like_an_array(name: str, kind: str) -> None:
    tensors = [torch.tensor(table, requires_grad=kind != "plain") for table in ROWS]
    np.testing.assert_allclose(np.asarray(CASES[name](*tensors)), CASES[name](*ROWS), rtol=1e-10)
