"""A checkpoint answers for the rows and the options that it was written for, and for nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import kernelmean as km
from in_batches import in_batches
from in_bins import mmd

N, M, BATCH = 300, 260, 50
MMD = {"n_resamples": 99, "estimator": "kme"}
COMPARE = {"n_resamples": 99}


def numbers(n: int, seed: int) -> pd.DataFrame:
    """Return whole hundreds to nines, which are written with as many letters each."""
    return pd.DataFrame(np.random.default_rng(seed).integers(100, 1000, (n, 2)) / 100.0, columns=["a", "b"])


def mixed(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng([seed, 1])
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    blank = rng.random(n) < 0.1
    text = pd.Series(rng.choice(["red", "tan"], n), dtype=object).mask(blank)
    return numbers(n, seed).assign(text=text, when=days, flag=rng.random(n) < 0.5)


# -- places of data: each makes of a data frame what a test takes -----------------------------------------------------


def folder(path: Path, frame: pd.DataFrame) -> Path:
    """Return a folder of Parquet files of three row groups each."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for k, start in enumerate(range(0, len(frame), 3 * BATCH)):
        part = pa.Table.from_pandas(frame[start : start + 3 * BATCH], preserve_index=False)
        parquet.write_table(part, path / f"part-{k}.parquet", row_group_size=BATCH)
    return path


def csv(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def one_file(path: Path, frame: pd.DataFrame) -> Path:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    parquet.write_table(table, path.with_suffix(".parquet"), row_group_size=BATCH)
    return path.with_suffix(".parquet")


Place = Callable[[Path, pd.DataFrame], Any]
TABLES: dict[str, Place] = {
    "pandas": lambda _, frame: frame,
    "polars": lambda _, frame: pl.from_pandas(frame),
    "arrow": lambda _, frame: pa.Table.from_pandas(frame, preserve_index=False),
    "csv": csv,
    "parquet": one_file,
    "folder": folder,
}
COMPARED = [(place, "mixed") for place in TABLES] + [("pandas", "numbers"), ("parquet", "numbers")]
STOPPED = [pytest.param(*own, marks=[pytest.mark.slow] * (own[0] in ("polars", "arrow"))) for own in COMPARED]
"""Where a stopped one is tried: frames of three libraries are held alike, which finished ones show of each."""


# -- changes of data --------------------------------------------------------------------------------------------------


def changed(frame: pd.DataFrame, row: int, column: str, cell: Any) -> pd.DataFrame:
    frame = frame.copy()
    frame.loc[row, column] = cell
    return frame


def swapped(frame: pd.DataFrame, one: int, other: int) -> pd.DataFrame:
    order = np.arange(len(frame))
    order[[one, other]] = order[[other, one]]
    return frame.iloc[order].reset_index(drop=True)


CHANGES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "first cell": lambda frame: changed(frame, 0, "a", 10.0 - 0.5 * (frame.loc[0, "a"] == 10.0)),
    "last cell": lambda frame: changed(frame, len(frame) - 1, "b", 1.23 + (frame["b"].iloc[-1] == 1.23)),
    "every cell, as many bytes": lambda frame: frame.assign(a=(frame["a"] + 4.0).clip(1.0, 9.99)),
    "two rows swapped": lambda frame: swapped(frame, 3, len(frame) - 2),
    "sorted": lambda frame: frame.sort_values("a", ignore_index=True),
    "a row appended": lambda frame: pd.concat([frame, frame[:1]], ignore_index=True),
    "a row less": lambda frame: frame[:-1],
    "a batch less": lambda frame: frame[:-BATCH],
}
MIXED_CHANGES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a text": lambda frame: changed(frame, 100, "text", "tan" if frame.loc[100, "text"] == "red" else "red"),
    "a blank": lambda frame: changed(frame, int(frame["text"].first_valid_index()), "text", None),
    "a date": lambda frame: changed(frame, 200, "when", frame.loc[200, "when"] + pd.Timedelta("1D")),
    "a truth value": lambda frame: changed(frame, 200, "flag", not frame.loc[200, "flag"]),
}


def one_side(A: pd.DataFrame, B: pd.DataFrame, case: int, kind: str = "numbers") -> Iterator[tuple[str, Any, Any]]:
    """Return every change with the two tables, of which one is changed: from case to case the other one."""
    changes = CHANGES if kind == "numbers" else CHANGES | MIXED_CHANGES
    for k, (name, change) in enumerate(changes.items()):
        yield (name, change(A), B) if (k + case) % 2 else (name, A, change(B))


def sides(A: pd.DataFrame, B: pd.DataFrame, place: str, kind: str) -> list[tuple[str, Any, Any]]:
    """Return the changes of a comparison: of either table where few other places go the same way, as in one pass."""
    cases = (0, 1) if kind == "numbers" else (COMPARED.index((place, kind)),)
    return [change for case in cases for change in one_side(A, B, case, kind)]


