"""Tables: files, data frames, arrays and built-in names become the same finite float64 numbers, or a plain error."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from kernelmean.tables import (
    BUILT_IN,
    Frame,
    Table,
    as_frame,
    as_table,
    match_columns,
    read_frame,
    read_table,
    split_groups,
)

COLUMNS = {"a": [1, 2, 3], "b": [0.5, -1.0, 2.25]}
VALUES = np.array([[1.0, 0.5], [2.0, -1.0], [3.0, 2.25]])
Make = Callable[[Any], Any]
LIBRARIES: dict[str, Make] = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas, arrow": lambda data: pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture(params=list(LIBRARIES))
def library(request: pytest.FixtureRequest) -> Make:
    return LIBRARIES[request.param]


class TestAsTable:
    def test_data_frames_keep_values_and_names(self, library: Make) -> None:
        table = as_table(library(COLUMNS))
        assert table.names == ("a", "b")
        assert table.values.dtype == np.float64
        np.testing.assert_array_equal(table.values, VALUES)

    def test_a_missing_cell_is_named_or_its_row_dropped(self, library: Make) -> None:
        data = library({"a": [1, None, 3], "b": [0.5, 1.0, 2.0]})
        with pytest.raises(ValueError, match=r"X: row 2, column 'a' is blank or NaN \(1 such cell in all\)"):
            as_table(data)
        np.testing.assert_array_equal(as_table(data, missing="drop").values, [[1.0, 0.5], [3.0, 2.0]])

    def test_booleans_are_zero_and_one(self, library: Make) -> None:
        np.testing.assert_array_equal(as_table(library({"t": [True, False]})).values, [[1.0], [0.0]])

    def test_text_is_named_with_its_row(self, library: Make) -> None:
        with pytest.raises(TypeError, match=r"'kind' \('x' in row 1\).*drop=\['kind'\]"):
            as_table(library({"a": [1, 2], "kind": ["x", "y"]}))

    def test_integers_that_float64_cannot_tell_apart_are_refused(self, library: Make) -> None:
        assert as_table(library({"a": [2**53, 1]})).values[0, 0] == 2.0**53
        with pytest.raises(TypeError, match="'a' \\('9007199254740993' in row 2\\)"):
            as_table(library({"a": [1, 2**53 + 1]}))

    def test_no_rows(self, library: Make) -> None:
        with pytest.raises(ValueError, match="X has no rows"):
            as_table(library({"a": [1.0]})[:0])

    @pytest.mark.parametrize(
        "data",
        [
            pd.DataFrame({"when": pd.to_datetime(["2020-01-01", None])}),
            pd.DataFrame({"kind": pd.Categorical([1, 2])}),
            pd.DataFrame({"any": np.array([1, "x"], dtype=object)}),
            pd.DataFrame({"complex": [1 + 2j]}),
            pl.DataFrame({"list": [[1], [2]]}),
            pa.table({"text": ["1.5"]}),
            np.array([[1, "a"]], dtype=object),
            [["a", "b"]],
        ],
        ids=lambda data: f"{type(data).__module__}.{type(data).__name__}",
    )
    def test_what_is_not_numbers_is_a_type_error(self, data: Any) -> None:
        with pytest.raises(TypeError, match=r"not numbers|numbers are needed"):
            as_table(data)

    @pytest.mark.parametrize(
        ("data", "text"),
        [
            (pd.DataFrame(np.eye(2), columns=["a", "a"]), "twice"),
            (pd.DataFrame(), "no columns"),
            (np.ones((2, 2, 2)), "shape"),
            ([[1], [2, 3]], "different lengths"),
            (pd.DataFrame({"": [1]}), "has no name"),
            (pd.DataFrame({"a": [1.0, np.inf]}), "row 2, column 'a' is infinite"),
            (np.zeros((0, 2)), "at least one row"),
        ],
    )
    def test_bad_shapes(self, data: Any, text: str) -> None:
        with pytest.raises(ValueError, match=text):
            as_table(data)

    def test_arrays_and_tables(self) -> None:
        table = as_table(VALUES)
        assert table.names == ("x0", "x1")
        assert as_table(table) is table
        np.testing.assert_array_equal(np.asarray(table), VALUES)
        assert np.shares_memory(np.asarray(table), table.values)
        assert not np.shares_memory(np.array(table), table.values)
        assert np.asarray(table, dtype=np.float32).dtype == np.float32
        assert repr(table.columns([1]).take(slice(0, 1))) == "Table(1 row, 1 column: x1)"

    def test_names_must_fit(self) -> None:
        with pytest.raises(ValueError, match="do not fit 1 column"):
            Table(VALUES, ("a",))

    def test_missing_is_checked(self) -> None:
        with pytest.raises(ValueError, match="missing is 'ignore'"):
            as_table(pd.DataFrame(COLUMNS), missing="ignore")  # type: ignore[arg-type]


class TestFrame:
    frame = as_frame(pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": [1, 2, 3], "c": ["x", "y", None]}), "data")

    def test_select_keeps_the_order_asked_for(self) -> None:
        assert self.frame.select(["b", "a"]).names == ("b", "a")
        assert self.frame.select(drop=["b"]).names == ("a", "c")

    def test_unknown_columns_are_named_with_a_guess(self) -> None:
        with pytest.raises(ValueError, match=r"data has no column 'alcool' \(did you mean 'alcohol'"):
            as_frame(pd.DataFrame({"alcohol": [1]}), "data").select(["alcool"])
        with pytest.raises(ValueError, match="its columns are a, b, c"):
            self.frame.select(drop=["z"])

    def test_complete_rows(self) -> None:
        np.testing.assert_array_equal(self.frame.complete(), [True, True, False])

    def test_a_column_that_is_always_blank_is_named(self) -> None:
        frame = as_frame(pd.DataFrame({"a": [1.0, 2.0], "void": [None, None]}), "data")
        with pytest.raises(ValueError, match=r"most of them in column 'void'.*drop=\['void'\]"):
            frame.to_table(missing="drop")

    def test_data_without_names_are_no_frame(self) -> None:
        with pytest.raises(TypeError, match="data is a list"):
            as_frame([[1]], "data")


class TestSplit:
    frame = as_frame(pd.DataFrame({"g": ["u", "v", "u", "w", None], "n": [0, 0, 1, 1, 1], "x": range(5)}), "data")

    def test_two_groups(self) -> None:
        first, second = split_groups(self.frame.select(drop=["g"]), "n")
        assert (first.source, second.source) == ("n=0", "n=1")
        np.testing.assert_array_equal(first.to_table().values, [[0], [1]])
        np.testing.assert_array_equal(second.to_table().values, [[2], [3], [4]])

    def test_chosen_groups_in_the_order_asked_for(self) -> None:
        first, second = split_groups(self.frame.select(["g", "x"]), "g", ["w", "u"])
        np.testing.assert_array_equal(first.to_table().values, [[3]])
        np.testing.assert_array_equal(second.to_table().values, [[0], [2]])

    @pytest.mark.parametrize(
        ("cells", "ordered"),
        [
            (["10", "9", "-1", "2.5"], ["-1", "2.5", "9", "10"]),
            (["week 10", "week 2", "b", "A"], ["A", "b", "week 2", "week 10"]),
            ([True, False], ["False", "True"]),
            (pd.Categorical(["mid", "low", "high"], ["low", "mid", "high"], ordered=True), ["low", "mid", "high"]),
        ],
        ids=["numbers", "names", "truth values", "levels"],
    )
    def test_the_order_of_groups_does_not_depend_on_that_of_rows(self, cells: Any, ordered: list[str]) -> None:
        data = pd.DataFrame({"g": cells, "x": range(len(cells))})
        for rows in (data, data[::-1]):
            groups = split_groups(as_frame(pd.concat([rows, rows]), "data"), "g")
            assert [group.source for group in groups] == [f"g={name}" for name in ordered]

    @pytest.mark.parametrize(
        ("groups", "text"),
        [
            (None, r"has the groups u \(2 rows\), v \(1 row\), w \(1 row\); at least two of them must have two rows"),
            (["u"], "name two or more, each once"),
            (["u", "u"], "name two or more, each once"),
            (["u", "z"], "there is no group 'z'"),
        ],
    )
    def test_unclear_groups(self, groups: list[str] | None, text: str) -> None:
        with pytest.raises(ValueError, match=text):
            split_groups(self.frame, "g", groups)

    def test_one_group(self) -> None:
        with pytest.raises(ValueError, match=r"the groups 0 \(2 rows\); at least two of them"):
            split_groups(self.frame.take([0, 1]), "n")


class TestMatch:
    A = Frame({"a": np.zeros(1), "b": np.ones(1)}, "A")

    def test_other_order_is_moved_and_told(self) -> None:
        moved, told = match_columns(self.A, Frame({"b": np.ones(1), "a": np.zeros(1)}, "B"))
        assert (moved.names, told) == (("a", "b"), True)
        assert match_columns(self.A, self.A)[1] is False

    def test_other_names_are_listed(self) -> None:
        with pytest.raises(ValueError, match=r"only in A: b; only in B: c\).*the common ones with"):
            match_columns(self.A, Frame({"a": np.ones(1), "c": np.ones(1)}, "B"))
        with pytest.raises(ValueError, match="rename them"):
            match_columns(self.A, Frame({"c": np.ones(1)}, "B"))


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("plain.csv", "a,b\n1,0.5\n2,-1\n3,2.25\n"),
            ("capital.CSV", "a,b\n1,0.5\n2,-1\n3,2.25"),
            ("windows.csv", "a,b\r\n1,0.5\r\n2,-1\r\n3,2.25\r\n"),
            ("bom.csv", b"\xef\xbb\xbfa,b\n1,0.5\n2,-1\n3,2.25\n"),
            ("spaces.csv", " a , b\n 1, 0.5\n 2,-1\n\n3 ,2.25\n\n"),
            ("quotes.csv", '"a","b"\n"1","0.5"\n2,-1\n3,2.25\n'),
            ("tabs.tsv", "a\tb\n1\t0.5\n2\t-1\n3\t2.25\n"),
            ("semicolons.csv", "a;b\n1;0.5\n2;-1\n3;2.25\n"),
            ("exponents.csv", "a,b\n1e0,5e-1\n2.0,-1\n+3,2.25\n"),
        ],
    )
    def test_text(self, tmp_path: Path, name: str, content: str | bytes) -> None:
        table = read_table(write(tmp_path, name, content))
        assert table.names == ("a", "b")
        np.testing.assert_array_equal(table.values, VALUES)

    def test_another_separator_is_told(self, tmp_path: Path) -> None:
        assert "semicolons" in read_frame(write(tmp_path, "t.csv", "a;b\n1;2\n")).notes[0]
        assert read_frame(write(tmp_path, "t.tsv", "a\tb\n1\t2\n")).notes == ()

    def test_parquet_without_a_saved_index(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        pd.DataFrame(COLUMNS, index=["r", "s", "t"]).to_parquet(path)
        frame = read_frame(path)
        assert frame.names == ("a", "b")
        assert "row index" in frame.notes[0]
        np.testing.assert_array_equal(frame.to_table().values, VALUES)

    def test_a_blank_line_is_a_blank_cell_in_one_column(self, tmp_path: Path) -> None:
        path = write(tmp_path, "one.csv", "a\n1\n\n3\n")
        with pytest.raises(ValueError, match="row 2, column 'a' is blank"):
            read_table(path)
        np.testing.assert_array_equal(read_table(path, missing="drop").values, [[1.0], [3.0]])

    @pytest.mark.parametrize(
        ("name", "content", "text"),
        [
            ("empty.csv", "", "is empty"),
            ("lines.csv", "\n\n", "is empty"),
            ("empty.parquet", "", "is empty"),
            ("header.csv", "a,b\n", "a header line and no rows"),
            ("ragged.csv", "a,b\n1,2\n3\n", "not a table of cells separated by commas"),
            ("wide.csv", "a,b\n1,2,3\n", "as many cells as the header"),
            ("quote.csv", 'a,b\n1,2\n"3,4\n', "as many cells as the header"),
            ("binary.csv", bytes(range(256)) * 8, "not a text file"),
            ("utf16.csv", "a,b\n1,2\n".encode("utf-16-le"), "not a text file"),
            ("latin.csv", "a,b\n1,é\n".encode("latin1"), "not UTF-8"),
            ("header-latin.csv", "a,é\n1,2\n".encode("latin1"), "not UTF-8"),
            ("numbers.csv", "1,2.5\n3,4\n", "header line with column names is needed"),
            ("twice.csv", "a,a\n1,2\n", "'a' twice"),
            ("unnamed.csv", ",b,\n0,2,4\n", "column 3 has no name"),
            ("inf.csv", "a,b\n1,inf\n", "row 1, column 'b' is infinite"),
            ("huge.csv", "a,b\n1,1e400\n", "row 1, column 'b' is infinite"),
            ("nan.csv", "a,b\n1,2\n3,nan\n", "row 2, column 'b' is blank or NaN"),
            ("broken.parquet", b"PAR1" + bytes(100), "not a Parquet file"),
            ("text.parquet", "a,b\n1,2\n", "not a Parquet file"),
            ("sheet.xlsx", "a,b\n1,2\n", "ending '.xlsx' is unknown"),
            ("none", "a,b\n1,2\n", "ending '' is unknown"),
        ],
    )
    def test_bad_files_are_one_plain_line(self, tmp_path: Path, name: str, content: str | bytes, text: str) -> None:
        path = write(tmp_path, name, content)
        with pytest.raises(ValueError, match=text) as caught:
            read_table(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_cut_parquet_file(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        parquet.write_table(pa.table(COLUMNS), path)
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(ValueError, match="damaged or not a Parquet file"):
            read_table(path)

    def test_what_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"no file 'wines' and no built-in.*did you mean 'wine'"):
            read_table("wines")
        with pytest.raises(ValueError, match=r"is a folder without files that end in \.parquet"):
            read_table(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
    def test_a_pipe_is_refused_without_waiting(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(ValueError, match="not a regular file"):
            read_table(tmp_path / "pipe.csv")

    def test_no_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write(tmp_path, "t.csv", "a\n1\n")
        path.chmod(stat.S_IWUSR)

        def refuse(*_: Any, **__: Any) -> Any:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)  # the administrator may read everything
        with pytest.raises(PermissionError, match="may not be read; change its permissions"):
            read_table(path)


class TestBuiltIn:
    @pytest.mark.parametrize(
        ("name", "shape"),
        [
            ("wine", (178, 14)),
            ("wbdc", (569, 31)),
            ("wdbc", (569, 31)),
            ("breast_cancer", (569, 31)),
            ("iris", (150, 5)),
            ("diabetes", (442, 11)),
            ("digits", (1797, 65)),
            ("eckerle4", (35, 2)),
        ],
    )
    def test_shapes(self, name: str, shape: tuple[int, int]) -> None:
        assert read_table(name).values.shape == shape
        assert name in BUILT_IN

    def test_eckerle4_is_nists(self) -> None:
        table = read_table("eckerle4", columns=["x", "y"])
        np.testing.assert_array_equal(table.values[[0, -1]], [[400.0, 0.0001575], [500.0, 0.0000710]])
        assert table.values[:, 1].argmax() == np.abs(table.values[:, 0] - 451.5).argmin()  # the peak, fitted at 451.54
