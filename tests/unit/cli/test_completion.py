"""Completion as a shell asks for it, and the help that is read first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelmean.cli import main

Program = Callable[..., tuple[int | str | None, str, str]]
PROGRAM = "import sys; sys.argv[0] = 'kernelmean'; from kernelmean.cli import main; main()"
NAMED = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the tests may run below another shell, or none


pytestmark = pytest.mark.usefixtures("fresh_parser")  # whether shells are looked for is settled when it is built


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    """Run the program in this process, in a folder that is home as well."""

    def run(*words: str, **environment: str) -> tuple[int | str | None, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["kernelmean"])
        for name, value in {"HOME": str(tmp_path), **environment}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as exit_:
            main(words)
        return exit_.value.code, *capsys.readouterr()

    return run


def asked(line: str) -> dict[str, str]:
    """Return what a shell sets when it asks how a line goes on."""
    number = str(len(line.split()) - 1)
    return {"COMP_WORDS": line, "COMP_CWORD": number, "_KERNELMEAN_COMPLETE": "complete_bash"}


def test_a_process_of_its_own_is_asked_by_a_shell(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), **asked("kernelmean comp")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("compare\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_and_shown(tmp_path: Path, program: Program, shell: str) -> None:
    code, shown, err = program("--show-completion", shell, **NAMED)
    assert (code, err) == (0, "")
    assert "_KERNELMEAN_COMPLETE" in shown
    code, _, err = program("--install-completion", shell, **NAMED)
    assert (code, err) == (0, "")
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_KERNELMEAN_COMPLETE" in text for text in texts)


def test_help_teaches(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as exit_:
        main(["--help"])
    assert exit_.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for words in (
        ".csv, .tsv",
        "wine",
        "exit code is 0, or 2",
        "--fail-on-drift",
        "--html report.html",
    ):
        assert words in text, words
    for command in ("compare", "dependence", "estimate", "density", "info"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        shown = capsys.readouterr().out
        assert "For example:" in shown
        assert f"kernelmean {command}" in shown
