"""Missing cells: the rule that was chosen is the one that is followed, and everything is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kernelmean.tables import Encoded, Encoding, encode

A = pd.DataFrame({"x": [1.0, np.nan, 3.0, 5.0], "c": ["u", "v", None, "v"], "y": [0.0, 1.0, 2.0, 3.0]})
B = pd.DataFrame({"x": [np.nan, 2.0, np.nan], "c": ["u", "w", "v"], "y": [1.0, 5.0, 2.0]})


def encoded(missing: Any, first: Any = A, second: Any = B) -> Encoded:
    return encode((first, second), ("A", "B"), Encoding(missing))


def test_an_error_names_the_column_the_row_the_number_and_what_to_write() -> None:
    with pytest.raises(ValueError, match="column 'x' is blank") as caught:
        encoded("error")
    text = str(caught.value)
    assert text.startswith(
        "A: row 2, column 'x' is blank or NaN (3 such cells in this column of both tables; 1 in 'c'); "
    )
    for rule in ("missing='drop'", "missing='category'"):
        assert rule in text


def test_an_error_keeps_the_rules_that_other_columns_have() -> None:
    with pytest.raises(ValueError, match="column 'c' is blank") as caught:
        encoded({"x": "drop"})
    assert "write missing={'x': 'drop', 'c': 'drop'} to leave" in str(caught.value)
    assert "missing={'x': 'drop', 'c': 'category'} for a category" in str(caught.value)


def test_rows_that_are_left_out_are_counted() -> None:
    found = encoded("drop")
    assert [len(table) for table in found.tables] == [2, 1]
    assert found.missing.as_dict() == {
        "rule": "drop",
        "columns": [{"name": "x", "rule": "drop", "cells": [1, 2]}, {"name": "c", "rule": "drop", "cells": [1, 0]}],
        "rows_left_out": [2, 2],
    }
    note = "3 of 7 rows are left, also for columns without blank cells; missing='category' keeps all"
    assert found.notes() == ("A: 2 rows with blank cells left out", "B: 2 rows with blank cells left out", note)


def test_dropping_is_leaving_the_rows_out_before() -> None:
    complete = [table.dropna() for table in (A, B)]
    for found, literal in zip(encoded("drop").tables, encoded("error", *complete).tables, strict=True):
        np.testing.assert_array_equal(found, literal)


def test_every_column_may_have_a_rule_of_its_own() -> None:
    found = encoded({"x": "noise", "c": "category"})
    assert found.missing.rows == (0, 0)
    assert [(each.name, each.rule, each.cells) for each in found.missing.columns] == [
        ("x", "noise", (1, 2)),
        ("c", "category", (1, 0)),
    ]
    assert found.variances is not None
    (at,) = found.groups["x"]
    assert [table[:, at].tolist() for table in found.variances] == [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    assert found.notes() == (
        "missing cells in A and B: 1 (25 %) and 0 of c (a category of its own)",
        "missing cells in A and B: 1 (25 %) and 2 (67 %) of x (the mean of the column with its variance as noise)",
    )


def test_a_rule_for_one_column_leaves_the_others_complete() -> None:
    with pytest.raises(ValueError, match="A: row 3, column 'c' is blank"):
        encoded({"x": "drop"})


def test_a_rule_without_missing_cells_changes_nothing() -> None:
    complete = A.dropna(), B.dropna()
    for rule in ("drop", "category", "noise"):
        found = encoded(rule, *complete)
        assert found.variances is None
        assert found.missing.columns == ()
        np.testing.assert_array_equal(found.tables[0], encoded("error", *complete).tables[0])


@pytest.mark.parametrize("rule", ["drop", "category", {"x": "noise", "c": "category"}])
def test_every_library_and_every_sign_of_missing_is_the_same(rule: Any) -> None:
    same = [
        (A, B),
        (A.convert_dtypes(), B.convert_dtypes()),
        (pl.from_pandas(A), pl.from_pandas(B)),
        (pl.from_pandas(A).with_columns(pl.col("x").fill_null(float("nan"))), pl.from_pandas(B)),
        (pl.from_pandas(A).to_arrow(), pl.from_pandas(B).to_arrow()),
    ]
    results = [encoded(rule, *tables) for tables in same]
    for other in results[1:]:
        assert other.missing == results[0].missing
        for found, first in zip(other.points(), results[0].points(), strict=True):
            np.testing.assert_array_equal(found, first)


def test_a_blank_column_of_one_table() -> None:
    A, B = pd.DataFrame({"x": [np.nan, np.nan]}), pd.DataFrame({"x": [1.0, 3.0]})
    found = encoded("category", A, B)
    np.testing.assert_allclose(found.tables[0], [[2.0, np.sqrt(2.0)]] * 2)
    np.testing.assert_allclose(found.tables[1], [[1.0, 0.0], [3.0, 0.0]])
    noisy = encoded("noise", A, B)
    assert noisy.variances is not None
    assert noisy.variances[0].ravel().tolist() == [1.0, 1.0]


def test_a_column_with_one_value_and_blanks_says_who_is_missing() -> None:
    A, B = pd.DataFrame({"x": [4.0, np.nan, 4.0]}), pd.DataFrame({"x": [4.0]})
    found = encoded("category", A, B)
    assert np.concatenate(found.tables)[:, 1].tolist() == pytest.approx([0.0, 1 / np.sqrt(3 / 16), 0.0, 0.0])
    assert encoded("noise", A, B).constant == ("x",)


@pytest.mark.parametrize(
    ("rule", "first", "text"),
    [
        ("noise", A, "missing='noise' is for numbers and times, and 'c' is categorical"),
        ("drop", A.assign(x=np.nan), "A: every row has a blank cell, most of them in column 'x'"),
        ({"x": "error", "c": "drop"}, A, "row 2, column 'x' is blank"),
    ],
)
def test_rules_that_cannot_be_followed(rule: Any, first: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        encoded(rule, first)


def test_flags_and_levels_are_no_noise() -> None:
    flags = pd.DataFrame({"f": [True, None, False]})
    with pytest.raises(ValueError, match="'f' is boolean"):
        encoded("noise", flags, flags)
    with pytest.raises(ValueError, match="'f' is ordinal"):
        encode((pd.DataFrame({"f": ["lo", None, "hi"]}),), ("A",), Encoding("noise", ordinal={"f": ["lo", "hi"]}))


def test_an_error_in_the_second_table_names_it() -> None:
    with pytest.raises(ValueError, match="B: row 1, column 'x' is blank"):
        encoded("error", A.dropna(), B)
