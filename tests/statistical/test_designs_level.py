"""The level of the designs on null data: the number of p-values up to α inside the exact binomial interval.

A quick part by default; 2000 data sets per cell with ``pytest -m slow``. The wild bootstrap is asymptotic, and held to
a factor.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from checkered import checkered
from kernelmean.inference import Design, hsic_test, mmd_test
from null_data import (
    LEVELS,
    check_level,
    clusters,
    joint,
    k_samples,
    pair_clusters,
    pair_strata,
    pair_weights,
    paired,
    strata,
    weights,
)
from series import autoregressions

pytestmark = pytest.mark.slow

OPTIONS = {"n_resamples": 39, "scheme": "random", "estimator": "kme"}


DESIGNS = (strata, clusters, weights, paired, k_samples, pair_strata, pair_clusters, pair_weights, joint)
LAWS = ("normal", "binary", "heavy tails")


def check(design, law, trials, seed):
    rng = np.random.default_rng(seed)
    own = {"statistic": "v"} if design is clusters else {}
    check_level(lambda: design(law, rng), trials, tied=law == "binary", rng=rng, **OPTIONS, **own)


@pytest.mark.parametrize(("design", "law"), checkered(DESIGNS, LAWS, every=4))
def test_level(design, law):
    check(design, law, 100, 34)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)
def test_level_on_2000_null_data_sets(design, law):
    check(design, law, 2000, 31)


@pytest.mark.slow
def test_no_pair_is_found_more_often_than_the_level_when_all_samples_are_alike():
    rng = np.random.default_rng(32)
    found = (k_samples("normal", rng).result(rng=rng, **OPTIONS).pairs for _ in range(2000))
    smallest = [min(pair.adjusted for pair in pairs) for pairs in found]
    for level in LEVELS:
        assert (np.array(smallest) <= level + 1e-12).sum() <= binom.ppf(0.9995, 2000, level)


def autoregression(n, rng):
    return autoregressions(n, 1.5, 1, rng)  # correlation 0.51 from step to step


@pytest.mark.slow
@pytest.mark.parametrize("test", [mmd_test, hsic_test], ids=["mmd", "hsic"])
def test_the_wild_bootstrap_nearly_keeps_its_level_where_permutations_do_not(test):
    rng = np.random.default_rng(33)
    pairs = [(autoregression(200, rng), autoregression(200, rng)) for _ in range(500)]
    memory = Design(series=20)
    wild = [test(X, Y, design=memory, n_resamples=199, rng=s).pvalue <= 0.05 for s, (X, Y) in enumerate(pairs)]
    plain = [test(X, Y, n_resamples=199, rng=s).pvalue <= 0.05 for s, (X, Y) in enumerate(pairs)]
    assert 0.02 <= np.mean(wild) <= 0.10 < np.mean(plain)
