"""Compress Then Test: MMD² for any sizes, blocks that are exchanged, a level that holds, power on either side."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from scipy.stats import binom

import kernelmean as km
from kernelmean.inference.designs.compressed import _dealt, _gram, _shares, _thinned, _values
from kernelmean.kernels import Gaussian, Laplacian


def sample(seed, n, scale=1.0):
    return scale * np.random.default_rng(seed).normal(size=(n, 2))


@pytest.mark.parametrize(("n", "m"), [(160, 160), (100, 333), (333, 100), (17, 640)])
def test_without_thinning_the_statistic_is_mmd_for_any_sizes(n, m):
    X, Y = sample(0, n), sample(1, m, 1.5)
    found = km.compress_then_test(X, Y, kernel=Laplacian(1.3), oversampling=100, n_resamples=1, rng=0)
    truth = (km.embed(X, Laplacian(1.3)) - km.embed(Y, Laplacian(1.3))).norm() ** 2
    assert found.statistic == pytest.approx(truth, rel=1e-9)


def test_thinned_blocks_come_near_it():
    X, Y = sample(0, 900), sample(1, 300, 1.5)
    found = km.compress_then_test(X, Y, kernel=Gaussian(1.0), n_resamples=1, rng=0)
    truth = (km.embed(X, Gaussian(1.0)) - km.embed(Y, Gaussian(1.0))).norm() ** 2
    assert "66 blocks of 18 rows, each 9 points" in found.notes
    assert found.statistic == pytest.approx(truth, rel=0.15)


def test_values_are_those_of_exchanged_blocks():
    rng = np.random.default_rng(2)
    parts = [_dealt(sample(k, n), 10, rng) for k, n in enumerate((43, 25))]
    blocks = [block for full, _ in parts for block in full] + [left for _, left in parts]
    coresets = [_thinned(Gaussian(1.0), block, 5, rng) for block in blocks]
    signed = _shares(parts)
    np.testing.assert_allclose(signed, [*[10 / 43] * 4, *[-10 / 25] * 2, 3 / 43, -5 / 25])
    values = _values(_gram(coresets, km.Plan()), signed, 6, 20, np.random.default_rng(3))
    for order, value in zip(
        np.random.default_rng(3).permuted(np.tile(np.arange(6), (20, 1)), axis=1), values[1:], strict=True
    ):
        weights = [*signed[order], *signed[6:]]
        total = reduce(add, (w * each.embedding() for w, each in zip(weights, coresets, strict=True)))
        assert value == pytest.approx(total.norm() ** 2, rel=1e-8)


LAWS = {
    "normal": lambda rng, n: rng.normal(size=(n, 2)),
    "heavy": lambda rng, n: rng.standard_cauchy(size=(n, 1)),
    "tied": lambda rng, n: rng.integers(0, 3, size=(n, 1)).astype(float),
}


def rejections(law, runs, sizes, seed):
    found = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        X, Y = LAWS[law](rng, sizes[0]), LAWS[law](rng, sizes[1])
        found.append(km.compress_then_test(X, Y, n_resamples=99, rng=rng).pvalue)
    return np.array(found)


def check(pvalues):
    for alpha in (0.01, 0.05, 0.1):
        low, high = binom.ppf([0.0005, 0.9995], len(pvalues), alpha)
        assert low <= (pvalues <= alpha).sum() <= high


@pytest.mark.parametrize("law", list(LAWS))
def test_the_level_holds_on_unequal_samples(law):
    check(rejections(law, 60, (70, 260), 1))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(200, 200), (70, 260), (500, 130)])
@pytest.mark.parametrize("law", list(LAWS))
def test_the_level_holds_in_2000_runs(law, sizes):
    check(rejections(law, 2000, sizes, 2))


@pytest.mark.parametrize("sizes", [(150, 450), (450, 150)])
def test_power_does_not_depend_on_which_sample_is_the_larger(sizes):
    found = [
        km.compress_then_test(sample(k, sizes[0]), sample(k + 50, sizes[1], 1.6), n_resamples=99, rng=k).pvalue
        for k in range(12)
    ]
    assert np.mean(np.array(found) <= 0.05) > 0.8


def test_the_result_says_how():
    result = km.compress_then_test(sample(0, 200), sample(1, 100), estimator="mkme", n_resamples=19, rng=0)
    assert result.scheme == "compressed blocks"
    assert result.n_resamples == 19
    assert "fitted" in " ".join(result.notes) or result.noise is not None
    again = km.compress_then_test(sample(0, 200), sample(1, 100), estimator="mkme", n_resamples=19, rng=0)
    assert (again.statistic, again.pvalue) == (result.statistic, result.pvalue)


def test_refusals_say_what_is_needed():
    with pytest.raises(ValueError, match="too small"):
        km.compress_then_test(sample(0, 15), sample(1, 100))
    with pytest.raises(ValueError, match="columns"):
        km.compress_then_test(sample(0, 50), sample(1, 50)[:, :1])
    with pytest.raises(ValueError, match="oversampling"):
        km.compress_then_test(sample(0, 50), sample(1, 50), oversampling=0)
    with pytest.raises(ValueError, match="filter"):
        km.compress_then_test(sample(0, 50), sample(1, 50), estimator=km.FKMSE())
    with pytest.raises(MemoryError, match=r"pass plan=Plan\(memory="):
        km.compress_then_test(sample(0, 50), sample(1, 50), plan=km.Plan(memory=1e3))


def test_a_result_says_what_to_ask_instead_of_it():
    result = km.compress_then_test(sample(0, 50), sample(1, 50), n_resamples=19, rng=0)
    with pytest.raises(ValueError, match=r"plain samples and pairs, .* call mmd_test"):
        result.effect_size()


def test_columns_of_very_different_spreads_are_told():
    X = sample(0, 50) * np.array([1.0, 1000.0])
    notes = km.compress_then_test(X, X[::-1], n_resamples=19, rng=0).notes
    assert any("one bandwidth for all columns" in note and "adaptive" not in note for note in notes)
