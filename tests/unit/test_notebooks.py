"""What notebooks show of results: short, escaped, legible on any surface, nothing loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import explained
import kernelmean as km
from kernelmean.studies import fit_all, fit_densities

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(30, 2)), RNG.normal([0.0, 2.0], size=(25, 2))
EVIL = '<script>alert("1")</script>'


@cache
def compared() -> Any:
    pd = pytest.importorskip("pandas")
    columns = [EVIL, "dose"]
    first, second = pd.DataFrame(X, columns=columns), pd.DataFrame(Y, columns=columns)
    return km.compare(first, second, names=("a & b", "new"), estimator="kme", n_resamples=99)


@cache
def densities() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1, 2))
        return fit_densities(np.concatenate([X, Y]), estimator="mkme", n_components=[1])


SHOWN: dict[str, Callable[[], Any]] = {
    "test": lambda: km.mmd_test(X, Y, estimator="kme", n_resamples=99, rng=0),
    "adaptive test": lambda: km.mmd_test(X, Y, estimator="adaptive", n_resamples=99, rng=0),
    "test of independence": lambda: km.hsic_test(X, X**2, estimator="kme", n_resamples=99, rng=0),
    "test of three samples": lambda: km.k_sample_test(X, Y, X + 1.0, n_resamples=99, rng=0),
    "equivalence test": lambda: explained.equivalence_test(X, Y, 1.2, bandwidth=1.0, rng=0),
    "comparison": compared,
    "dependence": lambda: km.dependence(X, n_resamples=19, estimator="kme"),
    "joint dependence": lambda: km.dependence(X, "x0", n_resamples=19, estimator="kme"),
    "densities": densities,
    "fits": cache(lambda: fit_all(X)),
    "embedding": lambda: km.MMKME().fit(X).embedding_,
    "sum of embeddings": lambda: km.embed(X, km.kernels.Gaussian(1.0)) - km.embed(Y, km.kernels.Gaussian(1.0)),
}


class Parts(HTMLParser):
    """The tags and the text of a piece of HTML, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] != "style":
            self.words += data + " "


@pytest.mark.parametrize("make", SHOWN.values(), ids=SHOWN)
def test_the_card_is_well_formed_short_and_loads_nothing(make: Callable[[], Any]) -> None:
    text = make()._repr_html_()
    parts = Parts(text)
    assert parts.open == []
    assert len(text) < 6000
    assert set(parts.tags) <= {"div", "style", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"} | {
        "details",
        "summary",
        "ul",
        "li",
    }
    assert {name for name, _ in parts.attributes} <= {"class", "scope"}
    assert "url(" not in text


def test_names_of_columns_and_tables_are_escaped() -> None:
    text = compared()._repr_html_()
    assert EVIL not in text
    assert "&lt;script&gt;" in text
    assert "a &amp; b" in text


@pytest.mark.parametrize("name", ["test", "adaptive test", "test of independence", "comparison"])
def test_numbers_are_those_of_the_result(name: str) -> None:
    result = SHOWN[name]()
    test = getattr(result, "test", result)
    words = Parts(result._repr_html_()).words
    assert f"{test.pvalue:.3g}" in words
    if name == "comparison":  # which leaves the statistic to its page
        words = result.to_html()
    assert f"{test.statistic:.4g}" in words or f"{test.statistic:.6g}" in words
