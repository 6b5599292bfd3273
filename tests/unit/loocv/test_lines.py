"""Slopes of a score at many noises in one call."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.estimators.problem import Problem
from kernelmean.kernels import Gaussian
from kernelmean.loocv import isotropic


@pytest.mark.parametrize("scale", [1.0, 0.4, None])
@pytest.mark.parametrize("criterion", ["loocv", "risk"])
def test_slopes_of_a_sketch_at_many_noises_are_those_of_one_after_another(scale, criterion) -> None:
    X = np.random.default_rng(0).standard_t(3, (40, 3))
    problem = Problem(X, Gaussian(0.5), criterion, scale)
    sketch, noise = problem.distances.sketch(), np.geomspace(1e-10, 1e4, 50)
    many = isotropic.terms(sketch, noise, problem.alpha).slope(scale)
    alone = [isotropic.terms(sketch, v, problem.alpha).slope(scale) for v in noise]
    assert many.shape == (1, 50)
    np.testing.assert_allclose(many, np.stack(alone, axis=1), rtol=1e-12, atol=1e-300)
    assert (many < 0).any()
