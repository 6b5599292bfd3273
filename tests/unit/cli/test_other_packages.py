"""Commands that other packages add: found when asked for, named where they are not installed."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernelmean.cli import main

pytestmark = pytest.mark.usefixtures("fresh_parser")
TOY = '''
import typer
from kernelmean.cli.commands import Config, Quiet, tell

app = typer.Typer(add_completion=False)

@app.command()
def toy(number: int, quiet: Quiet = False, config: Config = None) -> int:
    """Give a number back."""
    if number < 0:
        raise ValueError(f"number is {number}; write one from 0")
    tell(f"toy: {config}")
    return number
'''
PAPER = "pip install ./paper"


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    return (int(exit_.value.code or 0), *capsys.readouterr())


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str = "toy", text: str = TOY) -> None:
    """Put a package with a command where Python finds it, as an installer would."""
    info = folder / f"{name}_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[kernelmean.commands]\n{name} = {name}_package:app\n")
    (folder / f"{name}_package.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, f"{name}_package", raising=False)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no other package be installed."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: importlib.metadata.EntryPoints())


class TestInstalled:
    @pytest.fixture(autouse=True)
    def toy(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install(tmp_path, monkeypatch)
        monkeypatch.chdir(tmp_path)

    def test_a_command_runs_and_its_result_is_the_exit_code(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert call(capsys, "toy", "3") == (3, "", "toy: None\n")

    def test_its_errors_are_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert call(capsys, "toy", "--", "-1") == (2, "", "kernelmean: number is -1; write one from 0\n")
        assert call(capsys, "toy", "x")[0] == 2

    def test_help_lists_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "Give a number back." in call(capsys, "--help")[1]
        assert "--quiet" in call(capsys, "toy", "-h")[1]

    def test_a_name_that_is_nearly_right(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, _, err = call(capsys, "toi")
        assert (code, err.count("\n")) == (2, 1)
        assert "Did you mean 'toy'" in err

    def test_its_options_fit_into_a_file(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("a.toml").write_text("[toy]\nnumber = 4\n[compare]\nseed = 1\n")
        assert call(capsys, "toy", "--config", "a.toml")[0] == 4
        Path("a.toml").write_text("[toy]\nnumbers = 4\n[compare]\nseed = 1\n")
        assert "[toy] has no option 'numbers'" in call(capsys, "compare", "wine", "--config", "a.toml")[2]


class TestTrouble:
    def test_a_name_of_ours_is_ours(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        install(tmp_path, monkeypatch, "info", TOY.replace("toy", "info"))
        assert "A file that estimate --save or density --save wrote." in " ".join(
            call(capsys, "info", "--help")[1].split()
        )

    @pytest.mark.parametrize("text", ["import no_such_module", "app = 1 / 0", "", "app = 3"])
    def test_a_command_that_cannot_be_loaded(
        self, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        install(tmp_path, monkeypatch, "broken", text)
        code, out, err = call(capsys, "broken", "--some", "thing")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("kernelmean: broken cannot be loaded (")
        assert err.endswith("reinstall broken-package\n")
        code, out, _ = call(capsys, "--help")
        assert code == 0
        assert "Cannot be loaded; reinstall broken-package." in " ".join(out.split())


@pytest.mark.usefixtures("alone")
class TestAbsent:
    @pytest.mark.parametrize("words", [(), ("all",), ("figure1", "--quick", "--out", "x"), ("--help",)], ids=str)
    def test_reproduce_says_what_installs_it(self, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
        assert call(capsys, "reproduce", *words) == (
            2,
            "",
            "kernelmean: reproduce is a package of its own, which is not installed; in the root of a clone of "
            f"kernelmean write: {PAPER}\n",
        )

    def test_help_says_in_one_line_that_it_exists(self, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        code, out, _ = call(capsys, "--help")
        line = next(line for line in out.splitlines() if " reproduce " in line)
        assert code == 0
        assert f"Not installed; in the root of a clone: {PAPER}" in line

    def test_unknown_names_are_still_unknown(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, _, err = call(capsys, "reproduse")
        assert (code, err.count("\n")) == (2, 1)
        assert "Did you mean 'reproduce'" in err

    def test_its_table_in_a_file_of_options_does_not_stop_others(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("a.toml").write_text('[reproduce]\nnames = "all"\n[info]\nfile = "gone.npz"\n')
        code, _, err = call(capsys, "dependence", "iris", "--config", "a.toml")
        assert (code, err.count("\n")) == (2, 1)
        assert "has no table [dependence]" in err


def test_other_packages_are_not_looked_for_in_vain() -> None:
    code = """
import importlib.metadata, sys
from kernelmean.cli import main
asked = []
ask = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **group: asked.append(group) or ask(**group)
for words in (["--version"], ["info", "--help"], ["compare", "gone.csv", "gone2.csv"]):
    try: main(words)
    except SystemExit: pass
assert not [group for group in asked if group == {"group": "kernelmean.commands"}], asked
assert "kernelmean_paper" not in sys.modules
try: main(["--help"])
except SystemExit: pass
assert asked
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