def options_of(place: str, kind: str) -> dict[str, Any]:
    """Return those of a comparison: the default test of one place, and a quicker one of others, which read alike."""
    quicker = {} if place == "pandas" else {"estimator": "kme"}
    return {**COMPARE, **quicker, **({} if kind == "numbers" else {"missing": "category"})}


def refused(text: str) -> str:
    for part in ("sums.npz", "belongs to other", "delete it", "checkpoint"):
        assert part in text
    assert "\n" not in text
    return "refused"


def outcome(test: Callable[[], Any]) -> Any:
    """Return what a test found, or "refused" with the message checked."""
    try:
        result = test()
    except ValueError as error:
        return refused(str(error))
    found = result.test if hasattr(result, "columns") else result
    return found.pvalue, float(found.statistic), found.sizes


def same(one: Any, other: Any) -> bool:
    return (
        one != "refused" and one[0] == other[0] and one[1] == pytest.approx(other[1], rel=1e-6) and one[2] == other[2]
    )


@pytest.mark.parametrize(("place", "kind"), COMPARED)
def test_a_finished_comparison_answers_for_its_rows_only(tmp_path: Path, place: str, kind: str) -> None:
    make = numbers if kind == "numbers" else mixed
    A, B, path = make(N, 0), make(M, 1), tmp_path / "sums.npz"
    options = options_of(place, kind)
    put = TABLES[place]

    def test(X: pd.DataFrame, Y: pd.DataFrame) -> Any:
        sources = put(tmp_path / "first", X), put(tmp_path / "second", Y)
        return outcome(lambda: in_batches(*sources, checkpoint=path, **options))

    found = test(A, B)
    content = path.read_bytes()
    assert same(test(A, B), found)
    for name, *other in sides(A, B, place, kind):
        assert test(*other) == "refused", name
    assert test(B, A) == "refused"
    assert path.read_bytes() == content
    assert same(test(A, B), found)


@pytest.mark.parametrize("put", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("taker", [in_batches, mmd])
def test_columns_of_other_names_or_in_another_order_are_other_data(tmp_path: Path, taker: Any, put: Place) -> None:
    A, B, path = numbers(N, 0), numbers(M, 1), tmp_path / "sums.npz"
    options = COMPARE if taker is in_batches else MMD

    def test(X: pd.DataFrame, Y: pd.DataFrame) -> Any:
        sources = put(tmp_path / "first", X), put(tmp_path / "second", Y)
        return outcome(lambda: taker(*sources, checkpoint=path, **options))

    found = test(A, B)
    for change in (
        lambda frame: frame.rename(columns={"a": "c"}),
        lambda frame: frame.rename(columns={"a": "b", "b": "a"}),
        lambda frame: frame[["b", "a"]],
        lambda frame: frame[["a"]],
        lambda frame: frame.assign(c=1.5),
    ):
        assert test(change(A), change(B)) == "refused"
    assert same(test(A, B[["b", "a"]]), found)  # which is matched by name: the same rows


def test_rows_count_not_the_name_or_the_time_of_a_file(tmp_path: Path) -> None:
    for put in (csv, one_file, folder):
        path = tmp_path / f"{put.__name__}-sums.npz"
        first, second = (put(tmp_path / name, mixed(n, k)) for k, (name, n) in enumerate((("x", N), ("y", M))))
        options = {"checkpoint": path, "missing": "drop", **COMPARE}
        found = outcome(lambda: in_batches(first, second, **options))  # noqa: B023
        for file in (first, second):
            os.utime(file, (1.0, 1.0))
        moved = second.rename(second.with_name("moved" + second.suffix))
        assert same(outcome(lambda: in_batches(first, moved, **options)), found)  # noqa: B023
        assert outcome(lambda: in_batches(moved, first, **options)) == "refused"  # noqa: B023


def test_the_files_of_a_folder_keep_their_order(tmp_path: Path) -> None:
    first, second = (folder(tmp_path / name, numbers(300, k)) for k, name in enumerate("xy"))
    options = {"checkpoint": tmp_path / "sums.npz", **COMPARE}
    found = outcome(lambda: in_batches(first, second, **options))
    (second / "part-0.parquet").rename(second / "part-2.parquet")
    assert outcome(lambda: in_batches(first, second, **options)) == "refused"
    (second / "part-2.parquet").rename(second / "part-0.parquet")
    assert same(outcome(lambda: in_batches(first, second, **options)), found)
    (second / "part-1.parquet").rename(first / "part-2.parquet")
    assert outcome(lambda: in_batches(first, second, **options)) == "refused"


@pytest.mark.parametrize(
    "other",
    [
        {"estimator": "kme"},
        {"estimator": "kme", "bandwidth": 2.0},
        {"scale": False},
        {"n_resamples": 199},
        {"seed": 1},
        {"missing": "drop"},
        {"missing": {"text": "category"}},
        {"ordinal": {"text": ["tan", "red"]}},
        {"categorical": ["flag"]},
    ],
    ids=repr,
)
@pytest.mark.parametrize("finished", [True, False])
def test_options_of_a_comparison_are_part_of_its_checkpoint(
    tmp_path: Path, other: dict[str, Any], finished: bool
) -> None:
    A, B, path = mixed(N, 0), mixed(M, 1), tmp_path / "sums.npz"
    options = {"checkpoint": path, "missing": "category", "ordinal": {"text": ["red", "tan"]}, **COMPARE}
    if finished:
        in_batches(A, B, **options)
    else:
        with pytest.raises(RuntimeError, match="stopped"):
            in_batches(A, B, progress=stop_after(0), **options)
    content = path.read_bytes()
    assert outcome(lambda: in_batches(A, B, **options | other)) == "refused"
    assert path.read_bytes() == content


# -- checkpoints that are not finished --------------------------------------------------------------------------------


def stop_after(rows: int) -> Callable[[str, int, int], None]:
    def progress(label: str, done: int, _: int) -> None:
        if label.startswith("sums") and done > rows:
            raise RuntimeError("stopped")

    return progress


@pytest.mark.parametrize(("place", "kind"), STOPPED)
def test_a_comparison_that_was_stopped_goes_on_with_the_same_rows_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, kind: str
) -> None:
    monkeypatch.setattr("kernelmean.studies.comparison.table_pass._BATCH_NUMBERS", 100)
    make = numbers if kind == "numbers" else mixed
    A, B, path = make(N, 0), make(M, 1), tmp_path / "sums.npz"
    options = options_of(place, kind)

    def test(X: pd.DataFrame, Y: pd.DataFrame, kept: Path | None = path, **more: Any) -> Any:
        sources = TABLES[place](tmp_path / "first", X), TABLES[place](tmp_path / "second", Y)
        return outcome(lambda: in_batches(*sources, checkpoint=kept, **options, **more))

    started = test(A, B, None)
    with pytest.raises(RuntimeError, match="stopped"):
        test(A, B, progress=stop_after(150))
    content = path.read_bytes()
    for name, *other in sides(A, B, place, kind)[COMPARED.index((place, kind)) % 2 :: 2]:  # the others elsewhere
        path.write_bytes(content)
        assert test(*other) == "refused", name
        assert path.read_bytes() == content
    path.write_bytes(content)
    assert same(test(A, B), started)


