"""Designs of more rows than low-rank factors begin at, held to sums over the whole Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from checkered import checkered
from kernelmean.core.array import Array
from kernelmean.inference.designs import independence
from kernelmean.inference.units import forms
from kernelmean.kernels import Gaussian

KERNEL = Gaussian(0.5)
N, SIZE = 1200, 5
_RNG = np.random.default_rng(0)
CLUSTER = np.arange(N) // SIZE
FIRST = np.repeat(_RNG.permutation(N // SIZE) < 100, SIZE)
STRATUM = np.where(CLUSTER < 215, 0, 1)  # one above, one below the rows that factors begin at
WEIGHT = _RNG.uniform(0.2, 3.0, N)
POINTS = {"two values": (_RNG.random(N) < 0.5) * 1.0, "numbers": _RNG.normal(size=N)}
EVERY = {"strata": STRATUM, "clusters": CLUSTER, "weights": WEIGHT}
PARTS = [("strata",), ("clusters",), ("weights",), ("strata", "clusters"), ("clusters", "weights"), tuple(EVERY)]


def mmd(gram: Array, labels: Array, parts: tuple[str, ...]) -> float:
    """Stratified, weighted MMD²."""
    weights = WEIGHT if "weights" in parts else np.ones(N)
    strata = STRATUM if "strata" in parts else np.zeros(N, dtype=int)
    shares, differences = [], []
    for s in np.unique(strata):
        masses = [weights * (strata == s) * (labels == label) for label in (True, False)]
        a, b = (mass.sum() for mass in masses)
        share = a * b / (a + b)
        shares.append(share)
        differences.append(share * (masses[0] / a - masses[1] / b))
    whole = np.sum(differences, axis=0)
    return float(whole @ gram @ whole / np.sum(shares) ** 2)


@pytest.mark.parametrize(("points", "parts"), checkered(list(POINTS), list(PARTS)))
def test_statistics_of_two_samples_are_those_of_the_whole_matrix(
    points: str, parts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = POINTS[points][:, None]
    design = km.Design(**{part: (EVERY[part][FIRST], EVERY[part][~FIRST]) for part in parts})
    options: dict[str, Any] = {"kernel": KERNEL, "design": design, "n_resamples": 19, "rng": 0}
    result = km.mmd_test(rows[FIRST], rows[~FIRST], **options)
    assert result.statistic == pytest.approx(mmd(KERNEL(rows, rows), FIRST, parts), rel=1e-7, abs=1e-10)
    monkeypatch.setattr(forms, "FACTORS_FROM", N + 1)
    tiled = km.mmd_test(rows[FIRST], rows[~FIRST], **options)
    np.testing.assert_allclose(result.null_distribution, tiled.null_distribution, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
@pytest.mark.parametrize("parts", [("clusters",), tuple(EVERY)], ids=" ".join)
def test_statistics_of_the_columns_of_a_comparison_are_too(parts: tuple[str, ...], estimator: str) -> None:
    table = pd.DataFrame({**POINTS, **{part: EVERY[part] for part in parts}})
    said: dict[str, Any] = {part: part for part in table.columns if part not in POINTS}
    found = km.compare(table[FIRST], table[~FIRST], **said, estimator=estimator, n_resamples=19)
    for column in found.columns:
        points = np.concatenate(found.encoded.points((column.name,)))
        order = np.concatenate([np.flatnonzero(FIRST), np.flatnonzero(~FIRST)])
        rows = np.empty((N, 1))
        rows[order] = points
        theta = km.median_bandwidth(rows)
        expected = mmd(Gaussian(theta)(rows, rows), FIRST, parts)
        landmarks = estimator == "adaptive" and column.name == "numbers"
        assert column.statistic == pytest.approx(expected, rel=0.02 if landmarks else 1e-6, abs=1e-9)


@pytest.mark.parametrize("parts", PARTS, ids=" ".join)
def test_statistics_of_pairs_are_those_of_whole_matrices(
    parts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = (POINTS[name][:, None] for name in ("two values", "numbers"))
    design = km.Design(**{part: EVERY[part] for part in parts})
    options: dict[str, Any] = {"kernel": (KERNEL, KERNEL), "design": design, "n_resamples": 9, "rng": 0}
    result = km.hsic_test(X, Y, **options)
    shares = EVERY["weights"] / WEIGHT.sum() if "weights" in parts else np.full(N, 1 / N)
    strata = STRATUM if "strata" in parts else np.zeros(N, dtype=int)
    inside = (strata[:, None] == strata) * shares
    center = np.eye(N) - inside / inside.sum(axis=1, keepdims=True)
    weighted = shares[:, None] * (center @ KERNEL(X, X) @ center.T) * shares
    assert result.statistic == pytest.approx(float((weighted * KERNEL(Y, Y)).sum()), rel=1e-7, abs=1e-12)
    monkeypatch.setattr(independence, "FACTORS_FROM", N + 1)
    dense = km.hsic_test(X, Y, **options)
    np.testing.assert_allclose(result.null_distribution, dense.null_distribution, rtol=1e-6, atol=1e-12)
