"""Tests of other authors, as benchmarks rebuild them: statistics by brute force, and levels by whole groups."""

from __future__ import annotations

import sys
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def rebuilt(monkeypatch: pytest.MonkeyPatch):
    """Import modules of benchmarks/rebuilt by name, for one test only."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def load(name: str):
        return __import__(f"rebuilt.{name}", fromlist=["_"])

    yield load
    for name in [name for name in sys.modules if name.split(".")[0] == "rebuilt"]:
        del sys.modules[name]


def samples(n: int, m: int, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + 0.4


def gaussian(a: np.ndarray, b: np.ndarray, width: float) -> float:
    return float(np.exp(-(((a - b) ** 2).sum()) / width**2))


def test_mmd_agg_exchanges_rows_as_its_sum_says(rebuilt):
    module, (x, y) = rebuilt("mmd_agg"), samples(6, 6)
    widths = module.bandwidths(rebuilt("sums").distances(x, y, 2))
    grams = list(module.kernels(x, y))
    signs = np.array([[1, 1, 1, 1, 1, 1], [1, -1, -1, 1, -1, 1.0]]).T
    for width, gram in zip(widths, grams[10:], strict=True):

        def h(i, j, width=width):
            pairs = ((x[i], x[j], 1), (x[i], y[j], -1), (y[i], x[j], -1), (y[i], y[j], 1))
            return sum(sign * gaussian(a, b, width) for a, b, sign in pairs)

        for column, found in zip(signs.T, module.exchanged(gram, signs), strict=True):
            wanted = sum(column[i] * column[j] * h(i, j) for i in range(6) for j in range(6) if i != j)
            assert found == pytest.approx(wanted, rel=1e-10, abs=1e-12)


def test_mmd_agg_of_unequal_samples_is_the_unbiased_mmd(rebuilt):
    module, (x, y) = rebuilt("mmd_agg"), samples(5, 8)
    ones = np.r_[np.ones(5), np.zeros(8)][:, None]
    width = module.bandwidths(rebuilt("sums").distances(x, y, 2))[4]
    found = module.permuted(list(module.kernels(x, y))[14], ones)[0]

    def mean(a, b, *, same):
        cells = [gaussian(p, q, width) for i, p in enumerate(a) for j, q in enumerate(b) if not (same and i == j)]
        return np.mean(cells)

    wanted = mean(x, x, same=True) + mean(y, y, same=True) - 2 * mean(x, y, same=False)
    assert found == pytest.approx(wanted, rel=1e-9)


def test_mmd_fuse_is_the_log_of_a_mean_of_exponentials(rebuilt):
    module, sums, (x, y) = rebuilt("mmd_fuse"), rebuilt("sums"), samples(7, 9)
    p = module.mmd_fuse(x, y, 60, 4)
    pooled, n = np.vstack([x, y]), 7

    def fused(column):
        a, total = column == 1, 0.0
        for gram in module.kernels(pooled):
            first, second, cross = gram[np.ix_(a, a)], gram[np.ix_(~a, ~a)], gram[np.ix_(a, ~a)]
            mmd = first.sum() / (7 * 6) + second.sum() / (9 * 8) - 2 * cross.mean()
            total += np.exp((n * (n - 1)) ** 1.5 * mmd / (gram**2).sum() ** 0.5)
        return total

    values = [fused(column) for column in sums.labels(7, 9, 60, np.random.default_rng(4)).T]
    assert p == np.mean(np.array(values) >= values[0] * (1 - 1e-12))


def test_hsic_agg_is_a_sum_of_products_over_pairs_of_pairs(rebuilt):
    module, (x, y) = rebuilt("hsic_agg"), samples(8, 8)
    widths = [np.median([np.linalg.norm(a - b) for a in z for b in z if (a != b).any()]) / 4 for z in (x, y)]

    def h(z, i, j, width):
        a, b = z[:4], z[4:]
        pairs = ((a[i], a[j], 1), (a[i], b[j], -1), (b[i], a[j], -1), (b[i], b[j], 1))
        return sum(sign * gaussian(p, q, width) for p, q, sign in pairs)

    cores = [module.cores(z)[0] for z in (x, y)]
    for i, j in product(range(4), repeat=2):
        wanted = [h(z, i, j, width) if i != j else 0.0 for z, width in zip((x, y), widths, strict=True)]
        assert [core[i, j] for core in cores] == pytest.approx(wanted, abs=1e-12)


def test_spectral_mmd_is_a_whitened_distance_of_means(rebuilt):
    module, (x, y) = rebuilt("spectral_mmd"), samples(6, 9)
    pooled = np.vstack([x, y])
    gaps = ((pooled[:, None] - pooled) ** 2).sum(-1)
    gram = np.exp(-gaps / (2 * np.median(gaps[gaps > 0])))
    difference = gram[:, :6].mean(axis=1) - gram[:, 6:].mean(axis=1)
    spread = np.cov(gram) + 1e-2 * np.eye(15)
    found = module.statistics(x, y, 5, 0)
    assert found.shape == (35, 6)
    assert found[2 * 7 + 4, 0] == pytest.approx(difference @ np.linalg.solve(spread, difference), rel=1e-5)


def test_level_correction_lets_one_in_twenty_of_all_copies_through(rebuilt):
    """Every copy takes its turn as the observed one; of a common distribution, at most the level is rejected."""
    rejects, rng = rebuilt("level").rejects, np.random.default_rng(8)
    common = rng.normal(size=(1, 800))
    rejected = 0
    for _ in range(400):
        values = 0.6 * rng.choice(common[0], 801) + rng.normal(size=(5, 801))
        rejected += rejects(values[:, :401], values[:, 401:])
    least, most = 8, 36  # the binomial distribution of 400 trials at .05 is outside in 1 of 500
    assert least <= rejected <= most


@pytest.mark.parametrize("test", ["mmd_agg", "mmd_fuse", "hsic_agg", "spectral_mmd"])
def test_rebuilt_tests_keep_the_level_and_find_a_clear_difference(rebuilt, test):
    run, rng = getattr(rebuilt(test), test), np.random.default_rng(1)
    options = {"mmd_fuse": {"copies": 99}, "spectral_mmd": {"copies": 699}}.get(test, {"copies": 200, "spare": 200})
    trials, rejected = 120, 0
    for trial in range(trials):
        x, y = rng.normal(size=(2, 14, 1))
        rejected += run(x, y, seed=trial, **options) <= 0.05
    beyond = sum(comb(trials, k) * 0.05**k * 0.95 ** (trials - k) for k in range(rejected, trials + 1))
    assert beyond > 1e-3
    x = rng.normal(size=(40, 1))
    y = x + 0.1 * rng.normal(size=(40, 1)) if test == "hsic_agg" else rng.normal(size=(40, 1)) + 3
    assert run(x, y, **options) <= 0.05
