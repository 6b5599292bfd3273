"""Running trials: the findings are the same however often the run was stopped, and whoever ran them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from kernelmean_paper import Finding, Size
from kernelmean_paper.outputs import write_findings
from kernelmean_paper.pace import Pace, in_words
from kernelmean_paper.runner import Outcome, run, stored
from kernelmean_paper.sources import Sources
from kernelmean_paper.store import read_log
from kernelmean_paper.workers import WorkerKilledError, Workers, measured


def go(experiment, folder: Path, size: Size = Size.QUICK, **options) -> Outcome:
    return run([experiment], size, folder, load=Sources(online=False, cache=folder / "none").load, **options)


def table(outcome: Outcome, folder: Path, name: str = "fast") -> bytes:
    return write_findings(name, outcome.findings[name], folder / "tables")


class TestRun:
    def test_what_is_stored_is_not_run_again(self, synthetic, tmp_path: Path) -> None:
        first, second = go(synthetic.Fast(), tmp_path), go(synthetic.Fast(), tmp_path)
        assert (first.ran, second.ran) == (60, 0)
        assert table(first, tmp_path) == table(second, tmp_path)
        assert stored(synthetic.Fast(), Size.FULL, tmp_path) == (60, 180)

    def test_a_quick_run_is_continued_to_a_full_one(self, synthetic, tmp_path: Path) -> None:
        go(synthetic.Fast(), tmp_path / "a")
        continued, whole = (go(synthetic.Fast(), tmp_path / name, Size.FULL) for name in "ab")
        assert (continued.ran, whole.ran) == (120, 180)
        assert table(continued, tmp_path) == table(whole, tmp_path)

    def test_the_trials_are_those_of_the_contract(self, synthetic, tmp_path: Path) -> None:
        fast = synthetic.Fast()
        outcome = go(fast, tmp_path, seed=3)
        setting = fast.settings(Size.QUICK)[1]
        expected = [fast.generator(setting, number, 3).normal(size=3)[1] for number in range(20)]
        np.testing.assert_array_equal(outcome.findings["fast"].values(setting, "m1", "loss"), expected)

    def test_another_seed_is_refused(self, synthetic, tmp_path: Path) -> None:
        go(synthetic.Fast(), tmp_path)
        with pytest.raises(ValueError, match=r"holds trials of seed 0, this run is of seed 1; write to another folder"):
            go(synthetic.Fast(), tmp_path, seed=1)

    def test_another_state_of_the_code_is_noted(self, synthetic, tmp_path: Path, monkeypatch) -> None:
        go(synthetic.Fast(), tmp_path)
        assert go(synthetic.Fast(), tmp_path).notes == []
        monkeypatch.setattr("kernelmean_paper.runner.trial_digest", lambda _: "0" * 12)
        assert "60 stored trials made with another state of code" in go(synthetic.Fast(), tmp_path).notes[0]

    def test_trials_from_before_the_paper_was_a_package_are_taken_up(self, synthetic, tmp_path, monkeypatch) -> None:
        """The file holds the first twelve trials of a run of kernelmean 0.1.0 that had this code inside."""
        (tmp_path / "old" / "trials").mkdir(parents=True)
        shutil.copy(Path(__file__).parent / "data" / "fast-0.1.0.jsonl", tmp_path / "old" / "trials" / "fast.jsonl")
        monkeypatch.setattr("kernelmean_paper.runner.__version__", "0.1.0")
        old, new = (go(synthetic.Fast(), tmp_path / name) for name in ("old", "new"))
        assert (old.ran, new.ran) == (48, 60)
        assert "fast: 12 stored trials made with another state of" in old.notes[0]
        assert len(old.notes) == 1
        assert table(old, tmp_path) == table(new, tmp_path)

    def test_damage_is_noted_and_mended(self, synthetic, tmp_path: Path) -> None:
        whole = table(go(synthetic.Fast(), tmp_path), tmp_path)
        log = tmp_path / "trials" / "fast.jsonl"
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join([*lines[:10], lines[10].replace(b"m0", b"m9"), *lines[11:-1], lines[-1][:50]]))
        outcome = go(synthetic.Fast(), tmp_path)
        assert (outcome.ran, len(outcome.notes)) == (2, 2)
        assert table(outcome, tmp_path) == whole

    def test_progress(self, synthetic, tmp_path: Path) -> None:
        told: list[tuple[str, int, int]] = []
        go(synthetic.Fast(), tmp_path, progress=lambda *step: told.append(step))
        assert [step[1:] for step in told] == [(done, 60) for done in range(1, 61)]
        assert told[-1][0].startswith("fast, ")
        assert told[-1][0].endswith(" left")

    def test_holes_keep_the_places_of_trials(self, synthetic, tmp_path: Path) -> None:
        go(synthetic.Fast(), tmp_path)
        log = tmp_path / "trials" / "fast.jsonl"
        lines = log.read_text().splitlines(keepends=True)
        log.write_text("".join(line for line in lines if '"n=1, rule=a, b", "trial": 4,' not in line))

        class Failing(synthetic.Fast):
            def trial(self, *_):
                raise ZeroDivisionError("never again")

        outcome = go(Failing(), tmp_path)
        trials = outcome.findings["fast"].trials["n=1, rule=a, b"]
        assert [bool(trial) for trial in trials] == [number != 4 for number in range(20)]
        assert outcome.failed[0].error == "ZeroDivisionError: never again"
        assert "in trial" in outcome.failed[0].trace
        assert len(outcome.failed) == 1


class TestData:
    def test_trials_without_data_are_left_out_and_named(self, synthetic, tmp_path: Path) -> None:
        outcome = go(synthetic.Data(), tmp_path)
        assert (outcome.ran, outcome.skipped, outcome.failed) == (3, 3, [])
        assert list(outcome.missing) == ["glass"]
        assert "downloads are off" in outcome.missing["glass"]

    def test_data_that_needs_does_not_name(self, synthetic, tmp_path: Path) -> None:
        outcome = go(synthetic.Careless(), tmp_path)
        assert outcome.ran == 3
        assert "loads 'glass', needs() names none" in outcome.failed[0].error


class TestKill:
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_killed_at_random_moments(self, synthetic, tmp_path: Path) -> None:
        whole = table(go(synthetic.Fast(), tmp_path / "whole"), tmp_path)
        synthetic.Fast.pause = 0.002
        rng, log = np.random.default_rng(0), tmp_path / "cut" / "trials" / "fast.jsonl"
        counts = []
        for target in sorted(rng.choice(50, 8, replace=False)):
            child = forked(lambda: go(synthetic.Fast(), tmp_path / "cut"))
            while not log.exists() or log.read_bytes().count(b"\n") < target + 2:
                time.sleep(0.0005)
            time.sleep(rng.uniform(0.0, 0.004))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            counts.append(len(read_log(log).trials))
        assert counts == sorted(counts)
        outcome = go(synthetic.Fast(), tmp_path / "cut")
        assert outcome.ran == 60 - counts[-1] > 0
        assert table(outcome, tmp_path) == whole

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_a_second_run_is_refused_while_the_first_lives(self, synthetic, tmp_path: Path) -> None:
        log = tmp_path / "trials" / "fast.jsonl"
        synthetic.Fast.pause = 0.05
        child = forked(lambda: go(synthetic.Fast(), tmp_path))
        while not log.exists() or log.read_bytes().count(b"\n") < 3:
            time.sleep(0.001)
        with pytest.raises(BlockingIOError, match=rf"another run works in .* \(process {child}\)"):
            go(synthetic.Fast(), tmp_path)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        synthetic.Fast.pause = 0.0
        kept = len(read_log(log).trials)
        assert go(synthetic.Fast(), tmp_path).ran == 60 - kept < 60

    @pytest.mark.slow
    def test_a_worker_that_is_killed(self, synthetic, tmp_path: Path) -> None:
        for deaths, raises in ((1, nullcontext()), (99, pytest.raises(WorkerKilledError, match="use fewer --jobs"))):
            folder = tmp_path / str(deaths)
            (folder / "marks").mkdir(parents=True)
            with raises:
                outcome = go(synthetic.Deadly(folder / "marks", deaths), folder, workers=Workers(2))
                assert (outcome.ran, outcome.failed) == (60, [])


def forked(work) -> int:
    """Run a function in a copy of this process, and return its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of the test runner, which the copy does without
        child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


