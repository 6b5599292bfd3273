"""Under --fail-on-drift no crash reads as drift (1) or as none (0), however the program comes to its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from forked import MAIN, Forks

from checkered import checkered
from kernelmean.cli import main
from kernelmean.cli.app import Command

ENDING = [each for each in signal.Signals if each.name in ("SIGHUP", "SIGKILL", "SIGSEGV", "SIGTERM")]
PROGRAM = (sys.executable, "-c", MAIN)
ALPHA = ("--fail-on-drift", "0.1", "--quiet")
COMPARE = ("compare", "first.csv", "second.csv", "--resamples", "99", *ALPHA)
MONITOR = ("monitor", "first.csv", "second.csv", *ALPHA)
CALLED = {
    COMPARE: "kernelmean.studies.comparison.compare",
    MONITOR: "kernelmean.cli.watching.DriftMonitor",
}
COMMANDS = pytest.mark.parametrize("words", CALLED, ids=["compare", "monitor"])


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tables that differ: without a crash the exit code is 1."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for shift, name in enumerate(("first", "second")):
        pd.DataFrame(rng.normal(4.0 * shift, size=(60, 2)), columns=["a", "b"]).to_csv(f"{name}.csv", index=False)
    return tmp_path


def code_of(words: tuple[str, ...]) -> int:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


@COMMANDS
def test_without_a_crash_these_tables_differ(words: tuple[str, ...]) -> None:
    assert code_of(words) == 1


class Torn(BaseException):
    """What is no Exception, such as the cancellation of a task on a cluster."""


@COMMANDS
@pytest.mark.parametrize("debug", ["", "1"], ids=["", "debug"])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ZeroDivisionError("internal"), 70),
        (KeyError("internal"), 70),
        (RecursionError("internal"), 70),
        (AssertionError(), 70),
        (Torn("internal"), 70),
        (MemoryError(), 2),
        (ImportError("no extra; write: pip install it"), 2),
        (KeyboardInterrupt(), 130),
        (typer.Abort(), 130),
        (BrokenPipeError(32, "Broken pipe"), 141),
        (BrokenPipeError(32, "Broken pipe", "out.json"), 2),
        (OSError(28, "No space left on device", "out.json"), 2),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_crash_is_neither_drift_nor_none(
    words: tuple[str, ...],
    error: BaseException,
    code: int,
    debug: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setenv("KERNELMEAN_DEBUG", debug)
    monkeypatch.setattr(CALLED[words], fail)
    assert code_of(words) == code
    err = capfd.readouterr().err
    assert "kernelmean: drift" not in err
    assert debug or err.count("\n") == (0 if code == 141 else 1)


def test_ctrl_c_while_options_are_read(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The option parser makes an Abort of it."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Command, "parse_args", stop)
    assert code_of(COMPARE) == 130
    assert capfd.readouterr().err == "kernelmean: stopped; nothing was written\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes are those of Unix")
@pytest.mark.parametrize(("words", "code"), [(COMPARE, 1), (("compare", "first.csv", "none.csv", *ALPHA), 2)])
def test_an_error_stream_that_nobody_reads_changes_no_code(words: tuple[str, ...], code: int, fork: Forks) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = fork(words, stderr=writing)
    os.close(writing)
    assert done.returncode == code


@pytest.mark.skipif(os.name == "nt", reason="pipes are those of Unix")
def test_without_an_error_stream_nothing_is_added_to_the_output() -> None:
    script = 'exec "$@" 2>&-'
    done = subprocess.run(["sh", "-c", script, "sh", *PROGRAM, *COMPARE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("\n")) == (1, 1)
    assert "kernelmean: drift" not in done.stdout


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="open files have names on Unix")
def test_an_output_file_that_is_a_broken_pipe_is_bad_input(fork: Forks) -> None:
    broken = "import os; pipe = os.pipe(); os.close(pipe[0]); sys.argv += ['--json', f'/dev/fd/{pipe[1]}']; "
    done = fork(COMPARE, broken + MAIN)
    assert done.returncode == 2
    assert re.fullmatch(r"kernelmean: /dev/fd/\d+: Broken pipe\n", done.stderr), done.stderr


SLEEPING = """
import signal, sys, time
import kernelmean.studies.comparison as comparison
from kernelmean.cli import app, watching
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup has set aside

def wait(*_, **__):
    print("ready", flush=True)
    time.sleep(60)

comparison.compare = watching.DriftMonitor = wait
from kernelmean.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
@pytest.mark.parametrize(
    ("words", "number"),
    checkered([COMPARE, MONITOR], ENDING),
    ids=lambda value: value.name if isinstance(value, signal.Signals) else value[0],
)
def test_a_signal_that_ends_the_process(words: tuple[str, ...], number: signal.Signals, fork: Forks) -> None:
    def send(process: int, out: Any) -> None:
        while os.pread(out.fileno(), 10, 0) != b"ready\n":
            time.sleep(0.01)
        os.kill(process, number)

    assert fork(words, SLEEPING, meanwhile=send).returncode == -number  # a shell says 128 + number
