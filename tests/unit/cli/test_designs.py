"""Strata, clusters, weights and pairs on the command line: what is answered, said and refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.cli import main

QUICK = ("--resamples", "99", "--estimator", "kme")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    center, patient = np.repeat(["Oslo", "Rome"], 30), np.arange(60) // 2
    values = rng.normal(size=(60, 2)) + 4.0 * (center == "Rome")[:, None]
    arm = np.repeat(np.where(rng.random(30) < np.where(center[::2] == "Oslo", 0.7, 0.3), "a", "b"), 2)
    table = pd.DataFrame(values, columns=["x", "y"]).assign(center=center, patient=patient, w=rng.random(60) + 0.5)
    table.assign(arm=arm).to_csv("t.csv", index=False)
    before = pd.DataFrame(rng.normal(size=(20, 2)), columns=["x", "y"])
    before["id"] = np.arange(20) + 100
    before.to_csv("before.csv", index=False)
    before[::-1].to_csv("shuffled.csv", index=False)
    before = before[["x", "y"]]
    table.assign(arm=arm).to_csv("comma.csv", index=False, sep=";", decimal=",")
    after = (before + rng.normal(0.2, 0.1, (20, 2))).assign(id=np.arange(20) + 100)
    after.to_csv("after.csv", index=False)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


@pytest.mark.parametrize(
    ("words", "option", "assumed"),
    [
        ("--strata center --drop patient,w", {"strata": "center"}, "rows are exchangeable within strata of center"),
        ("--clusters patient --columns x,y", {"clusters": "patient"}, "clusters of patient are exchangeable"),
        ("--weights w --columns x,y", {"weights": "w"}, "each with its weight in column w"),
    ],
)
def test_compare_answers_as_the_library_and_says_what_it_assumes(
    words: str, option: dict[str, str], assumed: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "compare", "t.csv", "--by", "arm", *words.split(), *QUICK, "--json", "o.json")
    assert (code, err) == (0, "")
    assert assumed in " ".join(out.split())
    table = pd.read_csv("t.csv")
    first = table.arm.iloc[0]
    parts = (table[rows][["x", "y", *option.values()]] for rows in (table.arm == first, table.arm != first))
    ours = km.compare(*parts, **option, estimator="kme", n_resamples=99)
    content = json.loads((folder / "o.json").read_text())
    assert content["pvalue"] == ours.pvalue
    assert {c["name"]: c["pvalue"] for c in content["columns"]} == {c.name: c.pvalue for c in ours.columns}


def test_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    _, plain, _ = run(capsys, "compare", "before.csv", "after.csv", "--drop", "id", "-q", *QUICK)
    _, paired, _ = run(capsys, "compare", "before.csv", "after.csv", "--drop", "id", "--paired", "-q", *QUICK)
    assert plain.startswith("No difference")
    assert "differ: p = 0.01" in paired
    _, keyed, _ = run(capsys, "compare", "after.csv", "shuffled.csv", "--strata", "id", "-q", *QUICK)
    assert "differ: p = 0.01" in keyed


def test_dependence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "dependence", "t.csv", "--columns", "x,y", "--strata", "center", *QUICK)
    assert code == 0
    assert out.startswith("No dependence")
    assert "design    rows are exchangeable within strata of center" in out
    _, out, _ = run(capsys, "dependence", "t.csv", "--columns", "x,y", *QUICK, "-q")
    assert out.startswith("1 of 1 pair")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            "compare t.csv --by arm --strata centre",
            "no column 'centre', which --strata names (did you mean 'center'",
        ),
        ("compare t.csv --by arm --strata arm", "--by and --strata both name 'arm'; name different columns"),
        ("compare t.csv --by arm --paired --columns x", "pairs need as many of both"),
        ("compare before.csv after.csv --paired --weights x", "--paired goes without --weights; leave one of them out"),
        ("compare before.csv after.csv --paired --max-rows 9", "--paired needs both rows of a pair"),
        ("compare before.csv after.csv --paired --scheduler tcp://x", "leave --scheduler out"),
        ("compare before.csv after.csv --paired --estimator s-kmse", "write one of kme, mkme, mmkme"),
        (
            "compare wine --by target --paired",
            "--paired is for two groups, and 'target' has 3: '0', '1', '2'; name two with --groups 0,1, or leave "
            "--paired out and name the column of the pairs with --strata",
        ),
        ("compare t.csv --by arm --strata center --strata patient", "--strata was passed twice, and takes one column"),
        ("compare t.csv --by arm --strata center,patient", "it takes one: to cross several, make one column of them"),
        ("compare t.csv --by arm --strata center --plot p.png", "--plot draws a band of chance, which is for rows"),
        (
            "compare before.csv shuffled.csv --paired --drop id",
            "has the values of 'id' in another order than before",
        ),
        (
            "compare before.csv shuffled.csv --clusters id",
            "20 of 20 clusters have rows in both samples, such as 100; a cluster moves as a whole. In an",
        ),
        (
            "compare comma.csv --by arm --weights w --columns x",
            "but weights are numbers; read it with --decimal ,",
        ),
        ("compare t.csv --by arm --strata patient", "no stratum holds rows of both"),
        ("dependence t.csv --x x --y center --strata center", "'center' stands in x or in y"),
        (
            "dependence t.csv --strata centre",
            "no column 'centre', which --strata names (did you mean 'center'",
        ),
        ("dependence t.csv --clusters nobody", "no column 'nobody', which --clusters names"),
    ],
)
def test_refusals_are_one_line(words: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    for limit in (None, 0) if "shuffled.csv --paired" in words else (None,):
        with every_table_is_long(limit):
            code, out, err = run(capsys, *words.split())
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert text in err


def test_intervals_and_the_least_strength(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    how = ("dependence", "t.csv", "--columns", "x,y", *QUICK)
    _, out, _ = run(capsys, *how, "--json", "o.json")
    assert "the intervals are approximate, 95 % each" in " ".join(out.split())
    (pair,) = json.loads((folder / "o.json").read_text())["pairs"]
    assert pair["interval"][0] < pair["strength"] < pair["interval"][1]
    _, out, _ = run(capsys, *how, "--no-intervals")
    assert "interval" not in out
    _, out, _ = run(capsys, *how, "--at-least", "0.95", "-q")
    assert out.startswith("No dependence with a strength of at least 0.95 was found")
    code, _, err = run(capsys, *how, "--intervals", "--strata", "center")
    assert (code, err.count("\n")) == (2, 1)
    assert "--intervals is for independent rows in memory, and does not go with --strata; leave it out" in err
    with every_table_is_long():
        code, _, err = run(capsys, *how, "--intervals")
    assert (code, err.count("\n")) == (2, 1)
    assert "does not go with a table that is read batch by batch" in err
    code, _, err = run(capsys, *how, "--at-least", "2")
    assert code == 2


@pytest.mark.parametrize(
    "words", ["dependence t.csv --drop arm,center,patient", "compare t.csv --by arm --drop center,patient"]
)
def test_a_dropped_column_may_be_one_of_the_design(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    dropped = run(capsys, *words.split(), "--clusters", "patient", *QUICK)
    assert dropped[0] == 0
    kept = run(capsys, *words.replace(",patient", "").split(), "--clusters", "patient", *QUICK)
    assert dropped == kept
