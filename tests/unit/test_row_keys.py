"""Columns and indexes that name rows: pairs in another order are refused, and units of several rows are noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.core.table import to_frame
from kernelmean.studies.columns import describe_columns
from kernelmean.tables.columns import Encoding

RNG = np.random.default_rng(5)
USERS = 100 + 7 * RNG.permutation(40)
BEFORE = pd.DataFrame({"user_id": USERS, "a": RNG.normal(size=40)})
AFTER = BEFORE.assign(a=BEFORE.a + RNG.normal(0.3, 0.1, 40))
SHUFFLED = AFTER.sample(frac=1.0, random_state=1)
QUICK: dict[str, Any] = {"paired": True, "n_resamples": 19}


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(user_id=[f"u{user}" for user in table.user_id])


@pytest.mark.parametrize("keys", ["integers", "texts"])
@pytest.mark.parametrize("options", [{}, {"keep": "user_id"}, {"categorical": "user_id"}], ids=str)
def test_pairs_in_another_order_are_refused(keys: str, options: dict[str, str]) -> None:
    if keys == "texts" and "keep" in options:
        options = {}
    first, second = (BEFORE, SHUFFLED) if keys == "integers" else map(as_text, (BEFORE, SHUFFLED))
    message = (
        "B has the values of 'user_id' in another order than A, .*; sort both .*, or write strata='user_id' instead"
    )
    with pytest.raises(ValueError, match=message):
        km.compare(first, second, **options, **QUICK)
    assert km.compare(first, second, strata="user_id", n_resamples=99).pvalue == 0.01


@pytest.mark.parametrize("as_keys", [as_text, lambda table: table], ids=["texts", "integers"])
def test_pairs_with_partly_other_units_are_refused(as_keys: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    first, second = as_keys(BEFORE.iloc[:38]), as_keys(SHUFFLED.sort_index().iloc[2:])
    with pytest.raises(
        ValueError, match=r"36 of the 38 values of 'user_id' in A are in B, and row i .*strata='user_id'"
    ):
        km.compare(first, second, **QUICK)
    with pytest.raises(ValueError, match=r"has 40 rows and B has 38; .*; 'user_id' names them: write strata='user_id'"):
        km.compare(as_keys(BEFORE), second, **QUICK)


def test_a_column_that_names_the_rows_says_more_than_row_numbers() -> None:
    first, second = (table.sort_values("user_id") for table in (BEFORE, SHUFFLED.reset_index(drop=True)))
    assert [*first.index] != [*second.index]
    drop = {"keep": "user_id"}
    found = km.compare(first, second, **drop, **QUICK)
    assert found.pvalue == km.compare(*(own.reset_index(drop=True) for own in (first, second)), **drop, **QUICK).pvalue
    with pytest.raises(ValueError, match="their indexes differ"):
        km.compare(first[["a"]], second[["a"]], **QUICK)


def test_measurements_that_are_all_different_are_no_keys() -> None:
    ranks = pd.DataFrame({"place": np.arange(30), "a": RNG.normal(size=30)})
    other = ranks.assign(place=ranks.place.sample(frac=1.0, random_state=0).to_numpy(), a=ranks.a + 0.1)
    with pytest.raises(ValueError, match=r"if it holds measurements, such as ranks, insist with keep=\['place'\]"):
        km.compare(ranks, other, **QUICK)
    assert km.compare(ranks, other, keep="place", **QUICK).pvalue <= 1.0
    assert km.compare(ranks[:8], other[:8].assign(place=ranks.place[7::-1]), **QUICK).pvalue <= 1.0  # few may be ranks
    years = ranks.assign(place=1990 + np.arange(30)), other.assign(place=1995 + np.arange(30))
    assert km.compare(*(table.rename(columns={"place": "year"}) for table in years), **QUICK).pvalue <= 1.0
    shuffled = ranks.a.sample(frac=1.0, random_state=0).to_numpy()  # normal scores have the same values in both
    assert km.compare(ranks[["a"]], pd.DataFrame({"a": shuffled}), **QUICK).pvalue <= 1.0


ASKS: dict[str, Callable[[Any, Any], Any]] = {
    "compare": lambda first, second: km.compare(first, second, **QUICK),
    "paired_mmd_test": lambda first, second: km.paired_mmd_test(first, second, n_resamples=19, rng=0),
    "mmd_test": lambda first, second: km.mmd_test(first, second, design=km.Design(paired=True), n_resamples=19, rng=0),
    "hsic_test": lambda first, second: km.hsic_test(first, second, n_resamples=19, rng=0),
    "dhsic_test": lambda first, second: km.dhsic_test(first, second, n_resamples=19, rng=0),
    "hsic_test in bins": lambda first, second: km.hsic_test(first, second, scheme="bins", n_resamples=19, rng=0),
}
LAGGED: dict[str, Callable[..., Any]] = {
    "hsic_test": ASKS["hsic_test"],
    "dhsic_test": ASKS["dhsic_test"],
    "wild_hsic_test": lambda first, second: km.wild_hsic_test(first, second, block_length=4, n_resamples=19, rng=0),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_indexes_that_name_units_in_another_order_are_refused(ask: Callable[[Any, Any], Any]) -> None:
    by_user = [table.set_index("user_id") for table in (BEFORE, AFTER, SHUFFLED)]
    named = as_text(BEFORE).set_index("user_id").rename_axis(None)
    refused = [(by_user[0], by_user[2]), (by_user[0][:38], by_user[1][2:]), (named, named[::-1])]
    for first, second in refused:
        with pytest.raises(ValueError, match=r"are one unit, and their indexes.* differ; write both = .*\.loc\[both\]"):
            ask(first, second)
    both = by_user[0].index.intersection(by_user[2].index)
    pvalue = ask(by_user[0], by_user[1]).pvalue
    assert ask(by_user[0].loc[both], by_user[2].loc[both]).pvalue == pvalue
    rows = [table[["a"]] for table in (BEFORE, AFTER)]
    assert (
        ask(*rows).pvalue == ask(rows[0], rows[1].set_index(np.arange(40)[::-1] + 1)).pvalue == pvalue
    )  # other numbers
    with pytest.raises(ValueError, match=r"are one unit, and their indexes differ; .*\.reset_index\(drop=True\)"):
        ask(rows[0], rows[1].sort_values("a"))
    days = pd.date_range("2026-01-01", periods=41)
    assert ask(rows[0].set_index(days[:-1]), rows[1].set_index(days[1:])).pvalue == pvalue  # a lag of one day
    lists = [
        table.set_index(pd.Index([[user] for user in table.user_id], dtype=object)) for table in (BEFORE, SHUFFLED)
    ]
    with pytest.raises(ValueError, match=r"are one unit, and their indexes differ; write both = "):
        ask(*(table[["a"]] for table in lists))
    assert ask(rows[0].set_index(lists[0].index), rows[1].set_index(lists[0].index)).pvalue == pvalue


@pytest.mark.parametrize("ask", LAGGED.values(), ids=LAGGED)
@pytest.mark.parametrize("every", [1, 2])
def test_a_series_and_its_past_may_have_an_index_that_counts_rows(ask: Callable[..., Any], every: int) -> None:
    series = BEFORE[["a"]].set_index(pd.RangeIndex(40, name="id"))[::every]
    as_arrays = ask(series[:-1].to_numpy(), series[1:].to_numpy()).pvalue
    assert ask(series[:-1], series[1:]).pvalue == as_arrays
    with pytest.raises(ValueError, match=r"belong together as they stand, drop both indexes with \.reset_index"):
        ask(series.rename_axis("user_id")[:-1], series.rename_axis("user_id")[1:])
    with pytest.raises(ValueError, match="their indexes"):
        ask(series, series[::-1])
    with pytest.raises(ValueError, match="their indexes"):
        km.paired_mmd_test(series[:-1], series[1:], n_resamples=19)


def test_any_two_of_several_variables_are_checked() -> None:
    X, Y = (table.set_index("user_id") for table in (BEFORE, SHUFFLED))
    with pytest.raises(ValueError, match=r"row i of variables\[0\] and row i of variables\[2\] are one unit"):
        km.dhsic_test(X, X.to_numpy() + 1.0, Y, n_resamples=19)


@pytest.mark.parametrize(
    ("name", "cells", "noted"),
    [
        ("user_id", USERS, True),
        ("user", USERS, True),
        ("userID", [f"u{user}" for user in USERS], True),
        ("age", USERS, False),
        ("visits_per_user", USERS, False),
        ("user_id", USERS + 0.5, False),
        ("store_id", USERS % 5, False),
    ],
    ids=str,
)
def test_a_key_of_units_with_several_rows_is_noted(name: str, cells: Any, *, noted: bool) -> None:
    table = pd.DataFrame({name: np.repeat(cells, 2), "a": RNG.normal(size=80)})
    first, second = table[:30], table[30:]
    note = f"{name} looks like a key of units with several rows each (40 in 80 rows): if it names them, write clusters="
    quick: dict[str, Any] = {"estimator": "kme", "n_resamples": 19}
    found = km.compare(first, second, **quick)
    assert any(own.startswith(note) for own in found.notes) == noted
    if noted:
        clustered = km.compare(first, second, clusters=name, **quick)
        told = km.compare(first, second, categorical=name, **quick)
        in_batches = km.compare(*(km.read(each, in_memory=False) for each in (first, second)), **quick)
        assert not any("looks like a key" in own for own in (*clustered.notes, *told.notes))
        assert any(own.startswith(note.replace("80 rows", "80 rows drawn at random")) for own in in_batches.notes)


@pytest.mark.parametrize("as_keys", [as_text, lambda table: table], ids=["texts", "integers"])
def test_dependence_and_describe_note_a_key_of_units_too(as_keys: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    table = as_keys(pd.concat([BEFORE] * 3)).assign(a=RNG.normal(size=120), b=RNG.normal(size=120))
    note = (
        "user_id looks like a key of units with several rows each (40 in 120 rows): if it names them, write clusters="
    )
    for asked in ({}, {"x": "a", "y": "b"}):
        assert km.dependence(table, n_resamples=19, **asked).notes[0].startswith(note)
    described = describe_columns(to_frame(table, "t"), Encoding())
    assert described.notes[0].startswith(note)
    in_batches = km.dependence(km.read(table, in_memory=False), n_resamples=19)
    assert in_batches.notes[0].startswith(note.replace("120 rows", "120 rows drawn at random"))
    clustered = km.dependence(table, clusters="user_id", n_resamples=19)
    assert not any("looks like a key" in own for own in clustered.notes)


@pytest.mark.parametrize(("units", "distinct"), [(80, "different texts"), (300, "different categories")])
def test_texts_that_are_refused_are_offered_as_clusters_where_they_recur(units: int, distinct: str) -> None:
    who = [f"k{row % units}" for row in range(units + units // 2)]
    table = pd.DataFrame({"who": who, "a": RNG.normal(size=len(who)), "b": RNG.normal(size=len(who))})
    with pytest.raises(ValueError, match=f"{distinct}.*; if rows with the same 'who' .* take clusters='who'$"):
        km.dependence(table)
    column = describe_columns(to_frame(table, "t"), Encoding()).columns[0]
    assert column.change.endswith(", or clusters='who' if rows with the same who belong together")
    alone = describe_columns(to_frame(table[:units], "t"), Encoding()).columns[0]
    assert "clusters" not in alone.change
    once = "A: column 'user_id' holds 40 different texts in 80 cells .*insist with categorical=\\['user_id'\\]$"
    with pytest.raises(ValueError, match=once):  # every unit has one row in either table
        km.compare(as_text(BEFORE), as_text(AFTER))


def survey(name: str, numbers: Any) -> pd.DataFrame:
    return pd.DataFrame({name: numbers, "a": RNG.normal(size=len(numbers)), "b": RNG.normal(size=len(numbers))})


EVEN, UNEVEN = np.repeat(np.arange(1, 41), 5), np.repeat(np.arange(1, 41), RNG.integers(3, 12, 40))


@pytest.mark.parametrize(
    ("name", "numbers", "proposed", "noted"),
    [
        ("interviewer", EVEN, True, True),
        ("interviewer", UNEVEN, True, True),
        ("q17", EVEN, True, False),
        ("q17", EVEN * 7 + 10_000, True, False),
        ("q17", UNEVEN, False, False),
        ("q17", EVEN * 7, False, False),
        ("q17", RNG.integers(18, 58, 400), False, False),
        ("year", EVEN + 1900, False, False),
        ("interviewer", EVEN + 0.5, False, False),
        ("batch", EVEN % 5, False, False),
    ],
    ids=str,
)
def test_numbers_of_groups_are_proposed_as_clusters(name: str, numbers: Any, *, proposed: bool, noted: bool) -> None:
    table = survey(name, numbers).sample(frac=1.0, random_state=0)
    (column, *_) = describe_columns(to_frame(table, "t"), Encoding()).columns
    offer = f", or clusters={name!r} if rows with the same {name} belong together"
    assert column.change.endswith(offer) == proposed
    assert column.decide or not proposed
    found = km.dependence(table, n_resamples=19)
    assert any(own.startswith(f"{name} looks like a key of units") for own in found.notes) == noted


@pytest.mark.parametrize(
    ("name", "values", "proposed"),
    [
        ("weight", RNG.uniform(0.3, 1.7, 200), True),
        ("survey_weights", RNG.uniform(0.3, 1.7, 200), True),
        ("weight", RNG.normal(70.0, 5.0, 200), False),
        ("weight", RNG.normal(1.0, 1.0, 200), False),
        ("weight", np.full(200, np.inf), False),
        ("a1", RNG.uniform(0.3, 1.7, 200), False),
    ],
    ids=["weight", "weights", "kilograms", "negative", "infinite", "other"],
)
def test_a_column_of_weights_is_proposed_as_such(name: str, values: Any, *, proposed: bool) -> None:
    (column, *_) = describe_columns(to_frame(survey(name, values), "t"), Encoding()).columns
    assert column.change.endswith(f"weights={name!r} if it holds survey weights") == proposed
