"""One source of rows: whatever holds a table, studies say the same of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kernelmean as km
from checkered import mostly_slow
from in_batches import in_batches
from kernelmean.studies import fit_all, fit_densities
from kernelmean.tables import TextFormat

RNG = np.random.default_rng(0)
A = pd.DataFrame({"dose": RNG.normal(size=80), "arm": RNG.choice(["a", "b"], 80)})
B = pd.DataFrame({"dose": RNG.normal(0.4, 1.0, size=70), "arm": RNG.choice(["a", "b"], 70)})
NUMBERS = A[["dose"]].assign(age=RNG.uniform(20, 60, 80))
HOW: dict[str, Any] = {"estimator": "kme", "n_resamples": 49}


def csv(folder: Path, name: str, table: pd.DataFrame) -> Any:
    table.to_csv(folder / f"{name}.csv", index=False)
    return folder / f"{name}.csv"


def parquet(folder: Path, name: str, table: pd.DataFrame) -> Any:
    table.to_parquet(folder / f"{name}.parquet")
    return str(folder / f"{name}.parquet")


def several(folder: Path, name: str, table: pd.DataFrame) -> Any:
    paths = [folder / f"{name}-{k}.parquet" for k in (1, 2)]
    table[:30].to_parquet(paths[0])
    table[30:].to_parquet(paths[1])
    return km.read(paths)


def directory(folder: Path, name: str, table: pd.DataFrame) -> Any:
    (folder / name).mkdir()
    several(folder / name, "part", table)
    return km.read(folder / name, in_memory=True)


def dask_frame(_: Path, __: str, table: pd.DataFrame) -> Any:
    frames = pytest.importorskip("dask.dataframe")
    return km.read(frames.from_pandas(table, npartitions=3))


PLACES: dict[str, Callable[[Path, str, pd.DataFrame], Any]] = {
    "csv": csv,
    "parquet": parquet,
    "several files": several,
    "folder": directory,
    "dask": dask_frame,
    "source": lambda _, __, table: km.read(table),
    "polars": lambda _, __, table: pytest.importorskip("polars").from_pandas(table),
    "arrow reader": lambda _, __, table: km.read(pa.Table.from_pandas(table).to_reader(max_chunksize=9)),
    "batches": lambda _, __, table: km.read(table[start : start + 20] for start in range(0, len(table), 20)),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_comparison_says_the_same_wherever_the_rows_are(place: str, tmp_path: Path) -> None:
    expected = km.compare(A, B, **HOW)
    found = km.compare(PLACES[place](tmp_path, "first", A), PLACES[place](tmp_path, "second", B), **HOW)
    assert (found.sizes, found.test.pvalue) == (expected.sizes, expected.test.pvalue)
    assert found.test.statistic == pytest.approx(expected.test.statistic, rel=1e-12)
    assert [(each.name, each.pvalue) for each in found.columns] == [(one.name, one.pvalue) for one in expected.columns]


def scores(table: Any) -> dict[str, float]:
    return {name: one.loocv_ for name, one in fit_all(table).estimators.items()}


def loss(table: Any) -> float:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1,))  # the search of a peer takes the time
        patch.setattr("kernelmean.studies.density._FOLDS", 2)
        return fit_densities(table, estimator="mkme", n_components=[1]).candidates[0].loss


@pytest.fixture(scope="module")
def scores_of_numbers() -> dict[str, float]:
    return scores(NUMBERS)


@pytest.fixture(scope="module")
def pairs_of_numbers() -> Any:
    return km.dependence(NUMBERS, **HOW).pairs


@pytest.fixture(scope="module")
def loss_of_numbers() -> float:
    return loss(NUMBERS)


@pytest.mark.parametrize("place", mostly_slow(["csv", "several files", "folder", "dask", "batches"], "csv", "batches"))
def test_other_studies_take_what_comparisons_take(
    place: str, tmp_path: Path, scores_of_numbers: dict[str, float], pairs_of_numbers: Any, loss_of_numbers: float
) -> None:
    table = PLACES[place](tmp_path, "table", NUMBERS)
    found = km.dependence(table, **HOW)
    assert found.pairs == pairs_of_numbers
    if place != "batches":  # which are read once
        assert scores(table) == pytest.approx(scores_of_numbers, rel=1e-12)
        assert loss(table) == pytest.approx(loss_of_numbers, rel=1e-12)


def test_long_files_are_read_batch_by_batch_and_others_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = km.compare(A, B, n_resamples=49)
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 75)
    first, second = csv(tmp_path, "first", A), csv(tmp_path, "second", B)
    long = km.compare(first, second, n_resamples=49)
    assert (long.estimator, long.test.scheme, long.sizes) == ("adaptive", "bins", (80, 70))
    assert long.names == (str(first), str(second))
    held = km.compare(km.read(first, in_memory=True), second, n_resamples=49)
    assert (held.estimator, held.test.pvalue) == ("adaptive", expected.test.pvalue)
    assert km.compare(second, second, n_resamples=49).test.scheme != "bins"
    assert km.compare(A, B, n_resamples=49).test.pvalue == long.test.pvalue
    assert km.compare(first, second, **HOW).test.scheme != "bins"  # one kernel takes more rows in memory


def test_what_can_be_read_once_is_never_read_twice_in_silence() -> None:
    parts = (A[start : start + 20] for start in range(0, 80, 20))
    rows = km.read(parts, columns=["dose"])
    assert sum(map(len, rows)) == 80
    for again in (lambda: list(rows), lambda: list(rows.frames()), rows.whole):
        with pytest.raises(ValueError, match="can be read once only"):
            again()
    stream = km.read(A[start : start + 20] for start in range(0, 80, 20))
    assert in_batches(stream, B, n_resamples=19).sizes == (80, len(B))  # which puts the rows into a temporary file


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: km.read(A, text=TextFormat(decimal=",")), ValueError, "leave text= out"),
        (lambda: km.read(["a.csv", "b.csv"]), ValueError, "read as one table only if all are Parquet"),
        (lambda: list(km.read(NUMBERS, missing="drop").frames()), ValueError, "leave missing= out"),
        (lambda: km.median_bandwidth(km.read(NUMBERS)), TypeError, r"rows\.whole\(\)"),
        (lambda: km.TableEncoder().fit(km.read(A)), TypeError, r"rows\.whole\(\)"),
        (lambda: km.compare("none.csv", A), FileNotFoundError, "there is no file 'none.csv'"),
    ],
)
def test_what_contradicts_itself_raises(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
