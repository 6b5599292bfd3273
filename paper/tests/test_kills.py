"""Real processes, killed: the long versions of what the tests of the runner and the command check in one process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kernelmean
import kernelmean_paper
from kernelmean_paper import Size
from kernelmean_paper.outputs import write_findings
from kernelmean_paper.runner import run
from kernelmean_paper.store import read_log
from kernelmean_paper.versions import code_digest
from kernelmean_paper.workers import Workers

HERE = Path(__file__).parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Let all processes run one copy of the package, whoever works on the original meanwhile."""
    folder = tmp_path_factory.mktemp("code")
    for package in (kernelmean, kernelmean_paper):
        shutil.copytree(Path(package.__file__).parent, folder / package.__name__)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, HERE))))
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        yield folder


def start(out: Path, *, jobs: int, pause: float) -> subprocess.Popen[bytes]:
    """Start the command on 180 trials."""
    command = [sys.executable, str(HERE / "synthetic.py"), "reproduce", "fast", "--full"]
    environment = {**os.environ, "FAST_PAUSE": str(pause)}
    return subprocess.Popen(
        [*command, "--out", str(out), "--jobs", str(jobs)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def written(out: Path) -> dict[str, object]:
    """Return all that a run leaves but its log, which holds times, and the part of the JSON that is about the run."""
    files: dict[str, object] = {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.parent.name != "trials"
    }
    results = json.loads((out / "results.json").read_text())
    files["results.json"] = {name: value for name, value in results.items() if name != "run"}
    return files


def trials(out: Path) -> int:
    log = out / "trials" / "fast.jsonl"
    return len(read_log(log).trials) if log.exists() else 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_twenty_kills_at_random_moments(tmp_path: Path, jobs: int) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    _, errors = start(whole, jobs=1, pause=0).communicate(timeout=100)
    assert errors == b""
    rng, counts, ended = np.random.default_rng(jobs), [0], 0
    for _ in range(20):
        process = start(cut, jobs=jobs, pause=0.08 * jobs)
        before, moment = trials(cut), rng.uniform(0.0, 0.6)
        if rng.uniform() < 0.8:  # some are killed while they start
            while trials(cut) == before and process.poll() is None:
                time.sleep(0.01)
        time.sleep(moment)
        process.kill()
        process.communicate()
        ended += process.returncode == 0
        counts.append(trials(cut))
    assert counts == sorted(counts)
    assert counts[5] > 0
    assert ended < 5
    process = start(cut, jobs=jobs, pause=0)
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    keys = [json.loads(line).get("trial") for line in (cut / "trials" / "fast.jsonl").read_text().splitlines()]
    assert len([key for key in keys if key is not None]) == 180  # none twice, none lost
    assert written(cut) == written(whole)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("group", [False, True], ids=["process", "group"])
def test_a_signal_ends_processes_and_all(tmp_path: Path, number: signal.Signals, group: bool) -> None:
    process = start(tmp_path, jobs=2, pause=0.1)
    while trials(tmp_path) < 5:
        time.sleep(0.01)
    (os.killpg if group else os.kill)(process.pid, number)
    begin = time.monotonic()
    _, errors = process.communicate(timeout=30)  # to the end of the pipe: no worker is left that holds it
    assert time.monotonic() - begin < 10
    assert process.returncode == 128 + number
    *progress, last = errors.decode().splitlines()
    assert last.startswith("kernelmean: stopped; ")
    assert all(" of 180: fast, about " in line for line in progress)  # on a busy machine


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    process = start(tmp_path, jobs=2, pause=0.1)
    while trials(tmp_path) < 5:
        time.sleep(0.01)
    end_by_kill(process)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no list of a process's children")
@pytest.mark.parametrize("moment", [0.0, 0.1, 0.3, 0.6, 1.0])
def test_workers_end_when_their_parent_is_killed_while_they_start(tmp_path: Path, moment: float) -> None:
    process = start(tmp_path, jobs=2, pause=0.1)
    while process.poll() is None and not children(process.pid):
        time.sleep(0.01)
    time.sleep(moment)
    end_by_kill(process)


def children(parent: int) -> str:
    return Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8")


def end_by_kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a run; no worker may be left that holds its pipe."""
    process.kill()
    begin = time.monotonic()
    process.communicate(timeout=60)
    assert time.monotonic() - begin < 20


class TestDask:
    @pytest.fixture
    def cluster(self, synthetic):
        """Yield a cluster of two processes on this machine."""
        distributed = pytest.importorskip("distributed", reason="clusters need the extra 'dask'")
        options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
        with distributed.LocalCluster(**options) as cluster:
            yield cluster

    @pytest.mark.filterwarnings("default")  # those of Dask are its own
    def test_a_worker_is_killed_half_way(self, synthetic, cluster, tmp_path: Path, monkeypatch) -> None:
        from distributed import Client

        with Client(cluster, set_as_default=False) as client:  # they run the copy, this process the original
            digest = client.submit(code_digest).result()
        monkeypatch.setattr("kernelmean_paper.workers.code_digest", lambda: digest)
        synthetic.Fast.pause = 0.03
        killed: list[int] = []

        def kill(_: str, done: int, __: int) -> None:
            if done == 30 and not killed:
                with Client(cluster, set_as_default=False) as client:
                    killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

        workers = Workers(backend="dask", scheduler=cluster.scheduler_address)
        far = run([synthetic.Fast()], Size.QUICK, tmp_path / "far", load=pytest.fail, workers=workers, progress=kill)
        near = run([synthetic.Fast()], Size.QUICK, tmp_path / "near", load=pytest.fail)
        assert (len(killed), far.ran, far.failed) == (1, 60, [])
        tables = [write_findings("fast", each.findings["fast"], tmp_path) for each in (far, near)]
        assert tables[0] == tables[1]

    @pytest.mark.filterwarnings("default")
    def test_other_code_on_a_worker_is_refused(self, synthetic, cluster, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.setattr("kernelmean_paper.workers.code_digest", lambda: "0" * 12)
        workers = Workers(backend="dask", scheduler=cluster.scheduler_address)
        outcome = run([synthetic.Fast()], Size.QUICK, tmp_path, load=pytest.fail, workers=workers)
        assert outcome.ran == 0
        assert "a worker has another state of kernelmean" in outcome.failed[0].error

    def test_no_scheduler(self, synthetic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("distributed", reason="clusters need the extra 'dask'")
        monkeypatch.setattr("kernelmean_paper.cluster._REFUSED", 0.2)
        workers = Workers(backend="dask", scheduler="tcp://127.0.0.1:1")
        with pytest.raises(ConnectionError, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:1"):
            run([synthetic.Fast()], Size.QUICK, tmp_path, load=pytest.fail, workers=workers)
