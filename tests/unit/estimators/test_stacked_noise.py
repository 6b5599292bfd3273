"""The common noise of a stack of samples: that of every sample alone, and the minimum of the score by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import kernelmean as km
from kernelmean.embedding import Terms, diagonal_share
from kernelmean.estimators import loocv, stacked_noise
from kernelmean.kernels import Gaussian

RNG = np.random.default_rng(0)
LAWS = {
    "normal": lambda n: RNG.normal(size=(n, 2)),
    "coins": lambda n: RNG.integers(0, 2, (n, 3)).astype(float),
    "heavy tails": lambda n: RNG.standard_t(1, (n, 3)),
    "a wide kernel": lambda n: 1e-3 * RNG.normal(size=(n, 2)),
    "a narrow kernel": lambda n: 100 * RNG.normal(size=(n, 3)),
    "far clusters": lambda n: 10.0 * RNG.integers(0, 3, (n, 1)) + 0.1 * RNG.normal(size=(n, 1)),
}


def best_variances(distances, dim, alpha):
    return stacked_noise.best_variances(distances, dim, alpha, float(distances.max()))


def gaps(samples):
    return np.array([pdist(sample, "sqeuclidean") for sample in samples])


def excess(distances, dim, noise, alpha):
    """The score less its constant, as it is written: Q̄ - 2 L̄."""
    one, two = (1 + sides * np.asarray(noise) for sides in (1, 2))
    cross, off = (s ** (-dim / 2) * np.exp(-distances / (2 * s[..., None])).mean(axis=-1) for s in (one, two))
    square = (1 - alpha) * off + alpha * two ** (-dim / 2)
    return square - 2 * cross


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [2, 5, 14, 60])
def test_every_sample_has_the_noise_that_it_has_alone(n, law):
    samples = [sample for sample in (LAWS[law](n) for _ in range(6)) if np.ptp(sample, axis=0).any()]
    found = best_variances(gaps(samples), samples[0].shape[1], diagonal_share(n, "loocv"))
    alone = [km.MKME(Gaussian(1.0)).fit(sample).noise_ for sample in samples]
    variances = [float(getattr(noise, "covariance", 0.0)) for noise in alone]
    np.testing.assert_allclose(found, variances, rtol=1e-6, atol=1e-7)


def test_no_sample_changes_what_another_one_has():
    together = gaps([law(9)[:, :1] for law in LAWS.values()])
    alone = [best_variances(one[None], 1, 0.125)[0] for one in together]
    np.testing.assert_allclose(best_variances(together, 1, 0.125), alone, rtol=1e-6, atol=1e-9)
    largest = float(together.max())
    alone = [stacked_noise.best_variances(one[None], 1, 0.125, largest)[0] for one in together]
    np.testing.assert_allclose(stacked_noise.best_variances(together, 1, 0.125, largest), alone, rtol=1e-12)


@pytest.mark.parametrize("criterion", ["loocv", "risk"])
@pytest.mark.parametrize("law", ["normal", "coins", "far clusters"])
def test_the_noise_is_the_least_on_a_fine_grid(law, criterion):
    sample = LAWS[law](12)
    distances, dim, alpha = gaps([sample]), sample.shape[1], diagonal_share(12, criterion)
    found = best_variances(distances, dim, alpha)[0]
    tried = np.geomspace(1e-6, 1e4, 20_001)
    scores = excess(distances[0], dim, tried, alpha)
    assert found == pytest.approx(tried[np.argmin(scores)], rel=2e-3)
    assert excess(distances[0], dim, found, alpha) <= scores.min() + 1e-15


def test_of_several_minima_the_lowest_is_found():
    """Close pairs in far clusters: one minimum fills a pair, the other one the clusters."""
    counted = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sample = np.repeat(rng.normal(size=(4, 1)) * 30, 3, axis=0) + 0.05 * rng.normal(size=(12, 1))
        distances, alpha = gaps([sample / 3]), diagonal_share(12, "loocv")
        tried = np.geomspace(1e-8, 1e6, 4001)
        scores = excess(distances[0], 1, tried, alpha)
        counted += ((scores[1:-1] < scores[:-2]) & (scores[1:-1] < scores[2:])).sum() > 1
        best = best_variances(distances, 1, alpha)[0]
        assert excess(distances[0], 1, best, alpha) <= scores.min() + 1e-12
    assert counted >= 5, "some scores have more than one minimum"


def test_equal_rows_have_no_noise():
    distances = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 2.0]])
    found = best_variances(distances, 1, 0.5)
    assert found[0] == 0.0 < found[1]


def test_an_excess_of_nothing_warns_of_nothing():
    """exp(-t/2) = 1/2 and α = 1: without noise both parts of the score are equal."""
    assert best_variances(np.array([[2 * math.log(2)]]), 1, 1.0)[0] > 0
    X = 100.0 * np.array([0, 0, 1, 1, 2, 2, 7])[:, None]
    km.hsic_test(X, X, estimator=km.MKME(Gaussian(1.0), fit_on="joint"), n_resamples=19, rng=0)


def test_bins_are_never_more_than_distances():
    spread, close = 10.0 ** RNG.uniform(-100, 100, (3, 1225)), RNG.uniform(1, 4, (3, 1225))
    assert loocv.sketched(spread, 1).shape == (3, 1225)
    assert loocv.sketched(close, 1).shape == (3, 64)


@pytest.mark.parametrize("few", [0, 10**9], ids=["on a sketch first", "on all distances"])
def test_both_ways_to_explore_end_at_the_same_noise(monkeypatch, few):
    distances = gaps([LAWS[law](20)[:, :1] for law in LAWS])
    usual = best_variances(distances, 1, 1 / 19)
    monkeypatch.setattr(stacked_noise, "_FEW", few)
    np.testing.assert_allclose(best_variances(distances, 1, 1 / 19), usual, rtol=1e-6, atol=1e-9)


def test_a_sketch_has_few_bins_and_nearly_the_same_sums():
    distances = gaps([LAWS["normal"](80), LAWS["heavy tails"](80)])
    whole, coarse = loocv.stacked(distances, 2), loocv.sketched(distances, 2)
    assert coarse.shape[1] < whole.shape[1] / 4
    s = np.geomspace(1.0, 100.0, 9)[:, None]
    for exact, near in zip(whole.laplace(s), coarse.laplace(s), strict=True):
        assert exact.shape == near.shape == (9, 2)
        np.testing.assert_allclose(near, exact, rtol=2e-3)
    twice = coarse.of(np.array([1, 1])).laplace(2.0)[0]
    np.testing.assert_allclose(twice, [coarse.laplace(2.0)[0][1]] * 2, rtol=1e-14)


@pytest.mark.parametrize(("gain", "loss", "sign"), [(-1.0, -2.0, -1), (-2.0, -1.0, 1), (-1.0, -1.0, 0)])
def test_the_excess_of_a_score(gain, loss, sign):
    terms = Terms(np.array([gain - math.log(2)]), np.array([loss]), np.zeros((1, 1)), np.zeros((1, 1)))
    (found,), (log,) = terms.excess()
    assert found == sign
    assert sign * np.exp(log) == pytest.approx(math.exp(loss) - math.exp(gain), rel=1e-14)
