"""The Markdown: tables well formed, links resolve, texts shown as they are, files written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelmean.report import Chart, Document, Section, markdown, pictures

UNESCAPED = r"(?<!\\)"
NEEDS_MATPLOTLIB = pytest.mark.skipif(pictures.missing() is not None, reason="charts need the extra 'plot'")


@pytest.fixture(scope="module")
def written(document: Document, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return the document as Markdown, and the folder of its pictures."""
    folder = tmp_path_factory.mktemp("markdown")
    return markdown.render(document, folder), folder


def tables(text: str) -> list[list[str]]:
    return [block.split("\n") for block in text.split("\n\n") if block.startswith("| ")]


def shown(text: str) -> str:
    """Return what a reader sees of escaped text."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


@pytest.mark.parametrize("with_pictures", [pytest.param(True, marks=NEEDS_MATPLOTLIB), False])
def test_tables_have_as_many_cells_in_every_row(
    document: Document, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, with_pictures: bool
) -> None:
    if with_pictures:
        text, _ = request.getfixturevalue("written")
    else:
        monkeypatch.setattr(pictures, "missing", lambda: "no matplotlib")
        text = markdown.render(document, request.getfixturevalue("tmp_path"))
    found = tables(text)
    assert len(found) == (3 if with_pictures else 6)
    for rows in found:
        counts = {len(re.findall(UNESCAPED + r"\|", row)) for row in rows}
        assert len(counts) == 1
        assert re.fullmatch(r"\|( ?-{3}:? ?\|)+", rows[1])
        assert all(row.startswith("| ") and row.endswith("|") for row in rows)


def test_numbers_stand_at_the_right_and_the_best_in_bold(written: tuple[str, Path]) -> None:
    text = written[0]
    assert "| --- | ---: | ---: |" in text
    assert "| wine | 0.25 ± 0.01 | 1.25 ± 0.01 | **2.25 ± 0.01** | 3.25 ± 0.01 |" in text


@NEEDS_MATPLOTLIB
def test_pictures_are_written_and_linked_with_words(document: Document, written: tuple[str, Path]) -> None:
    text, folder = written
    links = re.findall(UNESCAPED + r"!\[((?:[^\]\\]|\\.)*)\]\(([^)]+)\)", text)
    assert [name for _, name in links] == ["losses.svg", "valley.svg", "level.svg"]
    assert {path.name for path in folder.iterdir()} == {name for _, name in links}
    assert links[0][0] == "MKME lies below KME at every size."
    assert shown(links[2][0]) == document.summary[1]


def test_links_to_sections_are_names_that_github_gives_to_headings(written: tuple[str, Path]) -> None:
    text = written[0]
    heads = [shown(head) for head in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)]
    assert heads[:4] == ["The paper, reproduced", "Verdicts", "Contents", "Figure 2: σ² = 0?"]
    targets = re.findall(UNESCAPED + r"\]\(#([^)]+)\)", text)
    assert set(targets[-4:]) == {
        "figure-2-σ--0",
        "scriptalert1scriptimg-srchttpsexampleorgxpng---code-1-_a_-b-cjavascriptd----e---",
        "figure-2-σ--0-1",
        "content",
    }
    assert set(targets) == set(targets[-4:])


def test_texts_are_shown_as_they_are(document: Document, written: tuple[str, Path]) -> None:
    text = written[0]
    prose = re.sub(r"</?(details|summary)>", "", text)
    assert not re.search(UNESCAPED + "[<`$]", prose)
    assert not re.search(UNESCAPED + r"\]\((?!#|[\w.]+\.svg\))", text), "only links of our own"
    assert shown(text).count(document.summary[1]) >= 5


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain words, 0.5 (n = 3) of two_sided", "plain words, 0.5 (n = 3) of two_sided"),
        ("-0.5 below", "-0.5 below"),
        ("- item", r"\- item"),
        ("12. item", r"12\. item"),
        ("12.5 units", "12.5 units"),
        ("# head", r"\# head"),
        ("#1 of all", "#1 of all"),
        ("---", r"\---"),
        ("two\nlines\n\nand more", "two lines and more"),
        ("_a_ b_", r"\_a\_ b\_"),
        ("a\\|b", r"a\\\|b"),
    ],
    ids=["plain", "minus", "item", "number", "decimal", "heading", "hash", "rule", "lines", "underscores", "pipe"],
)
def test_signs_are_escaped_where_they_would_mean_something(text: str, safe: str) -> None:
    assert markdown.escaped(text) == safe


@NEEDS_MATPLOTLIB
def test_the_same_document_gives_the_same_bytes(document: Document, written: tuple[str, Path], tmp_path: Path) -> None:
    text, folder = written
    assert markdown.render(document, tmp_path) == text
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_two_charts_of_one_name_are_an_error(tmp_path: Path) -> None:
    chart = Chart("same", "Title", (), "Words.")
    with pytest.raises(ValueError, match="two charts are called 'same'"):
        markdown.render(Document("T", (), (Section("S", charts=(chart, chart)),)), tmp_path)
    assert not list(tmp_path.iterdir())
