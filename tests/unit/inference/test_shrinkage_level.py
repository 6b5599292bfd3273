"""The level of tests whose weights and parameters are fitted: inside the exact 99.9 % binomial interval.

Under the null hypothesis P(p ≤ α) is floor(α P) / P for a test over P permutations without ties, and at most that with
ties. A fit that treated the observed arrangement in any way differently would be seen here. The quick part draws few
data sets; ``pytest -m slow`` draws 2000 for every cell.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import kernelmean as km
from checkered import checkered
from kernelmean.estimators import Landweber
from nulls import hsic_test, mmd_test

LEVELS = (0.05, 0.1, 0.25)
LEVELS_OF_MANY = (0.01, 0.05, 0.1)

TWO_SAMPLES = {
    "s-kmse": {"estimator": "s-kmse"},
    "s-kmse, rotations": {"estimator": "s-kmse", "scheme": "rotations"},
    "s-kmse, binned rows": {"estimator": "s-kmse", "scheme": "binned rows", "statistic": "v"},
    "f-kmse": {"estimator": "f-kmse"},
    "f-kmse, v": {"estimator": "f-kmse", "statistic": "v"},
    "mkme": {"estimator": "mkme"},
    "mmkme": {"estimator": "mmkme"},
    "landweber, pooled": {"estimator": km.KernelMean(filter=Landweber())},
}
PAIRS = {
    "u": {"statistic": "u"},
    "mkme": {"estimator": "mkme"},
    "scose": {"estimator": "scose"},
    "scose, rotations": {"estimator": "scose", "scheme": "rotations"},
    "fcose": {"estimator": "fcose"},
}
SLOW_FITS = {"mmkme", "landweber, pooled"}  # not in the quick part


def draw(law, n, rng):
    if law == "binary":
        return rng.integers(0, 2, (n, 1)).astype(float)
    if law == "rounded":
        return np.round(rng.standard_normal((n, 2)))
    return rng.standard_t(1.0, (n, 1)) if law == "heavy tails" else rng.standard_normal((n, 2))


def check(pvalues, permutations, levels, *, ties):
    """Hold the number of rejections to the binomial law; ties may only make them rarer."""
    for level in levels:
        attained = np.floor(level * permutations + 1e-9) / permutations
        rejected = (np.array(pvalues) <= level + 1e-12).sum()
        assert rejected <= binom.ppf(0.9995, len(pvalues), attained)
        if not ties:
            assert rejected >= binom.ppf(0.0005, len(pvalues), attained)


def study(run, tables, trials, n_resamples, levels, *, ties, seed):
    pvalues, permutations = [], set()
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        result = run(*tables(rng), n_resamples=n_resamples, rng=rng)
        pvalues.append(result.pvalue)
        permutations.add(result.n_resamples + 1)
    (count,) = permutations
    check(pvalues, count, levels, ties=ties)


def two_samples(name, law, sizes, trials, n_resamples, levels, seed):
    def run(X, Y, **options):
        return mmd_test(X, Y, **options, **TWO_SAMPLES[name])

    def tables(rng):
        return draw(law, sizes[0], rng), draw(law, sizes[1], rng)

    # where there are hardly more labelings than are looked at, some come twice: these are ties
    ties = law in ("binary", "rounded") or ("scheme" in TWO_SAMPLES[name] and sum(sizes) < 12)
    study(run, tables, trials, n_resamples, levels, ties=ties, seed=seed)


def pairs(name, law, n, trials, n_resamples, levels, seed):
    def run(X, Y, **options):
        return hsic_test(X, Y, **options, **PAIRS[name])

    def tables(rng):
        return draw(law, n, rng), draw(law, n, rng)

    # SCOSE and FCOSE are 0 under many permutations: ties whatever the law
    ties = law in ("binary", "rounded") or "cose" in name
    study(run, tables, trials, n_resamples, levels, ties=ties, seed=seed)


@pytest.mark.parametrize(
    ("name", "law"), checkered([name for name in TWO_SAMPLES if name not in SLOW_FITS], ["normal", "binary"], every=3)
)
def test_two_samples(name, law):
    two_samples(name, law, (5, 7), 50 if "s-kmse" in name else 20, 19, LEVELS, 1)


@pytest.mark.parametrize(
    ("name", "law"), checkered([name for name in PAIRS if name not in SLOW_FITS], ["normal", "binary"], every=3)
)
def test_independence(name, law):
    pairs(name, law, 8, 20 if name in ("mkme", "fcose") else 50, 19, LEVELS, 2)


@pytest.mark.parametrize("name", ["s-kmse", "f-kmse"])
def test_enumerated_two_samples(name):
    two_samples(name, "rounded", (3, 4), 20, 999, LEVELS, 3)


@pytest.mark.parametrize("name", ["scose", "fcose"])
def test_enumerated_pairs(name):
    pairs(name, "rounded", 4, 20, 999, LEVELS, 4)


LAWS = ["normal", "binary", "rounded", "heavy tails"]
MANY = 119  # all labelings of 3 and 7 rows, and all permutations of 5 pairs


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(3, 7), (20, 20), (6, 40)], ids=str)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", [name for name in TWO_SAMPLES if name not in SLOW_FITS])
def test_two_samples_at_length(name, law, sizes):
    two_samples(name, law, sizes, 2000, MANY, LEVELS_OF_MANY, 5)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", [name for name in TWO_SAMPLES if name in SLOW_FITS])
def test_two_samples_of_slow_fits_at_length(name, law):
    two_samples(name, law, (6, 9), 2000, MANY, LEVELS_OF_MANY, 6)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 40])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", [name for name in PAIRS if name not in SLOW_FITS])
def test_independence_at_length(name, law, n):
    pairs(name, law, n, 2000, MANY, LEVELS_OF_MANY, 7)
