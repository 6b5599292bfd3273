"""Tables on a cluster: what is found out about them, how they are cut, and what is refused."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from kernelmean.inference import cluster

da = pytest.importorskip("dask.array", reason="clusters need the extra 'dask'")
dd = pytest.importorskip("dask.dataframe", reason="clusters need the extra 'dask'")
pytestmark = pytest.mark.filterwarnings("default")  # those of Dask are its own

X = np.random.default_rng(0).normal(size=(97, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def gathered(client, tasks):
    return client.gather(client.compute(list(tasks)))


def everything(rows: cluster.Rows) -> np.ndarray:
    return np.concatenate(gathered(rows.client, rows.parts))


def test_chunks_of_columns_and_unknown_lengths(client):
    rows = cluster.Rows.of(client, da.from_array(X, chunks=(40, 2)), "X")
    assert (rows.shape, rows.names, rows.lengths) == ((97, 3), ("x0", "x1", "x2"), (40, 40, 17))
    assert np.array_equal(everything(rows), X)
    unknown = dd.from_pandas(FRAME, npartitions=4).to_dask_array()
    assert np.isnan(unknown.shape[0])
    assert np.array_equal(everything(cluster.Rows.of(client, unknown, "X")), X)


def test_empty_partitions_of_a_filtered_data_frame(client):
    frame = dd.from_pandas(FRAME.assign(row=np.arange(97)), npartitions=5)
    rows = cluster.Rows.of(client, frame[frame["row"] >= 50][["c", "a"]], "X")
    assert len(rows.parts) < 5
    assert rows.names == ("c", "a")
    assert np.array_equal(everything(rows), X[50:, [2, 0]])
    with pytest.raises(ValueError, match="X has no rows"):
        cluster.Rows.of(client, frame[frame["row"] > 1000], "X")


def test_parquet_files_in_pieces_of_row_groups(client, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelmean.inference.cluster.sources._PART_ROWS", 25)
    FRAME[:60].to_parquet(tmp_path / "a.parquet", row_group_size=10)
    FRAME[60:][["c", "a", "b"]].to_parquet(tmp_path / "b.parquet", row_group_size=50)
    rows = cluster.Rows.of(client, tmp_path, "X")
    assert rows.names == ("a", "b", "c")
    assert rows.lengths == (20, 20, 20, 37)
    assert np.array_equal(everything(rows), X)
    assert len(cluster.Rows.of(client, str(tmp_path / "a.parquet"), "X")) == 60


@pytest.mark.parametrize("bounds", [[0, 97], [0, 1, 40, 41, 97], [13, 80, 96], [40, 80]])
def test_cutting_ignores_partitions(client, bounds):
    rows = cluster.Rows.of(client, da.from_array(X, chunks=(20, 3)), "X")
    for piece, start, stop in zip(gathered(client, rows.cut(bounds)), bounds, bounds[1:], strict=False):
        assert np.array_equal(piece, X[start:stop])


def test_rows_are_taken_in_the_order_asked_for(client):
    rows = cluster.Rows.of(client, da.from_array(X, chunks=(20, 3)), "X")
    numbers = np.array([96, 0, 19, 20, 21, 5, 60, 59])
    assert np.array_equal(gathered(client, [rows.take(numbers)])[0], X[numbers])


def test_missing_cells_are_counted_over_all_partitions(client):
    bad = X.copy()
    bad[[70, 30, 31], [0, 1, 1]] = np.nan
    frame = dd.from_pandas(pd.DataFrame(bad, columns=["a", "b", "c"]), npartitions=4)
    text = r"X: row 31, column 'b' is blank or NaN \(3 such cells in all: 1 in 'a', 2 in 'b'\); drop such rows"
    with pytest.raises(ValueError, match=text):
        cluster.Rows.of(client, frame, "X")
    bad[5, 2] = np.inf
    with pytest.raises(ValueError, match=r"X: row 6, column 'x2' is infinite \(4 such cells in all"):
        cluster.Rows.of(client, da.from_array(bad, chunks=(20, 3)), "X")


def test_columns_that_are_no_numbers_are_named(client):
    frame = dd.from_pandas(FRAME.assign(city="Rome"), npartitions=2)
    with pytest.raises(
        TypeError, match=r"partition [12] of X has columns that are not numbers.*'city' \('Rome' in row 1"
    ):
        cluster.Rows.of(client, frame, "X")


def test_partitions_with_other_columns_are_named(client):
    import dask

    parts = [dask.delayed(FRAME[:40]), dask.delayed(FRAME[40:].rename(columns={"c": "z"}))]
    frame = dd.from_delayed(parts, meta=FRAME[:0], verify_meta=False)
    with pytest.raises(ValueError, match="partition 2 of X has the columns a, b, z, another one a, b, c"):
        cluster.Rows.of(client, frame, "X")


def test_data_in_this_process_are_refused(client):
    with pytest.raises(TypeError, match=r"Y is a ndarray in this process.*leave plan= out, or pass a dask array"):
        cluster.Rows.of(client, X, "Y")
    with pytest.raises(TypeError, match="X is a DataFrame in this process"):
        cluster.Rows.of(client, FRAME, "X")


def test_what_is_no_table_is_refused(client, tmp_path):
    with pytest.raises(TypeError, match=r"X is a dask Array of 1 dimensions.*X\.reshape\(-1, 1\)"):
        cluster.Rows.of(client, da.from_array(X[:, 0], chunks=10), "X")
    with pytest.raises(TypeError, match=r"X is a dask Series of 1 dimensions.*X\.to_frame\(\)"):
        cluster.Rows.of(client, dd.from_pandas(FRAME, npartitions=2)["a"], "X")
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match="write it as Parquet"):
        cluster.Rows.of(client, tmp_path / "x.csv", "X")
    with pytest.raises((ValueError, OSError), match="missing"):
        cluster.Rows.of(client, tmp_path / "missing", "X")


def test_partitions_that_change_are_refused(client, tmp_path):
    import dask

    def moody():
        with (tmp_path / "calls").open("a+") as calls:
            calls.write(".")
            return X[: -calls.tell()]

    array = da.from_delayed(dask.delayed(moody)(), (np.nan, 3), meta=X[:0])
    rows = cluster.Rows.of(client, array, "X")
    with pytest.raises(ValueError, match=r"is not computed alike twice; write X = X\.persist\(\) first"):
        everything(rows)


def test_rows_do_not_become_an_array(client):
    rows = cluster.Rows.of(client, da.from_array(X, chunks=(20, 3)), "X")
    with pytest.raises(TypeError, match="the 97 rows of X are on a cluster"):
        np.asarray(rows)


def test_a_lost_scheduler_ends_the_wait(plan, monkeypatch):
    class Waiting:
        def add_done_callback(self, call):
            pass

    monkeypatch.setattr(plan.client, "compute", lambda tasks: [Waiting()])
    monkeypatch.setattr(plan.client, "status", "closed")
    start = time.monotonic()
    with pytest.raises(ConnectionError, match=r"the Dask scheduler at \S+ went away; when it is back"):
        list(plan.map(abs, [1]))
    assert time.monotonic() - start < 10.0  # of a client that is not closed one waits longer for its scheduler
    monkeypatch.setattr(plan.client, "scheduler", None)
    with pytest.raises(ConnectionError, match="the Dask scheduler at its address went away; when it is back"):
        list(plan.map(abs, [1]))


def test_killed_workers_are_told_in_plain_words(plan, monkeypatch):
    class Failed:
        status = "error"

        def add_done_callback(self, call):
            call(self)

        def exception(self):
            return type("KilledWorker", (Exception,), {})()

    monkeypatch.setattr(plan.client, "compute", lambda tasks: [Failed()])
    with pytest.raises(ConnectionError, match="nearly always because memory ran out; make partitions smaller"):
        list(plan.map(abs, [1]))
