"""Whatever a command prints fits a terminal of 80 columns: help, results, long names of columns and groups."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from kernelmean.cli import app, main

WIDTH = 80
OURS = list(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
LONG = "a column of numbers whose name goes on for rather a long while, and then some more"
SOLID = "a_column_of_numbers_whose_name_has_no_space_in_it_and_goes_on_for_rather_a_long_while"
BY = "the column by which the rows of this table fall into groups, of which there are three"
QUICK = ("--estimator", "kme", "--resamples", "99")
COMMANDS = {
    "compare": ("compare", "long.csv", "other.csv", "--drop", BY),
    "compare in detail": ("compare", "long.csv", "other.csv", "--drop", BY, "-v"),
    "compare, adaptive": ("compare", "wine", "--by", "target", "--groups", "0,1", "-v"),
    "compare several groups": ("compare", "long.csv", "--by", BY, *QUICK, "-v"),
    "dependence": ("dependence", "long.csv", *QUICK),
    "dependence of groups": ("dependence", "long.csv", "--x", LONG, "--y", SOLID, *QUICK, "-v"),
    "changes": ("changes", "long.csv", "--drop", BY, "--resamples", "99"),
    "estimate": ("estimate", "long.csv", "--drop", "some category", "--drop", BY, "--save", "mean.npz"),
    "density": ("density", "eckerle4", "--estimator", "mkme", "--components", "2", "--covariance", "diag"),
    "monitor": ("monitor", "long.csv", "other.csv", "--drop", BY),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    for seed, name in enumerate(("long.csv", "other.csv")):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(rng.normal(size=(60, 3)) * [1.0, 1e6, 1e-9], columns=[LONG, SOLID, "c"])
        table["some category"] = rng.choice(["a value of some length that is long", "b"], 60)
        table[BY] = np.repeat(["one group that has a long name", "two", "three groups of so many names"], 20)
        table.to_csv(name, index=False)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    out, _ = capsys.readouterr()
    assert exit_.value.code == 0
    return out.splitlines()


@pytest.mark.parametrize("command", ["", *OURS])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, *([command] if command else []), "--help")
    assert len(lines) > 5
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("name", COMMANDS)
def test_results(name: str, capsys: pytest.CaptureFixture[str], unsearched_peers: None) -> None:
    lines = printed(capsys, *COMMANDS[name])
    assert len(lines) > 3
    assert max(map(len, lines)) <= WIDTH
    assert not [line for line in lines if line != line.rstrip()]
    if name == "estimate":
        assert max(map(len, printed(capsys, "info", "mean.npz"))) <= WIDTH


@pytest.mark.parametrize("name", ["compare", "compare several groups", "dependence"])
def test_long_names_are_cut_and_take_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, *COMMANDS[name])
    start = next(
        k
        for k, line in enumerate(lines)
        if "differ most" in line or "depend most" in line or line.startswith(("Columns, none", "Pairs, none"))
    )
    grid = itertools.takewhile(bool, lines[start + 1 :])
    body = [line for line in grid if line[:2] == "  " and not line.startswith(("  note", "  and", "    "))]
    assert any("…" in line for line in body)
    rows = {"compare": 4, "compare several groups": 3, "dependence": 10}[name]
    assert len(body) == rows + 1, "a head and one line for every row"


def test_a_command_to_copy_is_on_one_line_however_long(capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.read_csv("long.csv")
    rows = pd.concat([table, table, table, table]).drop(columns=BY)
    rows.to_csv("known.csv", index=False)
    later = rows.assign(c=rows.c + 1.0)
    later.to_csv("later.csv", index=False)
    later.assign(day=["a", "b"] * 120).sort_values("day").to_csv("days.csv", index=False)
    for words, other in ((("later.csv",), "later.csv"), (("days.csv", "--by", "day"), "part.csv")):
        lines = printed(capsys, "monitor", "known.csv", *words)
        assert lines[0].startswith("Drift: found in ")
        (command,) = [line for line in lines if "kernelmean compare known.csv" in line]
        _, *rest = shlex.split(command.partition("kernelmean ")[2])
        assert rest[:2] == ["known.csv", other]
        assert rest[2::2] == ["--columns"] * (len(rest[2:]) // 2)
        assert max(map(len, [line for line in lines if line is not command])) <= WIDTH
    assert any("write the rows of day=a to part.csv" in line for line in lines)
