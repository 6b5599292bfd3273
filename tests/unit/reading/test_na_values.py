"""Cells that spell missing values, and numbers that the marks of a format keep from being read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.cli import run
from kernelmean.tables import Frame, TextFormat
from kernelmean.tables import reading as tables

ROWS = 12
READERS: dict[str, Callable[..., Frame]] = {
    "memory": lambda path, text: tables.read_frame(path, text=text),
    "stream": lambda path, text: next(km.read(path, text=text).frames()),
}
FILES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "t.csv": lambda table: table.to_csv("t.csv", index=False),
    "t.jsonl": lambda table: table.to_json("t.jsonl", orient="records", lines=True),
    "t.parquet": lambda table: table.to_parquet("t.parquet"),
    "t.feather": lambda table: table.to_feather("t.feather"),
}
each_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)
each_file = pytest.mark.parametrize("file", FILES)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def numbers(*instead: str) -> list[str]:
    """Return numbers as text, a few of them replaced."""
    return [*instead, *(f"{k * 1.25 - 7:.2f}" for k in range(len(instead), ROWS))]


@each_reader
def test_what_a_missing_cell_spells_is_missing(read: Callable[..., Frame]) -> None:
    a, b = numbers("-", " . ", "--"), ["u", "-", *"uv" * 5]
    Path("t.csv").write_text("a,b\n" + "\n".join(map(",".join, zip(a, b, strict=True))) + "\n")
    frame = read("t.csv", TextFormat(na_values=("-", ".", "--")))
    np.testing.assert_array_equal(frame["a"], [np.nan] * 3 + [float(cell) for cell in a[3:]])
    assert frame["b"].tolist() == [None if cell == "-" else cell for cell in b]


@each_reader
@each_file
def test_a_number_that_stands_for_missing_is_missing_however_it_is_written(
    read: Callable[..., Frame], file: str
) -> None:
    table = pd.DataFrame({"a": [-9999.0, 1.5, 2.0], "b": [1, -9999, 3], "c": ["u", "-", "v"]})
    FILES[file](table)
    frame = read(file, TextFormat(na_values=("-9999", "-")))
    np.testing.assert_array_equal(frame["a"], [np.nan, 1.5, 2.0])
    np.testing.assert_array_equal(frame["b"], [1.0, np.nan, 3.0])
    assert frame["c"].tolist() == ["u", None, "v"]


@each_reader
@each_file
def test_texts_of_single_columns_are_missing_there_only(read: Callable[..., Frame], file: str) -> None:
    FILES[file](pd.DataFrame({"a": [9, 2, 3], "b": [9, 1, 3], "c": ["u", "-", "x"], "d": ["u", "-", "x"]}))
    text = TextFormat(na_values={"a": "9", "c": ("x", "u"), "*": "-"})
    frame = read(file, text)
    np.testing.assert_array_equal(frame["a"], [np.nan, 2.0, 3.0])
    assert frame["b"].tolist() == [9.0, 1.0, 3.0]
    assert pd.isna(frame["c"]).all()
    assert frame["d"].tolist() == ["u", None, "x"]
    with pytest.raises(ValueError, match=r"no column 'e'.*which na_values names"):
        read(file, TextFormat(na_values={"e": "9"}))


@pytest.mark.parametrize("words", [("",), (" ",), (3,)], ids=str)
def test_na_values_are_texts(words: Any) -> None:
    with pytest.raises(TypeError, match=r"na_values is .* write texts, such as"):
        TextFormat(na_values=words)


COMMANDS = ["compare t.csv t.csv", "dependence t.csv", "monitor t.csv t.csv"]
each_command = pytest.mark.parametrize("command", [*COMMANDS, "estimate t.csv", "density t.csv"])


@each_command
@pytest.mark.parametrize("word", ["-", "n.v."])
def test_a_refusal_of_numbers_with_a_few_other_cells_names_na_values(
    command: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.csv").write_text("a,b\n" + "\n".join(f"{cell},{k % 3}" for k, cell in enumerate(numbers(word))) + "\n")
    assert run(command.split()) == 2
    assert f"where {word!r} means that a cell is missing, read it with --na-values {word}" in capsys.readouterr().err


@each_command
def test_a_decimal_point_beside_decimal_commas_is_called_by_its_name(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = zip(numbers(), numbers(), strict=True)
    Path("t.csv").write_text("a;b\n" + "\n".join(f"{a.replace('.', ',')};{b}" for a, b in cells) + "\n")
    assert run([*command.split(), "--decimal", ","]) == 2
    said = capsys.readouterr().err
    assert "'b'" in said
    assert "a decimal point, and --decimal , reads commas" in said
    assert "leave --decimal , out where none has a comma" in said


@pytest.mark.parametrize("file", ["t.parquet", "t.feather"])
@pytest.mark.parametrize("clock", ["", " 10:30", "T10:30:00Z"])
def test_iso_dates_kept_as_text_name_the_option_that_reads_them(
    file: str, clock: str, capsys: pytest.CaptureFixture[str]
) -> None:
    FILES[file](pd.DataFrame({"d": [f"2024-01-{day:02d}{clock}" for day in range(1, 29)], "x": np.arange(28) % 5.0}))
    assert run(["compare", file, file]) == 2
    assert "read it with --dates ymd" in capsys.readouterr().err
    assert run(["compare", file, file, *["--resamples", "9", "--quiet", "--dates", "ymd"]]) == 0


@each_reader
def test_a_cell_that_is_not_spelled_as_missing_is_never_made_missing(read: Callable[..., Frame]) -> None:
    Path("t.csv").write_text("a,b\n1,NAN\n2,5\nnan(x),6\n")
    frame = read("t.csv", TextFormat())
    assert frame["a"].tolist() == ["1", "2", "nan(x)"]
    np.testing.assert_array_equal(frame["b"], [np.nan, 5.0, 6.0])
