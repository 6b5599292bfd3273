"""Every block of the documentation runs: scripts, shell commands, printed outputs, examples of the gallery.

Blocks with prompts are doctests, which ``tests/conformance/test_docs.py`` runs for the README and all pages.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import kernelmean
from checkered import mostly_slow
from drawings import draw_once
from kernelmean.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = (DOCS / "gallery", DOCS / "_build", DOCS / "api" / "generated")
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if not any(folder in page.parents for folder in GENERATED)),
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"from (kernelmean[\w.]*) import ([\w, ]+)")
LINK = re.compile(r"\]\(([^)#\s]+\.md)")
LANGUAGES = {"python", "sh", "console", "text", "toml"}
NOT_RUN = {
    "kernelmean reproduce all": "minutes; paper/tests runs parts of it",
    "kernelmean reproduce figure1 --offline --quiet": ".ci/run",
    "kernelmean reproduce all --data DIR": "minutes; paper/tests runs parts of it",
    "kernelmean compare 'big/*.parquet' 'other/*.parquet' --scheduler tcp://10.0.0.1:8786": "tests/unit/cluster",
}
ELSEWHERE = {"pvalues.md": "tests/record/test_pvalues.py runs all that it is made of"}
NEEDS = {"cluster.md": ("distributed", "clusters need the extra 'dask'")}
OTHER_PROGRAMS = ("pip ", "python ", "python3 ", "git ", ".venv/")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    language: str
    text: str


BLOCKS = [
    Block(page, language, text)
    for page in PAGES
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8"))
    if not language.startswith("{")
]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def commands() -> list[str]:
    """Return the lines of all shell blocks, without comments, each once."""
    lines = [line for block in BLOCKS if block.language == "sh" for line in block.text.splitlines()]
    return list(dict.fromkeys(shlex.join(shlex.split(line, comments=True)) for line in lines if line.strip()))


SCRIPTS = sorted(
    {block.page for block in BLOCKS if block.language == "python" and ">>>" not in block.text}
    - {page for page in PAGES if page.name in ELSEWHERE}
)
COMMANDS = [line for line in commands() if line.startswith("kernelmean ") and line not in NOT_RUN]
OUTPUTS = [block for block in BLOCKS if block.language == "console"]


def test_blocks_are_of_a_kind_that_runs() -> None:
    assert {block.language for block in BLOCKS} <= LANGUAGES
    assert [line for line in commands() if not line.startswith(("kernelmean ", *OTHER_PROGRAMS))] == []
    assert set(NOT_RUN) <= set(commands())
    assert len(COMMANDS) > 10
    assert len(PAGES) > 20


def test_prompts_and_plain_lines_do_not_mix() -> None:
    for block in BLOCKS:
        if block.language == "python" and ">>>" in block.text:
            assert block.text.startswith(">>>"), name(block.page)
            assert block.text.endswith("\n\n"), f"{name(block.page)}: a doctest ends with a blank line"


@pytest.mark.parametrize("page", SCRIPTS, ids=name)
def test_plain_python_blocks_of_a_page_run_as_one_program(page: Path, tmp_path: Path) -> None:
    if page.name in NEEDS:
        module, reason = NEEDS[page.name]
        pytest.importorskip(module, reason=reason)
    parts = [block.text for block in BLOCKS if block.page == page and block.language == "python"]
    program = "\n".join(part for part in parts if ">>>" not in part)
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with the files that the commands name."""
    pandas = pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    for stem, shift in (("before", 0.0), ("after", 2.0)):
        frame = pandas.DataFrame(rng.normal(shift, 1.0, size=(30, 2)), columns=["age", "dose"])
        frame["city"] = rng.choice(["Bern", "Oslo", "Riga"], 30)
        frame["size"] = rng.choice(["low", "mid", "high"], 30)
        frame["zip"] = rng.choice([1000, 2000, 3000], 30)
        frame["income"] = rng.normal(2000.0, 300.0, 30)
        frame.to_csv(folder / f"{stem}.csv", index=False)
        frame.to_parquet(folder / f"{stem}.parquet")
    frame.to_parquet(folder / "visits.parquet")
    data = pandas.DataFrame(rng.normal(size=(40, 3)), columns=["dose", "age", "response"])
    data.to_csv(folder / "data.csv", index=False)
    days = pandas.date_range("2024-01-01", periods=40).strftime("%Y-%m-%d")
    data.assign(date=days).to_csv(folder / "sensor.csv", index=False)
    trial = data.assign(arm=["placebo", "drug"] * 20, id=np.arange(40))
    trial.to_parquet(folder / "trial.parquet")
    (folder / "kernelmean.toml").write_text("".join(block.text for block in BLOCKS if block.language == "toml"))
    return folder


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    return int(exit_.value.code or 0)


