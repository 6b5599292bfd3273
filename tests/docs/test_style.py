"""Pages, docstrings and messages use none of the phrases that ``docs/style.md`` lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STYLE = ROOT / "docs" / "style.md"
GENERATED = ("docs/gallery/", "docs/_build/", "docs/api/generated/", "docs/guides/notebooks/")
ALLOWED = re.compile(r"law of large numbers|by-law|spread over laws|the law itself", flags=re.IGNORECASE)
"""A theorem, and names under which trials are stored."""
CODE = re.compile(r"^```(?!\{).*?^```|`[^`\n]+`|<!--.*?-->", flags=re.DOTALL | re.MULTILINE)


def phrases() -> list[str]:
    """Return the phrases of the first column of the table of the style page."""
    table = STYLE.read_text(encoding="utf-8").split("## Words we do not use")[1]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [phrase.strip() for line in lines[1:] for phrase in line.split("|")[1].split(",")]


PHRASES = phrases()
UNWANTED = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, PHRASES)) + r")(?![\w-])", flags=re.IGNORECASE)


def found(text: str) -> list[str]:
    """Return the phrases in a text, over the ends of lines too, each with some words around it."""
    text = ALLOWED.sub("", re.sub(r"\s+", " ", text))
    return [text[max(0, hit.start() - 40) : hit.end() + 40] for hit in UNWANTED.finditer(text)]


def pages() -> Iterator[Path]:
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "joss/paper.md"))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path != STYLE and not path.relative_to(ROOT).as_posix().startswith(GENERATED):
            yield path


def programs() -> Iterator[Path]:
    for folder in ("src", "paper/src", "examples", "docs/_ext"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def strings(path: Path) -> list[str]:
    """Return the docstrings and other strings of a program, those of an f-string in one piece."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            texts.append("".join(str(part.value) for part in node.values if isinstance(part, ast.Constant)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            texts.append(node.value)
    return texts


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_phrases_are_found_as_words_and_over_lines() -> None:
    assert len(PHRASES) > 20
    assert len(found("a test that is alarmed\nfor nothing")) == 1
    assert len(found("equal Laws")) == 1
    assert found("the law of large numbers, a by-law, lawful, outlaws") == []


def test_strings_of_a_program_are_read(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('"""Two laws."""\nvalue = f"the {1} law"\nlaw = "fine"\n')
    assert [hit for text in strings(path) for hit in found(text)] == ["Two laws.", "the law"]


@pytest.mark.parametrize("path", [*pages()], ids=name)
def test_pages_are_written_in_plain_english(path: Path) -> None:
    assert found(CODE.sub(" ", path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", [*pages()], ids=name)
def test_links_have_words_for_those_who_read_pages_as_files(path: Path) -> None:
    assert re.findall(r"\[\]\(.*?\)", path.read_text(encoding="utf-8")) == []


def test_docstrings_and_messages_are_written_in_plain_english() -> None:
    hits = {name(path): hits for path in programs() for text in strings(path) if (hits := found(text))}
    assert hits == {}


def test_templates_are_written_in_plain_english() -> None:
    templates = sorted((ROOT / "src").rglob("*.html"))
    assert templates
    assert {name(path): hits for path in templates if (hits := found(path.read_text(encoding="utf-8")))} == {}
