"""What people open, in a real browser: every page of the built site, and the reports that commands write.

Needs a Chromium, and the site where ``KERNELMEAN_SITE`` says (see test_site.py). ``KERNELMEAN_AXE`` is the path of
axe.min.js, of the package axe-core; without it colours and names are not judged, and the tests say so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from checkered import mostly_slow
from kernelmean.report import Document, html, pictures

from .browser import NAMES, Page, executable, opened

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("KERNELMEAN_SITE", ROOT / "docs" / "_build" / "html"))
PAPER = ROOT / "paper" / "results" / "report.html"
AXE = os.environ.get("KERNELMEAN_AXE")
PHONE, TABLET, SCREEN = 390, 768, 1280
JUDGED = (
    "index.html",
    "start/install.html",
    "start/tutorial.html",
    "evidence/index.html",
    "guides/drift.html",
    "coming-from/scipy.html",
    "gallery/index.html",
    "api/tests.html",
    "evidence/power.html",
    "api/generated/kernelmean.mmd_test.html",
    "theory/theory.html",
    "search.html",
)
UNSEEN = """(async () => {
  const found = [];
  for (const picture of document.querySelectorAll('main img, article img, figure img')) {
    picture.loading = 'eager';
    await picture.decode().catch(() => {});
    const box = picture.getBoundingClientRect();
    const small = picture.naturalWidth >= 100 && (box.width < 100 || box.height < 60);  // icons may be smaller
    if (!picture.naturalWidth || small) found.push(picture.src.slice(-80));
  }
  for (const panel of document.querySelectorAll('svg.panel')) {
    const box = panel.getBoundingClientRect();
    if (box.width < 200 || box.height < 100) found.push(panel.outerHTML.slice(0, 80));
  }
  return found;
})()"""
WIDER = """[...document.querySelectorAll('body *')].filter(one => {
  const box = one.getBoundingClientRect();
  const cuts = e => ['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX);
  const clipped = e => e && (cuts(e) || clipped(e.parentElement));
  const fixed = getComputedStyle(one).position === 'fixed';
  return box.width && box.right > innerWidth + 1 && !clipped(one.parentElement) && !fixed;
}).map(one => one.outerHTML.slice(0, 100))"""
CUT = """[...document.querySelectorAll('pre')].filter(one =>
  one.scrollWidth > one.clientWidth + 1 && !['auto', 'scroll'].includes(getComputedStyle(one).overflowX)
).map(one => one.textContent.slice(0, 60))"""
COPY = """(async () => {
  const copied = [];
  navigator.clipboard.writeText = async text => { copied.push(text); };
  for (const button of document.querySelectorAll('button.copy')) {
    button.click();
    await new Promise(done => setTimeout(done, 0));
  }
  return copied;
})()"""
SCROLLED = """[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1)
.map(one => one.textContent.slice(0, 60)).filter(text => !text.startsWith('Numbers of'))"""
UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
JUDGE = """axe.run(document, {preload: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})
.then(found => JSON.stringify(
  found.violations.map(rule => [rule.id, rule.nodes.length, rule.nodes[0].html.slice(0, 120)])))"""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    program = executable()
    if program is None:
        pytest.skip(f"NOT LOOKED AT: no browser is installed (one of {', '.join(NAMES)})")
    with opened(program) as one:
        yield one


@pytest.fixture(scope="module")
def axe() -> str:
    if AXE is None:
        pytest.skip("NOT JUDGED: set KERNELMEAN_AXE to the axe.min.js of the package axe-core")
    return Path(AXE).read_text(encoding="utf-8")


EVERY = 12
"""Of the pages that are made from docstrings, which are alike, one in so many is opened."""


def site_pages() -> list[str]:
    """Return the pages that were written, and some of those that were made from docstrings."""
    pages = [str(path.relative_to(SITE)) for path in sorted(SITE.rglob("*.html"))]
    made = [name for name in pages if name.startswith("api/generated/")]
    return sorted({*pages} - {*made} | {*made[::EVERY]} | {*JUDGED} & {*made})


@pytest.fixture(scope="module")
def site() -> Path:
    if not (SITE / "index.html").exists():
        pytest.skip("NOT LOOKED AT: the site was not built; see CONTRIBUTING.md")
    return SITE.resolve()


def comparison() -> Document:
    pandas, draws = pytest.importorskip("pandas"), np.random.default_rng(0)
    tables = [
        pandas.DataFrame(draws.normal(level, size=(40, 3)), columns=["income", "age", "satisfaction"]).assign(
            plan=draws.permutation(["a plan with a long name", "free"] * 20),
            visits=np.where(draws.random(40) < 0.2, np.nan, level),
        )
        for level in (0.0, 1.0)
    ]
    names = ("customers_last_year.csv", "customers_this_year.csv")
    return km.compare(*tables, names=names, missing="category", estimator="kme", n_resamples=99).document()


def map_of_pairs() -> Document:
    pandas = pytest.importorskip("pandas")
    values = np.random.default_rng(0).normal(size=(12, 8))
    frame = pandas.DataFrame(values, columns=[f"a long name of column {k}" for k in range(8)])
    return km.dependence(frame, estimator="kme", n_resamples=99).document()


def groups() -> Document:
    pandas, draws = pytest.importorskip("pandas"), np.random.default_rng(1)
    clinic = np.repeat(["north", "south by the river", "west"], 30)
    frame = pandas.DataFrame(draws.normal(size=(90, 3)), columns=["pressure", "age", "weight"]).assign(clinic=clinic)
    frame.loc[clinic == "west", "pressure"] += 2.0
    return km.compare_groups(frame, "clinic", estimator="kme", n_resamples=99).document()


def changes() -> Document:
    pandas, draws = pytest.importorskip("pandas"), np.random.default_rng(2)
    frame = pandas.DataFrame(draws.normal(size=(90, 2)), columns=["load", "temperature"])
    frame.loc[50:, "load"] += 3.0
    frame["day"] = pandas.date_range("2024-01-01", periods=90)
    return km.changes(frame, time="day").document()


def target() -> Document:
    pandas, draws = pytest.importorskip("pandas"), np.random.default_rng(3)
    frame = pandas.DataFrame(draws.normal(size=(80, 4)), columns=["price", "rooms", "distance to the center", "year"])
    frame["price"] += 2.0 * frame["rooms"]
    return km.dependence(frame, y="price", estimator="kme", n_resamples=99).document()


MAKERS = {
    "comparison": comparison,
    "dependence": map_of_pairs,
    "groups": groups,
    "changes": changes,
    "target": target,
}


def written(name: str, folder: Path) -> Path:
    """Write a report as its command does."""
    if pictures.missing():
        pytest.skip("NOT LOOKED AT: charts need the extra 'plot'")
    file = folder / "report.html"
    file.write_text(html.render(MAKERS[name]()), encoding="utf-8")
    return file


@pytest.fixture(scope="module", params=MAKERS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module", params=[*MAKERS, pytest.param("paper", marks=pytest.mark.slow)])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the paper, three megabytes of it, is the one that is kept; its tables of many columns scroll."""
    return PAPER if request.param == "paper" else written(request.param, tmp_path_factory.mktemp(request.param))


def awaited(page: Page, script: str) -> Any:
    answer = page.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


def troubles(page: Page, width: int, folder: Path) -> list[Any]:
    """Return what is wrong with the open page."""
    page.value(UNFOLD)
    found: list[Any] = awaited(page, UNSEEN)
    if page.value("document.documentElement.scrollWidth") > width:
        found += ["scrolls sideways", *page.value(WIDER)[:5]]
    for event in page.heard("Network.requestWillBeSent"):
        url = event["request"]["url"]
        if not url.startswith(("data:", folder.as_uri())):
            found.append(f"asks for {url}")
    for event in page.heard("Network.loadingFailed"):
        found.append(f"not loaded: {event}")
    for kind in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
        found += page.heard(kind)
    return found


def judged(page: Page, axe: str) -> list[Any]:
    """Return the rules of WCAG 2 at level AA that the open page breaks."""
    page.ask("Runtime.evaluate", expression=axe)
    return list(json.loads(awaited(page, JUDGE)))


def test_pages_of_the_site_fit_a_phone_and_shows_its_pictures_without_a_word(page: Page, site: Path) -> None:
    assert set(JUDGED) <= set(site_pages())
    found = {}
    for name in site_pages():
        page.open(site / name, width=PHONE)
        if wrong := troubles(page, PHONE, site):
            found[name] = wrong
    assert found == {}


@pytest.mark.parametrize("width", [PHONE, SCREEN])
def test_code_scrolls_and_is_not_cut(page: Page, site: Path, width: int) -> None:
    for name in ("index.html", "start/tutorial.html", "start/install.html", "columns.html", "guides/drift.html"):
        page.open(site / name, width=width)
        assert page.value("document.querySelectorAll('pre').length") > 0 or name == "index.html"
        assert page.value(CUT) == [], name


def test_a_button_copies_what_is_typed_and_no_output(page: Page, site: Path) -> None:
    page.open(site / "start" / "tutorial.html", width=SCREEN)
    assert page.value("document.querySelectorAll('button.copy').length === document.querySelectorAll('pre').length")
    copied = awaited(page, COPY)
    shell, command, python = copied[:3]
    assert shell == 'pip install -c constraints.txt ".[cli,plot]" pandas\n'
    assert command == "kernelmean compare iris --by target --groups 1,2 --quiet\n"
    assert python.startswith("from sklearn.datasets import load_iris\nimport kernelmean as km\n")
    assert ">>>" not in "".join(copied)
    assert "differ: p" not in python


@pytest.mark.parametrize("name", mostly_slow(JUDGED, *JUDGED[::3]))
def test_pages_of_the_site_are_read_by_everybody(page: Page, site: Path, axe: str, name: str) -> None:
    for width, dark in ((PHONE, True), (SCREEN, False), (SCREEN, True)):
        page.open(site / name, width=width, dark=dark)
        assert troubles(page, width, site) == []
        assert judged(page, axe) == []


def test_reports_fit_phones_and_screens_and_show_their_pictures_without_a_word(page: Page, report: Path) -> None:
    for width, dark in (
        (PHONE, False),
        (PHONE, True),
        (TABLET, False),
        (TABLET, True),
        (SCREEN, False),
        (SCREEN, True),
    ):
        page.open(report, width=width, dark=dark)
        assert troubles(page, width, report) == []
        missing = page.value(
            "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.hash.slice(1))"
            ".filter(id => id && !document.getElementById(decodeURIComponent(id)))"
        )
        assert missing == []


def test_tables_of_reports_are_not_cut_on_a_screen(page: Page, made: Path) -> None:
    page.open(made, width=SCREEN)
    page.value(UNFOLD)
    assert page.value("document.querySelectorAll('.scroll > table').length") > 0
    assert page.value(SCROLLED) == []


def test_reports_are_read_by_everybody(page: Page, report: Path, axe: str) -> None:
    for width, dark in product((PHONE, TABLET, SCREEN), (False, True)):
        page.open(report, width=width, dark=dark)
        page.value(UNFOLD)
        assert judged(page, axe) == []
