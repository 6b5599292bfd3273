"""Lists of permutations: complete, uniform, the identity first, and the same in batches of any size."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from threading import Barrier

import numpy as np
import pytest

from kernelmean.inference.permutations import AllLabelings, AllPermutations, RandomPermutations


def every(listed, size):
    batches = list(listed.batches(size))
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    assert 0 < len(batches[-1]) <= size
    return np.concatenate(batches)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_all_permutations_once_each(n):
    listed = AllPermutations(n)
    rows = every(listed, 7)
    assert rows.shape == (listed.count, n) == (math.factorial(n), n)
    assert len({tuple(row) for row in rows}) == len(rows)
    assert (rows[0] == np.arange(n)).all()


@pytest.mark.parametrize("sizes", [(1, 1), (1, 4), (4, 1), (3, 4)])
def test_all_labelings_once_each(sizes):
    listed = AllLabelings(*sizes)
    rows = every(listed, 5)
    assert len(rows) == listed.count == math.comb(sum(sizes), sizes[0])
    np.testing.assert_array_equal(np.sort(rows, axis=1), np.tile(np.arange(sum(sizes)), (len(rows), 1)))
    labels = np.repeat([1, 0], sizes)[rows]
    assert len({tuple(row) for row in labels}) == len(rows)
    assert (labels[0] == np.repeat([1, 0], sizes)).all()


def test_random_permutations_start_with_the_identity_and_do_not_depend_on_batches():
    listed = RandomPermutations(9, 40, np.random.default_rng(3))
    runs = [every(listed, size) for size in (1, 7, 40, 1000)]
    for run in runs:
        np.testing.assert_array_equal(run, runs[0])
    assert (runs[0][0] == np.arange(9)).all()
    assert (np.sort(runs[0], axis=1) == np.arange(9)).all()


class Meeting(np.random.Generator):
    """A generator whose copies two threads make at the same time."""

    both = Barrier(2)

    def __deepcopy__(self, memo):
        self.both.wait(10)
        return np.random.Generator(deepcopy(self.bit_generator, memo))


def test_threads_that_begin_together_list_the_same_permutations():
    listed = RandomPermutations(9, 40, Meeting(np.random.PCG64(3)))
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda _: every(listed, 40), range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, every(RandomPermutations(9, 40, np.random.default_rng(3)), 40))


def test_random_permutations_are_uniform():
    rows = every(RandomPermutations(4, 24_001, np.random.default_rng(0)), 5000)[1:]
    _, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(counts) == 24
    assert (np.square(counts - 1000) / 1000).sum() < 49.7  # the 99.9 % point of χ² with 23 degrees of freedom
