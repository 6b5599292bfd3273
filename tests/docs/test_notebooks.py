"""The notebooks that the site offers: their format, and that their cells run, which the doctests of the pages judge."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checkered import mostly_slow

DOCS = Path(__file__).parents[2] / "docs"


def extension() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", DOCS / "_ext" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOTEBOOKS = extension()
PAGES = NOTEBOOKS.pages()


def codes(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_guides_have_notebooks() -> None:
    assert {"tutorial", "ab", "drift", "choosing", "big-data", "cluster"} <= {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_format_and_content(page: Path) -> None:
    notebook = json.loads(json.dumps(NOTEBOOKS.notebook(page)))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(0 < len(each) <= 64 and each.replace("-", "").isalnum() for each in ids)
    wanted = {"code": {"cell_type", "id", "metadata", "source", "outputs", "execution_count"}}
    for cell in notebook["cells"]:
        assert set(cell) == wanted.get(cell["cell_type"], {"cell_type", "id", "metadata", "source"})
        text = "".join(cell["source"])
        assert text.strip()
        assert ">>> " not in text
        assert ".md)" not in text
    assert "".join(notebook["cells"][0]["source"]).startswith("# ")
    for cell in codes(notebook):
        compile("".join(cell["source"]), page.stem, "exec")


@pytest.mark.parametrize("name", mostly_slow(["ab", "densities", "independence"], "independence"))
def test_cells_run_in_order_and_print_what_is_shown(name: str) -> None:
    names: dict[str, Any] = {}
    shown = 0
    for cell in codes(NOTEBOOKS.notebook(DOCS / "guides" / f"{name}.md")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for line in statements("".join(cell["source"])):
                exec(compile(line, name, "single"), names)
        assert printed.getvalue() == "".join(text for output in cell["outputs"] for text in output["text"])
        shown += bool(cell["outputs"])
    assert shown > 3


def statements(source: str) -> list[Any]:
    """Return the statements of a cell, of which one that is an expression shows its value, as at a prompt."""
    import ast

    return [ast.Interactive([statement]) for statement in ast.parse(source).body]


def test_what_is_to_raise_is_marked() -> None:
    cells = codes(NOTEBOOKS.notebook(DOCS / "guides" / "gpu.md"))
    marked = [cell for cell in cells if "raises-exception" in cell["metadata"].get("tags", [])]
    assert len(marked) == 1
    assert marked[0]["outputs"] == []
    assert "# doctest" not in "".join(marked[0]["source"])
