"""What a comparison says of columns beside means: categories of one table, blank cells, spreads, dates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import kernelmean as km
from kernelmean.core.words import percent
from kernelmean.studies.pages import gather
from kernelmean.studies.pages.overview import of_comparison

QUICK: dict[str, Any] = {"n_resamples": 99, "rng": 0}


def table(rng: np.random.Generator, slope: float, n: int = 300) -> pd.DataFrame:
    x, y, z = rng.normal(size=(3, n))
    label = rng.choice(["u", "v", "w"], n)
    return pd.DataFrame({"x": x, "word": label, "y": slope * x + (1 - slope**2) ** 0.5 * y, "z": np.exp(z)})


def customers(seed: int, n: int, legacy: float = 0.0, blank: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    plan = rng.choice(["basic", "pro", "team", "legacy"], n, p=[0.35, 0.35, 0.3 - legacy, legacy]).astype(object)
    score = rng.normal(600.0, 90.0, n)
    score[rng.random(n) < blank] = np.nan
    return pd.DataFrame({"plan": plan, "score": score, "income": rng.normal(size=n)})


def test_a_category_that_vanished_is_named_before_one_whose_share_moved_a_little() -> None:
    A, B = customers(0, 1500, legacy=0.02), customers(1, 1000)
    result = km.compare(A[["plan"]], B[["plan"]], **QUICK)
    share = f"{(A.plan == 'legacy').mean():.1%}"
    assert result.columns[0].describe() == (f"{share} legacy", "0.0% legacy")
    (words,) = [words for title, words in result.facts() if title == "categories"]
    assert words == f"plan: legacy only in A, {share.replace('%', ' %')}; no row of B"


def test_a_category_that_is_missing_by_chance_is_not_told() -> None:
    A, B = customers(0, 1500), customers(1, 300)
    B["plan"] = np.where(B.plan == "pro", "basic", B.plan)
    A.loc[0, "plan"] = "legacy"
    result = km.compare(A[["plan"]], B[["plan"]], **QUICK)
    assert [words for title, words in result.facts() if title == "categories"] == [
        f"plan: pro only in A, {100 * (A.plan == 'pro').mean():.0f} %; no row of B"
    ]


def test_shares_of_blank_cells_are_shown_where_they_are_the_difference() -> None:
    A, B = customers(0, 1500, blank=0.05), customers(1, 1000, blank=0.15)
    result = km.compare(A, B, missing="category", **QUICK)
    rows = {row[0]: row for row in result.grid().rows}
    shares = [f"{100 * own.score.isna().mean():.2g} % blank" for own in (A, B)]
    assert [cell.partition(", ")[2] for cell in rows["score"][4:6]] == shares
    assert "blank" not in " ".join(rows["income"])
    cells = [
        f"{own.score.isna().sum()} ({share.removesuffix(' blank')})" for own, share in zip((A, B), shares, strict=True)
    ]
    assert f"missing cells in A and B: {' and '.join(cells)} of score (a category of its own)" in result.notes


def test_a_column_says_what_changed_of_it_without_an_extreme_cell() -> None:
    rng = np.random.default_rng(2)
    first, second = ({"a": rng.normal(size=400), "b": rng.normal(10.0, s, 400)} for s in (1.0, 1.5))
    second["b"][7] = 1000.0
    result = km.compare(pd.DataFrame(first), pd.DataFrame(second), names=("old", "new"), n_resamples=199, rng=0)
    effect = gather(result).effect
    (line,) = dict(of_comparison(result, effect))["The columns that matter most"]
    spreads = first["b"].std(), second["b"].std(), np.delete(second["b"], 7).std()
    assert line == (
        f"b: standard deviation {spreads[0]:.4g} in old, {spreads[1]:.4g} in new ({spreads[2]:.4g} without its most "
        "extreme value, 1000)"
    )
    assert ("spread", line) in result.facts()
    assert "over all columns" in dict(of_comparison(result, effect))["How large"][0]


def test_a_small_change_of_spread_is_named_where_it_is_clear() -> None:
    """Standard deviations of 1 and 1.12 are told of 3000 rows each; the same ratio may be chance in 60 rows."""
    rng = np.random.default_rng(5)
    named = []
    for n in (3000, 60):
        first, second = (
            np.c_[rng.normal(size=n) * s, rng.normal(size=n) + shift] for s, shift in ((1.0, 0), (1.12, 2))
        )
        result = km.compare(first, second, n_resamples=199, rng=0)
        columns = [replace(own, adjusted=0.01) for own in result.columns]
        named.append(dict(replace(result, columns=tuple(columns)).facts()).get("spread", ""))
    assert named[0].startswith("x0: standard deviation ")
    assert named[1] == ""


def test_dates_that_differ_are_told_with_what_to_leave_out() -> None:
    rng = np.random.default_rng(5)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, 200)
    first, second = (
        pd.DataFrame({"day": days + np.timedelta64(shift, "D"), "x": rng.normal(size=200)}) for shift in (0, 90)
    )
    said = dict(km.compare(first, second, n_resamples=199, rng=0).facts())["dates"]
    assert said.startswith(
        "day holds dates, and the test of all columns counts it: if the tables are of different times"
    )
    assert "leave it out with kernelmean.read(..., drop=['day'])" in said
    assert "dates" not in dict(km.compare(first, first.assign(x=first["x"] + 2.0), n_resamples=99, rng=0).facts())


def test_a_mean_that_moved_is_told_with_the_most_extreme_value_beside_it() -> None:
    rng = np.random.default_rng(2)
    first, second = ({"a": rng.normal(size=60), "b": rng.normal(m, 1.0, 60)} for m in (0.0, 1.2))
    second["b"][7] = 9.0
    result = km.compare(pd.DataFrame(first), pd.DataFrame(second), names=("old", "new"), n_resamples=199, rng=0)
    (line,) = dict(of_comparison(result, gather(result).effect))["The columns that matter most"]
    assert line.endswith(" standard deviations within the tables); the most extreme value in new is 9")
    assert "spread" not in dict(result.facts())


def test_no_heading_says_that_columns_differ_where_none_does() -> None:
    rng = np.random.default_rng(0)
    broken = km.compare(table(rng, 0.8), table(rng, 0.1), n_resamples=199, rng=0)
    assert broken.differ()
    assert broken.grid().title.startswith("Columns, none of which is shown to differ (gap")
    shifted = km.compare(np.eye(12), np.eye(12) + 5.0, n_resamples=99, rng=0)
    assert shifted.grid().title.startswith("Columns that differ most (gap")


def test_the_first_screen_names_blanks_and_new_categories() -> None:
    rng = np.random.default_rng(6)

    def drawn(blank: float, levels: str, year: int) -> pd.DataFrame:
        n = 300
        dates = pd.Timestamp(f"{year}-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
        income = np.where(rng.random(n) < blank, np.nan, rng.normal(size=n))
        return pd.DataFrame({"income": income, "region": rng.choice([*levels], n), "date": dates})

    old, new = drawn(0.05, "ab", 2024), drawn(0.4, "abc", 2025)
    result = km.compare(old, new, names=("old", "new"), missing="category", n_resamples=199, rng=0)
    overview = dict(of_comparison(result, None))
    lines = overview["The columns that matter most"]
    blank = [percent(frame["income"].isna().mean()) for frame in (old, new)]
    assert f"income: {blank[0]} of the cells blank in old, {blank[1]} in new" in lines
    assert f"region: c only in new, {percent((new['region'] == 'c').mean())}; no row of old" in lines
    header = result.grid().table().header
    assert header[:2] == ("column", "differs")


def test_pairs_are_described_as_two_tables_are() -> None:
    rng = np.random.default_rng(15)
    old = table(rng, 0.9)
    new = old.assign(y=rng.permutation(old["y"]), z=3 * (old["z"] - old["z"].mean()) + old["z"].mean())
    result = km.compare(old, new, names=("old", "new"), paired=True, n_resamples=199, rng=0)
    spreads = [frame["z"].std(ddof=0) for frame in (old, new)]
    said = f"z: standard deviation {spreads[0]:.4g} in old, {spreads[1]:.4g} in new"
    assert dict(result.facts())["spread"] == said


def test_standard_deviations_are_weighted_as_the_means() -> None:
    rng = np.random.default_rng(16)
    old, new = ({"z": rng.normal(0.0, s, 300), "w": rng.integers(0, 3, 300)} for s in (1.0, 2.5))
    frames = [pd.DataFrame(own).astype(float) for own in (old, new)]
    result = km.compare(*frames, names=("old", "new"), weights="w", n_resamples=199, rng=0)
    spreads = [np.repeat(own["z"], own["w"]).std() for own in (old, new)]
    said = f"z: weighted standard deviation {spreads[0]:.4g} in old, {spreads[1]:.4g} in new"
    assert dict(result.facts())["spread"] == said
