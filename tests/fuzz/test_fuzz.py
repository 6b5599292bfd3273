"""A quick part of the random cases; ``python tests/fuzz/run.py --cases 1000000`` is the long one."""

import subprocess
import sys
from pathlib import Path

import pytest
from checks import CHECKS, run


@pytest.mark.parametrize("name", CHECKS)
def test_random_cases_hold(name):
    found = {case: text for case in range(30) if (text := run(name, 20_261_122, case))}
    assert not found


def test_a_wrong_number_is_found(monkeypatch):
    monkeypatch.setattr("oracles.mmd", lambda K, first, kind: K.dtype.type(0.5))
    assert "MMD" in (run("two_samples", 0, 0) or "")


@pytest.mark.slow
def test_the_command_of_the_long_run_starts_from_any_folder(tmp_path):
    script = Path(__file__).with_name("run.py")
    command = [sys.executable, script, "--cases", "2", "--jobs", "1", "--only", "two_samples"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 cases, 0 findings" in done.stdout
