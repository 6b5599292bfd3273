"""Columns of a comparison of groups: what they are like in every group."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.studies import GroupComparison
from kernelmean.studies.levels import Levels

rng = np.random.default_rng(0)
GROUP = np.repeat(["a", "b", "c"], 40)
TABLE = pd.DataFrame(
    {
        "group": GROUP,
        "age": rng.normal(40.0, 5.0, 120) + 4.0 * (GROUP == "c"),
        "member": rng.random(120) < 0.5,
        "city": rng.choice(["Rome", "Oslo"], 120, p=[0.5, 0.5]),
        "seen": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 9, 120), unit="D"),
    }
)
TABLE.loc[GROUP == "b", "city"] = np.where(rng.random(40) < 0.95, "Rome", "Oslo")
TABLE.loc[3, "age"] = np.nan


def compared(table: pd.DataFrame = TABLE) -> GroupComparison:
    return km.compare_groups(table, "group", estimator="kme", n_resamples=99, missing="category", rng=0)


def test_groups_have_means_and_shares_of_the_category_that_differs_most() -> None:
    found = {column.name: column for column in compared().columns}
    by = TABLE.groupby("group")
    np.testing.assert_allclose(found["age"].means, by["age"].mean(), rtol=1e-12)
    np.testing.assert_allclose(found["member"].means, by["member"].mean(), rtol=1e-12)
    seconds = by["seen"].mean().astype("datetime64[ns]").astype("int64") / 1e9
    np.testing.assert_allclose(found["seen"].means, seconds, rtol=1e-12)
    city = found["city"]
    assert city.category == "Oslo"  # the rarer of two, which change equally
    np.testing.assert_allclose(city.means, (TABLE["city"] == "Oslo").groupby(GROUP).mean(), rtol=1e-12)


def test_a_category_that_one_group_lacks_is_not_shown_where_another_changed_more() -> None:
    origin = [*["USA"] * 35, *["Japan"] * 35, *["Europe"] * 30, *["USA"] * 50]
    table = pd.DataFrame({"origin": origin, "cylinders": [4] * 100 + [8] * 50})
    (column,) = km.compare_groups(table, "cylinders", n_resamples=99).columns
    two = [table[table["cylinders"] == own][["origin"]] for own in (4, 8)]
    (same,) = km.compare(*two, n_resamples=99).columns
    assert column.category == same.category == "USA"
    assert column.means == same.shown() == (0.35, 1.0)


def test_means_are_in_the_terminal_on_the_page_and_in_frames() -> None:
    result = compared()
    lines = result.summary().split("\nMeans ± standard deviations, or shares of a category\n")[1].splitlines()
    assert lines[0].split() == ["column", "a", "b", "c"]
    ages = next(column.levels.words for column in result.columns if column.name == "age")
    assert all(word.split(",")[0] in result.summary() for word in ages)
    shown = [[float(number) for number in re.findall(r"[\d.]+", word)] for word in ages]
    by = TABLE.groupby("group")["age"]
    assert [mean for mean, _, _ in shown] == pytest.approx(by.mean().tolist(), rel=1e-3)
    assert [spread for _, spread, _ in shown] == pytest.approx(by.std().tolist(), rel=0.05)
    assert [blank for _, _, blank in shown] == [2.5, 0.0, 0.0]
    assert any(line.strip().startswith("city: Oslo") and "%" in line for line in lines)
    assert "Means of the groups" in result.to_html()
    frame = result.to_frame().set_index("column")
    assert [frame[f"mean {group}"]["age"] for group in "abc"] == list(result_means(result, "age"))
    np.testing.assert_allclose([frame[f"sd {group}"]["age"] for group in "abc"], by.std(), rtol=1e-12)
    assert [frame[f"blank {group}"]["age"] for group in "abc"] == [pytest.approx(1 / 40), 0.0, 0.0]
    content = {column["name"]: column for column in result.to_dict()["columns"]}
    assert content["age"]["means"] == list(result_means(result, "age"))
    assert content["city"]["deviations"] == []


def test_means_of_many_groups_do_not_crowd_the_terminal() -> None:
    table = TABLE.assign(group=np.arange(120) % 8)
    result = compared(table)
    assert "Means ±" not in result.summary()
    assert "Means of the groups" in result.to_html()


def result_means(result: GroupComparison, name: str) -> tuple[float, ...]:
    return next(column.means for column in result.columns if column.name == name)


def test_shares_of_groups_are_those_of_known_cells_as_in_two_tables() -> None:
    table = TABLE.copy()
    table.loc[[1, 2, 50, 90, 91, 92], "city"] = None
    city = next(column for column in compared(table).columns if column.name == "city")
    known = table.dropna(subset=["city"])
    assert city.means == pytest.approx(known.groupby("group")["city"].apply(lambda own: (own == city.category).mean()))
    halves = [table[table["group"] == name].drop(columns="group") for name in ("a", "b")]
    both = km.compare(*halves, estimator="kme", n_resamples=99, missing="category", rng=0)
    shares = {each.category: each.shares for each in next(own for own in both.columns if own.name == "city").shares}
    assert shares[city.category] == city.means[:2]


def test_shares_are_of_known_cells_and_blank_ones_are_beside() -> None:
    cities = ["a"] * 10 + ["b"] * 10 + [None] * 5 + ["a"] * 5 + ["b"] * 10 + ["b"] * 20
    table = pd.DataFrame({"city": cities, "group": np.repeat(list("xyz"), 20)})
    result = km.compare_groups(table, "group", missing="category", n_resamples=99)
    (column,) = result.columns
    assert (column.category, column.means, column.blank) == ("a", (0.5, pytest.approx(1 / 3), 0.0), (0.0, 0.25, 0.0))
    assert column.levels.words == ("50.0 %, 0 % blank", "33.3 %, 25 % blank", "0.0 %, 0 % blank")
    first, second, third = result.encoded.frames
    levels = Levels.of(result.encoded.codings[0], (first, third, second.take(np.arange(5))), (0, 1))
    assert levels.words == ("50.0 %, 0 % blank", "0.0 %, 0 % blank", "none, 100 % blank")
