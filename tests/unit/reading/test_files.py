"""Files as people have them: each is read cell by cell as it was meant, the same in memory and batch by batch."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import kernelmean as km
from kernelmean.tables import Frame, TextFormat, column_names, joined, read_frame, read_table

PLAIN, EUROPEAN = TextFormat(), TextFormat(decimal=",", thousands=".", dates="dmy")
ROWS = 400
CELLS: dict[str, list[str | None]] = {  # what is unlike the cells before comes late, in another batch
    "price": [*(f"{k},5" for k in range(ROWS - 2)), "1.234,5", None],
    "whole": [*("12" for _ in range(ROWS - 1)), "1.234"],
    "day": [*(f"{k % 28 + 1:02d}.02.2024" for k in range(ROWS))],
    "when": [*("01.02.2024" for _ in range(ROWS - 1)), "01.02.2024 10:30"],
    "note": [*("1,5" for _ in range(ROWS - 1)), "none"],
    "late": [*(None for _ in range(ROWS - 1)), "03.02.2024"],
    "code": [*(f"{k % 7:03d}x" for k in range(ROWS))],
}


def as_csv(path: Path, separator: str = ";") -> None:
    pd.DataFrame(CELLS).to_csv(path, index=False, sep=separator)


def as_lines(path: Path) -> None:
    path.write_text(
        "\n".join(json.dumps(dict(zip(CELLS, row, strict=True))) for row in zip(*CELLS.values(), strict=True))
    )


def as_parquet(path: Path) -> None:
    parquet.write_table(pa.table(CELLS), path, row_group_size=31)


def as_feather(path: Path) -> None:
    feather.write_feather(pa.table(CELLS), path, chunksize=29)


WRITERS: dict[str, Callable[[Path], None]] = {
    "t.csv": as_csv,
    "comma.csv": lambda path: as_csv(path, ","),
    "t.tsv": lambda path: as_csv(path, "\t"),
    "t.csv.gz": as_csv,
    "t.parquet": as_parquet,
    "t.feather": as_feather,
    "t.arrow": as_feather,
    "t.jsonl": as_lines,
    "t.ndjson": as_lines,
}


def streamed(path: Path, text: TextFormat = PLAIN, **options: Any) -> Frame:
    """Read a file in batches, as tests of streams do."""
    return joined(list(km.read(path, text=text, batch_rows=17, **options).frames()))


def assert_same(first: Frame, second: Frame) -> None:
    assert first.names == second.names
    assert dict(first.declared) == dict(second.declared)
    for name in first.names:
        assert first[name].dtype.kind == second[name].dtype.kind, name
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


@pytest.mark.parametrize("name", WRITERS)
def test_memory_and_stream_read_the_same_whatever_the_batches(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelmean.tables.readers.csv_file.BLOCK_BYTES", 400)
    WRITERS[name](tmp_path / name)
    whole = read_frame(tmp_path / name, text=EUROPEAN)
    np.testing.assert_array_equal(whole["price"][[0, -2, -1]], [0.5, 1234.5, np.nan])
    np.testing.assert_array_equal(whole["whole"][[0, -1]], [12.0, 1234.0])
    assert [whole[column][-1] for column in ("day", "when", "late")] == [
        np.datetime64(f"2024-02-{(ROWS - 1) % 28 + 1:02d}"),
        np.datetime64("2024-02-01T10:30:00"),
        np.datetime64("2024-02-03"),
    ]
    assert whole["note"].tolist() == CELLS["note"]
    assert whole["code"].tolist() == CELLS["code"]
    assert_same(whole, streamed(tmp_path / name, EUROPEAN))


LATE = {
    "fractions after whole numbers": (["1"] * 300, "1.5"),
    "truth values after 0 and 1": (["0", "1"] * 150, "true"),
    "numbers after truth values": (["true"] * 300, "3"),
    "dates after blanks": ([""] * 300, "2024-02-03"),
    "truth values after blanks": ([""] * 300, "false"),
    "times of the day after blanks": ([""] * 300, "12:30"),
    "text after blanks": ([""] * 300, "x"),
    "times with a zone after blanks": ([""] * 300, "2024-02-03T10:00:00Z"),
    "times after dates": (["2024-02-03"] * 300, "2024-02-03 10:00"),
    "fractions of a second after times": (["2024-02-03 10:00:00"] * 300, "2024-02-03 10:00:00.5"),
    "zones after times": (["2024-02-03 10:00:00"] * 300, "2024-02-03 10:00:00Z"),
    "text after numbers": (["1"] * 300, "a 'quoted' \"word\""),
    "text after dates": (["2024-02-03"] * 300, "soon"),
    "line breaks": (["x"] * 300, "two\nlines"),
}


@pytest.mark.parametrize("name", LATE)
def test_types_of_csv_files_do_not_depend_on_where_blocks_are_cut(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    early, last = LATE[name]
    frame = pd.DataFrame({"x": [*early, last], "row": range(len(early) + 1)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    whole = read_frame(tmp_path / "t.csv")
    for block in (100, 1000, 2**20):
        monkeypatch.setattr("kernelmean.tables.readers.csv_file.BLOCK_BYTES", block)
        assert_same(whole, streamed(tmp_path / "t.csv"))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (["a", "b"], [["1,5", "2,5"], ["3,5", "4,5"]]),
        (["weight, kg", "height, cm"], [["1,5", "2,5"], ["3,5", "4,5"]]),
        (["a; b; c", "d"], [["1", "2"], ["3", "4"]]),
        (["a", "b"], [["x, y; z", "two | three"], ["u", "v\tw"]]),
        (["a", "b"], [["two\nlines", "1"], ["3\r\n4", "2"]]),
        (["a", "b"], [['she said "no", and left', "1"], ["x", "2"]]),
        (["a", "b"], [["", "1"], ["x", ""]]),
        (["weight, kg", "smoker"], [["1,8 kg", "yes"], ["2,5 kg", "no"]]),
    ],
)
def test_separators_are_found_whatever_stands_in_cells(
    separator: str, header: list[str], rows: list[list[str]], tmp_path: Path
) -> None:
    pd.DataFrame(rows, columns=header).to_csv(tmp_path / "t.csv", index=False, sep=separator)
    frame = read_frame(tmp_path / "t.csv", text=TextFormat(decimal=","))
    assert frame.names == tuple(header)
    assert tuple(column_names(tmp_path / "t.csv")) == tuple(header)
    for name, cells in zip(header, zip(*rows, strict=True), strict=True):
        if frame[name].dtype == np.float64:
            meant = [np.nan if cell == "" else float(cell.replace(",", ".")) for cell in cells]
            np.testing.assert_array_equal(frame[name], meant)
        else:
            assert frame[name].tolist() == [cell.replace("\r\n", "\n") or None for cell in cells]


@pytest.mark.parametrize("comma", ["a;b\n1,2;3\n4,5;6\n", '"a","b"\n"1,2","3"\n"4,5","6"\n', "a\tb\n1,2\t3\n4,5\t6\n"])
def test_a_decimal_comma_is_text_unless_it_is_asked_for(comma: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(comma)
    assert read_frame(tmp_path / "t.csv")["a"].tolist() == ["1,2", "4,5"]
    read = read_frame(tmp_path / "t.csv", text=TextFormat(decimal=","))
    assert (read["a"].tolist(), read["b"].tolist()) == ([1.2, 4.5], [3.0, 6.0])
    np.testing.assert_array_equal(
        np.concatenate(list(km.read(tmp_path / "t.csv", text=TextFormat(decimal=",")))), [[1.2, 3.0], [4.5, 6.0]]
    )


def test_a_point_is_no_decimal_mark_beside_a_decimal_comma(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1.234;1\n5.678;2\n")
    assert read_frame(tmp_path / "t.csv")["a"].tolist() == [1.234, 5.678]
    assert read_frame(tmp_path / "t.csv", text=TextFormat(decimal=","))["a"].tolist() == ["1.234", "5.678"]
    german = TextFormat(decimal=",", thousands=".")
    assert read_frame(tmp_path / "t.csv", text=german)["a"].tolist() == [1234.0, 5678.0]
    assert read_table(tmp_path / "t.csv", text=german).values[:, 0].tolist() == [1234.0, 5678.0]
    assert np.concatenate(list(km.read(tmp_path / "t.csv", text=german)))[:, 0].tolist() == [1234.0, 5678.0]


def test_codes_that_begin_with_a_zero_stay_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b;c\n007;+49 30;7\n012;+49 89;8\n")
    for text in (TextFormat(), EUROPEAN, TextFormat(thousands=" ")):
        form = TextFormat(text.decimal, text.thousands, text.dates)
        for frame in (read_frame(tmp_path / "t.csv", text=form), streamed(tmp_path / "t.csv", text=form)):
            assert frame["a"].tolist() == ["007", "012"]
            assert frame["b"].tolist() == ["+49 30", "+49 89"]
            assert frame["c"].tolist() == [7.0, 8.0]


LETTERS = "name;größe\nJosé;1\nZoë;2\n"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (LETTERS.encode(), None),
        (LETTERS.encode("utf-8-sig"), None),
        (LETTERS.encode("utf-16"), None),
        (b"\xfe\xff" + LETTERS.encode("utf-16-be"), None),
        (LETTERS.encode("latin-1"), "latin-1"),
        (LETTERS.encode("cp1252"), "cp1252"),
        (LETTERS.encode("cp437"), "cp437"),
        (LETTERS.encode("utf-16-le"), "utf-16-le"),
        (LETTERS.encode("utf-8-sig"), "latin-1"),
        (LETTERS.encode(), "UTF8"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_encodings(ending: str, content: bytes, encoding: str | None, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    text = TextFormat(encoding=encoding)
    for frame in (read_frame(path, text=text), streamed(path, text)):
        assert frame.names == ("name", "größe")
        assert frame["name"].tolist() == ["José", "Zoë"]
        assert frame["größe"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("far", [0, 20_000])
def test_letters_of_another_encoding_name_the_option(far: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"x,1\n" * far + "José,1\n".encode("latin-1"))
    for read in (read_frame, streamed):
        with pytest.raises(ValueError, match=r"is not UTF-8 text.*encoding='cp1252'"):
            read(path)
    path.write_bytes(b"a,b\n" + b"x,1\n" * far + b"Jos\x81,1\n")
    for read in (read_frame, streamed):
        with pytest.raises(ValueError, match="is not cp1252 text"):
            read(path, text=TextFormat(encoding="cp1252"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "Sales of 2024\na,b\n1,2\n3,4\n",
            r"first line \('Sales of 2024'\) has 1 cell and the lines below have 2.*leave out the lines above",
        ),
        ("Sales\n\na;b\n1;2\n3;4\n", "leave out the lines above the header"),
        ("# made by a machine\na,b\n1,2\n", "leave out the lines above the header"),
        ("# made, by a machine\na,b\n1,2\n3,4\n", "is a comment above the header"),
        ("Sales, 2024\na,b,c\n1,2,3\n3,4,5\n", "2 cells and the lines below have 3"),
        ("a,b\nr1,1,2\nr2,3,4\n", "2 cells and the lines below have 3.*name all columns"),
        ("note\nhello, world\nso, long\n", "1 cell and the lines below have 2"),
        ('a,b\n1,x\n2,"y\n3,z\n', "quotation mark in row 2 is never closed"),
    ],
)
def test_what_stands_above_a_header_or_is_never_closed_is_named(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content)
    for read in (read_frame, streamed):
        with pytest.raises(ValueError, match=message):
            read(tmp_path / "t.csv")


LINES = ['{"a": 1, "b": "x", "c": true, "d": "2024-02-03"}', "", '{"b": "007", "a": 2.5, "d": null, "c": null}']


def test_json_lines_keep_their_types(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("\n".join(LINES))
    for frame in (read_frame(tmp_path / "t.jsonl"), streamed(tmp_path / "t.jsonl")):
        assert frame.names == ("a", "b", "c", "d")
        assert frame["a"].tolist() == [1.0, 2.5]
        assert frame["b"].tolist() == ["x", "007"]
        np.testing.assert_array_equal(frame["c"], [1.0, np.nan])
        assert frame.declared["c"].kind == "boolean"
        assert (str(frame["d"][0]), np.isnat(frame["d"][1])) == ("2024-02-03", True)
    assert column_names(tmp_path / "t.jsonl") == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": {"b": 1}}', r"line 3, key 'a' holds several values"),
        ('{"a": [1]}', "holds several values"),
        ('{"a": 1, " a": 2}', "a key occurs in it twice"),
        ('{"a": "x"}', r"line 3, key 'a' holds text \('x'\), and numbers in the lines before"),
        ('{"a": true}', "holds truth values"),
        ("[1]", "line 3 is not a JSON object"),
        ("a,b", "line 3 is not JSON"),
        ('{"a": 1, "a": 2}', "a key occurs in it twice"),
    ],
)
def test_json_lines_that_are_no_table_are_named(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(f'{{"a": 1}}\n{{"a": null}}\n{line}\n')
    for read in (read_frame, streamed):
        with pytest.raises(ValueError, match=message):
            read(tmp_path / "t.jsonl")


def test_a_key_that_a_line_of_json_lacks_is_a_missing_cell(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{}\n{"a": 2, "b": "x"}\n')
    for frame in (read_frame(tmp_path / "t.jsonl"), streamed(tmp_path / "t.jsonl")):
        np.testing.assert_array_equal(frame["a"], [1.0, np.nan, 2.0])
        assert frame["b"].tolist() == [None, None, "x"]


def test_batches_of_numbers_name_the_cell_that_is_none(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": ["1,5", "2,5", "x"]}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a;b\n1.000;1\nx;2\n")
    with pytest.raises(TypeError, match="where 'x' means that a cell is missing"):
        list(km.read(tmp_path / "t.parquet", text=TextFormat(decimal=",")))
    with pytest.raises(TypeError, match=r"'a' \('x' in row 2\)"):
        list(km.read(tmp_path / "t.csv", text=TextFormat(decimal=",", thousands=".")))


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a;b\n1,5;2\n2,5;3\n")))
    frame = read_frame("-", text=TextFormat(decimal=","))
    assert (frame.source, frame["a"].tolist()) == ("standard input", [1.5, 2.5])
    with pytest.raises(ValueError, match="standard input is empty, or was read before"):
        read_frame("-")
    with pytest.raises(ValueError, match="standard input can be read once only, not batch by batch"):
        km.read("-")


def test_gzip_that_is_damaged_or_none_is_named(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)
    for content in (whole[:-30], whole[:200], whole[:-8] + bytes(8), b"a,b\n1,2\n"):
        (tmp_path / "t.csv.gz").write_bytes(content)
        for read in (read_frame, streamed):
            with pytest.raises(ValueError, match="is damaged or not compressed by gzip"):
                read(tmp_path / "t.csv.gz")


def test_the_names_of_columns_are_those_of_every_kind_of_file(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        write(tmp_path / name)
        assert column_names(tmp_path / name) == [*CELLS]
