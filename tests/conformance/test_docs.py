"""What the documentation shows is what the library does: examples run, and the README's output is printed."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import kernelmean
from kernelmean.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OPTIONAL = ("numba", "matplotlib", "torch", "dask")
CHOSEN_BRIEFLY = (
    *(
        f"kernelmean.studies.{name}"
        for name in ("density", "estimate", "plots.density", "pages.density", "pages.estimate")
    ),
    "densities.md",
)
"""What these show is the same whatever was chosen beside it, which ``tests/record`` chooses in full."""
PICTURES = ("kernelmean.studies.plots", "kernelmean.report.pictures", "kernelmean.studies.comparison.result")
MODULES = sorted(module.name for module in pkgutil.walk_packages(kernelmean.__path__, "kernelmean."))
PYTHON_PAGES = [
    page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if ">>>" in page.read_text()
]


def command(marker: str) -> str:
    """Return the shell command after a marker of the README."""
    found = re.search(rf"<!-- {marker} -->\n```sh\n(.*?)\n```", README, flags=re.DOTALL)
    assert found is not None
    return found.group(1)


def choose_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.studies.density._COMPONENTS", (1, 2))
    monkeypatch.setattr("kernelmean.studies.density._FOLDS", 2)
    monkeypatch.setattr("kernelmean.studies.estimate._FEW", 0)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.startswith(PICTURES):
        pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        pytest.skip(f"{error.name} is not installed")
    if name in CHOSEN_BRIEFLY:
        choose_briefly(monkeypatch)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=lambda page: page.name)
def test_pages(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if ">>> import torch" in page.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason=f"torch IS MISSING: {page.name} is not run")
    if page.name in CHOSEN_BRIEFLY:
        choose_briefly(monkeypatch)
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert failed == 0
    assert tried > 0


def test_there_are_examples() -> None:
    assert ROOT / "README.md" in PYTHON_PAGES
    assert len(MODULES) > 30


def value(word: str) -> float | str:
    """Return the number that a word writes, or the word."""
    try:
        return float(word.strip(",;:").replace(",", "").replace("−", "-"))
    except ValueError:
        return word


def same_line(printed: str, shown: str) -> bool:
    """Return whether two lines have the same words, and numbers that are equal but for their last digits."""
    ours, theirs = ([value(word) for word in line.split()] for line in (printed, shown))
    return len(ours) == len(theirs) and all(
        one == other or (isinstance(one, float) and isinstance(other, float) and one == pytest.approx(other, rel=0.02))
        for one, other in zip(ours, theirs, strict=True)
    )


def test_the_readme_shows_what_the_main_job_prints(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```text\n\$ kernelmean (.*?)\n(.*?)```", README, flags=re.DOTALL)
    assert found is not None
    arguments, shown = found.groups()
    assert f"kernelmean {arguments} &&" in command("main job")
    with pytest.raises(SystemExit) as exit_:
        main(arguments.split())
    assert exit_.value.code == 0
    printed = iter(capsys.readouterr().out.splitlines())
    for line in shown.splitlines():
        assert line.strip() == "..." or any(same_line(one, line) for one in printed), line  # in this order


def test_both_commands_are_one_line_and_pinned() -> None:
    for marker in ("main job", "tests"):
        assert "\n" not in command(marker)
        assert "-c constraints.txt" in command(marker)


def test_every_command_of_the_readme_exists(capsys: pytest.CaptureFixture[str]) -> None:
    for name in set(re.findall(r"^(?:\$ )?kernelmean (\w+)", README, flags=re.MULTILINE)):
        with pytest.raises(SystemExit) as exit_:
            main([name, "--help"])
        assert exit_.value.code == 0
    capsys.readouterr()


def test_constraints_pin_every_direct_dependency() -> None:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = content["project"], content["dependency-groups"]
    extras = project["optional-dependencies"]
    paper = tomllib.loads((ROOT / "paper" / "pyproject.toml").read_text())["project"]["dependencies"]
    wanted = [*project["dependencies"], *extras["cli"], *groups["test"], *extras["fast"], *paper]
    names = {re.split(r"[\[>=<]", each)[0].lower() for each in wanted} - {"kernelmean"}
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower() for line in pins if not line.startswith("#")}
    assert names <= pinned
    assert all("==" in line and "/" not in line for line in pins if not line.startswith("#"))


def test_all_brings_every_extra_that_a_user_may_want_without_a_gpu() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    ours, frames = extras["all"]
    names = ours.removeprefix("kernelmean[").removesuffix("]").split(",")
    assert set(names) == {*extras} - {"all", "notebook", "torch"}
    assert frames.startswith("pandas")
