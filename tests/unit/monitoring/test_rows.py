"""A monitor takes whatever holds rows, and a reference of any length."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import DriftMonitor
from kernelmean.inference.monitoring import rows as reading


def table(seed: int, n: int, shift: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"dose": rng.normal(shift, 1.0, n), "arm": rng.choice(["a", "b", "c"], n)})


def saved(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


HELD: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "path": lambda frame, folder: str(saved(frame, folder / "rows.csv")),
    "source": lambda frame, folder: km.read(saved(frame, folder / "rows.csv")),
    "source of many batches": lambda frame, _: km.read(frame, batch_rows=17),
    "list": lambda frame, _: [frame[:30], frame[30:]],
    "paths": lambda frame, folder: [saved(frame[:30], folder / "a.csv"), str(saved(frame[30:], folder / "b.csv"))],
    "generator of paths": lambda frame, folder: iter(HELD["paths"](frame, folder)),
    "generator of sources": lambda frame, folder: map(km.read, HELD["paths"](frame, folder)),
    "sources in memory": lambda frame, folder: [km.read(path, in_memory=True) for path in HELD["paths"](frame, folder)],
    "generator": lambda frame, _: (frame[start : start + 16] for start in range(0, len(frame), 16)),
}


def learned(monitor: DriftMonitor) -> dict[str, Any]:
    """Return a checkpoint without what depends on the cuts between batches: which rows are next to each other."""
    content = json.loads(monitor.to_json())
    return {name: value for name, value in content.items() if name != "neighbors"}


@pytest.mark.parametrize("held", HELD)
def test_rows_are_the_same_whatever_holds_them(held: str, tmp_path: Path) -> None:
    first, more, new = table(0, 80), table(1, 40), table(2, 90, 0.8)
    expected, own = DriftMonitor(first, shuffle=False), DriftMonitor(HELD[held](first, tmp_path), shuffle=False)
    assert own.to_json() == expected.to_json()
    expected.add_reference(more)
    own.add_reference(HELD[held](more, tmp_path))
    assert learned(own) == learned(expected)
    assert own.update(HELD[held](new, tmp_path)).log_peak == pytest.approx(expected.update(new).log_peak, rel=1e-9)
    assert own.changed_between() == expected.changed_between()


def test_dates_as_text_are_left_out_and_not_converted() -> None:
    days = pd.date_range("2024-01-01", periods=40).strftime("%Y-%m-%d")
    with pytest.raises(ValueError, match="'at' holds dates, which differ in every later table; leave it out") as caught:
        DriftMonitor(table(0, 40).assign(at=days))
    assert "to_datetime" not in str(caught.value)


def test_new_rows_with_another_spelling_or_a_word_among_numbers_say_so() -> None:
    monitor, new = DriftMonitor(table(0, 40)), table(1, 10)
    with pytest.raises(ValueError, match="is 'Dose' the same as 'dose'"):
        monitor.update(new.rename(columns={"dose": "Dose"}))
    with pytest.raises(TypeError, match=r"'dose' holds numbers and text \('two' in row 4\)"):
        monitor.update(new.assign(dose=[1, 2, 3, "two", *range(6)]))


def test_a_monitor_is_as_it_was_where_a_later_batch_fails() -> None:
    own = DriftMonitor(table(0, 80))
    before = own.to_json()
    for take in (own.update, own.add_reference):
        for last, text in ((table(1, 5).assign(arm=1.0), "numeric in batch 2"), (table(1, 0), "no rows")):
            with pytest.raises(ValueError, match=text):
                take([table(2, 30, 3.0), last])
            assert own.to_json() == before
    with pytest.raises(ValueError, match="numeric in batch 2"):
        DriftMonitor([table(0, 40), table(1, 40).assign(arm=1.0)])


def test_a_column_of_a_file_that_turns_out_to_be_text_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.tables.readers.csv_file.BLOCK_BYTES", 512)
    codes = np.repeat(["7", "b2"], 200)
    known = pd.DataFrame({"code": np.random.default_rng(0).permutation(codes), "x": np.arange(400) % 7.0})
    new = known.assign(code=codes)
    own, expected = (DriftMonitor(known, shuffle=False, categorical=["code"]) for _ in range(2))
    assert own.update(saved(new, tmp_path / "new.csv")).log_peak == pytest.approx(expected.update(new).log_peak)
    again = DriftMonitor(saved(new, tmp_path / "known.csv"), shuffle=False, categorical=["code"])
    assert again.to_json() == DriftMonitor(new, shuffle=False, categorical=["code"]).to_json()


def test_of_a_long_reference_rows_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_REFERENCE", 300)
    X = np.random.default_rng(0).normal(size=(2000, 2))
    own = DriftMonitor(X, seed=3)
    assert own.state.notes == ("300 of the 2,000 rows of reference were drawn",)
    assert own.update(X[:50]).notes == own.state.notes
    again = DriftMonitor(km.read(X, batch_rows=64), seed=3)
    again.update(X[:50])
    assert again.to_json() == own.to_json()
    counts = own._fixed.bag.counts.sum(axis=1)
    assert counts.tolist() == [300 - 75 + 50] * len(counts)
    other = DriftMonitor(np.vstack([X[:-1], X[:1]]), seed=3)  # all rows count, whether they were drawn or not
    with pytest.raises(ValueError, match="another reference"):
        other.resume(own.to_json())
    assert DriftMonitor(X[:300]).state.notes == ()
