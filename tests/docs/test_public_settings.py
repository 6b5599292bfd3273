"""The data of the public benchmarks have the moments that their definitions say."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "public"


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch):
    """Import a module of benchmarks/public by name, for one test only."""
    own = {file.stem for file in FOLDER.glob("*.py")}
    for name in own:
        monkeypatch.delitem(sys.modules, name, raising=False)  # another folder may have one of that name
    monkeypatch.syspath_prepend(str(FOLDER))
    yield __import__
    for name in own:
        sys.modules.pop(name, None)


@pytest.fixture
def drawn(public):
    settings = public("settings").SETTINGS
    return lambda name, trials=20: [settings[name].data(name, trial) for trial in range(trials)]


def test_every_setting_draws_what_it_says(public):
    for name, setting in public("settings").SETTINGS.items():
        x, y = setting.data(name, 0)
        assert f"{len(x)} and {len(y)} rows" in setting.text or f"{len(x)} pairs" in setting.text
        assert np.isfinite(x).all()
        assert np.isfinite(y).all()
        again = setting.data(name, 0)
        assert (again[0] == x).all()
        assert (again[1] == y).all()
        assert not (setting.data(name, 1)[0] == x).all()


def test_sparse_shifts_are_in_the_first_columns(drawn):
    for name, columns, deviation in (("sparse Gaussian shift", 2, 1.0), ("sparse Laplace shift", 4, 2**0.5)):
        first, second = (np.vstack(side) for side in zip(*drawn(name), strict=True))
        gap = second.mean(axis=0) - first.mean(axis=0)
        assert gap[:columns] == pytest.approx(np.ones(columns), abs=0.2)
        assert np.abs(gap[columns:]).max() < 0.25
        assert first.std() == pytest.approx(deviation, rel=0.02)


def test_spheres_differ_in_radius(drawn):
    first, second = (np.linalg.norm(np.vstack(side), axis=1) for side in zip(*drawn("concentric spheres"), strict=True))
    noise = 500 * 0.02**2
    assert np.mean(first**2) == pytest.approx(1 + noise, abs=0.005)
    assert np.mean(second**2) == pytest.approx(1.015**2 + noise, abs=0.005)


def test_spiked_columns_are_one_variable_of_variance_three(drawn):
    _, second = (np.vstack(side) for side in zip(*drawn("spiked covariance"), strict=True))
    assert np.cov(second[:, -5:].T) == pytest.approx(np.full((5, 5), 3.0), abs=0.3)
    assert np.cov(second[:, :3].T) == pytest.approx(np.eye(3), abs=0.12)


def test_thin_cube_is_thin_in_thirty_columns(drawn):
    first, second = (np.vstack(side) for side in zip(*drawn("thin hypercube"), strict=True))
    assert second[:, :30].min() == pytest.approx(0.1, abs=1e-3)
    assert second[:, :30].max() == pytest.approx(0.9, abs=1e-3)
    assert second[:, 30:].min() < 0.001
    assert first.std() == pytest.approx(12**-0.5, rel=0.01)
    assert second[:, :30].std() == pytest.approx(0.8 * 12**-0.5, rel=0.01)


def test_gaussian_mixture_has_two_halves_in_one_column(drawn):
    _, second = (np.vstack(side) for side in zip(*drawn("Gaussian mixture"), strict=True))
    assert np.mean(second[:, 0]) == pytest.approx(0, abs=0.1)
    assert np.var(second[:, 0]) == pytest.approx(17, rel=0.03)
    assert np.var(second[:, 1]) == pytest.approx(1, rel=0.1)


def test_correlations_in_high_dimension(drawn):
    for name, far in (("AR correlation .5, .6", (0.5**2, 0.6**2)), ("equicorrelation .5, .525", (0.5, 0.525))):
        for rows, rho in zip((np.vstack(side) for side in zip(*drawn(name), strict=True)), far, strict=True):
            found = np.mean([np.corrcoef(rows[:, j], rows[:, j + 2])[0, 1] for j in range(0, 480, 20)])
            assert found == pytest.approx(rho, abs=0.03)


@pytest.mark.parametrize("name", ["joint perturbed n=600", "joint perturbed, a third", "joint perturbed d=4"])
def test_joint_perturbed_variables_are_uniform_alone(drawn, name):
    rows = np.vstack([np.hstack(pair) for pair in drawn(name, 8)])
    edges = np.linspace(0, 1, 9)
    for column in rows.T:
        counts = np.histogram(column, edges)[0]
        assert ((counts - len(rows) / 8) ** 2 / (len(rows) / 8)).sum() < 30  # chi-square, 7 degrees of freedom


def test_perturbed_density_is_a_density_with_the_height_it_says(public):
    perturbation = public("samplers").perturbation
    grid = (np.arange(200) + 0.5) / 200
    points = np.array(list(product(grid, repeat=2)))
    for bumps, signs in ((1, (-1.0,)), (2, (-1.0, 1.0, 1.0, -1.0))):
        heights = perturbation(points, signs, bumps)
        assert heights.mean() == pytest.approx(0, abs=1e-12)
        assert np.abs(heights).max() == pytest.approx(1, abs=1e-2)
        assert np.abs(heights.reshape(200, 200).mean(axis=0)).max() < 1e-12


def test_blobs_have_the_covariances_of_their_places(drawn):
    first, second = (np.vstack(side) for side in zip(*drawn("blobs n=360", 60), strict=True))
    for rows, values in ((first, [0.0] * 9), (second, [-0.02, -0.022, -0.024, -0.026, 0, 0.02, 0.022, 0.024, 0.026])):
        for place, value in enumerate(values):
            center = np.array(divmod(place, 3))
            inside = rows[np.abs(rows - center).max(axis=1) < 0.5] - center
            # what lies beyond half the distance of two centers is cut off: 0.4 % of a cluster
            assert np.cov(inside.T)[0, 1] == pytest.approx(value, abs=0.0025)
            assert np.var(inside) == pytest.approx(0.03, rel=0.08)


def test_hdgm_clusters_are_correlated_one_way_and_the_other(drawn):
    pairs = drawn("HDGM d=3", 14)
    for half, rho, mean in ((slice(0, 300), 0.5, 0.0), (slice(300, 600), -0.5, 0.5)):
        rows = np.vstack([y[half] for _, y in pairs])
        assert np.corrcoef(rows.T)[0, 1] == pytest.approx(rho, abs=0.05)
        assert np.abs(np.corrcoef(rows.T)[2:, :2]).max() < 0.07
        assert rows.mean() == pytest.approx(mean, abs=0.02)
    first = np.vstack([x[:300] for x, _ in pairs])
    assert np.abs(np.corrcoef(first.T)[0, 1]) < 0.07


def test_published_powers_are_powers(public):
    for setting in public("settings").SETTINGS.values():
        assert all(0 < power <= 1 for power in setting.published.values())
        assert setting.asked is None or 0 < setting.asked <= 1
