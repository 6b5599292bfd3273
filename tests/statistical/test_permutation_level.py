"""The level of every scheme on null data: inside the exact binomial interval, with and without ties.

A quick part of the study: under the null the number of p-values up to α is binomial with probability
floor(α P) / P without ties and at most that with ties, for a test over P permutations.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from checkered import checkered
from nulls import PAIRS, TWO_SAMPLES, hsic_test, mmd_test

pytestmark = pytest.mark.slow

TRIALS = 150
LEVELS = (0.05, 0.1, 0.25)


def draw(law, n, rng):
    if law == "binary":
        return rng.integers(0, 2, (n, 1)).astype(float)
    if law == "rounded":
        return np.round(rng.standard_normal((n, 2)))
    return rng.standard_t(1.0, (n, 1)) if law == "heavy tails" else rng.standard_normal((n, 2))


def check(results, *, ties):
    pvalues = np.array([result.pvalue for result in results])
    total = results[0].n_resamples + 1
    for level in LEVELS:
        attained = np.floor(level * total + 1e-9) / total
        rejected = (pvalues <= level + 1e-12).sum()
        assert rejected <= binom.ppf(0.9995, TRIALS, attained)
        if not ties:
            assert rejected >= binom.ppf(0.0005, TRIALS, attained)


SIZES = [("normal", (12, 12)), ("binary", (10, 14)), ("normal", (5, 27)), ("rounded", (9, 9)), ("heavy tails", (8, 20))]
NUMBERS = [("normal", 13), ("binary", 12), ("heavy tails", 20), ("rounded", 10)]


@pytest.mark.parametrize(("scheme", "case"), checkered(TWO_SAMPLES, SIZES, every=4))
def test_two_samples(scheme, case):
    (law, sizes), rng = case, np.random.default_rng(20)
    options = {"estimator": "kme", "scheme": scheme, "n_resamples": 39, "rng": rng, "statistic": "u"}
    results = [mmd_test(draw(law, sizes[0], rng), draw(law, sizes[1], rng), **options) for _ in range(TRIALS)]
    check(results, ties=law in ("binary", "rounded"))


@pytest.mark.parametrize(("scheme", "case"), checkered(PAIRS, NUMBERS, every=4))
def test_independence(scheme, case):
    (law, n), rng = case, np.random.default_rng(21)
    options = {"estimator": "kme", "scheme": scheme, "n_resamples": 39, "rng": rng, "statistic": "v"}
    results = [hsic_test(draw(law, n, rng), draw(law, n, rng), **options) for _ in range(TRIALS)]
    check(results, ties=law in ("binary", "rounded"))


@pytest.mark.parametrize("law", ["normal", "binary"])
def test_enumerated_two_samples(law):
    rng = np.random.default_rng(22)
    results = [mmd_test(draw(law, 3, rng), draw(law, 5, rng), estimator="kme") for _ in range(TRIALS)]
    assert {result.scheme for result in results} == {"exact"}
    check(results, ties=law == "binary")


@pytest.mark.parametrize("law", ["normal", "binary"])
def test_enumerated_pairs(law):
    rng = np.random.default_rng(23)
    results = [hsic_test(draw(law, 5, rng), draw(law, 5, rng), estimator="kme") for _ in range(TRIALS)]
    assert {result.scheme for result in results} == {"exact"}
    check(results, ties=law == "binary")
