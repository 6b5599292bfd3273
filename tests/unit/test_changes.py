"""The change points of whole tables: rows, times, what changes, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.cli.app import run
from kernelmean.inference.changes import Change
from kernelmean.report import describe
from kernelmean.studies.changes import Changes, Search
from kernelmean.studies.changes.finding import _joined
from kernelmean.studies.plots.changes import series_panels

QUICK = Search(n_resamples=99)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """A column whose mean changes after 60 rows, a category whose shares change after 120, and one that stays."""
    rng = np.random.default_rng(0)
    shop = np.append(rng.choice(list("abc"), 120), rng.choice(list("abc"), 60, p=[0.9, 0.05, 0.05]))
    return pd.DataFrame(
        {
            "day": pd.date_range("2024-01-01", periods=180),
            "price": rng.normal(size=180) + 2.5 * (np.arange(180) >= 60),
            "shop": shop,
            "weight": rng.normal(size=180),
        }
    )


@pytest.fixture(scope="module")
def found(table: pd.DataFrame) -> Changes:
    return km.changes(table, "day", search=QUICK)


def test_rows_times_and_columns(found: Changes) -> None:
    first, second = found.points
    assert abs(first.row - 60) <= 2
    assert abs(second.row - 120) <= 15
    assert second.low <= 120 <= second.high
    assert (first.columns[0], second.columns) == ("price", ("shop",))
    assert first.kind is not None
    assert first.kind.name == "means"
    assert found.pvalue == 0.0125 <= first.pvalue <= found.search.level


def test_the_time_of_a_change_is_that_of_its_row(found: Changes, table: pd.DataFrame) -> None:
    for point in found.points:
        days = [str(table["day"][row].date()) for row in (point.row, point.low, point.high)]
        assert [point.time, point.earliest, point.latest] == days


TIMES: dict[str, tuple[Any, str, Any]] = {
    "seconds since 1970": (1.7e9 + 60.0 * np.arange(180), "1700003660", 1700003660),
    "quarters of a second": (
        pd.date_range("2024-01-01", periods=180, freq="250ms"),
        "2024-01-01T00:00:15.250",
        pd.Timestamp("2024-01-01 00:00:15.25"),
    ),
    "a time zone": (
        pd.date_range("2024-01-01", periods=180, freq="h", tz="Europe/Berlin"),
        "2024-01-03T12:00:00Z",
        pd.Timestamp("2024-01-03 13:00", tz="Europe/Berlin"),
    ),
    "spans": (pd.to_timedelta(np.arange(180), unit="min"), "3660 seconds", pd.Timedelta(minutes=61)),
}


@pytest.mark.parametrize("name", TIMES)
def test_times_are_told_in_full_and_are_times_in_a_frame(name: str) -> None:
    when, text, time = TIMES[name]
    found = km.changes(
        pd.DataFrame({"x": np.repeat([0.0, 9.0], [61, 119]) + np.arange(180) % 3, "t": when}), "t", search=QUICK
    )
    (point,), frame = found.points, found.to_frame()
    assert (point.row, point.time) == (61, text)
    assert text in found.verdict()
    assert frame["time"][0] == time
    assert frame["earliest"][0] <= time <= frame["latest"][0]
    assert found.rows()[0]["time"] == text


def test_pictures_have_the_axis_of_time_and_name_the_changes(found: Changes, table: pd.DataFrame) -> None:
    panels = series_panels(found)
    assert [panel.title for panel in panels] == ["price", "shop"]
    for panel in panels:
        assert panel.x_label == "day"
        assert panel.events is not None
        assert panel.events.names == tuple(point.time for point in found.points)
        days = pd.to_datetime(panel.events.x, unit="D", origin="unix")
        assert list(days.strftime("%Y-%m-%d")) == list(panel.events.names)
        assert (panel.curves[1].x[0], panel.curves[1].x[-1]) == (19723.0, 19723.0 + 179)
    assert "mean of the segment: from" in describe(panels[0])
    assert "at 2024-01-01 to" in describe(panels[0])
    assert f"change point: {', '.join(point.time for point in found.points)}." in describe(panels[0])
    (first, *_) = found.document().sections
    assert not first.paragraphs
    assert "1 column more: no change was found in it alone." in first.charts[0].text


@pytest.mark.parametrize("name", [*TIMES, "no time"])
def test_changes_stand_where_the_axis_has_their_time(name: str) -> None:
    X = pd.DataFrame({"x": np.repeat([0.0, 9.0], [61, 119]) + np.arange(180) % 3})
    X.loc[3:5, "x"] = np.nan
    if name != "no time":
        X["t"] = TIMES[name][0]
    found = km.changes(X, None if name == "no time" else "t", search=QUICK, missing="drop")
    (panel,), (point,) = series_panels(found), found.points
    assert panel.events is not None
    assert panel.events.names == (point.time or "61",)
    (at,), levels = panel.events.x, panel.curves[1]
    assert at == levels.x[2]  # the first row of the second segment
    assert levels.y[1] < 3.0 < levels.y[2]
    assert panel.x_label == {"spans": "t, seconds", "a time zone": "t (UTC)", "no time": "row"}.get(name, "t")
    assert found.plot().axes


def test_segments_cut_the_table(found: Changes, table: pd.DataFrame) -> None:
    assert [own.start for own in found.segments] == [0, *(point.row for point in found.points)]
    assert pd.concat([table[own] for own in found.segments]).equals(table)


def test_the_time_is_not_searched(found: Changes) -> None:
    assert set(found.encoded.names) == {"price", "shop", "weight"}


def test_rows_left_out_keep_the_numbers_of_the_table(table: pd.DataFrame) -> None:
    blank = table.copy()
    blank.loc[10:29, "price"] = np.nan
    point = km.changes(blank, "day", search=QUICK, missing="drop").points[0]
    assert abs(point.row - 60) <= 2
    assert point.time == str(table["day"][point.row].date())


def test_blank_cells_as_a_category_are_a_change(table: pd.DataFrame) -> None:
    blank = table[["weight"]].copy()
    blank.loc[blank.index[90:][np.random.default_rng(0).random(90) < 0.6], "weight"] = np.nan
    (point,) = km.changes(blank, search=QUICK, missing="category").points
    assert point.low <= 90 <= point.high


@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame, lambda X: km.read([X[:50], X[50:]])])
def test_arrays_frames_and_batches_are_the_same(wrap: object) -> None:
    rng = np.random.default_rng(1)
    X = np.append(rng.normal(size=(60, 1)), rng.normal(2.0, 1.0, size=(40, 1)), axis=0)
    assert [point.row for point in km.changes(wrap(X), search=QUICK).points] == [60]  # type: ignore[operator]


def test_nothing_is_found_in_rows_of_one_distribution() -> None:
    result = km.changes(np.random.default_rng(0).normal(size=(100, 2)), search=QUICK)
    assert not result.points
    assert result.segments == (slice(0, 100),)
    assert result.pvalue > 0.05
    assert "No change was found in 100 rows" in result.verdict()
    assert result.document().headline == result.verdict()
    assert "<svg" in result.to_html()


def test_a_change_of_a_relation_says_what_shows_it() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 2))
    x[120:, 1] = 0.9 * x[120:, 0] + 0.44 * x[120:, 1]
    result = km.changes(x, search=QUICK)
    (point,) = result.points
    assert point.columns == ()
    assert f"compare the dependence within rows 1 to {point.row:,} with" in " ".join(str(result).split())
    assert "these means need not show the change" in result.to_html()
    assert f"p = {result.pvalue:.3g}, at most 0.05." in result.verdict()
    assert result.describe().grids[0].header[:3] == ("rows before", "adjusted p", "what changes")


@pytest.mark.slow
def test_the_number_of_threads_changes_nothing(table: pd.DataFrame, found: Changes) -> None:
    for threads in (1, 3):
        assert km.changes(table, "day", search=QUICK, plan=km.Plan(threads=threads)).to_dict() == found.to_dict()
    with pytest.raises(TypeError, match="pass a Plan, such as"):
        km.changes(table, "day", search=QUICK, plan=2)  # type: ignore[arg-type]


def test_the_command(table: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table.to_csv(tmp_path / "table.csv", index=False)
    words = ["--time", "day", "--resamples", "99", "--threads", "2", "--json", str(tmp_path / "out.json"), "--quiet"]
    assert run(["changes", str(tmp_path / "table.csv"), *words]) == 0
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["points"][0]["row"] in range(58, 63)
    assert "2 changes found in 180 rows" in capsys.readouterr().out


BAD = {
    "a column that counts": (lambda t: (t, None, {}), ValueError, "'day' rises or falls with every row"),
    "rows in disorder": (lambda t: (t[::-1], "day", {}), ValueError, "row 2 is earlier than row 1"),
    "a time that is none": (lambda t: (t, "shop", {}), TypeError, "neither numbers nor times"),
    "a blank time": (lambda t: (t.assign(day=t["day"].where(t.index != 3)), "day", {}), ValueError, "blank in row 4"),
    "an unknown time": (lambda t: (t, "when", {}), ValueError, "no column 'when'"),
    "few rows": (lambda t: (t[:9], "day", {}), ValueError, "at least 10 are needed"),
    "constant columns": (lambda t: (t[["day"]].assign(a=1.0), "day", {}), ValueError, "all columns are constant"),
    "only the time": (lambda t: (t[["day"]], "day", {}), ValueError, "no columns left"),
    "blank cells": (lambda t: (t.assign(weight=t["weight"].where(t.index > 3)), "day", {}), ValueError, "blank or NaN"),
    "blank cells as noise": (
        lambda t: (t.assign(weight=t["weight"].where(t.index > 3)), "day", {"missing": "noise"}),
        ValueError,
        "missing='category' or 'drop'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_searched_is_refused(case: str, table: pd.DataFrame) -> None:
    arguments, error, words = BAD[case]
    data, time, options = arguments(table)
    with pytest.raises(error, match=words):
        km.changes(data, time, search=QUICK, **options)


@pytest.mark.slow
def test_100_000_rows_take_less_than_a_gibibyte() -> None:
    import subprocess
    import sys

    code = (
        "import numpy as np, resource, kernelmean as km\n"
        "X = np.random.default_rng(0).normal(size=(100_000, 5)); X[60_000:] += 0.1\n"
        "(point,) = km.changes(X).points\n"
        "assert point.low <= 60_000 <= point.high, point\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 < 2**30


def test_rows_that_are_left_out_lie_between_segments() -> None:
    table = pd.DataFrame({"x": np.append(np.arange(90) % 3.0, 20.0 + np.arange(60) % 3.0), "t": np.arange(150.0)})
    table.loc[85:99, "x"] = np.nan
    (point,) = km.changes(table, "t", search=QUICK, missing="drop").points
    assert (point.row, point.low, point.high) == (100, 85, 100)
    assert (point.time, point.earliest, point.latest) == ("100", "85", "100")


def test_a_level_below_every_p_value_is_refused() -> None:
    words = "below 2.5e-05, the smallest p-value of 49,999 permutations; write a larger level, or n_resamples=1249999"
    with pytest.raises(ValueError, match=words):
        Search(level=1e-6)
    assert Search(level=1e-6, n_resamples=1_249_999).level == 1e-6


def test_a_column_that_is_constant_on_both_sides_of_a_change_is_not_named() -> None:
    rng = np.random.default_rng(0)
    rain = np.append(np.zeros(120), rng.exponential(size=60))
    table = pd.DataFrame({"rain": rain, "load": rng.normal(size=180) + 3.0 * (np.arange(180) >= 60)})
    assert km.changes(table, search=QUICK).points[0].columns == ("load",)


def test_a_change_of_a_single_column_is_one_where_all_columns_together_show_none() -> None:
    rng = np.random.default_rng([1, 5])
    X = rng.normal(size=(200, 12))
    X[120:, 4] = rng.choice([-0.95, 0.95], 80) + 0.31 * rng.normal(size=80)
    table = pd.DataFrame(X, columns=list("abcdefghijkl"))
    assert km.changes(table, n_changes=1).pvalue > 0.1
    result = km.changes(table, search=QUICK)
    (point,) = result.points
    assert point.columns == ("e",)
    assert point.low <= 120 <= point.high
    assert point.pvalue == result.pvalue <= 0.05
    assert f"1 change found in 200 rows, after {point.row} rows: p = " in result.verdict()
    assert [change["columns"] for change in result.to_dict()["points"]] == [("e",)]
    assert [own.start for own in result.segments] == [0, point.row]


def test_single_columns_that_change_at_one_place_are_one_change() -> None:
    one, far = Change(50, 45, 55, 0.02), Change(90, 88, 90, 0.03)
    alone = [("b", Change(51, 49, 52, 0.01)), ("a", one), ("c", far), ("d", Change(93, 93, 93, 0.04))]
    joined = _joined({}, alone, Search())
    assert [(change.row, names) for change, names in joined.items()] == [(51, ("b", "a")), (90, ("c", "d"))]
    assert _joined({one: ()}, alone[:1], Search()) == {one: ("b",)}


@pytest.mark.parametrize("seed", [48, 52, 54, 71])
def test_all_columns_together_and_single_ones_share_one_level(seed: int) -> None:
    """Nothing changes. At .05 for both searches, each of these series had a column that changes."""
    X = np.random.default_rng([9, seed]).normal(size=(30, 6))
    result = km.changes(X, search=Search(n_resamples=199), rng=seed)
    assert "alone changes" not in result.verdict()
    assert not result.points
    assert result.pvalue > 0.05


def test_a_p_value_that_equals_the_level_is_not_rounded_above_it() -> None:
    """Times 12 and divided by 12, 1/20 is 0.05000000000000001."""
    X = np.random.default_rng(10).normal(size=(12, 1))
    X[6:] += 0.8
    result = km.changes(X, search=QUICK, rng=10)
    assert result.pvalue == 0.05
    assert len(result.points) == 1


def test_several_files_are_one_table(table: pd.DataFrame, tmp_path: Path, few_for_what_changes: None) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    files = [str(folder / f"part-{k}.csv") for k in range(9, 12)]
    for k, file in enumerate(files):
        table[60 * k : 60 * k + 60].to_csv(file, index=False)
    options = ["--time", "day", "--resamples", "99", "--json", str(tmp_path / "found.json")]
    found = []
    for words in (files, [str(folder)], [str(folder / "*.csv")]):
        assert run(["changes", *words, *options]) == 0
        found.append(json.loads((tmp_path / "found.json").read_text()))
    assert [point["columns"] for point in found[0]["points"]] == [["price"], ["shop"]]
    assert found[0]["rows"] == 180
    assert found[1:] == found[:1] * 2


def test_changes_that_chance_explains_are_not_called_found() -> None:
    X = np.random.default_rng(0).normal(size=(60, 1))
    result = km.changes(X, n_changes=1, block=2)
    (point,) = result.points
    likely = f"The most likely change is after {point.row} rows, but chance alone gives as clear a one: p = "
    assert result.search == Search(n_changes=1, block=2)
    assert result.verdict().startswith(likely)
    with pytest.raises(ValueError, match="write them there"):
        km.changes(X, search=QUICK, n_changes=1)


def test_by_how_much_columns_change_is_shown_between_the_changes() -> None:
    rng = np.random.default_rng(3)
    early = np.arange(240) < 120
    table = pd.DataFrame(
        {
            "level": rng.normal(size=240) + np.where(early, 0.0, 4.0),
            "plan": np.where(rng.random(240) < np.where(early, 0.1, 0.9), "new", "old"),
            "still": rng.normal(size=240),
        }
    )
    result = km.changes(table, search=Search(n_resamples=199), rng=0)
    assert [point.row for point in result.points] == [120]
    (_, between) = result.describe().grids
    first, second = (table[:120], table[120:])
    assert [row[0] for row in between.rows] == ["1 to 120", "121 to 240"]
    column = between.header.index("level")
    for row, part in zip(between.rows, (first, second), strict=True):
        mean, spread = row[column].replace("−", "-").split(" ± ")
        assert float(mean) == pytest.approx(part["level"].mean(), rel=1e-3)
        assert float(spread) == pytest.approx(part["level"].std(), rel=0.05)
        share = row[next(k for k, head in enumerate(between.header) if head.startswith("plan"))]
        category = "new" if "new" in between.header[-1] + between.header[1] else "old"
        assert share == f"{100 * (part['plan'] == category).mean():.1f} %"
    assert not any("still" in head for head in between.header)


def test_the_category_shown_is_the_one_that_changes_where_its_column_does() -> None:
    """The level changes after row 100, the plan after row 200: before that only b and c move."""
    rng = np.random.default_rng(0)
    rows = np.arange(300)
    parts = [np.repeat(["a", "b", "c"], counts) for counts in ((10, 48, 42), (10, 42, 48), (100, 0, 0))]
    plan = np.concatenate([rng.permutation(part) for part in parts])
    table = pd.DataFrame({"level": rng.normal(size=300) + 4.0 * (rows >= 100), "plan": plan})
    result = km.changes(table, search=Search(n_resamples=199), rng=0)
    assert [point.columns for point in result.points] == [("level",), ("plan",)]
    (_, between) = result.describe().grids
    column = between.header.index("plan: a")
    assert [row[column] for row in between.rows][2] == "100.0 %"


def test_what_changes_is_looked_for_in_two_thousand_rows_on_either_side() -> None:
    """A share that moves from .07 to .1 is seen in 2,000 rows, and seldom in 500."""
    draws, late = np.random.default_rng(0), np.arange(4000) >= 2000
    returned = draws.random(4000) < np.where(late, 0.1, 0.07)
    table = pd.DataFrame({"wait": draws.exponential(np.where(late, 1.6, 1.0)), "returned": returned})
    (point,) = km.changes(table, rng=0).points
    assert set(point.columns) == {"wait", "returned"}
