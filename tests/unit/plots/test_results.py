"""Pictures of results: null distributions, maps of dependence, densities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import kernelmean as km
from kernelmean import dependence
from kernelmean.studies import Densities, fit_densities, plots

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(30, 2)), RNG.normal([0.0, 2.0], size=(25, 2))


def test_the_histogram_counts_all_permutations_and_shades_those_that_reach_the_statistic() -> None:
    result = km.mmd_test(X[:, :1], Y[:, :1], estimator="kme", n_resamples=99, rng=0)
    ax = plots.null_distribution(result, bins=12)
    heights, edges, _ = ax.patches[0].get_data()
    counts, places = np.histogram(result.null_distribution, 12)
    np.testing.assert_allclose(heights, counts / result.n_resamples)
    np.testing.assert_allclose(edges, places)
    assert ax.lines[0].get_xdata()[0] == result.statistic
    (shade,) = (one.get_paths()[0].vertices for one in ax.collections)
    assert shade[:, 0].min() == pytest.approx(result.statistic)
    assert shade[:, 0].max() == pytest.approx(result.null_distribution.max())
    reached = np.count_nonzero(result.null_distribution >= result.statistic - result.tolerance)
    assert f"as large or larger: {reached} of 99." in plots.alt_text(ax)
    labels = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert labels == ["as large or larger", "99 random arrangements", f"observed, p = {result.pvalue:.3g}"]


def test_the_map_shows_numbers_and_stars_the_small_pvalues() -> None:
    data = np.column_stack([X, X[:, 0] ** 2])
    result = dependence(data, estimator="kme", n_resamples=199)
    ax = plots.dependence_map(result)
    shades = {patch.get_xy(): patch.get_facecolor()[3] for patch in ax.patches}
    strength = result.matrix()
    assert set(shades) == {(j, i) for i in range(3) for j in range(3) if i != j}
    for (j, i), shade in shades.items():
        assert shade == pytest.approx(0.6 * np.sqrt(max(strength[i, j], 0.0)), abs=1e-12)
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(texts) == 6
    assert texts[2.5, 0.5].endswith("*")
    assert not texts[1.5, 0.5].endswith("*")


@pytest.fixture(scope="module")
def fits() -> Iterator[Densities]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1, 2))
        yield fit_densities(np.concatenate([X, Y]), estimator="mkme", n_components=[1])


def test_contours_hold_the_shares_of_rows_that_they_say(fits: Densities) -> None:
    ax = plots.marginal_density(fits, ["x0", "x1"])
    said = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert said == ["rows", "mixture: lines around 25, 50, 75, 95 % of the rows"]
    (contours,) = [one for one in ax.collections if hasattr(one, "levels")]
    density = np.exp(fits.marginal([0, 1]).logpdf(fits.table.values))
    held = [np.mean(density >= level) for level in contours.levels]
    np.testing.assert_allclose(held, [0.95, 0.75, 0.5, 0.25], atol=1.0 / len(density))


@pytest.mark.parametrize("columns", [[], ["x0", "x1", "x0"], ["z"], ["x0", "x0"]])
def test_a_marginal_is_of_one_or_two_columns(fits: Densities, columns: list[str]) -> None:
    with pytest.raises(ValueError, match="pass one or two different names of x0"):
        plots.marginal_density(fits, columns)
