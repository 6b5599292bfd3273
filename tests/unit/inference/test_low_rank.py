"""Factors are verified on every row, whatever the data look like."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference.low_rank import RESIDUAL, pivoted_cholesky
from kernelmean.kernels import Gaussian, Linear, Polynomial


def data(kind, n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    if kind == "heavy tails":
        return X / np.sqrt(rng.chisquare(1.5, (n, 1)))
    if kind == "clusters":  # one row in two hundred lies in a cluster of its own
        return X * 0.01 + 50.0 * np.where(np.arange(n) % 200 == 7, np.arange(n) // 200 + 1, 0)[:, None]
    return X[rng.integers(0, 30, n)] if kind == "duplicates" else X


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Gaussian(1.0) + 0.1 * Linear(), Polynomial(2, 1.0)], ids=repr)
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "clusters", "duplicates"])
def test_the_residual_holds_on_all_rows(kind, kernel, monkeypatch):
    monkeypatch.setattr("kernelmean.inference.low_rank._PROBE", 10**6)
    monkeypatch.setattr("kernelmean.inference.low_rank._SAMPLE", 100)
    monkeypatch.setattr("kernelmean.inference.low_rank._WORST", 50)
    monkeypatch.setattr("kernelmean.inference.low_rank._COLUMNS", 333)
    X = data(kind, 1500)
    factor = pivoted_cholesky(kernel, X, max_rank=1500)
    gram = kernel(X, X)
    left_out = gram - factor.rows.T @ factor.rows
    assert factor.residual <= RESIDUAL
    assert np.trace(left_out) <= 2 * RESIDUAL * np.trace(gram)
    assert np.abs(left_out).max() <= 2 * RESIDUAL * np.trace(gram)
    assert factor.rank < 1500


def test_a_rank_beyond_the_limit_gives_none():
    X = np.random.default_rng(0).standard_normal((200, 20))
    assert pivoted_cholesky(Gaussian(3.0), X, max_rank=199) is None
    assert pivoted_cholesky(Gaussian(3.0), X, max_rank=200).rank == 200
    assert pivoted_cholesky(Gaussian(1.0), np.random.default_rng(0).standard_normal((2000, 1)), max_rank=20) is None


def test_a_full_rank_is_noticed_on_few_rows():
    seen = []

    class Watched(Gaussian):
        def __call__(self, X, Y):
            seen.append(max(len(X), len(Y)))
            return super().__call__(X, Y)

    X = np.random.default_rng(0).standard_normal((3000, 20))
    assert pivoted_cholesky(Watched(3.0), X, max_rank=3000) is None
    assert max(seen) < 300


def test_a_constant_table_has_rank_one():
    assert pivoted_cholesky(Gaussian(1.0), np.ones((50, 2)), max_rank=5).rank == 1
