"""The comparison of two tables holds its level: jointly, and over all columns together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from kernelmean import compare, dependence

pytestmark = pytest.mark.slow

RUNS, LEVEL = 24, 0.05
MOST = int(binom.ppf(1 - 1e-4, RUNS, LEVEL))  # exceeded once in 10 000 times by a test of exactly this level
WIDE = 36
MOST_WIDE = int(binom.ppf(1 - 1e-4, WIDE, LEVEL))


def test_tables_of_one_law_are_rarely_called_different() -> None:
    joint = family = 0
    for seed in range(RUNS):
        rng = np.random.default_rng([77, seed])
        pooled = rng.standard_t(3, size=(27, 3)) * [1.0, 1e4, 1e-4]
        result = compare(pooled[:15], pooled[15:], n_resamples=99, rng=seed)
        joint += result.differ(LEVEL)
        family += min(column.adjusted for column in result.columns) <= LEVEL
    assert joint <= MOST
    assert family <= MOST


@pytest.mark.slow
def test_families_of_many_columns_keep_their_level() -> None:
    family = 0
    for seed in range(WIDE):
        pooled = np.random.default_rng([79, seed]).standard_t(3, size=(27, 45))
        result = compare(pooled[:15], pooled[15:], estimator="kme", n_resamples=199, rng=seed)
        family += result.columns[0].adjusted <= LEVEL
    assert family <= MOST_WIDE


@pytest.mark.slow
def test_families_of_many_pairs_keep_their_level_whatever_the_screen_drops() -> None:
    family = dropped = 0
    for seed in range(WIDE):
        values = np.random.default_rng([80, seed]).standard_t(3, size=(20, 10))
        result = dependence(values, estimator="kme", n_resamples=199, rng=seed)
        family += result.pairs[0].adjusted <= LEVEL
        dropped += sum(pair.screened for pair in result.pairs)
    assert family <= MOST_WIDE
    assert dropped > 20 * WIDE


def test_tables_of_two_distributions_are_often_called_different() -> None:
    found = 0
    for seed in range(12):
        rng = np.random.default_rng([78, seed])
        result = compare(rng.normal(size=(30, 3)), rng.normal([0, 0, 1.2], size=(30, 3)), n_resamples=99, rng=seed)
        found += result.differ(LEVEL) and result.columns[0].name == "x2"
    assert found >= 10
