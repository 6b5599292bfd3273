"""The command of the paper's package: found when asked for, unknown where it is not installed."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

from kernelmean.cli import main

pytestmark = pytest.mark.usefixtures("fresh_parser")


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    return (int(exit_.value.code or 0), *capsys.readouterr())


def test_reproduce_is_unknown_without_its_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: importlib.metadata.EntryPoints())
    code, out, err = call(capsys, "reproduce", "all")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "No such command 'reproduce'" in err
    assert " reproduce " not in call(capsys, "--help")[1]


def test_entry_points_are_not_read_in_vain() -> None:
    code = """
import importlib.metadata, sys
from kernelmean.cli import main
asked = []
ask = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **group: asked.append(group) or ask(**group)
for words in (["--version"], ["info", "--help"], ["compare", "gone.csv", "gone2.csv"]):
    try: main(words)
    except SystemExit: pass
assert not [group for group in asked if group.get("group") == "kernelmean.commands"], asked
assert "kernelmean_paper" not in sys.modules
try: main(["--help"])
except SystemExit: pass
assert asked
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
