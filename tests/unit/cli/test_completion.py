"""Completion as a shell asks for it, and the help that is read first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelmean.cli import main

Program = Callable[..., tuple[int | str | None, str, str]]
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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_and_shown(tmp_path: Path, program: Program, shell: str) -> None:
    code, shown, err = program("--show-completion", shell, **NAMED)
    assert (code, err) == (0, "")
    assert "_KERNELMEAN_COMPLETE" in shown
    code, _, err = program("--install-completion", shell, **NAMED)
    assert (code, err) == (0, "")
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_KERNELMEAN_COMPLETE" in text for text in texts)
