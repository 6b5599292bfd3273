"""Real processes: data that only workers may see, and a worker that is killed half-way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.cli import main

pytest.importorskip("dask.array", reason="clusters need the extra 'dask'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def blocks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let this process and all workers import the same functions."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
    import cluster_blocks

    return cluster_blocks


@pytest.fixture
def client(blocks: Any) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def killer(client: Any, blocks: Any, name: str, wanted: int) -> list[int]:
    """Kill the first worker as soon as so many tasks of a name are done; return a list that tells which it was."""
    killed: list[int] = []

    def kill() -> None:
        while not killed:
            if client.run_on_scheduler(blocks.tasks_done, name) >= wanted:
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)
            time.sleep(0.02)

    threading.Thread(target=kill, daemon=True).start()
    return killed


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two tables of numbers and categories, in twelve files each, of as many rows as only workers add up."""
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 4000)
    rng = np.random.default_rng(0)
    for name in ("big", "other"):
        (tmp_path / name).mkdir()
        for k in range(12):
            part = {"x": rng.normal(size=500), "y": rng.gamma(2.0, size=500), "c": rng.choice(["a", "b", None], 500)}
            pd.DataFrame(part).to_parquet(tmp_path / name / f"{k:02}.parquet", index=False)
    return [str(tmp_path / name) for name in ("big", "other")]


def test_a_worker_is_killed_half_way_through_a_comparison(client, blocks, folders):
    options = {"missing": "category", "n_resamples": 99, "rng": 0}
    near = km.compare(*folders, **options)
    killed = killer(client, blocks, "_ran", 9)
    far = km.compare(*folders, plan=km.DaskPlan(client), **options)
    assert killed, "the comparison was over before the kill"
    assert (far.sizes, far.test.pvalue) == (near.sizes, near.test.pvalue)
    assert far.test.statistic == pytest.approx(near.test.statistic, rel=1e-9)
    assert [column.pvalue for column in far.columns] == [column.pvalue for column in near.columns]


def test_the_command_says_that_the_scheduler_went_away(monkeypatch, folders, capsys):
    from distributed import Client, LocalCluster

    monkeypatch.setattr("kernelmean.inference.cluster.running._PATIENCE", 2.0)
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0")
    address = cluster.scheduler.address

    def close() -> None:
        with Client(cluster, set_as_default=False) as own:
            while own.run_on_scheduler(blocks_done) < 3:
                time.sleep(0.02)
        cluster.close()

    thread = threading.Thread(target=close)
    thread.start()
    with pytest.raises(SystemExit) as end:
        main(("compare", *folders, "--missing", "category", "--scheduler", address, "--quiet"))
    thread.join()
    out, err = capsys.readouterr()
    assert (end.value.code, out) == (2, "")
    assert err == f"kernelmean: the Dask scheduler at {address} went away; when it is back, run the same again\n"


def blocks_done(dask_scheduler: Any) -> int:
    from cluster_blocks import tasks_done

    return tasks_done("_ran", dask_scheduler)
