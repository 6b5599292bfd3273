"""Mixed tables with missing cells: the default test holds its level and finds categories and levels that shift."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import kernelmean as km

pytestmark = pytest.mark.slow

RUNS, LEVEL = 20, 0.1
MOST = int(binom.ppf(1 - 1e-4, RUNS, LEVEL))  # exceeded once in 10 000 times by a test of exactly this level
ORDER = ["low", "mid", "high"]


def rows(rng: np.random.Generator, n: int, rome: float = 0.25, high: float = 1 / 3) -> pd.DataFrame:
    """Return a skewed number with blanks, a category of four with blanks, and an ordinal column."""
    cities = rng.choice(["Lima", "Oslo", "Bonn", "Rome"], n, p=[*[(1 - rome) / 3] * 3, rome]).astype(object)
    table = pd.DataFrame(
        {
            "wait": rng.exponential(size=n),
            "city": cities,
            "size": pd.Categorical(rng.choice(ORDER, n, p=[*[(1 - high) / 2] * 2, high]), ORDER, ordered=True),
        }
    )
    blank = rng.random((n, 2)) < 0.1
    return table.assign(wait=table["wait"].mask(blank[:, 0]), city=table["city"].mask(blank[:, 1]))


def share_of_findings(seed: int, runs: int, **second: float) -> tuple[int, int]:
    """Return how often the joint test, and any column, was significant."""
    joint = family = 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        first, other = rows(rng, 25), rows(rng, 20, **second)
        result = km.compare(first, other, missing="category", n_resamples=39, rng=run)
        joint += result.differ(LEVEL)
        family += min(column.adjusted for column in result.columns) <= LEVEL
    return joint, family


def test_mixed_tables_of_one_law_are_rarely_called_different() -> None:
    joint, family = share_of_findings(93, RUNS)
    assert joint <= MOST
    assert family <= MOST


def test_a_category_that_shifts_is_often_found() -> None:
    joint, family = share_of_findings(94, 10, rome=0.85)
    assert min(joint, family) >= 7


def test_a_level_that_shifts_is_often_found() -> None:
    joint, family = share_of_findings(95, 10, high=0.95)
    assert min(joint, family) >= 7
