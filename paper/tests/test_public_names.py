"""The paper uses names of kernelmean that the reference documents, and no others."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

import kernelmean as km
import kernelmean_paper

ROOT = Path(__file__).parents[2]
FILES = sorted(Path(str(kernelmean_paper.__file__)).parent.rglob("*.py"))
COMMANDS = "kernelmean.cli.commands"


def documented() -> set[tuple[str, str]]:
    """Return every public name with each door that offers it."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "_ext" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    commands = {(COMMANDS, name) for name in importlib.import_module(COMMANDS).__all__}
    return {("kernelmean", "__version__"), *reference.doors(), *commands}


def used(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a file takes from kernelmean: modules and names."""
    tree, aliases = ast.parse(text), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "kernelmean":
            yield from ((node.module, each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.split(".")[0] == "kernelmean":
                    assert each.name == "kernelmean", f"write: from {each.name} import ..."
                    aliases.add(each.asname or each.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield "kernelmean", node.attr


@pytest.fixture(scope="module")
def known() -> set[tuple[str, str]]:
    return documented()


def strangers(text: str, known: set[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in used(text) if pair not in known]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_names_are_documented(path: Path, known: set[tuple[str, str]]) -> None:
    allowed = {("kernelmean", "__file__")} if path.stem == "versions" else set()  # it hashes the files
    assert [pair for pair in strangers(path.read_text(encoding="utf-8"), known) if pair not in allowed] == []


@pytest.mark.parametrize(
    "line",
    [
        "from kernelmean.core.words import count",
        "from kernelmean.inference.null import holm",
        "from kernelmean.report.html import render",
        "from kernelmean.cli.errors import guarded",
        "from kernelmean import _lazy",
        "import kernelmean\nkernelmean._words",
        "import kernelmean as km\nkm.tables_of_mine",
    ],
)
def test_others_are_found(line: str, known: set[tuple[str, str]]) -> None:
    assert len(strangers(line, known)) == 1


def test_doors_have_no_underscores(known: set[tuple[str, str]]) -> None:
    doors = {module for path in FILES for module, _ in used(path.read_text(encoding="utf-8"))}
    assert doors >= {"kernelmean", "kernelmean.kernels", "kernelmean.report", COMMANDS}
    assert not [door for door in doors if "._" in door]


def test_the_library_runs_without_the_paper() -> None:
    folder = Path(str(km.__file__)).parent
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert [path for path, text in texts.items() if "kernelmean_paper" in text] == []
