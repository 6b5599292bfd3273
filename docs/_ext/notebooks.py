"""Notebooks of the guides, to download: made from the pages when the site is built, so that no code is written twice.

The blocks of Python of a page become cells of code, without prompts and with their outputs; all else becomes Markdown.
"""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
FOLDER = "notebooks"
_PYTHON = re.compile(r"^```python\n(.*?)^```\n", flags=re.DOTALL | re.MULTILINE)
_DIRECTIVE = re.compile(r"^```\{.*?^```\n", flags=re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+\.md)(?:#[\w-]+)?\)")
_ROLE = re.compile(r"\{[\w:]+\}(`[^`]+`)")


def pages() -> list[Path]:
    """Return the pages that become notebooks: the tutorial, and the guides with Python on them."""
    found = [DOCS / "start" / "tutorial.md", *sorted((DOCS / "guides").glob("*.md"))]
    return [page for page in found if _PYTHON.search(page.read_text(encoding="utf-8"))]


def notebook(page: Path) -> dict[str, Any]:
    """Return a page as a notebook of format 4.5, ready for JSON."""
    parts = _PYTHON.split(page.read_text(encoding="utf-8"))
    cells = []
    for i, part in enumerate(parts):
        cells += list(_code(part)) if i % 2 else list(_markdown(part, page))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": [cell | {"id": f"{page.stem}-{i}"} for i, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _markdown(text: str, page: Path) -> Iterator[dict[str, Any]]:
    """Yield a cell of text, with the titles of pages in place of links to them."""

    def title(link: re.Match[str]) -> str:
        return link[1] or f"*{_title(page.parent / link[2])}*"

    text = _ROLE.sub(r"\1", _LINK.sub(title, _DIRECTIVE.sub("", text))).strip()
    if text:
        yield {"cell_type": "markdown", "metadata": {}, "source": _lines(text)}


def _title(page: Path) -> str:
    """Return the first heading of a page; a page of the gallery, which is not written yet, is called by its name."""
    if not page.exists():
        return page.stem.replace("_", " ")
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _code(block: str) -> Iterator[dict[str, Any]]:
    """Yield cells of code: a block without prompts as it is, otherwise one up to each output."""
    if ">>>" not in block:
        yield _cell(block, "")
        return
    source = ""
    for example in doctest.DocTestParser().get_examples(block):
        source += re.sub(r"\s*# doctest: .*", "\n", example.source)
        if example.want:
            yield _cell(source, example.want, raises=example.exc_msg is not None)
            source = ""
    if source:
        yield _cell(source, "")


def _cell(source: str, printed: str, *, raises: bool = False) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": _lines(printed)}] if printed and not raises else []
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": ["raises-exception"]} if raises else {},
        "outputs": outputs,
        "source": _lines(source.strip()),
    }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def link(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Put a link to its notebook under the title of a page."""
    del app, template, doctree
    if name in {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages()}:
        target = context["pathto"](f"{FOLDER}/{Path(name).name}.ipynb", 1)
        words = f'<p class="notebook"><a href="{target}" download>Download this page as a notebook</a></p>'
        context["body"] = context["body"].replace("</h1>", f"</h1>\n{words}", 1)


def write(app: Sphinx, error: Exception | None) -> None:
    """Write all notebooks beside the pages."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for page in pages():
        text = json.dumps(notebook(page), ensure_ascii=False, indent=1)
        (folder / f"{page.stem}.ipynb").write_text(text + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Link the notebooks, and write them once the pages are there."""
    app.connect("html-page-context", link)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
