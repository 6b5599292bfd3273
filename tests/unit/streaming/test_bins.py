"""Bins: every row falls into the bin that its number says, whoever adds it and whenever."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kernelmean import features, streaming
from kernelmean.kernels import Gaussian
from kernelmean.tables import shuffled

PHI = features.fourier(Gaussian(1.0), 1, 4)
X = np.random.default_rng(0).normal(size=(5000, 1))
BinSums = streaming.BinSums
CAPACITY, WIDTH = BinSums.empty(PHI, 0).sums.shape
ROWS = np.column_stack([np.ones((5000, 2)), np.ones(5000), np.zeros(5000), PHI(X)])


def filled(cuts, n_rows=None, size=1, n=5000):
    bins = BinSums.empty(PHI, 3, n_rows=n_rows, size=size)
    edges = [0, *sorted(cuts), n]
    for start, stop in pairwise(edges):
        bins.add(PHI, X[start:stop])
    return bins


@pytest.mark.parametrize("n", [1, 2, 3, 5, 64, 65, 1000, 4096, 5000])
def test_shuffled_is_a_permutation(n):
    found = shuffled(np.arange(n), n, seed=7)
    assert sorted(found) == list(range(n))
    np.testing.assert_array_equal(shuffled(np.arange(n)[::-1], n, seed=7), found[::-1])


def test_shuffled_leaves_no_order():
    n = 50_000
    first, second = (shuffled(np.arange(n), n, seed) for seed in (0, 1))
    for other in (np.arange(n), second, np.roll(first, 1)):
        assert abs(np.corrcoef(first, other)[0, 1]) < 4 / np.sqrt(n)
    counts = np.bincount(first[:5000] // 500, minlength=100)
    assert 60 < np.square(counts - 50).sum() / 50 < 150  # chi-square of 99 degrees of freedom, nearly


def test_all_permutations_of_few_rows_are_drawn():
    found = {tuple(shuffled(np.arange(4), 4, seed)) for seed in range(400)}
    assert len(found) == 24


def test_known_lengths_are_dealt_at_random_into_equal_bins():
    bins = filled([], n_rows=5000, size=70)
    numbers = shuffled(np.arange(5000), 5000, 3) // 70
    truth = np.stack([ROWS[numbers == b].sum(axis=0) for b in range(72)])
    np.testing.assert_allclose(bins.sums, truth, atol=1e-12)
    assert (bins.full[:, 0] == 70).all()
    assert len(bins.full) == 71
    np.testing.assert_allclose(bins.left_over, truth[71], atol=1e-12)


def test_unknown_lengths_are_cut_into_runs_that_double():
    for n, size in ((CAPACITY, 1), (CAPACITY + 1, 2), (5000, 4)):
        bins = filled([], n=n)
        assert bins.size == size
        starts = np.arange(0, n, size)
        np.testing.assert_allclose(bins.sums[: len(starts)], np.add.reduceat(ROWS[:n], starts), atol=1e-12)
        assert not bins.sums[len(starts) :].any()
        assert (bins.full[:, 0] == size).all()
        assert bins.left_over[0] == n % size


@pytest.mark.parametrize("known", [True, False])
def test_bins_do_not_depend_on_the_batches(known):
    options = {"n_rows": 5000, "size": 70} if known else {}
    whole, rng = filled([], **options), np.random.default_rng(1)
    for _ in range(5):
        cut = filled(rng.integers(0, 5000, 9), **options)
        np.testing.assert_allclose(cut.sums, whole.sums, atol=1e-12)
        np.testing.assert_array_equal(cut.sums[:, 0], whole.sums[:, 0])
        assert (cut.size, cut.rows, cut.stop) == (whole.size, whole.rows, whole.stop)


@pytest.mark.parametrize("known", [True, False])
def test_a_thousand_parts_merge_in_any_order_and_grouping(known):
    options = {"n_rows": 5000, "size": 70} if known else {}
    whole, rng = filled([], **options), np.random.default_rng(2)
    edges = [0, *sorted(rng.integers(0, 5000, 999)), 5000]
    parts = []
    for start, stop in pairwise(edges):
        part = BinSums.empty(PHI, 3, **options)
        part.add(PHI, X[start:stop], start)
        parts.append(part)
    while len(parts) > 1:
        i, j = rng.choice(len(parts), 2, replace=False)
        merged = parts[i] + parts[j]
        parts = [part for k, part in enumerate(parts) if k not in (i, j)] + [merged]
    scale = np.abs(whole.sums).max()
    np.testing.assert_allclose(parts[0].sums, whole.sums, rtol=0.0, atol=1e-12 * scale)
    parts[0].check_complete("it")
    assert (parts[0].rows, parts[0].size) == (5000, whole.size)


def test_missing_and_repeated_rows_are_noticed():
    bins = BinSums.empty(PHI, 0)
    bins.add(PHI, X[:5], 3)
    with pytest.raises(ValueError, match="5 rows were added of 8"):
        bins.check_complete("the first sample")
    with pytest.raises(ValueError, match="10 rows were announced"):
        BinSums.empty(PHI, 0, n_rows=10, size=2).add(PHI, X[:11])
    with pytest.raises(ValueError, match="different samples"):
        BinSums.empty(PHI, 0) + BinSums.empty(PHI, 1)
    with pytest.raises(ValueError, match="do not go together"):
        BinSums(np.zeros((3, WIDTH)), 1, 0, 0, None, 0, np.zeros(WIDTH))
