"""Pictures: what is drawn where, and which files are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")

from matplotlib.figure import Figure

from kernelmean import plots
from kernelmean.densities import fit_densities
from kernelmean.dependence import dependence
from kernelmean.explain import witness_bands

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(30, 2)), RNG.normal([0.0, 2.0], size=(25, 2))


def test_the_curve_is_the_witness_and_the_band_is_that_of_chance() -> None:
    ax = plots.column_witness(X[:, 1], Y[:, 1], column="dose", names=("before", "after"))
    curve = ax.get_lines()[-1]
    grid = curve.get_xdata()
    bands = witness_bands(X[:, [1]], Y[:, [1]], grid[:, None], rng=0)
    np.testing.assert_allclose(curve.get_ydata(), bands.values)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(bands.halfwidth.max())
    assert ax.get_legend_handles_labels()[1] == ["chance (95 %)", "more before", "more after"]
    assert ax.get_xlabel() == "dose"


def test_given_axes_are_drawn_on() -> None:
    ax = Figure().add_subplot()
    assert plots.column_witness(X[:, 0], Y[:, 0], ax=ax) is ax
    assert plots.dependence_map(dependence(X, estimator="kme", n_resamples=19), ax=ax) is ax


def test_one_panel_a_column() -> None:
    figure = plots.column_witnesses(X, Y, ["x1", "x0"])
    assert [ax.get_xlabel() for ax in figure.axes] == ["x1", "x0"]


def test_the_map_shows_numbers_and_stars_the_small_pvalues() -> None:
    data = np.column_stack([X, X[:, 0] ** 2])
    result = dependence(data, estimator="kme", n_resamples=199)
    ax = plots.dependence_map(result)
    np.testing.assert_array_equal(ax.images[0].get_array(), result.matrix())
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(texts) == 6
    assert texts[2, 0].endswith("*")
    assert not texts[1, 0].endswith("*")


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_files_are_written(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"picture.{ending}"
    plots.save(plots.column_witness(X[:, 0], Y[:, 0]), path)
    assert path.stat().st_size > 1000


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_file_says_neither_when_nor_by_what_it_was_written(tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
    for path in paths:
        plots.save(plots.column_witness(X[:, 0], Y[:, 0]), path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert b"Matplotlib" not in first
    assert b"<metadata" not in first


def test_constant_columns_draw_a_flat_line() -> None:
    curve = plots.column_witness(np.ones(5), np.ones(4)).get_lines()[-1]
    np.testing.assert_allclose(curve.get_ydata(), 0.0, atol=1e-12)


def test_density_pairs_show_marginals_and_contours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.densities._COMPONENTS", (1, 2))
    fits = fit_densities(np.concatenate([X, Y]), estimator="mkme", n_components=[1])
    figure = plots.density_pairs(fits)
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "x0", "x1"]
    curve = figure.axes[0].get_lines()[0]
    np.testing.assert_allclose(curve.get_ydata(), np.exp(fits.marginal([0]).logpdf(curve.get_xdata()[:, None])))
    assert figure.axes[1].collections
