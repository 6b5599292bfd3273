"""Files that say what the package is, for archives, conda and others, agree with ``pyproject.toml``."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import kernelmean

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
(AUTHOR,) = (author["name"] for author in PROJECT["authors"])
DOI = PROJECT["urls"]["Paper"].removeprefix("https://doi.org/")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version_everywhere() -> None:
    version = PROJECT["version"]
    assert kernelmean.__version__ == version
    paper = tomllib.loads(text("paper/pyproject.toml"))["project"]
    assert paper["version"] == version
    assert f"kernelmean[cli]=={version}" in paper["dependencies"]
    assert f"\nversion: {version}\n" in text("CITATION.cff")
    assert f"## {version}" in text("CHANGELOG.md")
    assert json.loads(text("codemeta.json"))["version"] == version
    assert f'\n  version: "{version}"\n' in text(".ci/recipe.yaml")


def test_authors_license_and_paper_are_the_same_everywhere() -> None:
    meta, zenodo, citation = json.loads(text("codemeta.json")), json.loads(text(".zenodo.json")), text("CITATION.cff")
    assert [one["name"] for one in meta["author"]] == [one["name"] for one in zenodo["creators"]] == [AUTHOR]
    assert f"\nauthors:\n  - name: {AUTHOR}\n" in citation
    assert meta["license"].removeprefix("https://spdx.org/licenses/") == zenodo["license"] == PROJECT["license"]
    for said in (citation, text(".ci/recipe.yaml")):
        assert f"license: {PROJECT['license']}\n" in said
    assert DOI in meta["referencePublication"]["identifier"]
    assert [one["identifier"] for one in zenodo["related_identifiers"]] == [DOI]
    assert f"doi: {DOI}\n" in citation


def test_descriptions_and_keywords_are_the_same_everywhere() -> None:
    meta, zenodo, citation = json.loads(text("codemeta.json")), json.loads(text(".zenodo.json")), text("CITATION.cff")
    assert meta["description"] == zenodo["description"] == PROJECT["description"]
    assert f'summary: "{PROJECT["description"]}"' in text(".ci/recipe.yaml")
    assert f'title: "{zenodo["title"]}"' in citation
    keywords = re.findall(r"^  - ([^:\n]+)$", citation.split("preferred-citation")[0], flags=re.MULTILINE)
    assert meta["keywords"] == zenodo["keywords"] == keywords


def test_the_conda_package_needs_what_the_package_and_its_command_need() -> None:
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]
    least = dict(each.partition(";")[0].split(">=") for each in wanted)  # a later line for one system is the stricter
    run = text(".ci/recipe.yaml").split("  run:\n")[1].split("\n\n")[0]
    listed = dict(re.findall(r"- ([\w-]+) >=(\S+)", run))
    assert listed == least | {"python": "${{"}
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in text(".ci/recipe.yaml")


def test_hooks_format_with_the_version_that_the_whole_check_uses() -> None:
    (pinned,) = re.findall(r"^ruff==(\S+)$", text("constraints.txt"), flags=re.MULTILINE)
    assert re.findall(r"ruff-pre-commit\n    rev: v(\S+)", text(".pre-commit-config.yaml")) == [pinned]


def test_the_parts_of_the_whole_check_are_those_that_nox_and_workflows_name() -> None:
    script = text(".ci/run")
    (listed,) = re.findall(r"^parts=\((.*)\)$", script, flags=re.MULTILINE)
    parts = {*listed.split(), "suite"}
    assert parts < set(re.findall(r"^(\w+)\(\) [{(]", script, flags=re.MULTILINE))
    assert set(re.findall(r'^    "(\w+)": "', text("noxfile.py"), flags=re.MULTILINE)) == parts
    workflows = "".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml"))
    called = re.findall(r"run: \.ci/run(.*)", workflows)
    assert called
    assert {name for line in called for name in line.split()} <= parts


SECTIONS = [
    *("Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"),
    *("AI usage disclosure", "Acknowledgements", "References"),
]
"""Those that the Journal of Open Source Software asks for, in its order."""


def test_the_draft_of_the_paper_has_the_sections_the_references_and_the_length_that_are_asked() -> None:
    front, body = text("joss/paper.md").split("\n---\n", 1)
    assert f'title: "{json.loads(text(".zenodo.json"))["title"]}"' in front
    assert re.findall(r"^# (.*)$", body, flags=re.MULTILINE) == SECTIONS
    assert 750 <= len(body.split()) <= 1750
    listed = re.findall(r"^@\w+\{(\w+),", text("joss/paper.bib"), flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == set(re.findall(r"@(\w+)", body))


def test_figures_of_the_draft_stand_on_the_page_of_evidence() -> None:
    impact = text("joss/paper.md").split("# Research impact statement")[1].split("\n# ")[0]
    figures = re.findall(r"(?<![\w.])[+-]?\d[\d.,]*(?<![.,])(?: ± [\d.]*\d)?", re.sub(r"@\w+", "", impact))
    assert len(figures) > 10
    evidence = text("docs/evidence/index.md")
    assert [
        figure for figure in figures if not re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.]*\d)", evidence)
    ] == []
