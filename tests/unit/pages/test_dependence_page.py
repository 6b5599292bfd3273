"""The page of a study of dependence says what the numbers say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kernelmean import dependence
from kernelmean.report import HeatMap
from kernelmean.studies import Dependence, dependence_page
from kernelmean.studies.pages.dependence import _means

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 60))
DATA = np.column_stack([A, B, A**2 + 0.1 * B])
QUICK = {"estimator": "kme", "n_resamples": 99}


@pytest.fixture(scope="module")
def pairs() -> Dependence:
    return dependence(DATA, **QUICK)


@pytest.fixture(scope="module")
def groups() -> Dependence:
    return dependence(DATA, ["x0"], ["x1", "x2"], **QUICK)


def with_adjusted(result: Dependence, *values: float) -> Dependence:
    found = tuple(replace(pair, adjusted=p) for pair, p in zip(result.pairs, values, strict=True))
    return replace(result, pairs=found)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            (0.05, 0.06, 1.0),
            "1 of 3 pairs of columns depends on each other (adjusted p at most 0.05), "
            "most of all x0 and x2 (strength 0.38).",
        ),
        (
            (0.01, 0.05, 1.0),
            "2 of 3 pairs of columns depend on each other (adjusted p at most 0.05), "
            "most of all x0 and x2 (strength 0.38).",
        ),
        ((0.06, 1.0, 1.0), "No dependence was found in 3 pairs of columns, which does not show that there is none."),
    ],
)
def test_the_verdict_counts_the_pairs(pairs: Dependence, values: tuple[float, ...], words: str) -> None:
    page = dependence_page(with_adjusted(pairs, *values))
    assert page.headline == words
    shown = "What the strongest pairs look like" in [section.title for section in page.sections]
    assert shown is (values[0] <= 0.05)


@pytest.mark.parametrize(("p", "depend"), [(0.05, True), (0.051, False)])
def test_two_groups_have_a_joint_verdict(groups: Dependence, p: float, depend: bool) -> None:
    one = replace(groups, test=replace(groups.test, pvalue=p))
    page = dependence_page(one)
    assert page.headline.startswith(
        f"x0 depends on 1 of 2 columns (adjusted p at most 0.05): x2. All together: p = {p:g}, at most 0.05."
        if depend
        else f"No dependence between x0 and (x1, x2) was found, all columns taken together: p = {p:g}, above 0.05."
    )
    assert "The test" in [section.title for section in page.sections]
    none = replace(one, pairs=tuple(replace(pair, adjusted=1.0) for pair in one.pairs))
    start = (
        "x0 and (x1, x2) depend on each other: p = 0.05, " if depend else "No dependence between x0 and (x1, x2) was"
    )
    assert dependence_page(none).headline.startswith(start)


def test_the_map_has_the_strengths_and_stars(pairs: Dependence) -> None:
    (panel,) = dependence_page(pairs).sections[0].charts[0].panels
    assert isinstance(panel, HeatMap)
    strength, adjusted = pairs.matrix(), pairs.matrix("adjusted")
    for i, row in enumerate(panel.values):
        for j, value in enumerate(row):
            assert (value is None) if i == j else (value == strength[i, j])
            assert ((i, j) in panel.stars) == (i != j and adjusted[i, j] <= 0.05)
    assert panel.stars == {(0, 2), (2, 0)}


def test_the_overview_keeps_to_pairs_that_are_worth_a_look() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 80))
    result = dependence(np.column_stack([a, a + 0.1 * b, 0.6 * a + b]), estimator="kme", n_resamples=199)
    assert len(result.dependent()) > 1
    overview = dict(dependence_page(replace(result, at_least=0.6)).overview)
    assert [line.partition(":")[0] for line in overview["The strongest pairs"][:-1]] == ["x0 and x1"]


def test_a_target_has_no_map_and_lines_of_means_or_shares() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "y": 3.0 * x + rng.normal(size=200), "z": rng.integers(0, 3, 200), "late": x > 0.5})
    page = dependence_page(dependence(frame, x=["x", "z"], y=["y"], **QUICK))
    assert "Map of pairs" not in [section.title for section in page.sections]
    (curve,) = page.sections[0].charts[0].panels[0].curves
    edges = np.quantile(x, np.linspace(0.0, 1.0, 11))
    part = np.searchsorted(edges[1:-1], x, side="right")
    assert curve.y == pytest.approx([frame["y"][part == k].mean() for k in range(10)])
    assert curve.errors == pytest.approx([frame["y"][part == k].sem() for k in range(10)])
    rates = dependence_page(dependence(frame, x=["x", "z"], y=["late"], **QUICK)).sections[0].charts[0].panels[0]
    assert rates.y_label == "share of late: True"
    assert (rates.curves[0].y[0], rates.curves[0].y[-1]) == (0.0, 1.0)


def test_means_of_tied_and_few_rows() -> None:
    assert _means(np.zeros(50), np.arange(50.0)) == ()
    assert _means(np.arange(9.0), np.arange(9.0)) == ()
    (curve,) = _means(np.repeat([0.0, 1.0], 30), np.repeat([2.0, 5.0], 30))
    assert (curve.x, curve.y, curve.errors) == ((0.0, 1.0), (2.0, 5.0), (0.0, 0.0))


def test_columns_with_a_long_tail_have_a_logarithmic_axis_and_the_page_says_so() -> None:
    rng = np.random.default_rng(0)
    size = rng.normal(size=200)
    frame = pd.DataFrame({"size": size, "revenue": np.exp(2.0 * size + rng.normal(size=200))})
    (chart,) = next(
        one.charts
        for one in dependence_page(dependence(frame, n_resamples=99)).sections
        if one.charts and "look" in one.title
    )
    (panel,) = chart.panels
    assert (panel.x_log, panel.y_log) == (panel.x_label == "revenue", panel.y_label == "revenue")
    assert "Axes of columns with a long tail are logarithmic." in chart.text


def test_pictures_of_a_study_within_strata_say_that_they_show_all_of_them() -> None:
    table = pd.DataFrame(DATA, columns=["a", "b", "c"]).assign(site=np.arange(60) % 2)
    words = "Pictures have the rows of all strata together"
    assert words in dependence(table, strata="site", **QUICK).to_html()
    assert words not in dependence(table.drop(columns="site"), **QUICK).to_html()
