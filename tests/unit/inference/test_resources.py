"""What a call may use is what it uses: the threads that were asked for, and batches that fit the announced memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest

from kernelmean.inference.low_rank import _with_room
from kernelmean.inference.permutation_groups import Rotations
from kernelmean.inference.permutations import AllPermutations, Permutations
from kernelmean.inference.problem import KernelSide, LabelSide, Problem
from kernelmean.inference.resampling_options import Resources
from kernelmean.inference.schemes import base, random_pairs
from kernelmean.inference.schemes.blocks import BinTiling, RowBins
from kernelmean.inference.schemes.cyclic import RotationTiling, tile_sums
from kernelmean.inference.statistics import HSIC, MMD
from kernelmean.kernels import Gaussian, Linear
from nulls import hsic_null, mmd_null

X = np.random.default_rng(0).standard_normal((23, 2))
KERNELS = (Gaussian(1.0), Linear())
PAIRS = Problem(KernelSide(X, KERNELS), KernelSide(X[:, :1], KERNELS), ((0, 1), (1, 0)), HSIC(23, "u"))


@pytest.fixture
def threads(monkeypatch):
    """The numbers of threads of all pools that are made."""
    asked = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, workers):
            asked.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(base, "ThreadPoolExecutor", Pool)
    return asked


@pytest.mark.parametrize("scheme", ["gemm", "cyclic", "blocks", "gather", "exact"])
def test_as_many_threads_work_as_were_asked_for(threads, scheme):
    for n_jobs in (1, 3):
        if scheme == "gather":
            hsic_null(X, X, [KERNELS], scheme=scheme, n_resamples=19, rng=0, threads=n_jobs)
        elif scheme == "exact":
            hsic_null(X[:5], X[:5], [KERNELS], scheme=scheme, threads=n_jobs)
        else:
            mmd_null(X, X + 1.0, KERNELS, scheme=scheme, n_resamples=19, rng=0, threads=n_jobs)
        assert set(threads) == ({3} if n_jobs == 3 else set())


def test_tiles_are_evaluated_by_one_thread_unless_more_are_asked_for(threads):
    group = Rotations(np.arange(23), np.arange(23)[None], 5)
    tiling = RotationTiling(PAIRS, group)
    tiling.evaluated()
    assert threads == []
    tile_sums(PAIRS, group, Resources(2))
    assert threads == [2]


class Spy(Permutations):
    """The identity alone; remembers how many permutations may come at once."""

    n, count = 23, 7

    def __init__(self):
        self.sizes = []

    def batches(self, size):
        self.sizes.append(size)
        yield np.arange(23)[None]


def test_batches_fit_their_memory(monkeypatch):
    spy, costs = Spy(), []
    monkeypatch.setattr(random_pairs, "gatherer", lambda cost: costs.append(cost) or random_pairs._gather)
    random_pairs.permutation_sums(PAIRS, spy, Resources())
    monkeypatch.setattr(random_pairs, "_BATCH_BYTES", 100)
    random_pairs.permutation_sums(PAIRS, spy, Resources())
    assert (spy.sizes, costs) == ([2**23 // (8 * 23**2), 1], [23**2 * 7] * 2)


def test_loops_are_compiled_for_large_calls_where_numba_is(monkeypatch):
    assert random_pairs.gatherer(1e9) is random_pairs._gather
    if find_spec("numba"):
        assert random_pairs.gatherer(2e9) is not random_pairs._gather
    monkeypatch.setattr(random_pairs, "find_spec", lambda name: None)
    assert random_pairs.gatherer(1e12) is random_pairs._gather


def test_tiles_are_no_more_than_needed():
    even, odd = (RotationTiling(PAIRS, Rotations(np.arange(n), np.arange(n)[None], 4)).tiles() for n in (12, 13))
    assert (len(even), len(odd)) == (6, 10)
    labels = np.repeat([1.0, 0.0], [9, 14])
    problem = Problem(KernelSide(X, KERNELS), LabelSide(labels), ((0, 0),), MMD(9, 14))
    bins = RowBins(np.arange(23), np.array([0, 3, 6, 9, 12, 15, 18, 21, 23]), np.array([1.0, 1, 1, 0, 0, 0, 0, 0]), 7)
    tiling, wide, last = BinTiling(problem, bins, AllPermutations(1)), slice(0, 7), slice(7, 8)
    assert tiling.tiles() == [(wide, wide), (wide, last), (last, last)]


@pytest.mark.parametrize(("tile", "sizes"), [(10, [3, 3, 1, 1]), (1, [1] * 8), (6, [2, 2, 2, 1, 1])])
def test_tiles_hold_as_many_bins_of_one_size_as_fit(tile, sizes):
    labels = np.repeat([1.0, 0.0], [9, 14])
    problem = Problem(KernelSide(X, KERNELS), LabelSide(labels), ((0, 0),), MMD(9, 14))
    bins = RowBins(np.arange(23), np.array([0, 3, 6, 9, 12, 15, 18, 21, 23]), np.array([1.0, 1, 1, 0, 0, 0, 0, 0]), 7)
    groups = [one for one, other in BinTiling(problem, bins, AllPermutations(1), size=tile).tiles() if one == other]
    assert [group.stop - group.start for group in groups] == sizes


def test_a_factor_grows_by_as_much_again_and_only_when_it_is_full():
    factor = np.arange(20.0).reshape(4, 5)
    assert _with_room(factor, 3, 1) is factor
    wider = _with_room(factor, 3, 2)
    assert wider.shape == (10, 5)
    np.testing.assert_array_equal(wider[:3], factor[:3])
