"""`kernelmean compare --given`: what differs beyond what some columns explain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.cli import main

RNG = np.random.default_rng(0)
AGE = RNG.normal(50.0, 10.0, 160)
DRUG = 1.0 / (1.0 + np.exp(-(AGE - 50.0) / 8.0)) > RNG.random(160)
CITY = RNG.choice(["Oslo", "Rome"], 160)
PRESSURE = 100.0 + 0.5 * AGE - 4.0 * DRUG + 3.0 * RNG.normal(size=160)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    frame = pd.DataFrame({"pressure": PRESSURE, "age": AGE, "city": CITY, "same": 1.0})
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(RNG.integers(0, 90, 160), "D")
    frame.assign(drug=np.where(DRUG, "yes", "no"), seen=days, third=np.arange(160) % 3).to_csv(path, index=False)
    return path


def run(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["compare", *map(str, words), "--quiet"])
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), " ".join((out + err).split())


def test_the_other_columns_are_compared_in_their_units(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--by", "drug", "--groups", "yes,no", "--given", "age,same", "--drop", "third", "--resamples", 99)
    code, output = run(capsys, table, *words, "--json", table.with_suffix(".json"))
    assert code == 0, output
    assert "drug=yes and drug=no differ beyond what is explained by age, same" in output
    found = json.loads(table.with_suffix(".json").read_text())
    rows = {row["of"]: row for row in found["differences"]}
    assert {*rows} == {"pressure", "city=Rome", "seen, days"}
    alone = km.mmd_test(PRESSURE[DRUG], PRESSURE[~DRUG], given=(AGE[DRUG], AGE[~DRUG]), n_resamples=9, rng=0)
    (expected,) = alone.differences
    assert rows["pressure"]["difference"] == pytest.approx(PRESSURE[DRUG].mean() - PRESSURE[~DRUG].mean())
    for name, value in (("adjusted_difference", expected.adjusted), ("low", expected.low), ("high", expected.high)):
        assert rows["pressure"][name] == pytest.approx(value, rel=1e-6)
    assert rows["pressure"]["low"] < -4.0 < rows["pressure"]["high"] < 0.0
    shares = (CITY[DRUG] == "Rome").mean() - (CITY[~DRUG] == "Rome").mean()
    assert rows["city=Rome"]["difference"] == pytest.approx(shares)
    assert rows["pressure"]["adjusted_pvalue"] == pytest.approx(3 * rows["pressure"]["pvalue"])


def test_given_categories_are_strata_and_exact(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [table.with_name(f"{part}.csv") for part in ("a", "b")]
    for part, rows in zip(parts, (DRUG, ~DRUG), strict=True):
        pd.DataFrame({"pressure": PRESSURE[rows], "city": CITY[rows]}).to_csv(part, index=False)
    json_, picture = table.with_suffix(".json"), table.with_suffix(".png")
    code, output = run(capsys, *parts, "--given", "city", "--json", json_, "--plot", picture)
    assert code == 0, output
    assert "a.csv and b.csv show no difference beyond" in output
    found = json.loads(json_.read_text())
    expected = km.mmd_test(PRESSURE[DRUG], PRESSURE[~DRUG], design=km.Design(strata=(CITY[DRUG], CITY[~DRUG])), rng=0)
    assert found["exact"]
    assert (found["pvalue"] <= 0.05) == (expected.pvalue <= 0.05)
    assert picture.stat().st_size > 1000


def test_differences_are_those_of_known_cells(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blank, no_city = (RNG.random((2, 160)) < [[0.3], [0.2]]) & ((AGE > 45.0) | DRUG)
    frame = pd.DataFrame({"pressure": np.where(blank, np.nan, PRESSURE), "age": AGE, "drug": DRUG.astype(int)})
    frame.assign(city=np.where(no_city, None, CITY)).to_csv(table, index=False)
    words = ("--by", "drug", "--groups", "1,0", "--given", "age", "--missing", "category", "--resamples", 99)
    code, output = run(capsys, table, *words, "--json", table.with_suffix(".json"))
    assert code == 0, output
    rows = {row["of"]: row for row in json.loads(table.with_suffix(".json").read_text())["differences"]}
    assert {*rows} == {"pressure", "city=Oslo", "city=Rome", "city is missing"}
    for name, cells, known in (("pressure", PRESSURE, ~blank), ("city=Rome", (CITY == "Rome") * 1.0, ~no_city)):
        one, two = DRUG & known, ~DRUG & known
        alone = km.mmd_test(cells[one], cells[two], given=(AGE[one], AGE[two]), n_resamples=9, rng=0)
        assert rows[name]["difference"] == pytest.approx(cells[one].mean() - cells[two].mean())
        assert rows[name]["adjusted_difference"] == pytest.approx(alone.differences[0].adjusted, rel=1e-6)
    shares = no_city[DRUG].mean() - no_city[~DRUG].mean()
    assert rows["city is missing"]["difference"] == pytest.approx(shares)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--given", "sage"], "no column 'sage'"),
        (["--given", "same"], "all columns of --given are constant"),
        (["--given", "age,city,pressure,seen,third"], "all columns that vary are given"),
        (["--given", "age", "--strata", "city"], "leave --strata out"),
        (["--given", "age", "--estimator", "kme"], "leave --estimator out"),
        (["--given", "age", "--fail-on-drift", "0.01"], "leave --fail-on-drift out"),
        (["--given", "age", "--by", "third"], "name two with --groups"),
    ],
    ids=str,
)
def test_what_has_no_answer_is_refused_in_a_line(
    table: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output = run(capsys, table, *([] if "--by" in words else ["--by", "drug"]), *words)
    assert code == 2
    assert message in output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("age", "of the rows where 'sparse' is known: the table has 9 rows"),
        ("age,rare", "the stratum rare='yes' has 4 rows"),
    ],
)
def test_rows_that_are_too_few_are_named(
    table: Path, given: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = np.arange(160)
    frame = pd.DataFrame({"age": AGE, "drug": DRUG.astype(int), "rare": np.where(rows < 4, "yes", "no")})
    frame.assign(sparse=np.where(rows < 9, PRESSURE, np.nan)).to_csv(table, index=False)
    words = ("--by", "drug", "--groups", "1,0", "--given", given, "--missing", "category", "--resamples", 9)
    code, output = run(capsys, table, *words)
    assert code == 2
    assert message in output
