"""The page: well formed, self-contained, every link and name resolves, nothing breaks out."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from kernelmean.report import Document, Section, TextTable, html, pictures, templates

VOID = {"meta", "link", "br", "hr"}
NEEDS_MATPLOTLIB = pytest.mark.skipif(pictures.missing() is not None, reason="charts need the extra 'plot'")


class Outline(HTMLParser):
    """Elements with their attributes, own texts and parents; raises where tags do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str], int | None]] = []
        self.open: list[int] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert len(dict(attributes)) == len(attributes), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attributes), [], self.open[-1] if self.open else None))
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes), [], self.open[-1]))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self.open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.elements[self.open[-1]][2].append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes, _, _ in self.elements if name == tag]

    def texts(self, tag: str) -> list[str]:
        return ["".join(texts) for name, _, texts, _ in self.elements if name == tag]

    def inside(self, index: int) -> list[str]:
        return [name for name, _, _, parent in self.elements if parent == index]


@pytest.fixture(scope="module")
def page(document: Document) -> str:
    return html.render(document)


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    return Outline(page)


def test_the_parts_of_a_page(page: str, outline: Outline) -> None:
    assert page.startswith('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">')
    assert outline.texts("title")[0] == "The paper, reproduced"
    assert outline.texts("h1") == ["The paper, reproduced"]
    assert [outline.texts("h2")[k] for k in (0, 1, -2, -1)] == [
        "Contents", "Figure 2: σ² = 0?", "Content", "Made by"
    ]  # fmt: skip
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in outline.all("meta")
    tags = [name for name, _, _, _ in outline.elements]
    assert tags.index("h1") < tags.index("main") < tags.index("nav") < tags.index("figure")


def test_ids_are_unique_and_everything_that_refers_to_one_finds_it(page: str, outline: Outline) -> None:
    ids = [attributes["id"] for _, attributes, _, _ in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids)) > 20
    links = {str(attributes["href"])[1:] for attributes in outline.all("a") + outline.all("use")}
    names = {
        attributes.get(key)
        for _, attributes, _, _ in outline.elements
        for key in ("aria-labelledby", "aria-describedby")
    }
    assert links | (names - {None}) | set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)
    assert all(not re.search(r"\s", str(one)) for one in ids)


def test_every_section_is_linked_from_the_top(outline: Outline) -> None:
    links = [attributes["href"] for attributes in outline.all("a")]
    assert links[0] == "#content-1", "the skip link comes first, and 'content' is the name of a section"
    assert "#figure-2-σ--0" in links
    assert "#figure-2-σ--0-1" in links


def test_nothing_is_loaded_from_anywhere(page: str, outline: Outline) -> None:
    assert not {name for name, _, _, _ in outline.elements} & {"iframe", "object", "embed", "base", "img"}
    (script,) = outline.texts("script")
    assert script == templates.source("sort.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    for _, attributes, _, _ in outline.elements:
        for key, value in attributes.items():
            if key in {"src", "href", "srcset", "action", "data", "poster"}:
                assert str(value).startswith(("#", "data:,")), (key, value)
            assert not key.startswith("on")
            assert "xmlns" not in key
    style = "".join(outline.texts("style"))
    assert "@import" not in style
    assert "url(" not in style
    words = re.sub(r"<text [^>]*>[^<]*</text>", "", page)
    shown = re.findall(r"https://example\.org/x\.png(?:&quot;|&#34;)&gt;", words)
    assert words.count("https://") == len(shown), "only as text"
    assert pictures.missing() or "<text" in page, "text of pictures is text"


def test_hostile_texts_are_shown_as_they_are(document: Document, outline: Outline) -> None:
    hostile = document.summary[1]
    assert outline.texts("p").count(hostile) >= 2
    assert hostile in outline.texts("h2")
    assert hostile in outline.texts("dd")
    assert "\ufffd" * 3 in outline.texts("p")


@NEEDS_MATPLOTLIB
def test_every_picture_has_a_title_and_a_description(outline: Outline) -> None:
    pictures = [
        (k, one) for k, one in enumerate(outline.elements) if one[0] == "svg" and one[1].get("class") == "panel"
    ]
    assert len(pictures) == 5
    for index, (_, attributes, _, _) in pictures:
        assert attributes["role"] == "img"
        assert outline.inside(index)[:2] == ["title", "desc"]
        for key in ("aria-labelledby", "aria-describedby"):
            named = [texts for _, others, texts, _ in outline.elements if others.get("id") == attributes[key]]
            assert "".join(named[0]).strip()
    others = [one[1] for one in outline.elements if one[0] == "svg" and one[1].get("class") != "panel"]
    assert others
    assert all(attributes["aria-hidden"] == "true" for attributes in others)
    assert any("KME: from 0.1 at 10 to 0.01 at 100." in text for text in outline.texts("desc"))
    assert any("MKME: from 16 at 0 to 34.81 at 9.9, lowest 0 at 4." in text for text in outline.texts("desc"))


def test_tables_scroll_in_boxes_that_keys_reach(outline: Outline) -> None:
    boxes = [attributes for attributes in outline.all("div") if attributes.get("class") == "scroll"]
    assert len(boxes) == len(outline.all("caption")) > 3
    assert all(box["tabindex"] == "0" and box["role"] == "group" for box in boxes)
    assert all(attributes["scope"] in {"col", "row", "rowgroup"} for attributes in outline.all("th"))
    assert "3.25 ± 0.01" not in outline.texts("strong")
    assert "2.25 ± 0.01" in outline.texts("strong")


def test_without_matplotlib_the_numbers_stand_in_the_place(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "missing", lambda: 'write: pip install "kernelmean[plot]"')
    outline = Outline(html.render(document))
    assert not outline.all("svg")
    assert 'Not drawn: write: pip install "kernelmean[plot]"' in outline.texts("p")
    assert "0.1" in outline.texts("td")


def test_a_row_that_is_too_short_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"'Caption'.*has 1 cells, the header 2"):
        html.render(Document("T", (), (Section("S", tables=(TextTable("Caption", ("a", "b"), (("1",),)),)),)))


def test_a_notebook_shows_the_page_in_a_frame_that_nothing_leaves(document: Document, page: str) -> None:
    (frame,) = Outline(document._repr_html_()).elements
    name, attributes, texts, _ = frame
    assert (name, attributes["sandbox"], texts) == ("iframe", "", [])
    assert attributes["srcdoc"] == page
    assert attributes["title"] == document.title
