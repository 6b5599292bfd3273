"""Suggested options can be written as they stand, whatever columns are called: a shell hands on the names whole."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest

from kernelmean.cli import main
from kernelmean.cli.spelling import comma_separated, worded, worded_names

NAMES = ("plain", "two words", "cost $a", 'say "so"', "it's", "a&b;c", "`number`", "back\\slash", "a,b", "~home", "(x)")


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    out, err = capsys.readouterr()
    assert (exit_.value.code, out) == (2, "")
    return err


@pytest.mark.parametrize("name", NAMES)
def test_options_are_read_back_by_a_shell(name: str) -> None:
    assert shlex.split(worded("--drop", name)) == ["--drop", name]
    assert shlex.split(worded_names("--drop", [name, "other"])) in (
        ["--drop", f"{name},other"],
        ["--drop", name, "--drop", "other"],
    )
    if shutil.which("sh"):
        script = f"printf '%s\\n' {worded('--drop', name)} {worded('--groups', comma_separated([name, 'other']))}"
        out = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
        assert out.splitlines() == ["--drop", name, "--groups", comma_separated([name, "other"])]


def test_an_option_of_another_name_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such option: --target (Possible options: --y)" in refusal(capsys, "dependence", "iris", "--target", "a")
    assert "--y" not in refusal(capsys, "compare", "iris", "iris", "--target", "a")
