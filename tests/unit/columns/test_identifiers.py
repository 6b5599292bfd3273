"""Integers that number rows are refused, or noted; integers that measure something pass without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import kernelmean as km
from in_batches import in_batches
from kernelmean.core.table import to_frame
from kernelmean.tables import read_frame
from kernelmean.tables.columns import inspection
from kernelmean.tables.columns.inspection import IntegersSeen, called_identifier, judge

RNG = np.random.default_rng(0)
SHARED = Path(__file__).parents[4] / "shared" / "data"


def table(cells: Any, name: str = "v") -> pd.DataFrame:
    return pd.DataFrame({name: cells, "x": np.random.default_rng(len(cells)).normal(size=len(cells))})


def verdict(*tables: Any, name: str = "v") -> str:
    """Return "refused", "noted" or "passed"."""
    seen = [IntegersSeen() for _ in tables]
    for one, cells in zip(seen, tables, strict=True):
        one.add(np.asarray(cells, dtype=np.float64))
    finding, note = judge(name, seen)
    return "refused" if finding else "noted" if note else "passed"


IDS = np.sort(RNG.choice(10**6, 60, replace=False))
CASES = [
    ("refused", [range(1, 51)], "v"),
    ("refused", [range(50)], "v"),
    ("refused", [range(1000, 1050)], "v"),
    ("refused", [range(50, 0, -1)], "v"),
    ("refused", [RNG.permutation(50)], "v"),
    ("refused", [np.delete(np.arange(50), [3, 17, 20])], "v"),
    ("refused", [range(1, 31), range(1, 41)], "v"),
    ("refused", [range(1, 31), range(31, 61)], "v"),
    ("refused", [range(1, 13), range(1, 13)], "v"),
    ("refused", [range(1, 61, 2), range(2, 61, 2)], "v"),
    ("refused", np.array_split(RNG.permutation(80), 2), "v"),
    ("refused", [[*range(30), np.nan, np.nan]], "v"),
    ("refused", [range(10**9, 10**9 + 40)], "v"),
    ("refused", [IDS], "id"),
    ("refused", [RNG.permutation(IDS)], "customer_id"),
    ("refused", [RNG.permutation(IDS), RNG.permutation(IDS)], "orderID"),
    ("refused", [[5, 3, 9, 1]], "Id"),
    ("noted", [range(1950, 2021)], "year"),
    ("noted", [range(1, 51)], "t"),
    ("noted", [range(1, 25)], "hour of day"),
    ("noted", [range(50)], "time_step"),
    ("noted", [IDS], "v"),
    ("noted", [IDS[::-1]], "v"),
    ("noted", [RNG.permutation(IDS), RNG.permutation(IDS)], "v"),
    ("noted", [RNG.choice(3000, 600, replace=False)], "v"),
    ("passed", [range(10)], "v"),
    ("passed", [range(1, 4), range(1, 4)], "v"),
    ("passed", [[1, 2, 3]], "id"),
    ("passed", [RNG.permutation(IDS)], "v"),
    ("passed", [RNG.permutation(IDS)], "income"),
    ("passed", [RNG.permutation(IDS)[:30], RNG.permutation(IDS)[:25] + 1], "income"),
    ("passed", [[*range(50), 3]], "v"),
    ("passed", [range(50), [*range(50), 3]], "v"),
    ("passed", [np.arange(50) + 0.5], "v"),
    ("passed", [[*range(50), 7.5]], "v"),
    ("passed", [RNG.integers(0, 5, 60)], "group_id"),
    ("passed", [[np.nan] * 5], "id"),
    ("passed", [np.arange(30) * 0.1], "id"),
]


@pytest.mark.parametrize(("expected", "tables", "name"), CASES)
def test_a_column_of_integers(expected: str, tables: list[Any], name: str) -> None:
    assert verdict(*tables, name=name) == expected


CALLED = [
    "id",
    "ID",
    "Id",
    "user_id",
    "userId",
    "CustomerID",
    "PassengerId",
    "key",
    "index",
    "row",
    "row_number",
    "uuid",
    "level_0",
    "userid",
    "SEQN",
    "pk",
]
NOT_CALLED = [
    "paid",
    "humidity",
    "grid",
    "solid",
    "price_index",
    "width",
    "monkey",
    "no_of_nodes",
    "year",
    "t",
    "income",
    "NO",
]


@pytest.mark.parametrize("name", [*CALLED, "Unnamed: 0", "customer id"])
def test_what_is_called_an_identifier(name: str) -> None:
    assert called_identifier(name)


@pytest.mark.parametrize("name", NOT_CALLED)
def test_what_is_not_called_an_identifier(name: str) -> None:
    assert not called_identifier(name)


def test_random_integers_are_measurements() -> None:
    """One in a million by the bound; repeated here over sizes and ranges."""
    rng = np.random.default_rng(5)
    for _ in range(2000):
        width = int(10 ** rng.uniform(0.5, 6))
        sizes = rng.integers(2, 80, 2)
        assert verdict(*(rng.integers(0, width, n) for n in sizes)) == "passed"


def test_the_built_in_tables_have_no_identifiers() -> None:
    for name in ("wine", "wbdc", "iris", "diabetes", "digits", "eckerle4"):
        assert km.TableEncoder().fit(read_frame(name)).n_rows_ > 0


@pytest.mark.data
@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared data beside the clone")
def test_the_sets_of_the_paper_have_one_identifier() -> None:
    refused = []
    for path in sorted(SHARED.glob("*.csv")):
        try:
            km.TableEncoder(missing="category").fit(read_frame(path))
        except ValueError as error:
            refused.append((path.name, str(error).split("; ")[0]))
    numbered = "its 132 cells are integers from 1 to 132, all different"
    assert [(name, line.endswith(f"column 'name' looks like an identifier: {numbered}")) for name, line in refused] == [
        ("hayes_train.csv", True)
    ]


NUMBERED = table(range(1, 41), "id")


@pytest.mark.parametrize(
    "ask",
    [
        lambda **more: km.compare(NUMBERED, NUMBERED, n_resamples=19, **more),
        lambda **more: in_batches(NUMBERED, NUMBERED, n_resamples=19, **more),
        lambda **more: km.dependence(NUMBERED, n_resamples=19, **more),
        lambda **more: km.dependence(NUMBERED, "id", "x", n_resamples=19, **more),
        lambda **more: km.TableEncoder(**more).fit(NUMBERED),
        lambda **more: km.TableEncoder(**more).fit_tables(NUMBERED, NUMBERED),
        lambda **more: km.DriftMonitor(NUMBERED, **more),
    ],
)
def test_an_identifier_stops_unless_it_is_kept(ask: Any) -> None:
    with pytest.raises(ValueError, match="column 'id' looks like an identifier: its 40 ") as caught:
        ask()
    assert str(caught.value).endswith(", or insist with keep=['id']")
    ask(keep=["id"])
    ask(keep="id")
    ask(keep=(name for name in ["id"]))
    with pytest.raises(ValueError, match="no column 'ix'"):
        ask(keep=["ix"])


def test_columns_outside_the_question_are_not_looked_at() -> None:
    both = NUMBERED.assign(y=NUMBERED["x"] ** 2)
    assert km.dependence(both, "x", "y", n_resamples=19).n_rows == 40


def test_a_note_on_a_time_and_on_a_sequence_without_a_name() -> None:
    years = table(range(1950, 2000), "year")
    notes = km.dependence(years, n_resamples=19).notes
    assert notes == ("year may be an identifier: its 50 cells are integers from 1950 to 1999, all different",)
    assert km.dependence(years, n_resamples=19, keep="year").notes == ()
    notes = km.dependence(years.to_numpy(), n_resamples=19).notes
    assert notes == ("x0 may be an identifier: its 50 cells are integers from 1950 to 1999, all different",)
    assert km.dependence(RNG.permutation(IDS)[:, None] * [1, 2] + [0, 0.5], n_resamples=19).notes == ()


def test_the_index_that_pandas_saved_stops(tmp_path: Path) -> None:
    table(RNG.normal(size=30)).to_csv(tmp_path / "saved.csv")
    frame = pd.read_csv(tmp_path / "saved.csv")
    with pytest.raises(ValueError, match="'Unnamed: 0' looks like an identifier"):
        km.dependence(frame)


@pytest.mark.parametrize("parts", [1, 2, 7, 30, 400])
def test_what_is_seen_of_integers_does_not_depend_on_batches(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "MOST_KEPT", 100)
    for cells in (np.arange(300.0), RNG.permutation(300) * 1.0, IDS * 1.0, RNG.integers(0, 90, 300) * 1.0):
        whole, found = IntegersSeen(), IntegersSeen()
        whole.add(cells)
        for start in range(0, len(cells), parts):
            found.add(cells[start : start + parts])
        np.testing.assert_array_equal(found.kept(), whole.kept())
        assert found.distinct == whole.distinct
        if whole.distinct:
            facts = ("rows", "low", "high", "ascending", "descending")
            assert [getattr(found, each) for each in facts] == [getattr(whole, each) for each in facts]
            assert len(found.kept()) <= 100


def test_identifiers_of_long_tables_are_refused_unless_they_are_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    paths = [tmp_path / name for name in ("a.parquet", "b.parquet")]
    for path in paths:
        columns = {"v": rng.permutation(5000).astype(np.int64), "x": rng.normal(size=5000)}
        parquet.write_table(pa.table(columns), path, row_group_size=1000)
    with pytest.raises(ValueError, match="column 'v' looks like an identifier: its 5,000 and 5,000 cells"):
        in_batches(*paths, n_resamples=19)
    assert in_batches(*paths, n_resamples=19, keep="v").sizes == (5000, 5000)


def test_identifiers_of_several_groups_are_told_in_short() -> None:
    sizes = (40, 30, 25)
    table = pd.concat(
        [
            pd.DataFrame(
                {"nr": np.arange(n) + 100 * k, "sid": np.arange(n) + 1, "x": np.cos(np.arange(n)), "g": f"{k}"}
            )
            for k, n in enumerate(sizes)
        ]
    )
    with pytest.raises(ValueError, match=r"^g=0 and 2 more: column 'nr' looks like") as error:
        km.compare_groups(table, "g")
    assert "its 95 cells are integers from 0 to 224, all different in each table. " in str(error.value)
    told = ". Leave them out before (pandas or read_frame: drop(columns=['nr', 'sid'])), or insist with keep="
    assert told in str(error.value)
    assert to_frame(table, "t").drop(columns=["nr", "sid"]).names == ("x", "g")
