"""What the columns of any data frame hold, and what is said where that is not clear."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kernelmean as km
from kernelmean.tables import Encoding, encode

CELLS: dict[str, list[Any]] = {
    "number": [1.5, None, 3.0, 2.0],
    "count": [1, 2, 3, 4],
    "text": ["x", "y", None, "x"],
    "flag": [True, None, False, True],
    "day": [dt.date(2024, 1, 1), dt.date(2024, 1, 3), None, dt.date(2024, 1, 2)],
    "moment": [dt.datetime(2024, 1, 1), None, dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 1, 2)],
    "span": [dt.timedelta(hours=1), dt.timedelta(minutes=1), None, dt.timedelta(days=1)],
    "clock": [dt.time(8), dt.time(9, 30), None, dt.time(23)],
}
KINDS = {
    "number": "numeric",
    "count": "numeric",
    "text": "categorical",
    "flag": "boolean",
    "day": "datetime",
    "moment": "datetime",
    "span": "duration",
    "clock": "duration",
    "level": "ordinal",
    "label": "categorical",
    "zoned": "datetime",
}
LEVELS, CODES = ["low", "mid", "high"], [0, 2, None, 1]
CHOSEN = [None if code is None else LEVELS[code] for code in CODES]


def in_pandas() -> Any:
    frame = pd.DataFrame(CELLS)
    frame["level"] = pd.Categorical(CHOSEN, LEVELS, ordered=True)
    frame["label"] = pd.Categorical(CHOSEN, LEVELS)
    return frame.assign(zoned=frame["moment"].dt.tz_localize("Europe/Berlin"))


def in_polars() -> Any:
    return pl.DataFrame(CELLS).with_columns(
        pl.Series("level", CHOSEN, dtype=pl.Enum(LEVELS)),
        pl.Series("label", CHOSEN, dtype=pl.Categorical),
        pl.col("moment").dt.replace_time_zone("Europe/Berlin").alias("zoned"),
    )


def in_pyarrow() -> Any:
    table = pa.table(CELLS)
    for name, ordered in (("level", True), ("label", False)):
        column = pa.DictionaryArray.from_arrays(pa.array(CODES), LEVELS, ordered=ordered)
        table = table.append_column(name, column)
    local = [None if moment is None else moment - dt.timedelta(hours=1) for moment in CELLS["moment"]]
    return table.append_column("zoned", pa.array(local, pa.timestamp("us", tz="UTC")))


def arrow_backed() -> Any:
    return in_pandas().convert_dtypes(dtype_backend="pyarrow")


LIBRARIES = {"pandas": in_pandas, "polars": in_polars, "pyarrow": in_pyarrow, "pandas, arrow": arrow_backed}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_kind_of_every_column_is_found_in_every_library(library: str) -> None:
    assert km.TableEncoder(missing="category").fit(LIBRARIES[library]()).kinds_ == KINDS


def test_the_coordinates_are_the_same_in_every_library() -> None:
    points = [km.TableEncoder(missing="category").fit_transform(make()) for make in LIBRARIES.values()]
    for other in points[1:]:
        np.testing.assert_array_equal(points[0], other)


def test_ordered_levels_are_those_of_the_type_even_when_none_of_the_rows_has_them() -> None:
    frame = in_pandas()[["level"]].iloc[[0, 1, 1]]
    points = km.TableEncoder(scale=False).fit_transform(frame)
    assert points.ravel().tolist() == [0.0, 2.0, 2.0]


def test_the_user_names_what_a_type_does_not_say() -> None:
    frame = pd.DataFrame({"size": ["low", "high", "mid"], "code": [3, 1, 2], "grade": [1.0, 2.0, 4.0]})
    encoder = km.TableEncoder(ordinal={"size": LEVELS, "grade": [1, 2, 4]}, categorical="code", scale=False)
    points = encoder.fit_transform(frame)
    assert encoder.kinds_ == {"size": "ordinal", "code": "categorical", "grade": "ordinal"}
    assert encoder.get_feature_names_out().tolist() == ["size", "code=1", "code=2", "code=3", "grade"]
    assert points[:, 0].tolist() == [0.0, 2.0, 1.0]
    assert points[:, 4].tolist() == [0.0, 1.0, 2.0]


def test_truth_values_and_categories_of_them_are_two_categories() -> None:
    flags = [True, False, True, True]
    points = [km.TableEncoder().fit_transform(pd.DataFrame({"f": cells})) for cells in (flags, pd.Categorical(flags))]
    np.testing.assert_array_equal(*points)


def test_an_array_is_numbers() -> None:
    assert km.TableEncoder().fit([[1.0, 2.0], [3.0, 4.0]]).kinds_ == {"x0": "numeric", "x1": "numeric"}


def test_a_category_may_be_in_one_table_only() -> None:
    A, B = pd.DataFrame({"c": ["x", "y"]}), pd.DataFrame({"c": ["y", "z"]})
    encoded = encode((A, B), ("A", "B"), Encoding())
    assert encoded.codings[0].names == ("c=x", "c=y", "c=z")
    assert (encoded.tables[0] > 0).tolist() == [[True, False, False], [False, True, False]]


def test_a_column_that_is_all_missing_in_one_table_is_of_the_kind_of_the_other() -> None:
    A, B = pd.DataFrame({"c": [None, None]}), pd.DataFrame({"c": ["y", "z"]})
    encoded = encode((A, B), ("A", "B"), Encoding("category"))
    assert encoded.codings[0].type.kind == "categorical"
    assert encoded.codings[0].names == ("c=y", "c=z", "c is missing")


@pytest.mark.parametrize("rule", ["category", "noise"])
def test_a_column_that_is_all_missing_everywhere_is_constant(rule: str) -> None:
    A = pd.DataFrame({"a": [1.0, 2.0], "void": [None, None]})
    assert encode((A, A), ("A", "B"), Encoding(rule)).constant == ("void",)


def refused(A: Any, B: Any, **options: Any) -> str:
    with pytest.raises((TypeError, ValueError)) as caught:
        encode((A, B), ("A", "B"), Encoding(**options))
    assert "\n" not in str(caught.value)
    return str(caught.value)


NUMERIC = pd.DataFrame({"c": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("A", "B", "options", "text"),
    [
        (NUMERIC, pd.DataFrame({"c": ["x", "y"]}), {}, "numeric in A ('1' in row 1) and categorical in B ('x' in r"),
        (NUMERIC, pd.DataFrame({"c": [True, False]}), {}, "is numeric in A ('1' in row 1) and boolean in B"),
        (
            NUMERIC,
            pd.DataFrame({"c": ["1", "2"]}),
            {},
            "2 of 2 different cells are numbers ('1' in row 1)",
        ),
        (
            NUMERIC,
            pd.DataFrame({"c": ["1", "2x"]}),
            {},
            "1 of 2 different cells are numbers, but not '2x' in row 2",
        ),
        (NUMERIC, pd.DataFrame({"c": ["1,5", "2,5"]}), {}, "holds numbers with a decimal comma as text ('1,5' in r"),
        (
            NUMERIC,
            pd.DataFrame({"c": [1, 2**60]}),
            {},
            "integers beyond 2^53, such as 1152921504606846976, which float64 cannot",
        ),
        (NUMERIC, pd.DataFrame({"c": [b"x", b"y"]}), {}, "type bytes, neither numbers nor texts"),
        (NUMERIC, pl.DataFrame({"c": [[1], [2]]}), {}, "type list, which are neither numbers nor categories nor times"),
        (NUMERIC, pd.DataFrame({"c": [1.0, np.inf]}), {}, "B: row 2, column 'c' is infinite"),
        (NUMERIC, pd.DataFrame({"d": [1.0, 2.0]}), {}, "only in A: c; only in B: d"),
        (NUMERIC, NUMERIC[:0], {}, "B has no rows"),
        (NUMERIC, NUMERIC, {"categorical": "k"}, "A has no column 'k'"),
        (NUMERIC, NUMERIC, {"ordinal": {"k": [1, 2]}}, "A has no column 'k'"),
        (
            NUMERIC,
            NUMERIC,
            {"ordinal": {"c": [1, 3]}},
            "A: row 2, column 'c' holds '2', which is not one of its levels 1, 3",
        ),
        (NUMERIC, NUMERIC, {"ordinal": {"c": [1]}}, "at least two different ones are needed"),
        (NUMERIC, NUMERIC, {"ordinal": {"c": [1, 1]}}, "at least two different ones are needed"),
        (NUMERIC, NUMERIC, {"ordinal": {"c": "low"}}, "at least two different ones are needed"),
        (NUMERIC, NUMERIC, {"ordinal": {"c": [1, 2]}, "categorical": ["c"]}, "both in ordinal and in categorical"),
        (NUMERIC, pd.DataFrame({"c": ["01", "x"]}), {"categorical": "c"}, "numbers in A and the text '01' in B"),
        (NUMERIC, NUMERIC, {"ordinal": ["c"]}, "ordinal is ['c']; write a dict such as"),
        (NUMERIC, NUMERIC, {"missing": None}, "missing is None; write one of 'error', 'drop', 'category' or 'noise'"),
        (NUMERIC, NUMERIC, {"missing": "guess"}, "'error', 'drop', 'category' or 'noise'"),
        (NUMERIC, NUMERIC, {"missing": {"d": "drop"}}, "missing= names a column 'd' that is not there"),
        (NUMERIC, NUMERIC * 1e200, {}, "standard deviation"),
        (
            in_pandas()[["moment"]],
            in_pandas()[["zoned"]].set_axis(["moment"], axis=1),
            {"missing": "drop"},
            "time zone",
        ),
        (
            in_pandas()[["level"]],
            pd.DataFrame({"level": pd.Categorical(["mid", "low"], ["mid", "low"], ordered=True)}),
            {"missing": "drop"},
            "ordinal (low < mid < high) in A ('low' in row 1) and ordinal (mid < low) in B",
        ),
        (
            pl.DataFrame({"t": [dt.date(2024, 1, 1), dt.date(3024, 1, 1)]}),
            pl.DataFrame({"t": [dt.date(2024, 1, 1)]}),
            {},
            "A: row 2, column 't' holds 3024-01-01; times from 1678 to 2261",
        ),
        (
            pd.DataFrame({"id": [f"n{i}" for i in range(200)]}),
            pd.DataFrame({"id": [f"m{i}" for i in range(57)]}),
            {},
            "column 'id' has 257 different categories in 257 rows, the limit is 256",
        ),
    ],
)
def test_what_is_not_clear_is_one_plain_line(A: Any, B: Any, options: dict[str, Any], text: str) -> None:
    assert text in refused(A, B, **options)


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize(
    ("cells", "others", "words"),
    [
        ("true,false", "yes,no", "boolean in a.csv ('True' in row 1) and categorical in b.csv ('yes' in row 1)"),
        ("false,true", "1,0", "boolean in a.csv ('False' in row 1) and numeric in b.csv ('1' in row 1)"),
    ],
)
def test_what_tables_disagree_on_is_shown_as_it_is_written(
    cells: str, others: str, words: str, in_memory: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, two in (("a.csv", cells), ("b.csv", others)):
        lines = [f"{k % 7},{cell}" for k in range(20) for cell in two.split(",")]
        Path(name).write_text("\n".join(["x,y", *lines]), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(words)):
        km.compare(*(km.read(name, in_memory=in_memory) for name in ("a.csv", "b.csv")))


def test_the_limit_of_categories_can_be_raised() -> None:
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(300)]})
    with pytest.raises(ValueError, match="300 different texts in 300 cells"):
        km.TableEncoder(max_categories=300).fit(frame)
    assert km.TableEncoder(max_categories=300, categorical="id").fit_transform(frame).shape == (300, 300)


def test_times_may_be_categories() -> None:
    frame = pl.DataFrame({"day": CELLS["day"], "span": CELLS["span"]})
    names = km.TableEncoder(missing="category", categorical=["day", "span"]).fit(frame).get_feature_names_out().tolist()
    assert names[:2] == ["day=2024-01-01", "day=2024-01-02"]
    assert "span=3600 seconds" in names


def test_codes_are_matched_between_numbers_and_text() -> None:
    A, B = pd.DataFrame({"code": [1.0, 2.0]}), pd.DataFrame({"code": ["2", "x"]})
    encoded = encode((A, B), ("A", "B"), Encoding(categorical="code"))
    assert encoded.codings[0].names == ("code=1", "code=2", "code=x")


def test_codes_that_look_like_numbers_are_categories_when_they_are_called_so() -> None:
    frame = pd.DataFrame({"zip": ["01", "1", "01"], "declared": pd.Categorical(["1", "2", "1"])})
    encoder = km.TableEncoder(categorical=["zip"]).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["zip=1", "declared=2"]


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([True, False] * 5, [1.0, 0.0] * 5, "truth values in A and numbers in B"),
        (pd.date_range("2024-01-01", periods=10), ["2024-01-01"] * 10, "times in A and texts in B"),
    ],
)
def test_categories_of_two_types_are_refused(first: Any, second: Any, words: str) -> None:
    """Their names differ, True and 1, so that every row would say which table it is from."""
    tables = [pd.DataFrame({"c": cells, "x": np.arange(10) * 0.5}) for cells in (first, second)]
    with pytest.raises(ValueError, match=f"column 'c' holds {words}, whose categories have different names"):
        km.compare(*tables, categorical="c")
    for text in (tables[0].assign(c=["True", "False"] * 5), tables[0].astype({"c": "category"})):
        if words.startswith("truth"):
            assert km.compare(tables[0], text, categorical="c", n_resamples=19).pvalue == 1.0
    for held in ([True, False] * 5, [1.0, 0.0] * 5):
        same = [table.assign(c=held) for table in tables]
        assert km.compare(*same, categorical="c", n_resamples=19).pvalue == 1.0


def test_texts_between_do_not_hide_truth_values_from_numbers() -> None:
    frames = [pd.DataFrame({"c": cells, "x": np.arange(3) * 0.5}) for cells in ([True] * 3, ["True"] * 3, [1.0] * 3)]
    with pytest.raises(ValueError, match="'c' holds truth values in A and numbers in C"):
        encode(frames, ("A", "B", "C"), Encoding(categorical="c"))
