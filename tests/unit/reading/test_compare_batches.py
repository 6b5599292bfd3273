"""compare takes whatever holds rows: batches, iterators of them, Arrow and dask tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kernelmean as km
from in_batches import in_batches

QUICK: dict[str, Any] = {"n_resamples": 19, "missing": "category"}
RNG = np.random.default_rng(0)


def table(n: int) -> pd.DataFrame:
    arm = pd.Series(RNG.choice(["a", "b", "c"], n)).mask(RNG.random(n) < 0.1)
    return pd.DataFrame({"dose": RNG.gamma(2.0, 30.0, n), "arm": arm, "day": pd.Timestamp("2024-03-01")}).assign(
        day=lambda own: own["day"] + pd.to_timedelta(RNG.integers(0, 99, n), "h")
    )


A, B = table(500), table(450)


@pytest.fixture(scope="module")
def expected() -> Any:
    return in_batches(A, B, **QUICK)


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few rows be many."""
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 300)


def parts(rows: pd.DataFrame, size: int) -> Iterator[pd.DataFrame]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def arrow(rows: pd.DataFrame) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pandas(part, preserve_index=False) for part in parts(rows, 130)]


def dask(rows: pd.DataFrame) -> Any:
    return pytest.importorskip("dask.dataframe", reason="needs the extra 'dask'").from_pandas(rows, npartitions=3)


def reader(rows: pd.DataFrame) -> Any:
    return pa.Table.from_pandas(rows, preserve_index=False).to_reader(max_chunksize=170)


HOLDERS = {
    "a list": lambda rows: list(parts(rows, 90)),
    "an iterator": lambda rows: parts(rows, 200),
    "record batches": arrow,
    "an iterator of record batches": lambda rows: iter(arrow(rows)),
    "an Arrow reader": reader,
    "a dask data frame": dask,
}


@pytest.mark.parametrize("holds", HOLDERS.values(), ids=HOLDERS)
def test_many_rows_are_read_batch_by_batch_whatever_holds_them(long: None, expected: Any, holds: Any) -> None:
    found = km.compare(holds(A), holds(B), **QUICK)
    assert (found.names, found.sizes, found.missing) == (("A", "B"), expected.sizes, expected.missing)
    assert (found.test.scheme, found.test.pvalue) == ("bins", expected.test.pvalue)
    assert found.test.statistic == pytest.approx(expected.test.statistic, rel=1e-9)
    assert [(own.name, own.pvalue) for own in found.columns] == [(own.name, own.pvalue) for own in expected.columns]


@pytest.mark.parametrize("holds", [HOLDERS["an iterator"], dask], ids=["an iterator", "a dask data frame"])
def test_few_rows_are_held(holds: Any) -> None:
    near, far = (km.compare(make(A), make(B), estimator="kme", **QUICK) for make in (lambda rows: rows, holds))
    assert (far.test.pvalue, far.test.statistic, far.test.scheme) == tuple(
        getattr(near.test, name) for name in ("pvalue", "statistic", "scheme")
    )


def test_arrays_in_batches(long: None) -> None:
    X, Y = RNG.normal(size=(400, 3)), RNG.normal(size=(350, 3))
    near = in_batches(X, Y, n_resamples=19)
    far = km.compare(np.array_split(X, 3), iter(np.array_split(Y, 4)), n_resamples=19)
    assert (far.test.pvalue, far.sizes) == (near.test.pvalue, near.sizes)
    assert far.test.statistic == pytest.approx(near.test.statistic, rel=1e-9)


def test_errors_call_the_table_by_its_letter_and_count_its_rows(long: None) -> None:
    row = int(np.flatnonzero(A["arm"].isna())[-1]) + 1
    filled = A.assign(arm=A["arm"].where(A.index == row - 1, A["arm"].fillna("a")))
    with pytest.raises(ValueError, match=f"^A: row {row}, column 'arm' is blank or NaN"):
        km.compare(parts(filled, 60), parts(B, 60))
    with pytest.raises(ValueError, match="one iterator or reader was passed for two tables"):
        km.compare(*[parts(A, 60)] * 2)
