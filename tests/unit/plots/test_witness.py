"""The witness of one column and of two: what is drawn where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")

from matplotlib import pyplot

import kernelmean as km
from explained import witness_bands
from kernelmean.studies import plots

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(30, 2)), RNG.normal([0.0, 2.0], size=(25, 2))


def drawn(ax: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the heights of the band of chance, and the witness over its grid: the two areas together."""
    chance, above, below = (area.get_paths()[0].vertices for area in ax.collections[:3])
    n = (len(above) - 3) // 2
    first, second = above[1 : n + 1], below[1 : n + 1]
    other = above[n + 2 : 2 * n + 2][::-1], below[n + 2 : 2 * n + 2][::-1]
    values = sum(part[:, 1] for part in (first, second, *other))
    return chance[:, 1], first[:, 0], values


def test_the_curve_is_the_witness_and_the_band_is_that_of_chance() -> None:
    ax = plots.column_witness(X[:, 1], Y[:, 1], column="dose", names=("before", "after"))
    chance, grid, values = drawn(ax)
    bands = witness_bands(X[:, [1]], Y[:, [1]], grid[:, None], rng=0)
    np.testing.assert_allclose(values, bands.values)
    assert chance.max() == pytest.approx(bands.halfwidth.max())
    labels = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert labels == ["chance (95 %)", "more of before", "more of after"]
    assert ax.get_xlabel() == "dose"


def test_the_map_has_the_colours_of_the_witness_and_hatches_chance() -> None:
    ax = plots.witness_map(X, Y, ["x1", "x0"], names=("before", "after"))
    filled, hatched = ax.collections[:2]
    points = np.stack(np.meshgrid(np.linspace(*ax.get_xlim(), 41), np.linspace(*ax.get_ylim(), 41)), -1).reshape(-1, 2)
    bands = witness_bands(X[:, ::-1], Y[:, ::-1], points, rng=0)
    assert filled.levels[-1] == pytest.approx(np.abs(bands.values).max(), rel=1e-9)
    assert filled.levels[0] == -filled.levels[-1]
    excess = (np.abs(bands.values) - bands.halfwidth).min()
    np.testing.assert_allclose(hatched.levels, [excess, 0.0], rtol=1e-9)
    assert hatched.hatches == ["///"]
    share = len(bands.outside) / len(points)
    assert 0 < share < 1
    assert f"Beyond chance: {100 * share:.0f} % of the map." in plots.alt_text(ax)
    labels = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert labels == ["before", "after", "chance (95 %)"]
    np.testing.assert_array_equal(ax.get_lines()[0].get_xydata(), X[:, ::-1])


@pytest.mark.parametrize("columns", [["x0"], ["x0", "x0"], ["x0", "z"], ["x0", "x1", "x0"]])
def test_a_map_is_of_two_columns(columns: list[str]) -> None:
    with pytest.raises(ValueError, match="pass two different names of x0"):
        plots.witness_map(X, Y, columns)


def test_what_cannot_be_drawn_leaves_no_empty_figure() -> None:
    for draw in (
        lambda: plots.column_witness([0.0, np.nan], [1.0]),
        lambda: plots.witness_map(X, np.full((3, 2), np.inf)),
    ):
        with pytest.raises(ValueError, match=r"NaN|finite"):
            draw()
    with pytest.raises(ValueError, match="one normal noise"):
        plots.noise_per_column(km.KME().fit(X))
    assert pyplot.get_fignums() == []
