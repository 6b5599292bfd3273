"""Text that is numbers, dates or identifiers stops with one line; text that may be categories passes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_batches import in_batches
from kernelmean.core import printable
from kernelmean.core.number_marks import NumberMarks
from kernelmean.studies.columns import describe_columns
from kernelmean.tables import Encoding, Frame, TextFormat, read_frame
from kernelmean.tables.columns.texts import TextCells

RNG = np.random.default_rng(0)


def column(cells: Any, name: str = "c") -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series(list(cells), dtype=object), "x": np.random.default_rng(1).normal(size=len(cells))}
    )


def refusal(cells: Any, **options: Any) -> str:
    """Return the line that says why a column of text is not taken as categories."""
    with pytest.raises((TypeError, ValueError)) as caught:
        km.TableEncoder(**options).fit(column(cells))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def numbers(pattern: str, low: float = 1.0, high: float = 999.0, n: int = 30) -> list[str]:
    return [pattern.format(value) for value in np.random.default_rng(2).uniform(low, high, n)]


def with_comma(pattern: str, low: float = 1.0, high: float = 99.0) -> list[str]:
    return [cell.replace(".", ",") for cell in numbers(pattern, low, high)]


def german(low: float, high: float) -> list[str]:
    return [cell.translate(str.maketrans(",.", ".,")) for cell in numbers("{:,.2f}", low, high)]


def grouped(mark: str) -> list[str]:
    return [cell.replace(",", mark) for cell in numbers("{:,.0f}", 10_000, 9_000_000)]


def days(form: str, first: str = "2023-11-20", n: int = 30) -> list[str]:
    return [day.strftime(form) for day in pd.date_range(first, periods=n, freq="D")]


# how the cells are written, and what reads them: options of the command line, or what to write where none does
BESIDE = "write plain numbers, such as -1234.5"
WRITTEN = [
    (with_comma("{:.2f}"), "--decimal ,"),
    (with_comma("-{:.2f}"), "--decimal ,"),
    (with_comma("{:.4e}"), "--decimal ,"),
    (german(1000, 90_000), "--decimal , --thousands ."),
    (german(1e6, 9e7), "--decimal , --thousands ."),
    (["1,5", "2,25"], "--decimal ,"),
    (["1,5", "2,25", "3"] * 40, "--decimal ,"),
    (numbers("{:,.2f}", 1000, 90_000), "--thousands ,"),
    (numbers("{:,.0f}", 1e6, 9e7), "--thousands ,"),
    (["950", "1,250,000", "17"], "--thousands ,"),
    (numbers("{:,.0f}", 1000, 90_000), "--thousands , or --decimal ,"),
    (grouped(" "), "--thousands space"),
    (grouped("\u00a0"), "--thousands space"),
    (grouped("\u202f"), "--thousands space"),
    (grouped("\u2009"), "--thousands space"),
    (grouped("'"), '--thousands "\'"'),
    (grouped("\u2019"), '--thousands "\'"'),
    (["1.234.567", "12.345.678", "1.234.568"], "--decimal , --thousands ."),
    (["1 234,5", "12 345,25", "999,75"], "--decimal , --thousands space"),
    (["1\u00a0234,50", "2\u00a0500,00", "999,99"], "--decimal , --thousands space"),
    (numbers("${:,.2f}", 1000, 9000), BESIDE),
    (numbers("-${:,.2f}", 1000, 9000), BESIDE),
    (numbers("${:.2f}"), BESIDE),
    (numbers("US${:.2f}"), BESIDE),
    (numbers("R$ {:.2f}"), BESIDE),
    (numbers("€{:.2f}"), BESIDE),
    (numbers("{:.2f} €"), BESIDE),
    (with_comma("{:.2f} €"), BESIDE),
    (with_comma("{:.2f}\u00a0€"), BESIDE),
    (numbers("£{:.0f}"), BESIDE),
    (numbers("¥{:,.0f}", 1e6, 9e6), BESIDE),
    (numbers("₹{:.2f}"), BESIDE),
    (numbers("CHF {:.2f}"), BESIDE),
    (numbers("{:.2f} EUR"), BESIDE),
    (numbers("kr {:.2f}"), BESIDE),
    (numbers("{:.1f} kg"), BESIDE),
    (numbers("{:.1f}kg"), BESIDE),
    (numbers("{:.1f} °C"), BESIDE),
    (numbers("{:.1f} km/h"), BESIDE),
    (numbers("{:.1f} m²"), BESIDE),
    (numbers("{:.1f} m2"), BESIDE),
    (numbers("{:.0f} mm Hg"), BESIDE),
    (numbers("{:.0f} months"), BESIDE),
    (numbers("{:.0f}%"), BESIDE),
    (numbers("{:.1f} %"), BESIDE),
    (with_comma("{:.1f} %"), BESIDE),
    (numbers("({:.2f})"), BESIDE),
    (["(12.50)", "7.25", "3"], BESIDE),
    (numbers("(${:.2f})"), BESIDE),
    (numbers("{:.2f}-"), BESIDE),
    (numbers("\u2212{:.2f}"), BESIDE),
    (["10 kg", "500 g", "1.5 kg", "250 g", "2 kg"], BESIDE),
    (["1,5", "1,234.5"], "in one way, such as 1234.5"),
    (["1,00,000", "12,34,567", "2,50,000"], "in one way, such as 1234.5"),
    (days("%d.%m.%Y"), "--dates dmy"),
    (days("%d/%m/%Y"), "--dates dmy"),
    (days("%d-%m-%Y"), "--dates dmy"),
    (days("%m/%d/%Y"), "--dates mdy"),
    (days("%Y/%m/%d"), "--dates ymd"),
    (days("%Y.%m.%d"), "--dates ymd"),
    (days("%d.%m.%Y %H:%M"), "--dates dmy"),
    (days("%m/%d/%Y %I:%M %p"), "--dates mdy"),
    (days("%d/%m/%Y", "2024-03-01", 12), "--dates dmy or --dates mdy"),
    (["1/2/2024", "3/4/2024", "5/6/2024"], "--dates dmy or --dates mdy"),
    (["31/12/2024", "12/31/2024", "1/1/2024"], "write them as 2024-12-31"),
    (days("%d.%m.%y"), "years with four digits"),
    (days("%m/%d/%y"), "years with four digits"),
    (days("%Y-%m-%d"), "read it with --dates ymd"),
    (days("%Y-%m-%dT%H:%M:%S"), "read it with --dates ymd"),
    ([f"{h}:{m:02d} PM" for h in range(1, 10) for m in (0, 30)], "write them as 10:30:00"),
]


@pytest.mark.parametrize(("cells", "advice"), WRITTEN, ids=[f"{cells[0]}-{advice[:20]}" for cells, advice in WRITTEN])
def test_numbers_and_dates_as_text_stop_with_the_option_that_reads_them(
    cells: list[str], advice: str, on_command_line: Callable[[str], str]
) -> None:
    line = on_command_line(refusal(cells))
    assert line.startswith("X: column 'c' holds ")
    assert f"{advice}, leave it out with --drop c, or insist with --categorical c" in line
    example, row = re.findall(r"\((.*) in row (\d+)\); ", line)[0]
    cell = printable(cells[int(row) - 1])
    assert ast.literal_eval(example) == (f"{cell[:20]}…" if len(cell) > 20 else cell)
    km.TableEncoder(categorical="c").fit(column(cells))


def repeated(cells: Any, n: int = 200) -> list[str]:
    return [str(cell) for cell in np.random.default_rng(3).choice(np.asarray(list(cells), dtype=object), n)]


# low-cardinality text as tables have it: none may be refused
CATEGORIES = {
    "countries": ["DE", "FR", "US", "GB", "CN", "IN", "BR", "ZA"],
    "states": [f"State {k}" for k in range(50)],
    "sizes": ["S", "M", "L", "XL", "XXL"],
    "sizes with slashes": ["S/M", "M/L", "L/XL"],
    "ages": ["0-9", "10-19", "20-29", "30-39", "40+"],
    "incomes": ["<10k", "10k-50k", "50k-100k", ">100k"],
    "prices": ["$0-50", "$50-100", "$100+"],
    "papers": ["A3", "A4", "A5", "B5"],
    "lenses": ["4x", "10x", "40x", "100x"],
    "films": ["2D", "3D", "4DX"],
    "models": ["T5", "X1", "A320", "B747", "737-800"],
    "floors": [f"{k}th" for k in range(4, 20)],
    "places": ["1st", "2nd", "3rd"],
    "decades": [f"{k}s" for k in range(1900, 2030, 10)],
    "quarters": ["Q1", "Q2", "Q3", "Q4"],
    "year and quarter": [f"{year}Q{k}" for year in (2022, 2023) for k in (1, 2, 3, 4)],
    "months": ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
    "year and month": [f"2024-{k:02d}" for k in range(1, 13)],
    "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    "terms": ["36 months", "60 months"],
    "more terms": ["12 months", "36 months", "60 months"],
    "doses": ["10 mg", "20 mg", "40 mg"],
    "memory": ["8GB", "16GB", "32GB", "64GB"],
    "employment": ["< 1 year", "1 year", "2 years", "3 years", "4 years", "5 years", "6 years", "10+ years"],
    "discounts": ["5%", "10%", "20%", "50%"],
    "answers": ["yes", "no", "don't know"],
    "grades": ["A+", "A", "A-", "B+", "B", "B-", "C"],
    "blood": ["A+", "A-", "B+", "B-", "AB+", "AB-", "0+", "0-"],
    "postcodes of a town": ["SW1A 1AA", "EC1A 1BB", "W1A 0AX", "M1 1AE"],
    "scores": ["3:1", "0:0", "2:0"],
    "versions": ["3.10.1", "3.11.4", "3.12.0"],
    "networks": ["192.168.100.200", "192.168.100.201", "10.0.0.1"],
    "ratios": ["1/2", "1/3", "3/4"],
    "chess": ["e4", "d4", "c4", "Nf3"],
    "icd": ["I10", "E11.9", "J45", "K21.9"],
    "slots": ["09:00", "12:00", "15:00"],
    "smileys": ["🙂", "🙁"],
    "snapshots": ["01.01.2024", "01.02.2024"],
    "names of columns": ["price in $", "weight (kg)"],
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_pass(name: str) -> None:
    cells = repeated(CATEGORIES[name])
    encoder = km.TableEncoder().fit(column(cells))
    assert encoder.kinds_["c"] == "categorical"
    A, B = column(cells[:100]), column(cells[100:])
    assert km.compare(A, B, estimator="kme", n_resamples=19).sizes == (100, 100)


@pytest.mark.parametrize(
    "cells",
    [
        [f"person {k}" for k in range(200)],
        [f"{k:08x}-5e1b-4c2a-9d3f-0123456789ab" for k in range(40)],
        [f"user{k}@example.com" for k in range(25)],
        [f"Free text number {k}, as people write it." for k in range(10)],
        [f"name {k}" for k in range(21)] + ["name 3"] * 20,
    ],
)
def test_text_that_is_nearly_all_different_stops(cells: list[str]) -> None:
    line = refusal(cells)
    assert f"holds {len(set(cells))} different texts in {len(cells)} cells ('{cells[0][:20]}" in line
    mend = "leave it out with kernelmean.read(..., drop=['c']), or insist with categorical=['c']"
    assert line.endswith(mend)
    assert km.TableEncoder(categorical=["c"]).fit(column(cells)).kinds_["c"] == "categorical"
    ordinal = {"c": list(dict.fromkeys(cells))}
    assert km.TableEncoder(ordinal=ordinal).fit(column(cells)).kinds_["c"] == "ordinal"


def test_a_key_of_both_tables_stops_although_every_name_occurs_twice() -> None:
    A = column([f"name {k}" for k in range(20)])
    with pytest.raises(ValueError, match="holds 20 different texts in 40 cells"):
        km.compare(A, A)


def test_numbers_in_new_rows_stop_as_well() -> None:
    encoder = km.TableEncoder().fit(column(["a", "b"] * 10))
    with pytest.raises(TypeError, match="1 of 2 different cells are numbers"):
        encoder.transform(column(["a", "1,5"]))


def test_prices_as_text_are_no_answer() -> None:
    """The reproduction of the issue: p = 1 for 1000 against 9000, strength 0 for a perfect line."""
    low, high = RNG.normal(1000, 50, 40), RNG.normal(9000, 50, 40)
    A, B = (column([f"${value:,.2f}" for value in values], "price") for values in (low, high))
    with pytest.raises(TypeError, match="A: column 'price' holds numbers with signs or text beside"):
        km.compare(A, B)
    line = pd.DataFrame({"a": [f"{value:.1f} kg" for value in low], "b": 2 * low})
    with pytest.raises(TypeError, match="column 'a' holds numbers with signs or text beside"):
        km.dependence(line)
    with pytest.raises(TypeError, match="column 'price' holds numbers"):
        in_batches(A, B)
    with pytest.raises(TypeError, match="column 'price' holds numbers"):
        km.DriftMonitor(A)


@pytest.mark.parametrize("parts", [[1], [2], [3, 7], [16], [40]])
def test_what_is_kept_of_text_does_not_depend_on_batches(parts: list[int]) -> None:
    cells = np.array([*(f"n{k % 13}" for k in range(30)), None, *numbers("{:.1f} kg")], dtype=object)
    whole = TextCells("c", 20)
    whole.add(Frame({"c": cells}, "A"))
    found, start, k = TextCells("c", 20), 0, 0
    while start < len(cells):
        rows = np.arange(start, min(start + parts[k % len(parts)], len(cells)))
        found.add(Frame({"c": cells}, "A").take(rows))
        start, k = start + len(rows), k + 1
    assert found == whole


def test_a_decimal_mark_of_one_table_is_converted_there() -> None:
    """An option would read the other table wrong."""
    points = pd.DataFrame({"x": [1.5, 2.25, 3.0, 4.75]})
    commas = pd.DataFrame({"x": ["1,5", "2,25", "3,0", "4,75"]})
    for pair, at in (((points, commas), "B"), ((commas, points), "A")):
        with pytest.raises(TypeError, match=f"write {at} with that one first") as caught:
            km.compare(*pair, names=("A", "B"))
        assert "decimal=','" not in str(caught.value)
    with pytest.raises(TypeError, match="decimal=','"):
        km.compare(commas, commas, names=("A", "B"))


def test_cells_are_judged_with_the_marks_with_which_the_table_was_read(tmp_path: Path) -> None:
    cells = ["3", "1.227,17", "-", "14,5", "17,5", "2.005,5", "18,25", "11"]
    path = tmp_path / "german.csv"
    path.write_text("\n".join(["x;y", *(f"{k};{cell}" for k, cell in enumerate(cells))]), encoding="utf-8")
    text = TextFormat(decimal=",", thousands=".")
    result = describe_columns(read_frame(path, text=text), Encoding())
    assert result.readings == {"y": {"decimal": ",", "thousands": ".", "na_values": ["-"]}}
    assert "7 of 8 different cells are numbers, but not '-'" in result.columns[1].why
    read = TextFormat(decimal=",", thousands=".", na_values=["-"])
    assert describe_columns(read_frame(path, text=read), Encoding()).columns[1].taken == "number"


@pytest.mark.parametrize("marks", [(".", None), (",", None), (".", ","), (",", "."), (",", " "), (".", "'")])
@pytest.mark.parametrize("number", [0.5, -3.25, 17.0, 1234.5, -1234567.125, 1e6, 1234567.0])
def test_a_number_written_with_marks_is_plain_again(marks: tuple[str, str | None], number: float) -> None:
    decimal, thousands = marks
    written = f"{number:,}" if thousands else f"{number}"
    written = written.replace(",", "G").replace(".", decimal).replace("G", thousands or "")
    assert float(NumberMarks(decimal, thousands).plain(written)) == number
    assert NumberMarks(decimal, thousands).plain(" x1 ") == "x1"
