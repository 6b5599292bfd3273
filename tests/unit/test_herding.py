"""Super-samples: every step is the best one, and the error curve is the true distance."""

import numpy as np
import pytest

from kernelmean.embedding import embed, herd
from kernelmean.kernels import Gaussian
from kernelmean.noise import Normal


@pytest.fixture
def mu():
    X = np.random.default_rng(0).normal(size=(60, 2))
    return embed(X, Gaussian(0.8), noise=Normal(0.2))


def test_errors_are_distances(mu):
    few = herd(mu, 12)
    truth = [(mu - embed(few.points[: t + 1], mu.kernel)).norm() for t in range(12)]
    np.testing.assert_allclose(few.errors, truth, rtol=1e-9)
    assert (embed(few.points, mu.kernel) - mu).norm() == pytest.approx(few.errors[-1], rel=1e-9)


def test_every_step_is_the_best_of_all_candidates(mu):
    candidates = np.random.default_rng(1).normal(size=(25, 2))
    few = herd(mu, 5, candidates=candidates)
    for t in range(5):
        errors = [(mu - embed(np.vstack([few.points[:t], c]), mu.kernel)).norm() for c in candidates]
        assert few.errors[t] == pytest.approx(min(errors), rel=1e-10)


def test_herds_beat_random_points_of_the_same_number(mu):
    few = herd(mu, 30)
    random = [(mu - embed(mu.sample(30, seed), mu.kernel)).norm() for seed in range(20)]
    assert few.errors[-1] < 0.6 * min(random)


def test_negative_weights_take_candidates_from_the_points():
    X = np.random.default_rng(2).normal(size=(40, 1))
    mu = embed(X, Gaussian(1.0), weights=np.r_[np.full(39, 1.2 / 39), -0.2])
    few = herd(mu, 8)
    assert np.isin(few.points, X).all()


def test_refusals_say_what_is_needed(mu):
    with pytest.raises(ValueError, match="at least one point"):
        herd(mu, 0)
    with pytest.raises(ValueError, match="columns"):
        herd(mu, 3, candidates=np.zeros((4, 3)))