@pytest.mark.slow
def test_shell_commands_run(tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="some commands draw, which needs the extra 'plot'")
    monkeypatch.setattr(
        "kernelmean.studies.density._COMPONENTS", (1, 2)
    )  # searches, refits and permutations take the time
    monkeypatch.setattr("kernelmean.studies.density._FOLDS", 2)
    monkeypatch.setattr("kernelmean.studies.estimate._FEW", 0)
    draw_once(monkeypatch)
    for line in COMMANDS:
        code = 1 if "--fail-on-drift" in line else 0  # these tables differ
        words = shlex.split(line)[1:]
        few = ["--resamples", "99"] if words[0] in ("compare", "dependence") else []
        assert run([*words, *few], monkeypatch, tables) == code, (line, capsys.readouterr().err)
    capsys.readouterr()


@pytest.mark.parametrize("block", OUTPUTS, ids=lambda block: name(block.page))
def test_outputs_are_what_the_command_prints(
    block: Block, tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, _, shown = block.text.partition("\n")
    assert first.startswith("$ kernelmean "), first
    assert run(shlex.split(first)[2:], monkeypatch, tables) == 0
    assert capsys.readouterr().out.split() == shown.split(), "python docs/refresh.py writes it anew"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_pages(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve()
        example = ROOT / "examples" / f"{path.stem}.py"
        made = path.parent == DOCS / "gallery" and (path.stem == "index" or example.exists())
        assert made or path.exists(), target


def test_every_public_name_is_in_the_reference() -> None:
    reference = extension("reference")
    pairs = reference.listed()
    assert len(pairs) == len(set(pairs)) > 80
    values = [reference.resolved(*pair) for pair in pairs]
    for name in set(kernelmean.__all__):
        value = getattr(kernelmean, name)
        assert inspect.ismodule(value) or any(value is each for each in values), name


def test_what_pages_import_is_in_the_reference() -> None:
    doors = extension("reference").doors()
    imported = {
        (module, name.strip())
        for block in BLOCKS
        if block.language == "python"
        for module, names in IMPORT.findall(block.text)
        for name in names.split(",")
    }
    assert len(imported) > 10
    assert {pair for pair in imported - doors if not importlib.util.find_spec(".".join(pair))} == set()


def test_constraints_pin_what_builds_the_site() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["docs"]
    pinned = {line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    names = {re.split(r"[\[>=<]", each)[0].lower() for each in wanted} - {"kernelmean"}
    assert names <= pinned


def extension(stem: str) -> ModuleType:
    """Return an extension of Sphinx of this repository."""
    spec = importlib.util.spec_from_file_location(stem, DOCS / "_ext" / f"{stem}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", mostly_slow(EXAMPLES, EXAMPLES[0]), ids=lambda path: path.stem)
def test_examples_run_and_draw(path: Path, tmp_path: Path) -> None:
    """One of them: building the site runs and draws them all."""
    pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")
    pytest.importorskip("pandas")
    gallery = extension("gallery")
    example = gallery.read(path)
    printed = gallery.run(example, tmp_path)
    assert printed.strip()
    assert "<svg" in (tmp_path / example.picture).read_text(encoding="utf-8")
    assert "Traceback" not in gallery.page(example, printed)
    assert len(example.alt) > 40


def test_an_example_without_words_for_its_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mute.py"
    path.write_text('"""Title.\n\nText."""\n')
    with pytest.raises(ValueError, match="Picture"):
        extension("gallery").read(path)


def test_formulas_become_mathml_and_unknown_commands_are_refused() -> None:
    pytest.importorskip("latex2mathml", reason="formulas need the group 'docs'")
    pytest.importorskip("sphinx", reason="formulas need the group 'docs'")
    mathml = extension("mathml").mathml
    assert 'class="overline"' in mathml(r"\overline{k(x, x')}", block=True)
    assert "<mo>∼</mo>" in mathml("x ∼ v", block=False)
    assert "<mi>∼</mi>" not in mathml("x ∼ v", block=False)
    with pytest.raises(ValueError, match="not known"):
        mathml(r"\nosuchcommand x", block=False)
