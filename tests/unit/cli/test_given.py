"""`kernelmean dependence --given`: the test of conditional independence on columns of a table."""

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
CITY = RNG.choice(["Oslo", "Rome"], 120)
AGE = RNG.normal(size=120)
DOSE = np.sin(AGE) + 0.3 * RNG.normal(size=120) + (CITY == "Oslo")
EFFECT = AGE**2 + 0.3 * RNG.normal(size=120) + 2.0 * (CITY == "Oslo")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    frame = pd.DataFrame({"dose": DOSE, "effect": EFFECT, "age": AGE, "city": CITY, "same": 1.0})
    frame["rare"] = np.where(np.arange(120) < 4, "yes", "no")
    frame.assign(blank=np.where(AGE > 1.0, np.nan, AGE)).to_csv(path, index=False)
    return path


def run(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["dependence", *map(str, words), "--quiet"])
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), " ".join((out + err).split())


def as_json(capsys: pytest.CaptureFixture[str], table: Path, *words: str) -> dict[str, Any]:
    path = table.with_suffix(".json")
    code, output = run(capsys, table, "--x", "dose", "--y", "effect", "--given", *words, "--json", path)
    assert code == 0, output
    return dict(json.loads(path.read_text()))


def test_numbers_are_regressed_on_and_categories_are_strata(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, table, "age,city,same")
    expected = km.ci_test(DOSE, EFFECT, AGE, strata=CITY, rng=0)
    assert (found["pvalue"], found["n_strata"]) == (expected.pvalue, 2)
    assert found["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
    assert "dose and effect show no dependence given age, city, same" in found["verdict"]
    assert any("constant" in note for note in found["notes"])
    alone = as_json(capsys, table, "city")
    assert alone["exact"]
    assert alone["pvalue"] == km.ci_test(DOSE, EFFECT, strata=CITY, rng=0).pvalue <= 0.01


def test_a_group_without_names_has_all_other_columns(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "--y", "effect", "--given", "age", "--drop", "blank,rare,same"
    found = [run(capsys, table, *words, *named) for named in ((), ("--x", "dose,city"))]
    assert found[0] == found[1]
    assert found[0][0] == 0
    assert "dose, city and effect" in found[0][1]


def test_its_picture_is_drawn_where_that_is_said(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = table.with_suffix(".png")
    code, output = run(capsys, table, "--x", "dose", "--y", "effect", "--given", "city", "--plot", picture)
    assert code == 0, output
    assert picture.stat().st_size > 1000


def test_rows_with_blank_cells_are_dropped_where_that_is_said(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, table, "blank", "--missing", "drop")["shape"][0] == int((AGE <= 1.0).sum())
    code, output = run(capsys, table, "--x", "dose", "--y", "effect", "--given", "blank")
    assert code == 2
    assert "missing" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--given", "age"], "--given stands alone, and needs a group of columns beside it: name --x, --y or both"),
        (["--x", "dose", "--y", "effect", "--given", "dose"], "more than one of --x, --y and --given"),
        (["--x", "same", "--y", "effect", "--given", "age"], "all columns of --x are constant"),
        (["--x", "dose", "--y", "effect", "--given", "same"], "all columns of --given are constant"),
        (["--x", "dose", "--y", "effect", "--given", "sage"], "no column 'sage'"),
        (["--x", "dose", "--y", "effect", "--given", "age,rare"], "the stratum rare='yes' has 4 rows"),
        (["--x", "dose", "--y", "effect", "--given", "age,rare"], "merge strata: --max-categories 5"),
        (["--x", "dose", "--y", "effect", "--given", "age", "--strata", "city"], "leave --strata out"),
        (["--x", "dose", "--y", "effect", "--given", "age", "--estimator", "kme"], "leave --estimator out"),
        (["--x", "dose", "--y", "effect", "--given", "blank", "--missing", "noise"], "does not go with --given"),
    ],
    ids=str,
)
def test_what_has_no_answer_is_refused_in_a_line(
    table: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output = run(capsys, table, *words)
    assert code == 2
    assert message in output
