"""The pages in a real browser: a comparison of mixed columns, a wide map of dependence, densities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelmean import compare, dependence
from kernelmean.report import Document, html, pictures
from kernelmean.studies import fit_densities

from ..report.test_browser import NAMES, Page, executable, opened

QUICK = {"estimator": "kme", "n_resamples": 99}
LINKS = "[...document.querySelectorAll('a')].every(a => document.getElementById(decodeURIComponent(a.hash.slice(1))))"
SIZES = (
    "[...document.querySelectorAll('svg.panel')].map(one => one.getBoundingClientRect()).map(r => [r.width, r.height])"
)
SCROLLING = (
    "[...document.querySelectorAll('figure .scroll')].map(one => [one.scrollWidth > one.clientWidth, one.tabIndex])"
)
OVERLAPS = """
[...document.querySelectorAll('h1, h2, p, li, summary, figure, table')].filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && !one.closest('.scroll');
}).length
"""


def comparison() -> Document:
    rng = np.random.default_rng(0)

    def table(n: int, shift: float) -> pd.DataFrame:
        columns = {"a column with quite a long name": rng.normal(shift, size=n), "kind": rng.choice(["x", "y"], n)}
        return pd.DataFrame({**columns, "number": rng.normal(3 * shift, size=n)})

    names = ("a/folder/with/a/long/name/before.csv", "a/folder/with/a/long/name/after.csv")
    result = compare(table(40, 0.0), table(30, 1.0), names=names, **QUICK)
    return replace(result, seed=0).document()


def map_of_pairs() -> Document:
    values = np.random.default_rng(0).normal(size=(12, 8))
    frame = pd.DataFrame(values, columns=[f"a long name of column {k}" for k in range(8)])
    frame["a long name of column 7"] = frame["a long name of column 0"]
    return dependence(frame, **QUICK).document()


def densities() -> Document:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1,))
        rows = np.random.default_rng(0).normal(size=(40, 2))
        return fit_densities(rows, estimator="mkme", n_components=[2]).document()


MAKERS = {"comparison": comparison, "dependence": map_of_pairs, "density": densities}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    program = executable()
    if program is None:
        pytest.skip(f"no browser is installed (one of {', '.join(NAMES)}): pages are not looked at")
    if pictures.missing():
        pytest.skip("charts need the extra 'plot'")
    with opened(program) as one:
        yield one


@pytest.mark.parametrize("name", MAKERS)
def test_a_page_is_seen_whole_on_a_phone_and_a_screen(name: str, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    document = MAKERS[name]()
    file.write_text(html.render(document), encoding="utf-8")
    panels = sum(len(chart.panels) for section in document.sections for chart in section.charts)
    for width, dark in ((390, False), (1200, True)):
        page.open(file, width=width, dark=dark)
        page.value("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert page.value("document.documentElement.scrollWidth") <= width
        assert page.value(OVERLAPS) == 0
        sizes = page.value(SIZES)
        assert len(sizes) == panels > 0
        assert all(across > 250 and down > 150 for across, down in sizes)
        assert page.value(LINKS)
        asked = [event["request"]["url"] for event in page.heard("Network.requestWillBeSent")]
        assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
        for trouble in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            assert not page.heard(trouble)
        if width == 390 and name == "dependence":
            assert [True, 0] in page.value(SCROLLING), "a wide map scrolls in its own box, which keys reach"
