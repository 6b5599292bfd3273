"""Batches: the same rows from whatever holds them, and plain errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import kernelmean as km

X = np.random.default_rng(0).normal(size=(100, 3)).round(9)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def rows_of(batches):
    return np.concatenate(list(batches))


@pytest.fixture
def files(tmp_path):
    """One table as CSV, with semicolons, as Parquet in small row groups, and as a folder of two files."""
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    FRAME.to_csv(tmp_path / "semicolon.csv", index=False, sep=";")
    parquet.write_table(pa.Table.from_pandas(FRAME), tmp_path / "x.parquet", row_group_size=13)
    (tmp_path / "folder").mkdir()
    FRAME[:30].to_parquet(tmp_path / "folder" / "part-0.parquet")
    FRAME[30:][["c", "a", "b"]].to_parquet(tmp_path / "folder" / "part-1.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "n_rows"), [("x.csv", None), ("semicolon.csv", None), ("x.parquet", 100), ("folder", 100)]
)
def test_files_give_their_rows_in_batches(files, name, n_rows):
    batches = km.read(files / name, batch_rows=7)
    assert batches.names == ("a", "b", "c")
    assert batches.n_rows == n_rows
    for _ in range(2):
        np.testing.assert_allclose(rows_of(batches), X, rtol=1e-15)
    if n_rows:
        assert max(len(batch) for batch in batches) == 7


def test_long_csv_files_come_in_several_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelmean.tables.readers.csv_file.BLOCK_BYTES", 1000)
    lines = ["a,b", *("1,2" for _ in range(1000)), "0.5,2"]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    sizes = [len(batch) for batch in km.read(tmp_path / "x.csv")]
    assert len(sizes) > 3
    assert sum(sizes) == 1001


@pytest.mark.parametrize(
    "make",
    [
        lambda: X,
        lambda: FRAME,
        lambda: iter([X[:40], X[40:]]),
        lambda: [X[:1], X[1:]],
        lambda: (FRAME[i : i + 30] for i in range(0, 100, 30)),
        lambda: pa.Table.from_pandas(FRAME).to_reader(max_chunksize=9),
        lambda: km.read(X),
    ],
    ids=["array", "frame", "iterator", "list", "frames", "arrow", "batches"],
)
def test_whatever_holds_a_table(make):
    np.testing.assert_array_equal(rows_of(km.read(make())), X)


def test_rows_with_blanks_are_dropped_or_named(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 10 + "3,\n" + "5,6\n")
    FRAME.where(FRAME["a"] > 0).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"row 11, column 'b' is blank"):
        list(km.read(tmp_path / "x.csv"))
    assert len(rows_of(km.read(tmp_path / "x.csv", missing="drop"))) == 11
    kept = km.read(tmp_path / "x.parquet", missing="drop", batch_rows=10)
    assert kept.n_rows is None
    np.testing.assert_array_equal(rows_of(kept), X[X[:, 0] > 0])


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", ValueError, "is empty"),
        ("1,2\n3,4\n", ValueError, "first line holds numbers"),
        ("a,a\n1,2\n", ValueError, "twice"),
        ("a,b\n1,2\n3\n", ValueError, "as many cells as the header"),
        ("a,b\n1,x\n", TypeError, "columns that are not numbers.*'b' \\('x' in row 1\\)"),
        ("a,b\n1,inf\n", ValueError, "infinite"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_said(tmp_path, text, error, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(error, match=message):
        list(km.read(tmp_path / "x.csv"))


def test_what_is_wrong_with_other_sources_is_said(files):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        km.read(files / "y.csv")
    with pytest.raises(ValueError, match="no column 'z'"):
        km.read(files / "x.parquet", columns=["z"])
    with pytest.raises(ValueError, match="no columns left"):
        km.read(files / "x.parquet", columns=[])
    (files / "broken.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match="damaged or not a Parquet file"):
        km.read(files / "broken.parquet")
    (files / "folder" / "part-2.parquet").write_bytes((files / "x.parquet").read_bytes())
    FRAME[["a", "b"]].to_parquet(files / "folder" / "part-3.parquet")
    with pytest.raises(ValueError, match=r"part-3\.parquet has the columns a, b"):
        km.read(files / "folder")
    (files / "empty").mkdir()
    with pytest.raises(ValueError, match="without files that end in"):
        km.read(files / "empty")
    (files / "x.txt").write_text("a\n1\n")
    with pytest.raises(ValueError, match=r"ending '\.txt'"):
        km.read(files / "x.txt")
    with pytest.raises(ValueError, match="iterable of batches is empty"):
        km.read(iter([]))
    with pytest.raises(ValueError, match="batch 2 has the columns"):
        list(km.read(iter([FRAME, FRAME[["a"]]])))
    with pytest.raises(ValueError, match="'drop'"):
        km.read(X, missing="ignore")
    FRAME.assign(d="x").to_parquet(files / "text.parquet")
    with pytest.raises(TypeError, match="not numbers"):
        list(km.read(files / "text.parquet"))


def test_an_object_that_starts_again_is_read_any_number_of_times():
    class Halves:
        def __iter__(self):
            return iter([X[:40], X[40:]])

    batches = km.read(Halves())
    for _ in range(3):
        np.testing.assert_array_equal(rows_of(batches), X)
    assert km.KME().fit(Halves()).embedding_.shape == (100, 3)
    with pytest.raises(TypeError, match="a function"):
        km.KME().fit(lambda: iter([X]))


def test_dask_arrays_of_one_axis_are_a_column():
    dask = pytest.importorskip("dask.array")
    np.testing.assert_array_equal(rows_of(km.read(dask.from_array(X[:, 0], chunks=30))), X[:, :1])
