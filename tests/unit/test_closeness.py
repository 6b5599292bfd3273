"""Means closer than a margin: what the intervals of differences say, under every design and wherever rows are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind, ttest_rel

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.cli import main

QUICK: dict[str, Any] = {"estimator": "kme", "n_resamples": 99}


def tables(rows: int = 40) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    first, second = (
        pd.DataFrame(
            {
                "age": rng.normal(40.0 + shift, 3.0, rows),
                "income": rng.normal(2000.0, 300.0, rows),
                "seen": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 30, rows), unit="D"),
                "plan": rng.choice(["free", "paid"], rows),
                "center": np.arange(rows) % 4,
                "user": np.arange(rows) // 2 + 1000 * int(shift),
                "w": rng.random(rows) + 0.5,
            }
        )
        for shift in (0.0, 1.0)
    )
    return first, second


def ends(*pair: pd.DataFrame, **design: Any) -> float:
    compared = km.compare(*pair, **design, **QUICK)
    return max(map(abs, next(column.interval for column in compared.columns if column.name == "age")))


def test_a_mean_is_close_where_the_interval_of_welch_lies_within_the_margin() -> None:
    first, second = (table[["age", "income"]] for table in tables())
    found = ttest_ind(first["age"], second["age"], equal_var=False).confidence_interval(0.95)
    reach = max(-found.low, found.high)
    for margin, shown in ((reach * 1.001, True), (reach * 0.999, False)):
        columns = {one.name: one for one in km.compare(first, second, equivalence={"age": margin}, **QUICK).columns}
        assert columns["age"].equivalent is shown
        assert columns["age"].margin == margin
        assert columns["income"].equivalent is None


def test_pairs_have_the_interval_of_pairs() -> None:
    first, second = (table[["age", "income"]] for table in tables())
    found = ttest_rel(first["age"], second["age"]).confidence_interval(0.95)
    reach = max(-found.low, found.high)
    for margin, shown in ((reach * 1.001, True), (reach * 0.999, False)):
        result = km.compare(first, second, paired=True, equivalence={"age": margin}, **QUICK)
        assert [one.equivalent for one in result.columns if one.name == "age"] == [shown]


@pytest.mark.parametrize("design", [{"strata": "center"}, {"clusters": "user"}, {"weights": "w"}])
def test_margins_follow_the_design_in_memory_and_in_batches(design: dict[str, str]) -> None:
    kept = ["age", "income", *design.values()]
    pair = tuple(table[kept] for table in tables())
    plain = ends(*(table[["age", "income"]] for table in pair))
    reach = ends(*pair, **design)
    assert abs(reach - plain) > 1e-3
    for margin, shown in ((reach * 1.001, True), (reach * 0.999, False)):
        held = km.compare(*pair, equivalence={"age": margin, "*": 1e6}, **design, **QUICK)
        with every_table_is_long():
            long = km.compare(*pair, equivalence={"age": margin, "*": 1e6}, **design, **QUICK)
        for result in (held, long):
            assert {one.name: one.equivalent for one in result.columns} == {"age": shown, "income": True}


def test_one_margin_is_for_columns_of_numbers_and_times_are_named_in_seconds() -> None:
    first, second = (table[["age", "income", "seen", "plan"]] for table in tables())
    assert {
        one.name: one.margin for one in km.compare(first, second, equivalence=5, **QUICK).columns if one.margin == 5.0
    } == {"age": 5.0, "income": 5.0}
    result = km.compare(first, second, equivalence={"seen": 20 * 86400}, **QUICK)
    assert [one.equivalent for one in result.columns if one.name == "seen"] == [True]
    assert "  480 h  " in result.summary()
    frame = result.to_frame().set_index("column")
    assert list(frame.index[frame["equivalent"].notna()]) == ["seen"]
    assert frame["margin"]["seen"] == 20 * 86400
    assert list(frame.index[frame["unit"] == "seconds"]) == ["seen"]
    assert [one["name"] for one in result.to_dict()["columns"] if one["unit"]] == ["seen"]


@pytest.mark.parametrize(
    ("equivalence", "said"),
    [
        (0, "equivalence is 0, a finite positive number is needed"),
        ({"age": np.nan}, "a finite positive number is needed"),
        ({"plan": 0.1}, "which holds categories: these have no mean"),
        ({"agge": 0.1}, "did you mean 'age'"),
        ({"user": 0.1}, "that is not compared"),
    ],
)
def test_margins_that_say_nothing_are_refused(equivalence: Any, said: str) -> None:
    pair = (table[["age", "plan"]].assign(user=1) for table in tables())
    with pytest.raises(ValueError, match=said):
        km.compare(*pair, equivalence=equivalence, **QUICK)


def test_one_margin_needs_a_column_of_numbers() -> None:
    with pytest.raises(ValueError, match="no column that varies holds numbers"):
        km.compare(*(table[["plan"]] for table in tables()), equivalence=1.0, **QUICK)


@pytest.mark.parametrize("margin", [pd.Timedelta("10D"), pd.Timestamp("2024-01-01"), pd.NaT, pd.NA])
def test_margins_that_are_cells_of_pandas_are_no_numbers(margin: Any) -> None:
    with pytest.raises(TypeError, match=r"equivalence of seen (holds values of type (Time|NaT)|is <NA>, a number)"):
        km.compare(*(table[["seen"]] for table in tables()), equivalence={"seen": margin}, **QUICK)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as exit_:
        main([*arguments, "--resamples", "99", "--estimator", "kme"])
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out + err


def test_the_command_shows_margins_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for table, name in zip(tables(), "ab", strict=True):
        table[["age", "income", "plan"]].to_csv(f"{name}.csv", index=False)
    files = ("compare", "a.csv", "b.csv", "--json", "o.json", "--html", "o.html")
    code, out = run(capsys, *files, "--equivalence", "500,age=0.1")
    assert code == 0
    assert "Means closer than a margin: shown for 1 of 2 columns" in out
    assert "without a margin, so not judged: plan" in " ".join(out.split())
    columns = {one["name"]: one for one in json.loads(Path("o.json").read_text())["columns"]}
    assert [columns[name].get("margin") for name in ("age", "income", "plan")] == [0.1, 500.0, None]
    assert [columns[name].get("equivalent") for name in ("age", "income", "plan")] == [False, True, None]
    assert "Which means are close" in Path("o.html").read_text()
    code, out = run(capsys, *files)
    assert "closer than a margin" not in out
    if "No difference" in out:
        assert "--equivalence 0.5, or --equivalence age=2 for single columns" in Path("o.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a.csv b.csv --equivalence age=-8", "equivalence of age is -8.0, a finite positive number is needed"),
        ("a.csv b.csv --equivalence -1", "--equivalence is -1.0, a finite positive number is needed"),
        ("a.csv b.csv --equivalence much", "--equivalence is 'much'; write a number in the units of the columns"),
        ("a.csv b.csv --equivalence age=", "such as --equivalence age=2"),
        ("a.csv b.csv --equivalence plan=1", "holds categories"),
        ("a.csv b.csv --given age --equivalence 1", "leave --estimator and --equivalence out"),
        ("a.csv --by center --equivalence 1", "is for two groups, and there are 4; name two with --groups"),
    ],
)
def test_the_command_refuses_in_good_words(
    words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for table, name in zip(tables(), "ab", strict=True):
        table[["age", "income", "plan", "center"]].to_csv(f"{name}.csv", index=False)
    code, out = run(capsys, "compare", *words.split())
    assert code == 2
    assert said in " ".join(out.split())


def test_without_an_interval_nothing_is_judged() -> None:
    """A stratum with one cluster of a table leaves no spread between clusters, nor do three strata."""
    rng = np.random.default_rng(5)
    first, second = (
        pd.DataFrame({"x": rng.normal(size=24), "s": np.arange(24) % 3, "c": np.arange(24) % 3 + shift})
        for shift in (0, 100)
    )
    result = km.compare(first, second, strata="s", clusters="c", equivalence=50.0, **QUICK)
    (column,) = result.columns
    assert np.isnan(column.interval).all()
    assert column.equivalent is None
    assert column.content()["margin"] == 50.0
    assert column.content()["equivalent"] is None
    assert "no interval" in result.summary()
    assert "without an interval, as for a stratum of one row or cluster" in " ".join(result.summary().split())
