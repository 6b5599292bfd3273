"""Numbers that once went wrong: kernels far from 0, weights of many magnitudes, one tiny sample of several."""

from __future__ import annotations

import itertools

import numpy as np

import kernelmean as km
from kernelmean.inference.units.layout import Layout
from kernelmean.kernels import Linear


def test_a_linear_kernel_far_from_0_sees_differences_as_it_does_near_0() -> None:
    rows = np.random.default_rng(0).standard_normal((300, 5))
    rows[:150, -1] += 0.3
    near, far = (
        km.mmd_test(rows[:150] + offset, rows[150:] + offset, kernel=Linear(), statistic="v", rng=0)
        for offset in (0.0, 1e6)
    )
    assert np.isclose(near.statistic, np.square(rows[:150].mean(axis=0) - rows[150:].mean(axis=0)).sum())
    assert np.isclose(far.statistic, near.statistic, rtol=1e-4)
    assert far.pvalue == near.pvalue


def test_equal_statistics_tie_however_much_weight_one_row_has() -> None:
    rows = np.r_[0.1, np.full(5, 0.8)][:, None]
    for weight in (10.0, 1e4, 1e6):
        weights = np.r_[weight, np.ones(5)]
        for first in map(list, itertools.combinations(range(6), 3)):
            other = [row for row in range(6) if row not in first]
            design = km.Design(weights=(weights[first], weights[other]))
            assert km.mmd_test(rows[first], rows[other], kernel=Linear(), design=design).pvalue == 1.0


def test_one_tiny_sample_of_several_does_not_keep_the_others_in_place() -> None:
    sizes = [2, 2000, 2000]
    layout = Layout.of(np.repeat(np.arange(3), sizes), np.ones(sum(sizes))).in_bins(np.random.default_rng(0))
    moving = np.isin(layout.cells, np.flatnonzero(np.bincount(layout.cells) > 1))
    rows = np.bincount(layout.labels[moving], layout.sizes[moving])
    assert rows[0] == 2
    assert (rows[1:] >= 1900).all()
