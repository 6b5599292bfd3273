"""Groups by a column of times: their names are written as people write times, and you may name them so."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.tables import read_frame, split_groups

DAYS = ["2020-01-01", "2020-02-01", "2020-03-01"]
TIMES = ["2020-01-01T00:00:01", "2020-01-01T10:20:00", "2020-01-02"]


def table(labels: list[str], unit: str = "us") -> pd.DataFrame:
    stamps = pd.to_datetime(pd.Series(np.repeat(labels, 10)), format="ISO8601").astype(f"datetime64[{unit}]")
    return pd.DataFrame({"x": np.random.default_rng(0).normal(size=30), "t": stamps})


@pytest.mark.parametrize(
    "first",
    [
        "2020-01-01",
        "2020-01-01T00:00:00",
        "2020-01-01 00:00:00.000000",
        "2020-01-01T00:00Z",
        date(2020, 1, 1),
        datetime(2020, 1, 1),
        datetime(2020, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
        pd.Timestamp("2020-01-01"),
        pd.Timestamp("2020-01-01 02:00", tz="Africa/Johannesburg"),
        np.datetime64("2020-01-01"),
        np.datetime64("2020-01-01", "ns"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_a_group_is_named_by_its_time_in_any_form(first: Any, unit: str) -> None:
    result = km.compare_groups(table(DAYS, unit), "t", groups=[first, DAYS[2]], n_resamples=99)
    assert result.groups == (DAYS[0], DAYS[2])
    assert result.sizes == (10, 10)


def test_groups_of_a_file_are_named_by_day(tmp_path: Path) -> None:
    table(DAYS).to_csv(tmp_path / "t.csv", index=False)
    frames = split_groups(read_frame(tmp_path / "t.csv"), "t", ["2020-02-01 00:00", "2020-01-01"])
    assert [frame.source for frame in frames] == ["t=2020-02-01", "t=2020-01-01"]


@pytest.mark.parametrize("named", ["2020-01-05", "soon", 5, pd.Timestamp("2020-01-05")])
def test_an_unknown_time_is_refused_with_the_groups_there_are(named: Any) -> None:
    with pytest.raises(ValueError, match=r"2020-01-01 \(10 rows\), 2020-02-01 \(10 rows\).*there is no group"):
        km.compare_groups(table(DAYS), "t", groups=[named, DAYS[0]])


def test_categories_of_times_and_spans_do_not_depend_on_the_unit() -> None:
    fine, coarse = table(TIMES, "ns"), table(TIMES, "s")
    fine["s"], coarse["s"] = (each["t"] - each["t"].iloc[0] for each in (fine, coarse))
    result = km.compare(fine, coarse, categorical=["t", "s"], n_resamples=99)
    found = {column.name: {share.category for share in column.shares} for column in result.columns}
    assert found == {"x": set(), "t": {*TIMES}, "s": {"0 seconds", "37199 seconds", "86399 seconds"}}
    assert result.pvalue == 1.0
