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


def test_published_powers_are_powers(public):
    for setting in public("settings").SETTINGS.values():
        assert all(0 < power <= 1 for power in setting.published.values())
        assert setting.asked is None or 0 < setting.asked <= 1
