"""Slopes of a score at many noises in one call."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.estimators import KernelMean, NoiseProblem, loocv
from kernelmean.kernels import Gaussian

isotropic = loocv.isotropic


@pytest.mark.parametrize("scale", [1.0, 0.4, None])
@pytest.mark.parametrize("criterion", ["loocv", "risk"])
def test_slopes_of_a_sketch_at_many_noises_are_those_of_one_after_another(scale, criterion) -> None:
    X = np.random.default_rng(0).standard_t(3, (40, 3))
    problem = NoiseProblem(X, Gaussian(0.5), criterion, scale)
    sketch, noise = problem.distances.sketch(), np.geomspace(1e-10, 1e4, 50)
    many = isotropic.terms(sketch, noise, problem.alpha).slope(scale)
    alone = [isotropic.terms(sketch, v, problem.alpha).slope(scale) for v in noise]
    assert many.shape == (1, 50)
    np.testing.assert_allclose(many, np.stack(alone, axis=1), rtol=1e-12, atol=1e-300)
    assert (many < 0).any()


@pytest.mark.parametrize("bandwidth", [1e-3, 1e-5])
def test_slopes_are_numbers_where_the_best_scale_is_too_small_for_one(bandwidth) -> None:
    """Of d log(L̄²/Q̄), by the logarithms of both alone: their ratio underflows."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    problem = NoiseProblem(X, Gaussian(bandwidth), "loocv", None)
    terms = isotropic.terms(problem.distances.sketch(), np.geomspace(1e-6, 1.0, 20), problem.alpha)
    assert (terms.best_scale() == 0.0).all()
    np.testing.assert_allclose(terms.slope(None), terms.square_slope - 2 * terms.cross_slope, rtol=1e-12)
    narrow, wide = (KernelMean(bandwidth=b, noise="isotropic", filter="scale").fit(X) for b in (bandwidth, 1e-2))
    assert narrow.noise_.covariance == pytest.approx(wide.noise_.covariance, rel=1e-3)
