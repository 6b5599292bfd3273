"""The built site: links lead somewhere, nothing is loaded from elsewhere, pictures have words.

``KERNELMEAN_SITE`` names its folder, docs/_build/html by default; the tests skip where none was built.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("KERNELMEAN_SITE", ROOT / "docs" / "_build" / "html"))
if "KERNELMEAN_SITE" not in os.environ and not (SITE / "index.html").exists():
    pytest.skip("the site was not built; see CONTRIBUTING.md", allow_module_level=True)


@dataclass
class Page(HTMLParser):
    """What a page links to, loads and shows."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    pictures: list[dict[str, str | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids |= {value for key in ("id", "name") if (value := values.get(key))}
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        if tag == "link" and values.get("rel") in {"stylesheet", "preload", "icon", "preconnect", "dns-prefetch"}:
            self.loads.append(str(values.get("href")))
        if tag in {"script", "img", "iframe", "source", "video"} and values.get("src"):
            self.loads.append(str(values["src"]))
        if tag == "img":
            self.pictures.append(values)


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    return {path.resolve(): Page(path) for path in sorted(SITE.rglob("*.html"))}


def is_elsewhere(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.scheme or parts.netloc)


def test_every_link_leads_to_a_page_and_to_a_place_on_it(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if is_elsewhere(link):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].ids):
                broken.append((path.name, link))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page]) -> None:
    loads = {(path.name, url) for path, page in pages.items() for url in page.loads if is_elsewhere(url)}
    assert {pair for pair in loads if not pair[1].startswith("data:")} == set()
    styles = [path.read_text(encoding="utf-8") for path in SITE.rglob("*.css")]
    assert [found for style in styles for found in re.findall(r"(?:@import|url\(['\"]?)\s*(?:https?:)?//", style)] == []


def test_what_is_loaded_exists(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for url in page.loads:
            if not is_elsewhere(url):
                assert (path.parent / unquote(urlsplit(url).path)).exists(), (path.name, url)


def test_what_scrolls_is_reached_by_the_keyboard_and_headings_have_levels(pages: dict[Path, Page]) -> None:
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "<pre>" not in text, path.name
        assert '<div class="table-wrapper' not in text, path.name
        assert text.count('role="heading"') == text.count("aria-level="), path.name
