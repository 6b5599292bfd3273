"""Columns and indexes that name rows: pairs in another order are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km

RNG = np.random.default_rng(5)
USERS = 100 + 7 * RNG.permutation(40)
BEFORE = pd.DataFrame({"user_id": USERS, "a": RNG.normal(size=40)})
AFTER = BEFORE.assign(a=BEFORE.a + RNG.normal(0.3, 0.1, 40))
SHUFFLED = AFTER.sample(frac=1.0, random_state=1)
QUICK: dict[str, Any] = {"paired": True, "n_resamples": 19}


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(user_id=[f"u{user}" for user in table.user_id])


@pytest.mark.parametrize("keys", ["integers", "texts"])
@pytest.mark.parametrize("options", [{}, {"categorical": "user_id"}], ids=str)
def test_pairs_in_another_order_are_refused(keys: str, options: dict[str, str]) -> None:
    if keys == "integers":
        options = {}
    first, second = (BEFORE, SHUFFLED) if keys == "integers" else map(as_text, (BEFORE, SHUFFLED))
    message = (
        "B has the values of 'user_id' in another order than A, .*; sort both .*, or write strata='user_id' instead"
    )
    with pytest.raises(ValueError, match=message):
        km.compare(first, second, **options, **QUICK)
    assert km.compare(first, second, strata="user_id", n_resamples=99).pvalue == 0.01


def test_pairs_with_partly_other_units_are_refused() -> None:
    first, second = as_text(BEFORE.iloc[:38]), as_text(SHUFFLED.sort_index().iloc[2:])
    with pytest.raises(
        ValueError, match=r"36 of the 38 values of 'user_id' in A are in B, and row i .*strata='user_id'"
    ):
        km.compare(first, second, **QUICK)
    with pytest.raises(ValueError, match=r"has 40 rows and B has 38; .*; 'user_id' names them: write strata='user_id'"):
        km.compare(as_text(BEFORE), second, **QUICK)


def test_measurements_that_are_all_different_are_no_keys() -> None:
    ranks = pd.DataFrame({"place": np.arange(30), "a": RNG.normal(size=30)})
    other = ranks.assign(place=ranks.place.sample(frac=1.0, random_state=0).to_numpy(), a=ranks.a + 0.1)
    with pytest.raises(ValueError, match=r"if it holds measurements, such as ranks, insist with keep=\['place'\]"):
        km.compare(ranks, other, **QUICK)
    assert km.compare(ranks, other, keep="place", **QUICK).pvalue <= 1.0
    assert km.compare(ranks[:8], other[:8].assign(place=ranks.place[7::-1]), **QUICK).pvalue <= 1.0  # few may be ranks
    years = ranks.assign(place=1990 + np.arange(30)), other.assign(place=1995 + np.arange(30))
    assert km.compare(*(table.rename(columns={"place": "year"}) for table in years), keep="year", **QUICK).pvalue <= 1.0
    shuffled = ranks.a.sample(frac=1.0, random_state=0).to_numpy()  # normal scores have the same values in both
    assert km.compare(ranks[["a"]], pd.DataFrame({"a": shuffled}), **QUICK).pvalue <= 1.0


ASKS: dict[str, Callable[[Any, Any], Any]] = {
    "compare": lambda first, second: km.compare(first, second, **QUICK),
    "mmd_test of pairs": partial(km.mmd_test, design=km.Design(paired=True), n_resamples=19, rng=0),
    "mmd_test": lambda first, second: km.mmd_test(first, second, design=km.Design(paired=True), n_resamples=19, rng=0),
    "hsic_test": lambda first, second: km.hsic_test(first, second, n_resamples=19, rng=0),
    "dhsic_test": lambda first, second: km.dhsic_test(first, second, n_resamples=19, rng=0),
    "hsic_test in bins": lambda first, second: km.hsic_test(first, second, scheme="bins", n_resamples=19, rng=0),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_indexes_that_name_units_in_another_order_are_refused(ask: Callable[[Any, Any], Any]) -> None:
    by_user = [table.set_index("user_id") for table in (BEFORE, AFTER, SHUFFLED)]
    named = as_text(BEFORE).set_index("user_id").rename_axis(None)
    refused = [(by_user[0], by_user[2]), (named, named[::-1])]
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


def test_any_two_of_several_variables_are_checked() -> None:
    X, Y = (table.set_index("user_id") for table in (BEFORE, SHUFFLED))
    with pytest.raises(ValueError, match=r"row i of variables\[0\] and row i of variables\[2\] are one unit"):
        km.dhsic_test(X, X.to_numpy() + 1.0, Y, n_resamples=19)
