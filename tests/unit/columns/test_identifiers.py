"""Integers that number rows are refused; integers that measure something pass without a word."""

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
from kernelmean.tables.columns import inspection
from kernelmean.tables.columns.inspection import IntegersSeen, judge

RNG = np.random.default_rng(0)


def table(cells: Any, name: str = "v") -> pd.DataFrame:
    return pd.DataFrame({name: cells, "x": np.random.default_rng(len(cells)).normal(size=len(cells))})


def is_refused(*tables: Any) -> bool:
    seen = [IntegersSeen() for _ in tables]
    for one, cells in zip(seen, tables, strict=True):
        one.add(np.asarray(cells, dtype=np.float64))
    finding, note = judge("v", seen)
    assert note is None
    return finding is not None


IDS = np.sort(RNG.choice(10**6, 60, replace=False))
CASES = [
    (True, [range(1, 51)]),
    (True, [range(50)]),
    (True, [range(1000, 1050)]),
    (True, [range(50, 0, -1)]),
    (True, [RNG.permutation(50)]),
    (True, [np.delete(np.arange(50), [3, 17, 20])]),
    (True, [range(1, 31), range(1, 41)]),
    (True, [range(1, 31), range(31, 61)]),
    (True, [range(1, 13), range(1, 13)]),
    (True, [range(1, 61, 2), range(2, 61, 2)]),
    (True, np.array_split(RNG.permutation(80), 2)),
    (True, [[*range(30), np.nan, np.nan]]),
    (True, [range(10**9, 10**9 + 40)]),
    (False, [IDS]),
    (False, [RNG.permutation(IDS)]),
    (False, [RNG.permutation(IDS), RNG.permutation(IDS)]),
    (False, [[5, 3, 9, 1]]),
    (True, [range(1950, 2021)]),
    (True, [range(1, 25)]),
    (False, [IDS[::-1]]),
    (False, [RNG.choice(3000, 600, replace=False)]),
    (False, [range(10)]),
    (False, [range(1, 4), range(1, 4)]),
    (False, [[1, 2, 3]]),
    (False, [RNG.permutation(IDS)[:30], RNG.permutation(IDS)[:25] + 1]),
    (False, [[*range(50), 3]]),
    (False, [range(50), [*range(50), 3]]),
    (False, [np.arange(50) + 0.5]),
    (False, [[*range(50), 7.5]]),
    (False, [RNG.integers(0, 5, 60)]),
    (False, [[np.nan] * 5]),
    (False, [np.arange(30) * 0.1]),
]


@pytest.mark.parametrize(("refused", "tables"), CASES)
def test_a_column_of_integers(refused: bool, tables: list[Any]) -> None:
    assert is_refused(*tables) == refused


def test_random_integers_are_measurements() -> None:
    """One in a million by the bound; repeated here over sizes and ranges."""
    rng = np.random.default_rng(5)
    for _ in range(2000):
        width = int(10 ** rng.uniform(0.5, 6))
        sizes = rng.integers(2, 80, 2)
        assert not is_refused(*(rng.integers(0, width, n) for n in sizes))


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


def test_a_sequence_without_a_name_is_noted() -> None:
    years = table(range(1950, 2000), "year")
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
            facts = ("rows", "low", "high")
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
