"""The level of the adaptive tests on null data: p-values up to α inside the exact binomial interval.

A quick part by default; 500 data sets per cell with ``pytest -m slow``.
"""

from __future__ import annotations

import numpy as np
import pytest

from checkered import checkered
from kernelmean.inference import hsic_test, mmd_test
from null_data import NullData, check_level, clusters, pair_clusters, pair_strata, paired, points, strata, weights

pytestmark = pytest.mark.slow

OPTIONS = {"n_resamples": 39, "estimator": "adaptive"}
TRIALS = [20, pytest.param(500, marks=pytest.mark.slow)]


def unbalanced(law, rng):
    """Five rows against thirty."""
    return NullData(mmd_test, (points(law, 5, rng, 2), points(law, 30, rng, 2)))


def on_landmarks(law, rng):
    """More rows than there are landmarks."""
    return NullData(mmd_test, (points(law, 60, rng), points(law, 40, rng)))


def many_columns(law, rng):
    """More columns than rows."""
    return NullData(mmd_test, (points(law, 8, rng, 20), points(law, 14, rng, 20)))


def pairs(law, rng):
    """Two and one columns."""
    return NullData(hsic_test, (points(law, 16, rng, 2), points(law, 16, rng)))


def pairs_on_landmarks(law, rng):
    """More pairs than there are landmarks."""
    return NullData(hsic_test, (points(law, 80, rng), points(law, 80, rng)))


PLAIN = unbalanced, on_landmarks, many_columns, pairs, pairs_on_landmarks
DESIGNS = strata, clusters, weights, paired, pair_strata, pair_clusters
CELLS = [
    *checkered(PLAIN, ("normal", "ties", "heavy tails", "far clusters"), every=4),
    *checkered(DESIGNS, ("normal", "ties")),
]


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize(("design", "law"), CELLS)
def test_level(design, law, trials):
    rng = np.random.default_rng(trials)
    check_level(lambda: design(law, rng), trials, tied=law == "ties", rng=rng, **OPTIONS)


SMALL = [
    (mmd_test, "normal", (8, 12), (3,)),
    (mmd_test, "binary", (9, 9), (2,)),
    (mmd_test, "heavy tails", (6, 25), (1,)),
    (hsic_test, "normal", (14,), (1, 1)),
    (hsic_test, "binary", (14,), (1, 1)),
    (hsic_test, "normal", (14,), (2, 1)),
]


@pytest.mark.parametrize(
    ("test", "law", "sizes", "dims"),
    [*SMALL[1:5:2], *(pytest.param(*own, marks=pytest.mark.slow) for own in [*SMALL[::2], SMALL[5]])],
)
def test_level_of_small_tables(test, law, sizes, dims):
    rng = np.random.default_rng(8)
    draw = lambda: NullData(test, tuple(points(law, n, rng, dim) for n in sizes for dim in dims))  # noqa: E731
    check_level(draw, 100, tied=law == "binary", rng=rng, **OPTIONS)
