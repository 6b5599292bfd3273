import math
from dataclasses import dataclass
from typing import final

import numpy as np
import pytest

from kernelmean.embedding import embed
from kernelmean.estimators import (
    Cutoff,
    Filter,
    IteratedRidge,
    KernelMean,
    Landweber,
    NuMethod,
    Ridge,
    Weighing,
    loocv,
    regularization,
)
from kernelmean.expected import expected
from kernelmean.kernels import Gaussian, Linear, median_bandwidth
from kernelmean.noise import Dirac, Normal


def sample(n=20, dim=4):
    return np.random.default_rng(n).normal(size=(n, dim))


def weighing(ratio=1.0, noise=None, n=20):
    X = sample(n)
    return Weighing(X, Gaussian(ratio * median_bandwidth(X)), noise or Dirac())


@pytest.mark.parametrize("ratio", [0.05, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("filter_", [Ridge(), IteratedRidge(2)])
def test_no_strength_of_a_fine_grid_is_better(ratio, filter_):
    problem = weighing(ratio)
    best = problem.best(filter_)
    grid = np.unique(np.append(np.geomspace(1e-6, 1e6, 241), best.value * np.array([0.99, 1.01])))
    scores = [problem.at(filter_, float(x)).score for x in grid]
    lowest = min(score.excess for score in scores)
    assert best.score.excess <= lowest + 1e-9 * abs(lowest)


@pytest.mark.parametrize("filter_", [Landweber(), NuMethod(), Cutoff()])
def test_discrete_strengths_are_all_tried(filter_):
    problem = weighing(0.6)
    best = problem.best(filter_)
    others = range(1, 101) if not isinstance(filter_, Cutoff) else np.geomspace(1e-8, 30.0, 60)
    assert all(best.score.excess <= problem.at(filter_, float(x)).score.excess + 1e-13 for x in others)


@pytest.mark.parametrize("theta", [0.1, 0.05, 0.04, 0.03])
def test_a_very_narrow_kernel_ends_in_a_scale(theta):
    """Pairs at distance 1: kernel values from 1e-22 to 1e-241, past the point where their squares vanish."""
    problem = Weighing(np.eye(5) / np.sqrt(2), Gaussian(theta), Dirac())
    best, scale = problem.best(Ridge()), KernelMean(problem.kernel, filter="scale").fit(problem.X)
    assert best.score.sign == scale.criterion_.sign == -1
    np.testing.assert_allclose(best.score.log, scale.criterion_.log, rtol=1e-9)
    np.testing.assert_allclose(problem.weights(Ridge(), best.value), scale.weights_, rtol=1e-4)


def test_when_nothing_beats_zero_the_estimate_is_zero():
    for problem in (Weighing(np.eye(4), Linear(), Dirac()), Weighing(1e3 * np.eye(4), Gaussian(1.0), Dirac())):
        for filter_ in (Ridge(), IteratedRidge(2), Cutoff()):
            found = problem.best(filter_)
            assert found.value == math.inf
            assert (problem.weights(filter_, found.value) == 0).all()
            assert found.score.value == 1.0


def test_noise_under_a_filter():
    fitted = KernelMean(noise=Normal(0.2), filter="ridge").fit(sample())
    plain = KernelMean(noise=Normal(0.2)).fit(sample())
    assert fitted.noise_ == Normal(0.2)
    assert fitted.loocv_ <= plain.loocv_ + 1e-12


def test_limits_are_stated(monkeypatch):
    monkeypatch.setattr(regularization, "MASKED_LIMIT", 10)
    with pytest.raises(ValueError, match="limited to 10 points, 20 were passed"):
        KernelMean(filter=Landweber()).fit(sample())
    fixed = KernelMean(filter=Landweber(), strength=5).fit(sample())
    assert math.isnan(fixed.loocv_)
    assert fixed.weights_.sum() > 0


@final
@dataclass(frozen=True)
class Flow(Filter):
    """A filter that is derived from Filter alone, as extenders write one."""

    def factor(self, eigenvalues, strength):
        return -np.expm1(-eigenvalues / strength)


@pytest.mark.parametrize("noise", [None, Normal(0.2)])
def test_a_filter_of_ones_own_takes_a_strength_and_has_the_score_of_the_definition(noise):
    X, kernel = sample(8, 2), Gaussian(1.0)
    fitted = KernelMean(kernel, noise=noise, filter=Flow(), strength=0.5).fit(X)
    scores = []
    for i in range(len(X)):
        rest = np.delete(X, i, axis=0)
        gram = expected(kernel, rest, rest, noise, noise)
        mu = embed(rest, kernel, weights=Flow().weights(gram, 0.5), noise=noise)
        scores.append(kernel.diag(X).mean() - 2 * mu(X[[i]])[0] + mu @ mu)
    assert fitted.loocv_ == pytest.approx(np.mean(scores), rel=1e-12)
    np.testing.assert_allclose(fitted.weights_, Flow().weights(expected(kernel, X, X, noise, noise), 0.5), rtol=1e-12)


def test_the_score_of_any_factor_is_that_of_the_shortcut():
    problem = weighing(0.6)
    ours = loocv.spectral_score(problem.cross, problem.square, problem.constant, lambda x: Ridge().factor(x, 0.3))
    assert ours.excess == pytest.approx(problem.at(Ridge(), 0.3).score.excess, rel=1e-10)


def test_a_filter_of_ones_own_has_no_search_and_says_what_to_write():
    with pytest.raises(TypeError, match="pass strength=<number>, or derive"):
        KernelMean(filter=Flow()).fit(sample())


def test_beyond_the_limit_a_filter_of_ones_own_has_weights_but_no_score(monkeypatch):
    monkeypatch.setattr(regularization, "CUTOFF_LIMIT", 10)
    fitted = KernelMean(filter=Flow(), strength=0.5).fit(sample())
    assert math.isnan(fitted.loocv_)
    assert np.isfinite(fitted.weights_).all()


@pytest.mark.parametrize("seed", range(8))
def test_the_cutoff_is_the_best_of_all_steps_of_its_score(seed: int) -> None:
    """Eigenvalues move when a point is left out, so the score steps between those of the whole matrix, too."""
    X = np.random.default_rng(seed).normal(size=(20, 2))
    fitted = KernelMean(Gaussian(1.0), filter=Cutoff()).fit(X)
    gram = Gaussian(1.0)(X, X)
    steps = np.concatenate([np.linalg.eigvalsh(np.delete(np.delete(gram, i, 0), i, 1)) for i in range(20)])
    steps = np.unique(steps[steps > 1e-9])
    problem = Weighing(X, Gaussian(1.0), Dirac())
    others = [one.score.value for one in problem.path(Cutoff(), np.sqrt(steps[1:] * steps[:-1]))]
    assert fitted.loocv_ == pytest.approx(min(others), abs=1e-14)


def test_a_cutoff_of_points_without_a_norm_is_refused() -> None:
    with pytest.raises(ValueError, match="0 at every point"):
        KernelMean(Linear(), filter=Cutoff()).fit(np.zeros((4, 2)))


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_the_cutoff_does_not_overflow(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2)) + 3.0
    plain, scaled = (KernelMean(Linear(), filter=Cutoff()).fit(factor * X) for factor in (1.0, scale))
    np.testing.assert_allclose(scaled.weights_, plain.weights_, rtol=1e-9)
