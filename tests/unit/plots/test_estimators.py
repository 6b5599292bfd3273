"""Pictures of estimators: what they chose, their noise, what they damp."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.estimators import KernelMean, damping
from kernelmean.noise import Laplace
from kernelmean.studies import plots

X = np.random.default_rng(2).normal(size=(25, 3)) * [1.0, 3.0, 0.3]


def test_bars_are_the_noise_in_deviations_of_the_column() -> None:
    fitted = km.MMKME(km.kernels.Gaussian((0.5, 1.5, 0.2))).fit(X)
    ax = plots.noise_per_column(fitted)
    sigma = np.sqrt(fitted.noise_.covariance)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], sigma / X.std(axis=0))
    assert [text.get_text() for text in ax.texts] == [f"{value:.3g}" for value in sigma]


def test_of_many_columns_those_with_most_noise_are_drawn() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 33))
    variances = np.linspace(0.1, 1.0, 33)
    ax = plots.noise_per_column(KernelMean(noise=km.noise.Normal.diagonal(variances * rows.var(axis=0))).fit(rows))
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"x{j}" for j in range(3, 33)]
    assert "3 columns with less are left out" in ax.get_xlabel()


def test_a_noise_that_is_not_normal_has_no_bars() -> None:
    for estimator in (km.KME(), KernelMean(noise=Laplace(0.1))):
        with pytest.raises(ValueError, match="one normal noise for all rows"):
            plots.noise_per_column(estimator.fit(X))


def test_the_curves_of_damping_are_its_factors() -> None:
    fitted = km.MMKME(km.kernels.Gaussian((0.5, 1.5, 0.2))).fit(X)
    found = damping(fitted)
    for line, factors in zip(plots.spectrum_damping(fitted).get_lines(), found.factors, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), factors)
    dots, curve = plots.spectrum_damping(km.estimators.FKMSE().fit(X)).get_lines()
    assert dots.get_xdata().max() == pytest.approx(curve.get_xdata().max())
    assert len(dots.get_xdata()) <= 60
