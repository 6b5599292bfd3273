"""The page of densities says which is best only where the rows held out tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from kernelmean.studies import Densities, density_page, fit_densities
from kernelmean.studies.plots.density import curve_panel

ROWS = np.random.default_rng(0).normal([0.0, 5.0], [1.0, 3.0], size=(60, 2))


@pytest.fixture(scope="module", autouse=True)
def few_references() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1,))
        yield


@pytest.fixture(scope="module")
def fits() -> Densities:
    return fit_densities(ROWS, estimator="mkme", n_components=[2], covariance_type="diag")


def with_behind(fits: Densities, *behind: tuple[float, float]) -> Densities:
    best, *others = fits.candidates
    moved = (replace(one, behind=by, behind_error=error) for one, (by, error) in zip(others, behind, strict=True))
    return replace(fits, candidates=(best, *moved))


def test_behind_is_the_mean_of_paired_differences(fits: Densities) -> None:
    best, *others = fits.candidates
    assert (best.behind, best.behind_error) == (0.0, 0.0)
    for one in others:
        assert one.behind == pytest.approx(one.loss - best.loss, abs=1e-12)
        assert 0.0 < one.behind_error < one.error + best.error


def test_the_best_is_named_alone_only_where_it_is_clear(fits: Densities) -> None:
    first, second, third = (one.name for one in fits.candidates)
    clear = density_page(with_behind(fits, (0.5, 0.1), (0.9, 0.1)))
    assert clear.headline == f"{first} describes 18 rows held out best: {fits.candidates[0].loss:.4g} nats a row."
    near = density_page(with_behind(fits, (0.2, 0.1), (0.9, 0.1)))
    assert (
        near.headline
        == f"{first} and {second} describe 18 rows held out equally well, as far as so many rows can tell."
    )
    all_three = density_page(with_behind(fits, (0.0, 0.0), (float("nan"), float("nan"))))
    assert f"{first}, {second} and {third} describe" in all_three.headline


def test_the_components_are_those_of_the_mixture(fits: Densities) -> None:
    page = density_page(fits)
    (table,) = page.sections[1].tables
    mixture = fits.mixture()
    assert len(table.rows) == len(mixture.weights)
    heaviest = int(np.argmax(mixture.weights))
    deviation = np.sqrt(mixture.covariances[heaviest, 1])
    assert table.rows[0][3] == f"{mixture.means[heaviest, 1]:.4g} ± {deviation:.3g}"


def test_the_curve_is_drawn_until_hardly_anything_is_left(fits: Densities) -> None:
    for j in range(len(fits.table.names)):
        (curve,) = curve_panel(fits, j, "").curves
        heights = np.array(curve.y)
        assert heights[[0, -1]].max() < 0.03 * heights.max()
        assert curve.x[0] < fits.table.values[:, j].min() < fits.table.values[:, j].max() < curve.x[-1]


def test_the_curve_is_the_marginal_density(fits: Densities) -> None:
    chart = density_page(fits).sections[2].charts[0]
    panel = chart.panels[1]
    grid = np.array(panel.curves[0].x)
    np.testing.assert_allclose(panel.curves[0].y, np.exp(fits.marginal([1]).logpdf(grid[:, None])))
    steps = panel.steps[0]
    assert np.sum(np.array(steps.heights) * np.diff(steps.edges)) == pytest.approx(1.0)


def test_one_column() -> None:
    fits = fit_densities(ROWS[:, :1], estimator="mkme", n_components=[1])
    page = density_page(replace(fits, name="data.csv", seed=4))
    assert page.title == "Densities of data.csv"
    assert ("Seed", "4") in page.made_by
    assert [len(section.charts) for section in page.sections] == [0, 0, 1, 0]
