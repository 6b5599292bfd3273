"""Figures are copied from one place only: the README's tables from stored results, the evidence from its pages."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from .test_stored_results import script

__all__ = ["script"]

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "evidence"
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 120
NUMBER = re.compile(r"(?<![\w.])[+-]?\d*\.?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?%?")
ELSEWHERE = {"../reproduce.md": ROOT / "paper" / "results" / "report.html"}
"""Where the figures of a page are that it does not repeat."""


def claims() -> list[tuple[str, str, str, str]]:
    """Return the cells of all lines of the page of evidence."""
    lines = (PAGES / "index.md").read_text(encoding="utf-8").splitlines()
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
    assert between("speed") == speed.readme((PAGES / "speed.md").read_text(encoding="utf-8")) + "\n"


def test_the_power_of_the_readme_is_that_of_the_stored_trials(script) -> None:
    report = script("power", "report")
    study = report.Study([row for row in report.read() if row["first"] < report.STUDIED])
    assert between("power") == report.in_short(study)


def test_the_readme_tells_held_out_cases_from_those_of_the_design(script) -> None:
    report = script("power", "report")
    study = report.Study([row for row in report.read() if row["first"] < report.STUDIED])
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in between("power").splitlines()]
    assert lines[0][2] == "held-out cases"
    assert lines[0][6] == "cases of the design"
    for question, peer, *cells in (line for line in lines[2:] if len(line) == len(lines[0])):
        kind = next(kind for kind, asked in report.ASKED.items() if asked == question)
        for held_out, (number, gain) in {True: (cells[0], cells[3]), False: (cells[4], cells[5])}.items():
            cases = [each.name for each in report.of(kind) if each.held_out == held_out]
            theirs = [study.bits(case, peer.rstrip("\\*")) for case in cases]
            ours = [
                study.bits(case, report.KINDS[kind][0])[: len(bits)] for case, bits in zip(cases, theirs, strict=True)
            ]
            gaps = [one.mean() - two.mean() for one, two in zip(ours, theirs, strict=True)]
            assert int(number) == len(cases)
            assert gain.split()[0] == f"{sum(gaps) / len(gaps):+.3f}"


def test_the_readme_names_a_case_in_which_a_plain_test_is_better(script) -> None:
    report = script("power", "report")
    found = re.search(r"a plain test finds more: .* dcor (0\.\d\d), kernelmean (0\.\d\d)\.", between("power"))
    assert found is not None
    table = (PAGES / "power.md").read_text(encoding="utf-8").splitlines()
    head = next(line for line in table if line.startswith("| case | adaptive MMD |")).split(" | ")
    row = next(line for line in table if line.startswith(f"| {report.WHERE_PLAIN[0]} |")).split(" | ")
    shown = [row[head.index(name)].strip("*") for name in ("dcor energy", "adaptive MMD")]
    assert [f"0{power}" for power in shown] == list(found.groups())
    assert float(found[1]) > float(found[2])


def test_the_seconds_of_ten_million_rows_are_those_that_were_measured() -> None:
    runs = json.loads((ROOT / "benchmarks" / "scale.json").read_text(encoding="utf-8"))["runs"]
    wall = next(run["wall"] for run in runs if (run["what"], run["rows"]) == ("mmd_test", 10_000_000))
    assert re.findall(r"ten million rows of ten columns takes \[(.*?) seconds", README) == [f"{wall:.1f}"]


def test_there_is_evidence_for_and_against() -> None:
    assert len(CLAIMS) > 20
    assert any(claim.startswith("*But*") for claim, *_ in CLAIMS)


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: row[0][:60])
def test_figures_of_the_evidence_stand_on_the_page_that_it_names(row: tuple[str, str, str, str]) -> None:
    _, figure, command, link = row
    page = re.fullmatch(r"\[.+\]\((.+)\)", link)
    assert page is not None, link
    text = ELSEWHERE.get(page[1], PAGES / page[1]).read_text(encoding="utf-8")
    numbers = [number.rstrip(",") for number in NUMBER.findall(re.sub("`.*?`", "", figure))]
    assert numbers
    assert [number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", text)] == []
    program, *words = shlex.split(command.strip("`"))
    assert program == "kernelmean" or (ROOT / words[0]).exists()
