"""The page of speeds: which programs are on it, and how the lines of one of them are measured again."""

from __future__ import annotations

import re
from pathlib import Path

from .test_stored_results import script

__all__ = ["script"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "evidence" / "speed.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


ROWS = [line.split(" | ") for line in PAGE.splitlines() if line.startswith(("| MMD", "| HSIC"))]
"""Test, rows, columns, one kernel, default, peer, its seconds, and the rest."""


def test_the_readme_shows_the_fastest_other_program() -> None:
    shown = [line.split(" | ") for line in README.splitlines() if re.match(r"\| do two .*\? \| \d,000 \|", line)]
    assert len(shown) == 4
    for question, n, columns, _, _, seconds, _ in shown:
        test = "| MMD" if "tables" in question else "| HSIC"
        others = [row[6].split()[0] for row in ROWS if row[:3] == [test, n, columns]]
        assert seconds == min(others, key=float)


def test_lines_of_one_peer_join_the_page_and_replace_its_earlier_ones(script) -> None:
    speed = script(".", "speed")
    machine = speed.Machine("a processor", 2, 0.1, "3", "2", "a BLAS", 1, 1, 1, 1)
    cell = next(cell for cell in speed.CELLS if "pted" in cell.ratios)
    found = speed.Found(cell, *[speed.Times(0.5, 0.25)] * 2, {"pted": speed.Times(2.0, 1.0)}, 0.2, "cyclic")
    joined = speed.joined(PAGE, [found], "pted", machine)
    lines = [line for line in joined.splitlines() if "| pted |" in line]
    assert [" ".join(line.split(" | ")[5:9]) for line in lines] == ["pted 2 (1)  4 × (4 ×)"]
    assert joined.count("a processor") == 1
    assert speed.joined(joined, [found], "pted", machine) == joined
    others = [line for line in PAGE.splitlines() if line and "pted" not in line]
    assert [line for line in joined.splitlines() if line and "pted" not in line and "a processor" not in line] == others
