"""The level of the adaptive tests on null data: p-values up to α inside the exact binomial interval.

A quick part by default; 500 data sets per cell with ``pytest -m slow``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from kernelmean import Design
from kernelmean.inference import hsic_test, mmd_test, paired_mmd_test

LEVELS = (0.05, 0.1, 0.25)
OPTIONS = {"n_resamples": 39, "estimator": "adaptive"}
TRIALS = [60, pytest.param(500, marks=pytest.mark.slow)]


def points(law, n, rng, dim=1):
    """Rows of a law."""
    if law == "ties":
        return rng.poisson(1.0, (n, dim)).astype(float)
    if law == "far clusters":
        return 20.0 * rng.integers(0, 4, (n, 1)) + rng.normal(size=(n, dim))
    return rng.standard_t(1.0, (n, dim)) if law == "heavy tails" else rng.standard_normal((n, dim))


def unbalanced(law, rng):
    """Five rows against thirty."""
    return mmd_test(points(law, 5, rng, 2), points(law, 30, rng, 2), rng=rng, **OPTIONS)


def on_landmarks(law, rng):
    """More rows than there are landmarks."""
    return mmd_test(points(law, 60, rng), points(law, 40, rng), rng=rng, **OPTIONS)


def many_columns(law, rng):
    """Columns of which the volumes tell."""
    return mmd_test(points(law, 8, rng, 20), points(law, 14, rng, 20), rng=rng, **OPTIONS)


def pairs(law, rng):
    """Two and one columns."""
    return hsic_test(points(law, 16, rng, 2), points(law, 16, rng), rng=rng, **OPTIONS)


def pairs_on_landmarks(law, rng):
    """More pairs than there are landmarks."""
    return hsic_test(points(law, 80, rng), points(law, 80, rng), rng=rng, **OPTIONS)


def strata(law, rng):
    """Two strata of unlike composition, the rows of the second far off."""
    gx, gy = np.repeat([0, 1], [9, 3]), np.repeat([0, 1], [4, 10])
    X, Y = (points(law, len(g), rng) + 3.0 * g[:, None] for g in (gx, gy))
    return mmd_test(X, Y, design=Design(groups=(gx, gy)), rng=rng, **OPTIONS)


def clusters(law, rng):
    """Rows that are their cluster's center."""
    cluster = np.repeat(np.arange(16), [1, 2, 3, 1, 2, 3, 2, 1, 2, 3, 1, 2, 3, 1, 2, 3])
    rows, first = points(law, 16, rng)[cluster], cluster < 7
    return mmd_test(
        rows[first], rows[~first], design=Design(clusters=(cluster[first], cluster[~first])), rng=rng, **OPTIONS
    )


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


def pair_strata(law, rng):
    """Both variables depend on the center."""
    center = np.repeat([0, 1, 2], [5, 8, 4])
    X, Y = (points(law, 17, rng) + 3.0 * center[:, None] for _ in range(2))
    return hsic_test(X, Y, design=Design(groups=center), rng=rng, **OPTIONS)


def pair_clusters(law, rng):
    """Eight independent series of three equal rows."""
    X, Y = (np.repeat(points(law, 8, rng), 3, axis=0) for _ in range(2))
    return hsic_test(X, Y, design=Design(clusters=np.repeat(np.arange(8), 3)), rng=rng, **OPTIONS)


PLAIN = unbalanced, on_landmarks, many_columns, pairs, pairs_on_landmarks
DESIGNS = strata, clusters, weights, paired, pair_strata, pair_clusters
CELLS = [
    *((design, law) for design in PLAIN for law in ("normal", "ties", "heavy tails", "far clusters")),
    *((design, law) for design in DESIGNS for law in ("normal", "ties")),
]


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize(("design", "law"), CELLS)
def test_level(design, law, trials):
    rng = np.random.default_rng(trials)
    pvalues = np.array([design(law, rng).pvalue for _ in range(trials)])
    for level in LEVELS:
        rejected = (pvalues <= level + 1e-12).sum()
        assert rejected <= binom.ppf(0.9995, trials, level)
        if law != "ties":
            assert rejected >= binom.ppf(0.0005, trials, np.floor(level * 40 + 1e-9) / 40)
    assert pvalues.min() > 0
