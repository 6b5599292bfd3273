"""Figures are copied from one place only: the README's tables from stored results, the evidence from its pages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from .test_stored_results import script

__all__ = ["script"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 120
NUMBER = re.compile(r"(?<![\w.])[+-]?\d*\.?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?%?")
ELSEWHERE = {"reproduce.md": ROOT / "results" / "paper" / "report.md"}
"""Where the figures of a page are that it does not repeat."""


def claims() -> list[tuple[str, str, str, str]]:
    """Return the cells of all lines of the page of evidence."""
    lines = (DOCS / "evidence.md").read_text(encoding="utf-8").splitlines()
    cells = [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines if line.startswith("| ")]
    return [row for row in cells if len(row) == 4 and row[0] != "claim"]


CLAIMS = claims()


def between(marker: str) -> str:
    found = re.search(rf"<!-- {marker} -->\n(.*?)<!-- /{marker} -->", README, flags=re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_readme_fits_a_few_screens_and_shows_a_picture() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    pictures = re.findall(r"!\[[^\]]{30,}\]\((.*?)\)", README)
    assert pictures
    for picture in pictures:
        assert 10_000 < (ROOT / picture).stat().st_size < 150_000


def test_the_speed_of_the_readme_is_that_of_its_page(script) -> None:
    speed = script(".", "speed")
    assert between("speed") == speed.readme((DOCS / "speed.md").read_text(encoding="utf-8")) + "\n"


def test_the_power_of_the_readme_is_that_of_the_stored_trials(script) -> None:
    report = script("power", "report")
    study = report.Study([row for row in report.read() if row["first"] < report.STUDIED])
    assert between("power") == report.in_short(study)


def test_ratios_of_speed_are_rounded_down(script) -> None:
    speed = script(".", "speed")
    assert [speed._two_digits(ratio) for ratio in (25.96, 162.1, 1323.0)] == [25, 160, 1300]


def test_there_is_evidence_for_and_against() -> None:
    assert len(CLAIMS) > 20
    assert any(claim.startswith("*But*") for claim, *_ in CLAIMS)


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: row[0][:60])
def test_figures_of_the_evidence_stand_on_the_page_that_it_names(row: tuple[str, str, str, str]) -> None:
    _, figure, command, link = row
    page = re.fullmatch(r"\[.+\]\((.+)\)", link)
    assert page is not None, link
    text = ELSEWHERE.get(page[1], DOCS / page[1]).read_text(encoding="utf-8")
    numbers = [number.rstrip(",") for number in NUMBER.findall(re.sub("`.*?`", "", figure))]
    assert numbers
    assert [number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", text)] == []
    program, *words = shlex.split(command.strip("`"))
    assert program == "kernelmean" or (ROOT / words[0]).exists()
