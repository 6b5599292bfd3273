"""The picture of the README is of a real report: that of the command below it, with nothing left out."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_wine

from kernelmean.cli import main

from .test_stored_results import script

__all__ = ["script"]

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_picture_shows_the_whole_report_of_the_command_in_the_readme(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="reports draw, which needs the extra 'plot'")
    command, page, programs = (
        re.findall(r"^\$ kernelmean (.*)$", README, flags=re.MULTILINE),
        tmp_path / "page.html",
        [],
    )

    def run(program: list[str], **_: Any) -> None:
        programs.append(program)
        with pytest.raises(SystemExit) as exit_:
            main(program[3:])
        assert not exit_.value.code

    picture = script("../docs", "picture")
    monkeypatch.setattr(picture.subprocess, "run", run)
    picture.write_report(page)
    assert programs == [[sys.executable, "-m", "kernelmean", *shlex.split(command[0]), "--html", str(page)]]
    assert all(name in page.read_text(encoding="utf-8") for name in load_wine().feature_names)
