"""Cells of text under every format: the number or the time that a person means, or nothing."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from kernelmean.tables import TextFormat, read_frame

COMMA, GERMAN = TextFormat(decimal=","), TextFormat(decimal=",", thousands=".")
ENGLISH, FRENCH = TextFormat(thousands=","), TextFormat(decimal=",", thousands=" ")
SWISS, SPACED = TextFormat(thousands="'"), TextFormat(thousands="_")
NUMBERS: list[tuple[TextFormat, str, float | None]] = [
    (COMMA, "1,5", 1.5),
    (COMMA, "-0,25", -0.25),
    (COMMA, "+,5", 0.5),
    (COMMA, "1,5e3", 1500.0),
    (COMMA, " 12,0 ", 12.0),
    (COMMA, "1.234", None),
    (COMMA, "1.5", None),
    (COMMA, "1,234,5", None),
    (COMMA, "1,5-", None),
    (COMMA, "(1,5)", None),
    (COMMA, "1,5 kg", None),
    (COMMA, "01,5", 1.5),
    (COMMA, "015", None),
    (COMMA, "٣,٥", None),
    (GERMAN, "1.234", 1234.0),
    (GERMAN, "1.234,5", 1234.5),
    (GERMAN, "12.345.678,25", 12345678.25),
    (GERMAN, "1234,5", 1234.5),
    (GERMAN, "-1.234", -1234.0),
    (GERMAN, "1.23", None),
    (GERMAN, "1.2345", None),
    (GERMAN, "1234.567", None),
    (GERMAN, "0.123", None),
    (GERMAN, "1.234.56", None),
    (GERMAN, "9.007.199.254.740.993", 9007199254740993),
    (GERMAN, "1,234.5", None),
    (ENGLISH, "1,234", 1234.0),
    (ENGLISH, "1,234.5", 1234.5),
    (ENGLISH, "1,23", None),
    (ENGLISH, "007,123", None),
    (ENGLISH, "+49 30", None),
    (FRENCH, "1 234,5", 1234.5),
    (FRENCH, "1\u202f234\u202f567", 1234567.0),
    (FRENCH, "1\u00a0234", 1234.0),
    (FRENCH, "1 234\u00a0567", None),
    (FRENCH, "1  234", None),
    (SWISS, "1'234.5", 1234.5),
    (SWISS, "1’234", 1234.0),
    (SPACED, "1_234", 1234.0),
    (SPACED, "1_23", None),
]
DMY, MDY, YMD = TextFormat(dates="dmy"), TextFormat(dates="mdy"), TextFormat(dates="ymd")
TIMES: list[tuple[TextFormat, str, str | None]] = [
    (DMY, "01.02.2024", "2024-02-01"),
    (DMY, "1/2/2024", "2024-02-01"),
    (DMY, "1-2-2024", "2024-02-01"),
    (DMY, "1. 2. 2024", "2024-02-01"),
    (DMY, "29.02.2024", "2024-02-29"),
    (DMY, "2024-02-01", "2024-02-01"),
    (DMY, "01.02.2024 13:05", "2024-02-01T13:05:00"),
    (DMY, "01.02.2024, 13:05:06", "2024-02-01T13:05:06"),
    (DMY, "31.02.2024", None),
    (DMY, "1.13.2024", None),
    (DMY, "29.02.2023", None),
    (DMY, "01.02.24", None),
    (DMY, "1.2/2024", None),
    (DMY, "01.02.2024 25:00", None),
    (DMY, "01.02.2024 13:05 Uhr", None),
    (DMY, "1.2.", None),
    (MDY, "1/2/2024", "2024-01-02"),
    (MDY, "12/31/2024 3:45 PM", "2024-12-31T15:45:00"),
    (MDY, "12/31/2024 12:00 am", "2024-12-31T00:00:00"),
    (MDY, "12/31/2024 13:00 PM", None),
    (MDY, "31/12/2024", None),
    (YMD, "2024/2/1", "2024-02-01"),
    (YMD, "2024.02.01", "2024-02-01"),
    (YMD, "1/2/2024", None),
]


def column(tmp_path: Path, cells: list[str | None], text: TextFormat) -> Any:
    """Read a column of text from a file that keeps it as it is."""
    parquet.write_table(pa.table({"x": pa.array(cells, "string")}), tmp_path / "t.parquet")
    return read_frame(tmp_path / "t.parquet", text=text)["x"]


@pytest.mark.parametrize(("text", "cell", "number"), NUMBERS)
def test_a_cell_is_a_number_or_stays_text(tmp_path: Path, text: TextFormat, cell: str, number: float | None) -> None:
    found = column(tmp_path, [cell, None], text)
    if number is None:
        assert found.tolist() == [cell, None]
    elif number > 2**53:
        assert found.tolist() == [number, None]
    else:
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, [number, np.nan])


@pytest.mark.parametrize(("text", "cell", "time"), TIMES)
def test_a_cell_is_a_time_or_stays_text(tmp_path: Path, text: TextFormat, cell: str, time: str | None) -> None:
    found = column(tmp_path, [cell, None], text)
    if time is None:
        assert found.tolist() == [cell, None]
    else:
        assert found.dtype == ("datetime64[us]" if "T" in time else "datetime64[D]")
        assert (found[0], np.isnat(found[1])) == (np.datetime64(time), True)


def test_one_cell_that_is_no_number_leaves_the_column_as_text(tmp_path: Path) -> None:
    assert column(tmp_path, ["1,5", "2,5", "x"], COMMA).tolist() == ["1,5", "2,5", "x"]


def test_blank_cells_and_missing_texts_are_missing(tmp_path: Path) -> None:
    np.testing.assert_array_equal(column(tmp_path, ["1,5", "", " ", "NA", None], COMMA), [1.5, *[np.nan] * 4])


def test_dates_and_times_in_one_column_are_times(tmp_path: Path) -> None:
    found = column(tmp_path, ["01.02.2024", "02.02.2024 10:00", "2024-02-03"], DMY)
    assert found.tolist() == [datetime(2024, 2, 1), datetime(2024, 2, 2, 10), datetime(2024, 2, 3)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ";"}, "decimal is ';'"),
        ({"decimal": None}, "decimal is None"),
        ({"thousands": "."}, "the decimal mark and the mark between thousands.*decimal=',', thousands='.'"),
        ({"decimal": ",", "thousands": ","}, "decimal='.', thousands=','"),
        ({"thousands": "-"}, "thousands is '-'"),
        ({"thousands": ""}, "thousands is ''"),
        ({"dates": "dym"}, "dates is 'dym'"),
        ({"encoding": "klingon"}, "encoding is 'klingon'"),
        ({"encoding": "rot13"}, "encoding is 'rot13'"),
        ({"encoding": 5}, "encoding is 5"),
    ],
)
def test_what_is_no_format_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextFormat(**options)
