"""Change points: the p-value of no change is valid, changes that are not there are rare, intervals hold the change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import kernelmean as km
from kernelmean.inference.changes import Change, ChangeFeatures, Search

pytestmark = pytest.mark.slow

Draw = Callable[[np.random.Generator, int], np.ndarray]
LAWS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=(n, 1)),
    "heavy": lambda rng, n: rng.standard_cauchy(size=(n, 2)),
    "tied": lambda rng, n: rng.binomial(3, 0.3, size=(n, 3)).astype(float),
    "skewed": lambda rng, n: rng.exponential(size=(n, 1)),
}

TABLES: dict[str, Callable[[np.random.Generator], Any]] = {
    "normal": lambda rng: rng.normal(size=(30, 5)),
    "three values": lambda rng: rng.integers(3, size=(30, 5)).astype(float),
    "Cauchy": lambda rng: rng.standard_cauchy(size=(24, 5)),
    "rare categories": lambda rng: pd.DataFrame(rng.choice(list("abcd"), (60, 4), p=[0.85, 0.05, 0.05, 0.05])),
    "mixed": lambda rng: pd.DataFrame(
        {
            "size": rng.normal(size=40),
            "price": np.round(rng.lognormal(size=40), 1),
            "shop": rng.choice(list("abc"), 40, p=[0.6, 0.3, 0.1]),
            "open": rng.random(40) < 0.3,
            "calls": rng.poisson(2.0, 40),
        }
    ),
}


def check_tables(kind: str, series: int, seed: int) -> None:
    """All columns are searched together, and every column alone: how often is there any change?"""
    found = 0
    for number in range(series):
        table = TABLES[kind](np.random.default_rng([seed, number]))
        result = km.changes(table, search=Search(n_resamples=199), rng=number)
        assert bool(result.points) == (result.pvalue <= 0.05)
        found += bool(result.points)
    bound = int(binom.ppf(0.9995, series, 0.05))
    print(f"{kind}: a change in {found} of {series} tables of several columns, at most {bound} may")
    assert found <= bound


def searched(rows: np.ndarray, rng: np.random.Generator) -> tuple[float, tuple[Change, ...]]:
    return Search(n_resamples=99).run(ChangeFeatures.of(rows, rng), rng)


def check_level(law: str, series: int, seed: int) -> None:
    pvalues, changes = [], 0
    for number in range(series):
        rng = np.random.default_rng([seed, number])
        pvalue, found = searched(LAWS[law](rng, 40), rng)
        pvalues.append(pvalue)
        changes += bool(found)
    for alpha in (0.01, 0.05, 0.2, 0.5):
        below, bound = int((np.array(pvalues) <= alpha).sum()), int(binom.ppf(0.9995, series, alpha))
        print(f"{law}: {below} of {series} series have p <= {alpha}, at most {bound} may")
        assert below <= bound
    assert changes == int((np.array(pvalues) <= 0.05).sum())


def check_others(law: str, series: int, seed: int) -> None:
    """Two changes are clear: how often is there a third?"""
    more = 0
    for number in range(series):
        rng = np.random.default_rng([seed, number])
        rows = LAWS[law](rng, 90)
        rows[30:60] += 50.0 * np.median(np.abs(rows)) + 50.0
        more += len(searched(rows, rng)[1]) > 2
    bound = int(binom.ppf(0.9995, series, 0.05))
    print(f"{law}: more than the two changes in {more} of {series} series, at most {bound} may")
    assert more <= bound


def covered(size: float, series: int, seed: int) -> tuple[int, int]:
    """Return how many intervals hold the one change of a normal mean, and how many series have one change."""
    hits = found = 0
    for number in range(series):
        rng = np.random.default_rng([seed, number])
        place = int(rng.integers(30, 90))
        rows = rng.normal(size=(120, 1)) + size * (np.arange(120) >= place)[:, None]
        changes = searched(rows, rng)[1]
        if len(changes) == 1:
            found += 1
            hits += changes[0].low <= place <= changes[0].high
    return hits, found


@pytest.mark.parametrize("law", ["normal", "tied"])
def test_the_level_over_30_series(law: str) -> None:
    check_level(law, 30, 1)


def test_the_level_of_all_columns_together_and_of_each_alone_over_15_tables() -> None:
    check_tables("mixed", 15, 6)


def test_no_third_change_in_most_of_12_series() -> None:
    check_others("normal", 12, 2)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_the_level_over_2000_series(law: str) -> None:
    check_level(law, 2000, 3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
def test_the_level_of_all_columns_together_and_of_each_alone_over_2000_tables(kind: str) -> None:
    check_tables(kind, 2000, 6)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_no_third_change_in_most_of_500_series(law: str) -> None:
    check_others(law, 500, 4)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1.0, 2.0])
def test_intervals_hold_the_change_in_nineteen_of_twenty_series(size: float) -> None:
    hits, found = covered(size, 400, 5)
    print(f"size {size}: {hits} of {found} intervals hold the change")
    assert hits >= int(binom.ppf(0.0005, found, 0.95))
