"""The page of densities says which is best only where the rows held out tell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from kernelmean.studies import Densities, density_page, fit_densities

ROWS = np.random.default_rng(0).normal([0.0, 5.0], [1.0, 3.0], size=(60, 2))


@pytest.fixture(scope="module", autouse=True)
def few_references() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1,))
        yield


@pytest.fixture(scope="module")
def fits() -> Densities:
    return fit_densities(ROWS, estimator="mkme", n_components=[2], covariance_type="diag")


def test_behind_is_the_mean_of_paired_differences(fits: Densities) -> None:
    best, *others = fits.candidates
    assert (best.behind, best.behind_error) == (0.0, 0.0)
    for one in others:
        assert one.behind == pytest.approx(one.loss - best.loss, abs=1e-12)
        assert 0.0 < one.behind_error < one.error + best.error


def test_the_components_are_those_of_the_mixture(fits: Densities) -> None:
    page = density_page(fits)
    (table,) = page.sections[1].tables
    mixture = fits.mixture()
    assert len(table.rows) == len(mixture.weights)
    heaviest = int(np.argmax(mixture.weights))
    deviation = np.sqrt(mixture.covariances[heaviest, 1])
    assert table.rows[0][3] == f"{mixture.means[heaviest, 1]:.4g} ± {deviation:.3g}"


def test_the_curve_is_the_marginal_density(fits: Densities) -> None:
    chart = density_page(fits).sections[2].charts[0]
    panel = chart.panels[1]
    grid = np.array(panel.curves[0].x)
    np.testing.assert_allclose(panel.curves[0].y, np.exp(fits.marginal([1]).logpdf(grid[:, None])))
    steps = panel.steps[0]
    assert np.sum(np.array(steps.heights) * np.diff(steps.edges)) == pytest.approx(1.0)
