"""The level of tests in bins on null data: inside exact binomial bounds, whatever the data and the order of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import kernelmean as km
from checkered import checkered, mostly_slow
from in_bins import hsic, mmd
from kernelmean.inference.rotations import windows
from kernelmean.inference.units import dealing
from kernelmean.tables import limits
from null_data import LEVELS

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
TRIALS = 80


def check(draw: Callable[[np.random.Generator], Any], total: int, *, tied: bool = False, trials: int = TRIALS) -> None:
    """Without ties a test over P permutations rejects with probability floor(α P) / P, with ties at most that."""
    rng = np.random.default_rng(17)
    pvalues = np.array([draw(rng).pvalue for _ in range(trials)])
    assert pvalues.min() > 0
    for level in LEVELS:
        rejected = (pvalues <= level + 1e-12).sum()
        low, high = binom.ppf([0.0005, 0.9995], trials, np.floor(level * total + 1e-9) / total)
        assert rejected <= high
        assert tied or rejected >= low


def rows(law: str, n: int, rng: np.random.Generator) -> Array:
    if law == "heavy tails":
        return rng.standard_t(1.0, (n, 2))
    if law == "ties":
        return rng.integers(0, 2, (n, 2)).astype(float)
    found = rng.standard_normal((n, 2))
    return found[np.argsort(found[:, 0])] if law == "sorted" else found


@pytest.fixture
def few_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bins of several rows, with rows left over, of few rows; a pilot of some of them."""
    for name, value in (("MOST_BINS", 64), ("_LEAST_BINS", 16), ("PILOT", 64)):
        monkeypatch.setattr(dealing, name, value)
    monkeypatch.setattr(windows, "WINDOW", 2)
    monkeypatch.setattr(windows, "PILOT", 64)


LAWS = mostly_slow(["normal", "heavy tails", "ties", "sorted"], "sorted")
"""All of them, 2000 data sets each: docs/evidence/levels.md."""


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize(("law", "sizes"), checkered(["sorted", "ties"], [(150, 150), (210, 60)]), ids=str)
def test_one_kernel_of_two_samples(law: str, sizes: tuple[int, int]) -> None:
    options: dict[str, Any] = {"estimator": "kme", "n_resamples": 19}

    def draw(rng: np.random.Generator) -> Any:
        return mmd(*(rows(law, n, rng) for n in sizes), seed=int(rng.integers(2**40)), **options)

    check(draw, 20, tied=law == "ties", trials=100)


@pytest.mark.slow
@pytest.mark.parametrize("downwards", [False, True])
def test_two_sorted_samples_of_one_size(downwards: bool) -> None:
    """They are dealt alike: bins of one number hold the same quantiles, or opposite ones."""

    def draw(rng: np.random.Generator) -> Any:
        X, Y = (np.sort(rng.standard_normal((600, 1)), axis=0) for _ in range(2))
        Y = Y[::-1] if downwards else Y
        return mmd(X, Y, seed=int(rng.integers(2**40)), estimator="kme", n_resamples=39)

    check(draw, 40, trials=1000)


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("law", LAWS)
def test_adaptive_of_two_samples(law: str) -> None:
    def draw(rng: np.random.Generator) -> Any:
        return mmd(rows(law, 150, rng), rows(law, 90, rng), seed=int(rng.integers(2**40)), n_resamples=39)

    check(draw, 40, tied=law == "ties", trials=20)


def test_a_few_hundred_rows_of_the_default() -> None:
    def draw(rng: np.random.Generator) -> Any:
        return mmd(rng.normal(size=(320, 1)), rng.normal(size=(250, 1)), seed=int(rng.integers(2**40)), n_resamples=19)

    check(draw, 20, trials=20)


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("law", LAWS)
def test_one_kernel_of_two_variables(law: str) -> None:
    options: dict[str, Any] = {"estimator": "kme", "n_resamples": 15}

    def draw(rng: np.random.Generator) -> Any:
        return hsic(rows(law, 170, rng), rows("normal", 170, rng), seed=int(rng.integers(2**40)), **options)

    check(draw, 16, tied=law == "ties", trials=100)


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("law", LAWS)
def test_adaptive_of_two_variables(law: str) -> None:
    def draw(rng: np.random.Generator) -> Any:
        Y = rows("ties" if law == "ties" else "heavy tails", 130, rng)
        return hsic(rows(law, 130, rng), Y, seed=int(rng.integers(2**40)), n_resamples=31)

    check(draw, 32, tied=law == "ties", trials=20)


@pytest.mark.parametrize("test", [km.mmd_test, km.hsic_test])
def test_rows_that_come_once(monkeypatch: pytest.MonkeyPatch, few_bins: None, test: Any) -> None:
    """Longer than what is held: without being asked they are added up in bins, features fitted to rows of all."""
    monkeypatch.setattr(limits, "ADAPTIVE_LIMIT", 60)

    def draw(rng: np.random.Generator) -> Any:
        sorted_rows = rows("sorted", 160, rng), rows("sorted" if test is km.mmd_test else "normal", 160, rng)
        batches = (iter(np.array_split(own, 5)) for own in sorted_rows)
        found = test(*batches, n_resamples=15, rng=int(rng.integers(2**40)))
        assert found.scheme == "bins"
        return found

    check(draw, 16, trials=20)