def test_files_that_change_between_two_passes_are_refused(tmp_path: Path) -> None:
    first, second = csv(tmp_path / "x", mixed(N, 0)), csv(tmp_path / "y", mixed(M, 1))
    other = MIXED_CHANGES["a text"](mixed(M, 1))

    def progress(label: str, done: int, _: int) -> None:
        if label.startswith("first pass") and done == N + M:
            csv(tmp_path / "y", other)

    options = {"checkpoint": tmp_path / "sums.npz", "missing": "category", **COMPARE}
    with pytest.raises(ValueError, match=r"y\.csv was changed while it was read"):
        in_batches(first, second, progress=progress, **options)


# -- files of other versions, and of other kinds ----------------------------------------------------------------------


@pytest.mark.parametrize("taker", [in_batches, mmd])
def test_a_checkpoint_without_a_digest_is_refused(tmp_path: Path, taker: Any) -> None:
    """As version 0.3 and earlier wrote it: the sums alone."""
    X, Y, path = numbers(N, 0).to_numpy(), numbers(M, 1).to_numpy(), tmp_path / "sums.npz"
    taker(X, Y, checkpoint=path, **COMPARE)
    km.save(km.load(path), path)
    with pytest.raises(ValueError, match=r"sums\.npz .* written by an earlier version, .*; delete it to start over"):
        taker(X, Y, checkpoint=path, **COMPARE)


@pytest.mark.parametrize(("taker", "other"), [(in_batches, mmd)] * 2)
def test_a_checkpoint_of_another_function_is_refused(tmp_path: Path, taker: Any, other: Any) -> None:
    X, Y, path = numbers(N, 0).to_numpy(), numbers(M, 1).to_numpy(), tmp_path / "sums.npz"
    taker(X, Y, checkpoint=path, **COMPARE)
    with pytest.raises(ValueError, match="is not of this test"):
        other(X, Y, checkpoint=path, **COMPARE)


@pytest.mark.parametrize(
    "change",
    [{"rows": [1]}, {"rows": [-1, 0]}, {"rows": "ab"}, {"read": None}, {"options": "x"}, {"whole": {}}, {"whole": 3}],
    ids=repr,
)
def test_a_damaged_record_is_said_in_one_line(tmp_path: Path, change: dict[str, Any]) -> None:
    X, Y, path = numbers(N, 0).to_numpy(), numbers(M, 1).to_numpy(), tmp_path / "sums.npz"
    in_batches(X, Y, checkpoint=path, **COMPARE)
    sums, of = km.estimators.files.load_state(path)
    km.estimators.files.save_state(sums, path, of | change)
    with pytest.raises(ValueError, match=r"sums\.npz is damaged \(.*\); delete it to start over"):
        in_batches(X, Y, checkpoint=path, **COMPARE)
