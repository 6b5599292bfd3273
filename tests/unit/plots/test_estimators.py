"""Pictures of estimators: what they chose, their noise, what they damp."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.estimators import damping
from kernelmean.studies import plots

X = np.random.default_rng(2).normal(size=(25, 3)) * [1.0, 3.0, 0.3]


def test_bars_are_the_noise_in_deviations_of_the_column() -> None:
    fitted = km.MMKME(km.kernels.Gaussian((0.5, 1.5, 0.2))).fit(X)
    ax = plots.noise_per_column(fitted)
    sigma = np.sqrt(fitted.noise_.covariance)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], sigma / X.std(axis=0))
    assert [text.get_text() for text in ax.texts] == [f"{value:.3g}" for value in sigma]


def test_the_curves_of_damping_are_its_factors() -> None:
    fitted = km.MMKME(km.kernels.Gaussian((0.5, 1.5, 0.2))).fit(X)
    found = damping(fitted)
    for line, factors in zip(plots.spectrum_damping(fitted).get_lines(), found.factors, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), factors)
    dots, curve = plots.spectrum_damping(km.estimators.FKMSE().fit(X)).get_lines()
    assert dots.get_xdata().max() == pytest.approx(curve.get_xdata().max())
    assert len(dots.get_xdata()) <= 60
