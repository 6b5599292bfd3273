"""mmd_test and hsic_test take whatever holds rows: few of them give the result of the table, many are read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kernelmean as km
from checkered import checkered
from kernelmean.kernels import Gaussian

RNG = np.random.default_rng(0)
A = pd.DataFrame({"dose": RNG.normal(size=90), "age": RNG.uniform(20, 60, 90)})
B = pd.DataFrame({"dose": RNG.normal(0.4, 1.0, size=80), "age": RNG.uniform(20, 60, 80)})
TESTS = {"mmd_test": (km.mmd_test, A, B), "hsic_test": (km.hsic_test, A[:80], B)}
WIDE = Gaussian((1.0, 15.0))
HOW: dict[str, Any] = {"kernel": WIDE, "n_resamples": 49, "rng": 0}


def few(table: Any) -> Iterator[Any]:
    return (table[start : start + 17] for start in range(0, len(table), 17))


def csv(folder: Path, name: str, table: pd.DataFrame) -> Path:
    table.to_csv(folder / f"{name}.csv", index=False)
    return folder / f"{name}.csv"


def parquet(folder: Path, name: str, table: pd.DataFrame) -> Path:
    table.to_parquet(folder / f"{name}.parquet", index=False)
    return folder / f"{name}.parquet"


def several(folder: Path, name: str, table: pd.DataFrame) -> list[str]:
    return [str(parquet(folder, f"{name}-{k}", part)) for k, part in enumerate((table[:30], table[30:]))]


def directory(folder: Path, name: str, table: pd.DataFrame) -> Path:
    (folder / name).mkdir()
    several(folder / name, "part", table)
    return folder / name


def dask_frame(_: Path, __: str, table: pd.DataFrame) -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=3)


def dask_array(_: Path, __: str, table: pd.DataFrame) -> Any:
    return pytest.importorskip("dask.array").from_array(table.to_numpy(), chunks=(31, 1))


Put = Callable[[Path, str, pd.DataFrame], Any]
PLACES: dict[str, Put] = {
    "csv": csv,
    "parquet": parquet,
    "path as text": lambda *given: str(parquet(*given)),
    "several files": several,
    "folder": directory,
    "dask frame": dask_frame,
    "dask array": dask_array,
    "list of arrays": lambda _, __, table: list(few(table.to_numpy())),
    "iterator of arrays": lambda _, __, table: few(table.to_numpy()),
    "iterator of frames": lambda _, __, table: few(table),
    "arrow reader": lambda _, __, table: pa.Table.from_pandas(table).to_reader(max_chunksize=9),
    "source": lambda _, __, table: km.read(table),
    "source of a file": lambda *given: km.read(csv(*given), in_memory=True),
    "polars": lambda _, __, table: pl.from_pandas(table),
}


def options(estimator: str | None) -> dict[str, Any]:
    return HOW if estimator is None else {"estimator": estimator, "n_resamples": 19, "rng": 0}


@cache
def of_tables(name: str, estimator: str | None) -> Any:
    """Return the result of the tables in memory."""
    test, X, Y = TESTS[name]
    return test(X, Y, **options(estimator))


@pytest.mark.parametrize(
    ("name", "place", "estimator"), checkered(list(TESTS), list(PLACES), [None, "f-kmse", "adaptive"], every=4)
)
def test_few_rows_give_the_result_of_the_table(name: str, place: str, estimator: str | None, tmp_path: Path) -> None:
    test, X, Y = TESTS[name]
    how, expected, put = options(estimator), of_tables(name, estimator), PLACES[place]
    for sources in ((put(tmp_path, "x", X), put(tmp_path, "y", Y)), (X, PLACES[place](tmp_path, "z", Y))):
        found = test(*sources, **how)
        assert (found.pvalue, found.scheme, found.sizes) == (expected.pvalue, expected.scheme, expected.sizes)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert found.notes == expected.notes


def test_rows_with_blank_cells_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    blank = A.assign(age=A["age"].where(A["age"] > 30))
    path = csv(tmp_path, "x", blank)
    with pytest.raises(ValueError, match=r"x\.csv.*'age'"):
        km.mmd_test(path, B, **HOW)
    assert km.mmd_test(km.read(path, missing="drop"), B, **HOW).pvalue == km.mmd_test(blank.dropna(), B, **HOW).pvalue
    once = km.mmd_test(km.read(path, missing="drop"), B, scheme="bins", **HOW)
    assert once.sizes == (len(blank.dropna()), 80)
    for pairs in (km.hsic_test, partial(km.mmd_test, design=km.Design(paired=True))):
        with pytest.raises(ValueError, match="leave missing= out"):
            pairs(km.read(path, missing="drop"), B[["dose"]], **HOW)


# -- in bins ----------------------------------------------------------------------------------------------------------

BINS: dict[str, Any] = {"scheme": "bins"}


@pytest.mark.parametrize(
    ("name", "place", "estimator"),
    checkered(
        list(TESTS),
        [place for place in PLACES if place not in ("polars", "source of a file")],
        [None, "adaptive"],
        every=3,
    ),
)
def test_many_rows_go_by_bins_with_one_p_value_in_all_places(
    name: str, place: str, estimator: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = "TEST_LIMIT" if estimator is None else "ADAPTIVE_LIMIT"
    monkeypatch.setattr(f"kernelmean.tables.limits.{limit}", 75)
    test, X, Y = TESTS[name]
    put, how = PLACES[place], options(estimator)
    found = test(put(tmp_path, "x", X), put(tmp_path, "y", Y), **how)
    assert found.scheme == "bins"
    assert found.sizes == ((90, 80) if name == "mmd_test" else (80,))
    assert found.notes[-1] == "rows were added up in bins, which permutations move as a whole, beyond 75 rows"
    expected = test(X, Y, scheme="bins", **how)
    assert found.pvalue == expected.pvalue
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    here = test(X, Y, **how)
    assert (here.pvalue, here.notes) == (found.pvalue, found.notes)


def test_iterators_beyond_the_limit_lose_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.tables.limits.TEST_LIMIT", 40)
    first, second = few(A.to_numpy()), few(B.to_numpy())
    found = km.mmd_test(first, second, **HOW)
    expected = km.mmd_test(A.to_numpy(), B.to_numpy(), scheme="bins", **HOW)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert (found.pvalue, found.sizes) == (expected.pvalue, (90, 80))


def test_sources_ask_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = parquet(tmp_path, "x", A), parquet(tmp_path, "y", B)
    whole = km.mmd_test(A, B, **HOW)
    monkeypatch.setattr("kernelmean.tables.limits.TEST_LIMIT", 40)
    held = km.mmd_test(km.read(first, in_memory=True), second, **HOW)
    assert (held.scheme, held.pvalue) == ("rotations", whole.pvalue)


def test_many_rows_are_held_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 85)
    path, how = parquet(tmp_path, "x", A), {"n_resamples": 19, "rng": 0}
    assert km.mmd_test(path, B, **HOW).scheme == "rotations"
    for estimator in (None, "adaptive", "aggregate"):
        assert km.mmd_test(path, B, estimator=estimator, **how).scheme == "bins"
        assert km.mmd_test(km.read(path, in_memory=True), B, estimator=estimator, **how).scheme != "bins"
    assert km.mmd_test(A, B, scheme="random", **how).scheme == "random"
    design = km.Design(strata=(np.arange(90) % 3, np.arange(80) % 3))
    assert km.mmd_test(A, B, design=design, **how).members


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: km.mmd_test(A, B, estimator="f-kmse", **BINS), ValueError, "'mmkme'; leave scheme= out"),
        (
            lambda: km.mmd_test(A, B, estimator=km.estimators.SKMSE(), **BINS),
            ValueError,
            r"filter='scale'.* does not go",
        ),
        (lambda: km.mmd_test(km.read(A, in_memory=True), B, **BINS), ValueError, "leave one of the two out"),
        (lambda: km.mmd_test(A, B, rng=-1, **BINS), ValueError, "rng is -1"),
        (lambda: km.mmd_test(A, B, n_resamples=0, **BINS), ValueError, "n_resamples is 0"),
        (lambda: km.mmd_test(A, B, plan="fast", **BINS), TypeError, "plan is 'fast'"),
        (lambda: km.mmd_test(A, B, scheme=3, estimator="kme"), ValueError, "scheme is 3"),
        (lambda: km.mmd_test("none.csv", B, estimator="kme"), FileNotFoundError, r"there is no file 'none\.csv'"),
        (lambda: km.mmd_test(iter([]), B, estimator="kme"), ValueError, "the iterable of batches is empty"),
        (lambda: km.mmd_test(few(A), few(B[["dose"]]), estimator="kme"), ValueError, "column"),
        (lambda: km.mmd_test(A.assign(dose="x"), B, **BINS), TypeError, "'dose'"),
        (lambda: km.hsic_test(A, A, statistic="u", **BINS), ValueError, "V-statistic, 'v'"),
        (lambda: km.hsic_test(A, A, estimator=("kme", "scose"), **BINS), ValueError, "does not go with"),
        (lambda: km.hsic_test(A, A, estimator=km.estimators.SKMSE(), **BINS), ValueError, "does not go with"),
        (lambda: km.hsic_test(few(A), few(B), estimator="kme"), ValueError, "X has 90 rows and Y has 80"),
    ],
)
def test_what_does_not_go_together_is_said(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)
    assert not Path("a").exists()


def test_one_iterator_is_not_two_samples() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 2))
    batches = [rows[:20], rows[20:40], rows[40:]]

    def reader() -> Any:
        return pa.table({"a": rows[:, 0], "b": rows[:, 1]}).to_reader(max_chunksize=20)

    for make in (lambda: iter(batches), lambda: (batch for batch in batches), reader):
        calls: list[Any] = [
            lambda one: km.mmd_test(one, one, rng=0, estimator="kme"),
            lambda one: km.mmd_test(km.read(one), km.read(one), rng=0, estimator="kme"),
            lambda one: km.mmd_test(one, one, scheme="bins", rng=0, estimator="kme"),
            lambda one: km.hsic_test(one, one, rng=0, estimator="kme"),
            lambda one: km.k_sample_test(one, rows, one, rng=0, estimator="kme"),
            lambda one: km.compare(km.read(one), km.read(one)),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="one iterator or reader was passed for two tables"):
                call(make())
    assert km.mmd_test(batches, batches, rng=0, estimator="kme").pvalue == 1.0  # a list is read as often as wanted
