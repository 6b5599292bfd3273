"""--drop beside --columns takes some of these out again; what --columns leaves out anyway is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.cli import run
from kernelmean.tables import reading as tables

TABLE = pd.DataFrame({"a": [1.0, 2.5, 3.0, 0.5] * 3, "b": [0.5, -1.0, 2.0, 7.0] * 3, "c": [4.0, 1.5, 2.0] * 4})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("A.csv", index=False)
    TABLE.to_parquet("A.parquet")
    (TABLE + 0.3).to_csv("B.csv", index=False)


@pytest.mark.parametrize(
    ("command", "limit"),
    [
        ("compare A.csv B.csv", None),
        ("compare A.csv B.csv", 0),
        ("dependence A.csv", None),
        ("density A.csv", None),
        ("estimate A.csv", None),
        ("monitor A.csv B.csv", None),
    ],
)
def test_drop_may_name_a_column_that_columns_leaves_out_but_no_unknown_one(
    command: str,
    limit: int | None,
    place: None,
    capsys: pytest.CaptureFixture[str],
    unsearched_peers: None,
    no_refits: None,
) -> None:
    texts = []
    with every_table_is_long(limit):
        for drop in ([], ["--drop", "c"]):
            assert run([*command.split(), "--columns", "a,b", *drop, "--json", "-"]) == 0
            texts.append([line for line in capsys.readouterr().out.splitlines() if "seconds" not in line])
        assert texts[0] == texts[1]
        assert run([*command.split(), "--columns", "a,b", "--drop", "zz"]) == 2
    assert "zz" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["A.csv", "A.parquet"])
@pytest.mark.parametrize(
    "read",
    [
        tables.read_table,
        lambda source, **options: list(km.read(source, **options).frames()),
        lambda source, **options: list(km.read(source, **options)),
    ],
    ids=["read_table", "frames", "numbers"],
)
def test_drop_beside_columns_in_python(read: Callable[..., Any], source: str, place: None) -> None:
    assert len(read(source, columns=["a", "b"], drop=["c"]))
    assert len(read(source, columns=["a", "b"], drop=["b"]))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("changes T.csv --time day --resamples 99", "day"),
        ("dependence T.csv --y c --resamples 19", "c"),
        ("dependence T.csv --x c --strata g --resamples 19", "c,g"),
        ("compare T.csv --by g --clusters u --resamples 19", "g,u"),
        ("compare T.csv --by g --weights c --resamples 19", "g,c"),
        ("compare T.csv --by g --strata c --resamples 19", "g,c"),
        ("monitor T.csv T.csv --by g", "g"),
    ],
)
def test_columns_that_another_option_names_are_read_whether_or_not_columns_names_them(
    words: str, named: str, place: None, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"day": pd.date_range("2026-01-01", periods=12).astype(str), "g": [*"xxxxxxyyyyyy"], "u": [*"kkllmmnnoopp"]}
    TABLE.assign(**more).to_csv("T.csv", index=False)
    shown = []
    for columns in ("a,b", f"a,b,{named}"):
        assert run([*words.split(), "--columns", columns]) == 0, capsys.readouterr().err
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_names_with_commas_are_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "D.csv"
    TABLE.assign(**{"BP, mmHg": TABLE.a}).to_csv(path, index=False)
    assert run(["dependence", str(path), "--drop", "a,BP, mmHg"]) == 2
    told = "its columns are 'a', 'b', 'c', 'BP, mmHg'"
    assert told in capsys.readouterr().err
    assert run(["describe", str(path), "--drop", "a", "--drop", "BP, mmHg"]) == 0


def test_a_monitor_that_cuts_by_a_column_takes_it_among_its_columns(place: None) -> None:
    assert run(["monitor", "A.csv", "B.csv", "--by", "c", "--columns", "a,b,c", "--quiet"]) == 0
