"""Which tables the words of compare name: folders, patterns, and what a shell makes of patterns."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.cli import main

WRITE = "write two folders, such as compare big other, or two patterns in quotes"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, files in (("big", 3), ("other", 2), ("third", 1)):
        (tmp_path / name).mkdir()
        for k in range(files):
            part = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
            part.to_parquet(tmp_path / name / f"{k}.parquet", index=False)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(("compare", *words, "--resamples", "19"))
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


BIG, OTHER = [f"big/{k}.parquet" for k in range(3)], [f"other/{k}.parquet" for k in range(2)]


@pytest.mark.parametrize(
    ("words", "names", "rows"),
    [
        (["big", "other"], ("big", "other"), (120, 80)),
        ([*BIG, *OTHER], ("big", "other"), (120, 80)),
        (["big/*.parquet", "other/*.parquet"], ("big/*.parquet", "other/*.parquet"), (120, 80)),
        ([*BIG[:2], "other/*.parquet"], ("big (2 files)", "other"), (80, 80)),
        ([*BIG, "third/0.parquet"], ("big", "third/0.parquet"), (120, 40)),
    ],
    ids=["folders", "files", "patterns", "some files", "one file"],
)
def test_two_tables(folder, capsys, words, names, rows):
    for limit in (0, None):
        with every_table_is_long(limit):
            code, out, err = run(capsys, *words)
        assert (code, err) == (0, "")
        assert f"{rows[0]} of {names[0]}, {rows[1]} of {names[1]}" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (BIG, f"3 files in 1 folder are not clearly two tables; {WRITE}"),
        (
            [BIG[0], OTHER[0], BIG[1]],
            "3 files in 2 folders, not one folder after the other, are not clearly two",
        ),
        ([BIG[0], OTHER[0], "third/0.parquet"], f"3 files in 3 folders are not clearly two tables; {WRITE}"),
        (BIG, f"or for a reference and later files: kernelmean monitor {BIG[0]} {BIG[1]} ..."),
        (
            ["a.csv", "b.csv", "c.csv"],
            "3 files in 1 folder are not clearly two tables; write two files, such as compare A B",
        ),
        (["big", "other", "third"], "big is a table by itself, and 3 tables were named; two are needed"),
        (["big", "none/*.parquet"], "no file matches none/*.parquet"),
        ([*BIG, "--by", "a"], "--by splits one file; 3 files were named"),
        (["big", "--by", "a"], "--by splits one file, and big is more"),
        (["big"], "two tables, or one table and the column that splits it, are needed"),
    ],
)
def test_what_is_not_clearly_two_tables_is_refused_in_one_line(folder, capsys, words, text):
    code, out, err = run(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert text in err


def test_nothing_is_written_over_a_file_that_is_read(folder, capsys):
    code, _, err = run(capsys, *BIG, *OTHER[:1], "--json", OTHER[0])
    assert (code, f"--json would write over {OTHER[0]!r}, which is read" in err) == (2, True)


def test_a_folder_of_several_kinds_is_read_whole_or_not_at_all(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = "2 Parquet files and 1 table of another kind, such as 2.csv; keep files of one kind in a folder"
    pd.DataFrame({"a": np.arange(30.0), "b": 1.0 / np.arange(1, 31)}).to_csv("other/2.csv", index=False)
    code, out, err = run(capsys, "big/0.parquet", "other")
    assert (code, err, "40 of big/0.parquet, 110 of other (3 files)" in out) == (0, "", True)
    with every_table_is_long():
        code, _, err = run(capsys, "big", "other")
    assert (code, refused in err) == (2, True)
    with pytest.raises(ValueError, match=re.escape(refused)):
        km.read("other").whole()


@pytest.mark.parametrize("command", ["describe", "dependence", "estimate", "density", "changes", "monitor third"])
def test_files_of_a_pattern_are_not_written_over(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    before = Path("big/0.parquet").read_bytes()
    with pytest.raises(SystemExit) as end:
        main((*command.split(), "big/*.parquet", "--json", "big/0.parquet"))
    assert (end.value.code, "would write over" in capsys.readouterr().err) == (2, True)
    assert Path("big/0.parquet").read_bytes() == before
