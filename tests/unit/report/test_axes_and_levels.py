"""Axes of columns with a long tail or few values, levels in their order, and legends that leave titles free."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.report import Panel
from kernelmean.report.document import Bars
from kernelmean.report.marginals import marginal
from kernelmean.studies.plots import column_witness

pytest.importorskip("matplotlib")
RNG = np.random.default_rng(0)
LEVELS = ["very low", "low", "middle", "upper", "high"]


def test_a_column_with_a_long_tail_has_a_logarithmic_axis_over_all_of_its_values() -> None:
    incomes = {name: np.exp(RNG.normal(7.0, 1.5, 500)) for name in ("A", "B")}
    panel = marginal("income", incomes)
    assert isinstance(panel, Panel)
    assert (panel.x_log, panel.title) == (True, "income")
    assert sum(sum(steps.heights) for steps in panel.steps) == pytest.approx(2.0)
    pooled = np.concatenate(list(incomes.values()))
    assert panel.steps[0].edges[:: len(panel.steps[0].edges) - 1] == pytest.approx((pooled.min(), pooled.max()))
    axes = column_witness(*incomes.values())
    assert axes.get_xscale() == "log"
    assert axes.get_xlim() == pytest.approx((pooled.min(), pooled.max()))
    others = marginal("age", {"A": RNG.normal(40.0, 9.0, 500)})
    assert isinstance(others, Panel)
    assert not others.x_log


def test_all_levels_are_shown_in_their_order() -> None:
    level = RNG.choice(5, 400, p=[0.32, 0.3, 0.22, 0.12, 0.04])
    table = pd.DataFrame({"class": np.array(LEVELS, dtype=object)[level], "mood": level + RNG.integers(0, 3, 400)})
    page = km.dependence(table, ordinal={"class": LEVELS}, n_resamples=99).document()
    (chart,) = [chart for section in page.sections for chart in section.charts if chart.name == "pair-1"]
    (panel,) = chart.panels
    assert isinstance(panel, Bars)
    assert [label for label, _ in panel.series] == [f"class: {own}" for own in LEVELS]
    assert "most frequent" not in chart.text
