"""The level of the designs on null data: the number of p-values up to α inside the exact binomial interval.

A quick part by default; 2000 data sets per cell with ``pytest -m slow``. Without ties a test over P permutations
rejects with probability floor(α P) / P, with ties with that at most. The wild bootstrap is asymptotic, and held to a
factor.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from kernelmean import Design
from kernelmean.inference import (
    dhsic_test,
    hsic_test,
    k_sample_test,
    mmd_test,
    paired_mmd_test,
    wild_hsic_test,
    wild_mmd_test,
)
from series import autoregressions

LEVELS = (0.05, 0.1, 0.25)
OPTIONS = {"n_resamples": 39, "scheme": "random", "estimator": "kme"}


def points(law, n, rng, dim=1):
    if law == "binary":
        return rng.integers(0, 2, (n, dim)).astype(float)
    return rng.standard_t(1.0, (n, dim)) if law == "heavy tails" else rng.standard_normal((n, dim))


def strata(law, rng):
    """Two strata of unlike composition, the rows of the second far off."""
    gx, gy = np.repeat([0, 1], [9, 3]), np.repeat([0, 1], [4, 10])
    X, Y = (points(law, len(g), rng) + 3.0 * g[:, None] for g in (gx, gy))
    return mmd_test(X, Y, design=Design(groups=(gx, gy)), rng=rng, **OPTIONS)


def clusters(law, rng):
    """Rows that are nearly their cluster's center; sizes 1 to 3, in 2000 different arrangements."""
    cluster = np.repeat(np.arange(16), [1, 2, 3, 1, 2, 3, 2, 1, 2, 3, 1, 2, 3, 1, 2, 3])
    rows = points(law, 16, rng)[cluster] + (0.0 if law == "binary" else 0.1) * rng.standard_normal((len(cluster), 1))
    first = cluster < 7
    design = Design(clusters=(cluster[first], cluster[~first]))
    return mmd_test(rows[first], rows[~first], design=design, statistic="v", rng=rng, **OPTIONS)


def weights(law, rng):
    """Weights that depend on the rows, by one rule for both samples."""
    X, Y = points(law, 8, rng), points(law, 14, rng)
    pair = tuple(1.0 / (1.0 + np.abs(sample[:, 0])) for sample in (X, Y))
    return mmd_test(X, Y, design=Design(weights=pair), rng=rng, **OPTIONS)


def paired(law, rng):
    """Halves that share most of what they are."""
    common = points(law, 12, rng)
    X, Y = (common + points(law, 12, rng) for _ in range(2))
    return paired_mmd_test(X, Y, rng=rng, **OPTIONS)


def k_samples(law, rng):
    return k_sample_test(*(points(law, n, rng) for n in (5, 9, 7)), rng=rng, **OPTIONS)


def pair_strata(law, rng):
    center = np.repeat([0, 1, 2], [5, 8, 4])
    X, Y = (points(law, 17, rng) + 3.0 * center[:, None] for _ in range(2))
    return hsic_test(X, Y, design=Design(groups=center), rng=rng, **OPTIONS)


def pair_clusters(law, rng):
    """Eight independent series of three rows, of which all are nearly equal."""
    X, Y = (np.repeat(points(law, 8, rng), 3, axis=0) for _ in range(2))
    return hsic_test(X, Y, design=Design(clusters=np.repeat(np.arange(8), 3)), rng=rng, **OPTIONS)


def pair_weights(law, rng):
    X, Y = points(law, 14, rng), points(law, 14, rng)
    return hsic_test(X, Y, design=Design(weights=np.exp(-np.abs(X[:, 0]))), rng=rng, **OPTIONS)


def joint(law, rng):
    return dhsic_test(*(points(law, 12, rng, dim) for dim in (1, 2, 1)), rng=rng, **OPTIONS)


DESIGNS = (strata, clusters, weights, paired, k_samples, pair_strata, pair_clusters, pair_weights, joint)
LAWS = ("normal", "binary", "heavy tails")


def check(design, law, trials, seed):
    rng = np.random.default_rng(seed)
    pvalues = np.array([design(law, rng).pvalue for _ in range(trials)])
    for level in LEVELS:
        attained = np.floor(level * 40 + 1e-9) / 40
        rejected = (pvalues <= level + 1e-12).sum()
        assert rejected <= binom.ppf(0.9995, trials, attained)
        if law != "binary":
            assert rejected >= binom.ppf(0.0005, trials, attained)
    assert pvalues.min() > 0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)
def test_level(design, law):
    check(design, law, 100, 30)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)
def test_level_on_2000_null_data_sets(design, law):
    check(design, law, 2000, 31)


@pytest.mark.slow
def test_no_pair_is_found_more_often_than_the_level_when_all_samples_are_alike():
    rng = np.random.default_rng(32)
    smallest = [min(pair.adjusted for pair in k_samples("normal", rng).pairs) for _ in range(2000)]
    for level in LEVELS:
        assert (np.array(smallest) <= level + 1e-12).sum() <= binom.ppf(0.9995, 2000, level)


def autoregression(n, rng):
    return autoregressions(n, 1.5, 1, rng)  # correlation 0.51 from step to step


@pytest.mark.slow
@pytest.mark.parametrize("test", [wild_mmd_test, wild_hsic_test], ids=["mmd", "hsic"])
def test_the_wild_bootstrap_nearly_keeps_its_level_where_permutations_do_not(test):
    rng = np.random.default_rng(33)
    exact = mmd_test if test is wild_mmd_test else hsic_test
    pairs = [(autoregression(200, rng), autoregression(200, rng)) for _ in range(500)]
    wild = [test(X, Y, block_length=20, n_resamples=199, rng=s).pvalue <= 0.05 for s, (X, Y) in enumerate(pairs)]
    plain = [exact(X, Y, n_resamples=199, rng=s).pvalue <= 0.05 for s, (X, Y) in enumerate(pairs)]
    assert 0.02 <= np.mean(wild) <= 0.10 < np.mean(plain)
