"""What every column of a table is taken for: as a comparison does, which says so by stopping or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.core.table import Frame, to_frame
from kernelmean.studies import columns
from kernelmean.studies.columns import describe_columns, describe_long
from kernelmean.studies.described import DescribedColumn
from kernelmean.tables.columns import Encoding, encode
from kernelmean.tables.columns.kinds import KINDS

N = 60
RNG = np.random.default_rng(0)
CELLS: dict[str, tuple[Any, str]] = {
    "age": (RNG.integers(20, 70, N).astype(float), "number"),
    "w": (RNG.normal(size=N), "number"),
    "city": (RNG.choice(["Lima", "Oslo", "Rome"], N), "category"),
    "ok": (RNG.random(N) < 0.5, "truth value"),
    "level": (pd.Categorical(RNG.choice(["a", "b"], N), categories=["b", "a"], ordered=True), "ordered levels"),
    "t": (pd.date_range("2024-01-01", periods=N, freq="h"), "time"),
    "span": (pd.to_timedelta(RNG.integers(0, 99, N), unit="s"), "span of time"),
    "id": (np.arange(1, N + 1), "identifier"),
    "name": ([f"person {k}" for k in range(N)], "free text"),
    "price": ([f"${v:,.2f}" for v in RNG.normal(50_000, 5000, N)], "text, not numbers"),
    "day": (pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"), "text, not times"),
    "yyyymmdd": (pd.date_range("2024-01-01", periods=N).strftime("%Y%m%d").astype(float), "numbers, not times"),
    "zip": ([f"0{k % 9}1" for k in range(N)], "codes"),
    "mixed": (["n.a" if k % 9 == 0 else str(k * 1.5) for k in range(N)], "text and numbers"),
    "blank": ([np.nan] * N, "nothing"),
    "lists": ([[k] for k in range(N)], "none of the kinds"),
    "endless": ([np.inf, *range(N - 1)], "none of the kinds"),
    "wide": ([f"c{k % 30}" for k in range(N)], "category"),
}
STOPPING = {name for name, (_, taken) in CELLS.items() if taken not in {kind.taken for kind in KINDS.values()}}


def frame(*names: str) -> Frame:
    chosen = names or tuple(CELLS)
    return to_frame(pd.DataFrame({name: CELLS[name][0] for name in chosen}), "t")


def one(name: str, encoding: Encoding | None = None) -> DescribedColumn:
    (found,) = describe_columns(frame(name), encoding or Encoding()).columns
    return found


@pytest.mark.parametrize("name", CELLS)
def test_a_column_is_taken_for_what_it_holds_and_stops_where_a_comparison_does(name: str) -> None:
    found = one(name)
    assert found.taken == CELLS[name][1]
    assert found.stops == (name in STOPPING)
    if not found.stops:
        encode([frame(name)], ["t"], Encoding())
        return
    with pytest.raises((TypeError, ValueError)) as caught:
        encode([frame(name)], ["t"], Encoding())
    if name not in ("blank", "lists"):
        assert found.why in str(caught.value)


def test_the_whole_table_is_described_and_its_options_mend_it(on_command_line: Callable[[str], str]) -> None:
    table = describe_columns(frame(), Encoding())
    assert [column.name for column in table.columns] == list(CELLS)
    assert set(table.stopping) == STOPPING
    left = "--drop id,name,price,yyyymmdd,zip,blank,lists,endless"
    read = "--dates dmy --na-values n.a"
    assert on_command_line(table.options()) == f"{read} {left} --missing category"
    text = table.summary()
    assert max(map(len, text.splitlines())) <= 80
    assert f"compare and dependence stop at {table.stopping[0]}, " in text
    rest = [name for name in CELLS if name not in table.stopping]
    kept = describe_columns(frame(*rest), Encoding())
    assert (
        kept.verdict() == f"t has 60 rows and {len(rest)} columns: compare and dependence take all of them as they are."
    )


@pytest.mark.parametrize(
    ("name", "options", "taken", "why"),
    [
        ("age", {"categorical": ["age"]}, "category", "categorical= names it"),
        ("city", {"ordinal": {"city": ["Lima", "Oslo", "Rome"]}}, "ordered levels", "ordinal= names its levels"),
        ("id", {"keep": "id"}, "number", "whole numbers"),
        ("zip", {"categorical": "zip"}, "category", "categorical= names it"),
    ],
)
def test_the_options_that_it_names_change_it(name: str, options: Any, taken: str, why: str) -> None:
    before, after = one(name), one(name, Encoding(**options))
    assert next(iter(options)) in before.change
    assert (after.taken, after.why, after.stops) == (taken, why, False)


def test_levels_that_leave_one_out_are_told() -> None:
    found = one("city", Encoding(ordinal={"city": ["Lima", "Oslo"]}))
    assert (found.taken, found.stops) == ("none of the kinds", True)
    assert "holds 'Rome', which is not one of its levels Lima, Oslo" in found.why
    assert found.change == "name all levels, lowest first, or correct the cell"


def test_too_many_categories_are_pooled_or_stop() -> None:
    cells = pd.DataFrame({"c": [f"c{k % 300}" for k in range(900)]})
    (found,) = describe_columns(to_frame(cells, "t"), Encoding()).columns
    why = "text with 300 different values; the 256 most frequent are kept, and the others are one category"
    assert (found.taken, found.stops, found.why) == ("category", False, why)
    (found,) = describe_columns(to_frame(cells[:500], "t"), Encoding()).columns
    assert (found.taken, found.stops, found.why) == ("category", True, "has 300 different categories in 500 rows")


def test_missing_cells_stop_unless_a_rule_is_named() -> None:
    cells = pd.DataFrame({"x": [1.5, np.nan, 2.0], "c": ["a", None, "a"]})
    table = describe_columns(to_frame(cells, "t"), Encoding())
    assert [(one.missing, one.distinct, one.values) for one in table.columns] == [(1, 2, "1.5 to 2"), (1, 1, "a 100 %")]
    assert (table.stopping, table.blank, table.options()) == ((), ("x", "c"), "missing='category'")
    assert table.verdict().endswith("compare and dependence stop at blank cells of x, c.")
    ruled = describe_columns(to_frame(cells, "t"), Encoding(missing="category"))
    assert (ruled.blank, ruled.options()) == ((), "")


def messy(**more: Any) -> km.studies.described.DescribedTable:
    """Return what a table of 60 rows is taken for; thousands may be decimals, and two columns have blank cells."""
    prices = [f"{1 + k % 19},{100 + k}" for k in range(N)]
    cells = {"id": [f"c{k:03d}" for k in range(N)], "income": prices, "score": np.arange(N) % 7 + 0.5, **more}
    given = pd.DataFrame(cells).astype({"income": object})
    given.loc[:8, "income"], given.loc[5:11, "score"] = None, np.nan
    return describe_columns(to_frame(given, "t"), Encoding())


def test_a_column_that_has_two_readings_is_left_to_you(on_command_line: Callable[[str], str]) -> None:
    found = messy(day=CELLS["day"][0])
    assert found.options() == "text=TextFormat(dates='dmy') drop=['id'] missing='category'"
    facts = dict(found.describe().facts)
    assert on_command_line(facts["once you decide"]) == "income: read it with --thousands , or --decimal ,"
    assert found.to_dict()["undecided"] == {"income": facts["once you decide"].removeprefix("income: ")}
    assert facts["blank cells"].startswith("12 rows of 60 have one")
    assert "stop at id, income, day and at blank cells of score" in found.verdict()


def test_two_columns_with_the_same_choice_are_told_together() -> None:
    more = {"cost": [f"{1 + k % 19},{200 + k}" for k in range(N)]}
    assert dict(messy(**more).describe().facts)["once you decide"].startswith("income, cost: read it with ")


def test_blank_cells_are_counted_in_columns_that_are_kept() -> None:
    more = {"code": [None, None, *(f"k{k}" for k in range(2, N))]}
    facts = dict(messy(**more).describe().facts)
    assert facts["blank cells"].startswith("12 rows of 60 have one in a column that is not dropped")


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(ValueError, match="no column 'z'"):
        describe_columns(frame("age"), Encoding(categorical="z"))


@pytest.mark.parametrize("drawn", [20, 100])
def test_batches_are_described_by_all_rows(drawn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_DRAWN", drawn)
    names = ["age", "city", "id", "name", "price", "zip"]
    table = pd.DataFrame({name: CELLS[name][0] for name in names})
    table.loc[3, "age"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    whole = describe_columns(km.read(tmp_path / "t.csv").whole(), Encoding())
    found = describe_long(km.read(tmp_path / "t.csv"), Encoding())
    assert found.n_rows == N
    assert [(c.name, c.taken, c.stops, c.missing) for c in found.columns] == [
        (c.name, c.taken, c.stops, c.missing) for c in whole.columns
    ]
    if drawn > N:
        assert found == whole
    else:
        assert "a random 20 of 60 rows" in found.notes[-1]


def test_a_table_of_which_nothing_is_left_is_no_table_to_compare() -> None:
    given = to_frame(pd.DataFrame({"code": [f"k{row}" for row in range(200)]}), "t")
    found = describe_columns(given, Encoding())
    assert found.verdict().endswith("there is nothing to compare.")
    assert found.options() == ""