class TestLock:
    def test_a_run_inside_a_run_is_refused(self, synthetic, tmp_path: Path) -> None:
        class Nested(synthetic.Fast):
            def trial(self, *_):
                go(synthetic.Fast(), tmp_path)
                return []

        failed = go(Nested(), tmp_path).failed
        assert f"another run works in {tmp_path} (process {os.getpid()}); wait for its end" in failed[0].error
        assert go(synthetic.Fast(), tmp_path).ran == 60

    def test_a_lock_that_was_left_is_nobodys(self, synthetic, tmp_path: Path) -> None:
        (tmp_path / "trials").mkdir()
        (tmp_path / "trials" / ".lock").write_text("1\n")
        assert go(synthetic.Fast(), tmp_path).ran == 60
        assert (tmp_path / "trials" / ".lock").read_text() == f"{os.getpid()}\n"


class TestWorkers:
    @pytest.mark.slow
    def test_processes_find_the_same(self, synthetic, tmp_path: Path) -> None:
        one, two = (table(go(synthetic.Fast(), tmp_path / str(n), workers=Workers(n)), tmp_path) for n in (1, 2))
        assert one == two

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"backend": "threads"}, "backend is 'threads'; write one of loky, dask"),
            ({"backend": "dask"}, "belong together; write: --backend dask --scheduler"),
            ({"scheduler": "tcp://a:1"}, "belong together"),
            ({"jobs": 0}, "jobs is 0"),
            ({"jobs": -2}, "jobs is -2"),
        ],
        ids=str,
    )
    def test_bad_options(self, options: dict[str, object], text: str) -> None:
        with pytest.raises(ValueError, match=text):
            Workers(**options)

    @pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
    def test_linear_algebra_runs_in_one_thread(self, synthetic, tmp_path: Path, monkeypatch, jobs: int) -> None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)

        from threadpoolctl import threadpool_info

        class Asking(synthetic.Fast):
            def trial(self, *_):
                return [Finding(str(i), "threads", each["num_threads"]) for i, each in enumerate(threadpool_info())]

        before = threadpool_info()
        outcome = go(Asking(), tmp_path, workers=Workers(jobs))
        found = {f.value for f in outcome.findings["fast"].trials["n=1, rule=a, b"][0]}
        assert found == {1}
        assert threadpool_info() == before

    def test_what_cleans_up_after_a_stop_is_silent(self, synthetic, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.setenv("PYTHONWARNINGS", "ignore:asked for")
        code = "import warnings\nfor each in ('resource_tracker: gone', 'asked for', 'other'): warnings.warn(each)"

        heard: list[str] = []

        class Telling(synthetic.Fast):
            def trial(self, *_):
                if not heard:
                    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
                    heard.extend(line for line in told.stderr.splitlines() if "Warning: " in line)
                return [Finding("heard", "nothing", 0.0)]

        go(Telling(), tmp_path)
        assert heard == ["<string>:2: UserWarning: other"]
        assert os.environ["PYTHONWARNINGS"] == "ignore:asked for"


class TestPace:
    def test_what_is_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [0.0]
        monkeypatch.setattr("kernelmean_paper.pace.time.monotonic", lambda: now[0])
        pace = Pace([("a", "x")] * 4 + [("a", "y")] * 3 + [("b", "z")])
        assert pace.left() == float("inf")
        pace.know(("a", "x"), 2.0)
        assert pace.left() == pytest.approx(8 * 2)
        now[0] = 5.0
        pace.done(("a", "x"), 6.0)
        pace.done(("a", "y"), 10.0)
        at_once = 16 / 5
        mean = (2 + 6 + 10) / 3  # of an experiment that has not begun
        assert pace.left() == pytest.approx((3 * 4 + 2 * 10 + 1 * mean) / at_once)

    @pytest.mark.parametrize(
        ("seconds", "words"),
        [
            (0.2, "about 1 s left"),
            (80, "about 80 s left"),
            (3000, "about 50 min left"),
            (9000, "about 2.5 h left"),
            (float("inf"), "time left unknown"),
        ],
    )
    def test_words(self, seconds: float, words: str) -> None:
        assert in_words(seconds) == words


def test_a_task_that_fails_is_told_by_its_place(synthetic) -> None:
    from kernelmean_paper.workers import Task

    fast = synthetic.Careless()
    setting = fast.settings(Size.QUICK)[1]
    result = measured(Task(fast, setting, 2, 0, {}))
    assert (result.experiment, result.setting, result.number, result.trial) == ("careless", "set=glass", 2, None)
