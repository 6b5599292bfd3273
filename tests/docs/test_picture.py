"""The picture of the README is of a real report: that of the command below it, with nothing left out."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from kernelmean.cli import main

from .test_stored_results import script

__all__ = ["script"]

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_picture_shows_the_whole_report_of_the_command_in_the_readme(script, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="reports draw, which needs the extra 'plot'")
    command = re.findall(r"^\$ kernelmean (.*)$", README, flags=re.MULTILINE)
    script("../docs", "picture").write_report(tmp_path / "picture.html")
    with pytest.raises(SystemExit) as exit_:
        main([*shlex.split(command[0]), "--html", str(tmp_path / "own.html")])
    assert not exit_.value.code
    picture, own = ((tmp_path / name).read_text(encoding="utf-8") for name in ("picture.html", "own.html"))
    assert picture.replace("picture.html", "own.html") == own
    assert all(name in picture for name in load_wine().feature_names)
