"""Histograms and shares: every row is counted once, in the bin or category where it belongs."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.report import Bars, Panel, bins, marginal, outline

RNG = np.random.default_rng(0)


def test_heights_are_shares_or_a_density() -> None:
    values = RNG.normal(size=200)
    edges = bins(values)
    assert sum(outline("a", values, edges).heights) == pytest.approx(1.0)
    density = outline("a", values, edges, density=True)
    assert np.sum(np.array(density.heights) * np.diff(edges)) == pytest.approx(1.0)


def test_common_bins_cover_both_samples() -> None:
    panel = marginal("x", {"a": RNG.normal(size=50), "b": RNG.normal(5.0, size=400)})
    assert isinstance(panel, Panel)
    first, second = panel.steps
    assert first.edges == second.edges
    assert sum(first.heights) == pytest.approx(1.0)
    assert sum(second.heights) == pytest.approx(1.0)


def test_few_values_are_bars_in_their_order() -> None:
    panel = marginal("x", {"a": [2.0, 0.0, 0.0, 10.5], "b": [2.0, 2.0]})
    assert panel == Bars("x", "share of rows", ("0", "2", "10.5"), (("a", (0.5, 0.25, 0.25)), ("b", (0.0, 1.0, 0.0))))


def test_categories_are_in_their_own_order_or_by_frequency() -> None:
    cells = {"a": np.array(["S", "L", "L"], dtype=object), "b": np.array(["L", "M"], dtype=object)}
    assert marginal("x", cells).names == ("L", "M", "S")
    assert marginal("x", cells, order=("S", "M", "L", "XL")).names == ("S", "M", "L")


def test_rare_categories_are_put_together() -> None:
    names = np.array([f"c{k}" for k in range(30) for _ in range(30 - k)], dtype=object)
    panel = marginal("x", {"a": names})
    assert len(panel.names) == 12
    assert panel.names[-1] == "19 others"
    assert sum(panel.series[0][1]) == pytest.approx(1.0)


def test_cells_without_a_value_are_a_bar_beside() -> None:
    panel = marginal("x", {"a": [np.nan, 1.0, 1.0, 2.0], "b": [1.0, 2.0, np.nan, np.nan]})
    assert panel.names == ("1", "2", "(missing)")
    assert panel.series == (("a", (2 / 3, 1 / 3, 0.25)), ("b", (0.5, 0.5, 0.5)))  # of known cells, and of all rows
    names = {"a": np.array([None, "u", "u", "v"], dtype=object), "b": np.array(["u", "v"], dtype=object)}
    panel = marginal("x", names)
    assert panel.names == ("u", "v", "(missing)")
    assert panel.series == (("a", (2 / 3, 1 / 3, 0.25)), ("b", (0.5, 0.5, 0.0)))
    values = np.concatenate([RNG.normal(size=30), np.full(10, np.nan)])
    steps = marginal("x", {"a": values, "b": values[:30]})
    assert steps.blank == (0.25, 0.0)
    assert sum(steps.steps[0].heights) == pytest.approx(1.0)
    assert marginal("x", {"a": values[:30]}).blank == ()
    empty = marginal("x", {"a": np.full(3, np.nan), "b": RNG.normal(size=30)})
    assert set(empty.steps[0].heights) == {0.0}


def test_a_category_of_that_name_is_not_blank() -> None:
    cells = {"a": np.array(["(missing)", "b", "c"], dtype=object), "b": np.array(["b", "c", "c"], dtype=object)}
    panel = marginal("x", cells, order=("(missing)", "b", "c"))
    assert panel.names == ("(missing)", "b", "c")
    assert panel.series == (("a", (1 / 3, 1 / 3, 1 / 3)), ("b", (0.0, 1 / 3, 2 / 3)))


def test_a_sample_without_a_value_has_no_others() -> None:
    names = np.array([f"c{k}" for k in range(30)], dtype=object)
    panel = marginal("x", {"a": names, "b": np.array([None, None], dtype=object)})
    assert panel.names[-2:] == ("19 others", "(missing)")
    assert dict(panel.series)["b"] == (0.0,) * 12 + (1.0,)


@pytest.mark.parametrize("many", [2, 40], ids=["bars", "steps"])
def test_rows_without_a_value_lose_the_weight_that_others_of_their_stratum_take(many: int) -> None:
    values = np.r_[np.full(3, np.nan), np.arange(27.0) % many]

    def weigh(rows):
        return [np.where(has, 1.0 + np.arange(len(has)), 0.0) for has in rows]

    panel = marginal("x", {"a": values}, weigh=weigh)
    weights = 1.0 + np.arange(30)
    first = panel.series[0][1] if many == 2 else panel.steps[0].heights
    lowest = values[3:] == 0.0 if many == 2 else values[3:] < panel.steps[0].edges[1]
    assert first[0] == pytest.approx(weights[3:][lowest].sum() / weights[3:].sum())
    blank = first[-1] if many == 2 else panel.blank[0]
    assert blank == pytest.approx(weights[:3].sum() / weights.sum())
